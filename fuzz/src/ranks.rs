//! A plain decoder of HyperLogLog values, after the format page. It shares no code with ours, and is right
//! for every value that ours accepts.

/// The rank of every register; of a list, those that its hashes lead to. None for UNDEFINED and EMPTY but
/// zeros.
pub(crate) fn ranks(value: &[u8]) -> Vec<u8> {
    let (width, log2m) = (usize::from(value[1] >> 5) + 1, usize::from(value[1] & 31));
    let mut ranks = vec![0; 1 << log2m];
    let bits: Vec<bool> =
        value[3..].iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    match value[0] & 15 {
        2 => bits.chunks(64).for_each(|hash| add(&mut ranks, number(hash), width)),
        3 => {
            for word in bits.chunks_exact(log2m + width) {
                let (index, rank) = word.split_at(log2m);
                let slot = &mut ranks[number(index) as usize];
                *slot = number(rank).max((*slot).into()) as u8;
            }
        }
        4 => {
            for (rank, bits) in ranks.iter_mut().zip(bits.chunks_exact(width)) {
                *rank = number(bits) as u8;
            }
        }
        _ => {}
    }
    ranks
}

fn add(ranks: &mut [u8], hash: u64, width: usize) {
    let count = ranks.len() as u64;
    let (index, mut rest, mut rank) = ((hash % count) as usize, hash / count, 1);
    if rest == 0 {
        return;
    }
    while rest % 2 == 0 {
        (rest, rank) = (rest / 2, rank + 1);
    }
    ranks[index] = ranks[index].max(rank.min((1 << width) - 1) as u8);
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().fold(0, |number, bit| 2 * number + u64::from(*bit))
}
