//! A second reader of logs, as plain as can be: the whole log decoded into one stream, entries taken off its front. Slow,
//! and it shares no code with the crate.

use hammerspace_sparkey::EntryKind;

/// Kind, key and value.
pub(crate) type Flat = (EntryKind, Vec<u8>, Vec<u8>);

/// What a log's bytes say, up to where they stop making sense.
pub(crate) struct Reading {
    pub(crate) entries: Vec<Flat>,
    /// Whether they made sense to the end.
    pub(crate) whole: bool,
}

/// Reads a log; `None` if its header makes no sense.
pub(crate) fn read(log: &[u8]) -> Option<Reading> {
    let (blocks, mut whole) = blocks(log)?;
    let stream = blocks.concat();
    let (mut rest, mut entries) = (&stream[..], Vec::new());
    while !rest.is_empty() {
        let Some((entry, behind)) = entry(rest) else {
            whole = false;
            break;
        };
        entries.push(entry);
        rest = behind;
    }
    Some(Reading { entries, whole })
}

/// The decoded blocks, and whether all could be decoded. Without compression everything is one block.
pub(crate) fn blocks(log: &[u8]) -> Option<(Vec<Vec<u8>>, bool)> {
    let header = Header::read(log)?;
    let (mut at, mut blocks) = (84, Vec::new());
    while at < header.end {
        match block(log, &header, at) {
            Some((block, next)) => {
                blocks.push(block);
                at = next;
            }
            None => return Some((blocks, false)),
        }
    }
    Some((blocks, true))
}

/// Where the blocks of a sound log start.
pub(crate) fn block_offsets(log: &[u8]) -> Vec<usize> {
    let header = Header::read(log).unwrap();
    let next = |at: &usize| block(log, &header, *at).map(|(_, next)| next);
    std::iter::successors(Some(84), next).take_while(|at| *at < header.end).collect()
}

/// The blocks at these offsets, as far as they can be decoded; neighbours in one stream.
pub(crate) fn streams(log: &[u8], offsets: &[usize]) -> Vec<Vec<u8>> {
    let Some(header) = Header::read(log) else { return Vec::new() };
    let blocks: Vec<_> = offsets.iter().map(|at| block(log, &header, *at).map(|(block, _)| block)).collect();
    blocks.split(Option::is_none).map(|run| run.iter().flatten().flatten().copied().collect()).collect()
}

struct Header {
    end: usize,
    compression: u64,
    block_size: usize,
}

impl Header {
    fn read(log: &[u8]) -> Option<Self> {
        let number = |at: usize, size: usize| {
            let bytes = log.get(at..at + size)?;
            Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        };
        let known = (number(0, 4)?, number(4, 4)?, number(8, 4)?) == (0x49b3_9c95, 1, 0);
        let end = number(32, 8)? as usize;
        let (compression, block_size) = (number(64, 4)?, number(68, 4)? as usize);
        (known && (84..=log.len()).contains(&end)).then_some(Self { end, compression, block_size })
    }
}

/// The block at `at`, decoded, and where the next one starts.
fn block(log: &[u8], header: &Header, at: usize) -> Option<(Vec<u8>, usize)> {
    let rest = log[..header.end].get(at..)?;
    if header.compression == 0 {
        return Some((rest.to_vec(), header.end));
    }
    let (len, rest) = vlq(rest)?;
    let (packed, behind) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    let decoded = match header.compression {
        1 => snap::raw::Decoder::new().decompress_vec(packed).ok()?,
        2 => zstd::decode_all(packed).ok()?,
        _ => return None,
    };
    (1..=header.block_size).contains(&decoded.len()).then_some((decoded, header.end - behind.len()))
}

fn entry(bytes: &[u8]) -> Option<(Flat, &[u8])> {
    let (a, rest) = vlq(bytes)?;
    let (b, rest) = vlq(rest)?;
    let (kind, key_len, value_len) = if a == 0 { (EntryKind::Delete, b, 0) } else { (EntryKind::Put, a - 1, b) };
    let (key, rest) = rest.split_at_checked(usize::try_from(key_len).ok()?)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(value_len).ok()?)?;
    Some(((kind, key.to_vec(), value.to_vec()), rest))
}

fn vlq(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let len = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let groups = bytes[..len].iter().rev();
    let number = groups.fold(0_u128, |number, byte| number << 7 | u128::from(byte & 0x7f));
    Some((u64::try_from(number).ok()?, &bytes[len..]))
}
