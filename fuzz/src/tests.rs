use crate::{hll, index, json, log, mo, po, reference, stripe, yaml};
use hammerspace_sparkey::{BlockCache, Compression, IndexOptions, Log, LogOptions, LogWriter, build_index};
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

fn corpus(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)).unwrap()
}

fn check_all(target: &str, check: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display()); // shown if it fails
        check(&fs::read(path).unwrap());
        files += 1;
    }
    assert!(files >= 5, "{target} has {files} files");
}

#[test]
fn the_corpus_passes() {
    check_all("po", po::check);
    check_all("mo", mo::check);
    check_all("json", json::check);
    check_all("yaml", yaml::check);
    check_all("log", log::check);
    check_all("index", index::check);
    check_all("stripe", stripe::check);
    check_all("hll", hll::check);
}

/// All that there are: 22 powers of two, and seven eighths between one and the next.
#[test]
fn any_window_that_a_frame_can_name_is_read() {
    let mut bytes = corpus("log/zstd_wide_window");
    // The zero says that a window follows, and no length.
    let frame = bytes.windows(5).position(|start| start == [0x28, 0xb5, 0x2f, 0xfd, 0]).unwrap();
    let end = hammerspace_sparkey::Log::open(&bytes[..]).unwrap().header().data_end;
    for window in 0..=u8::MAX {
        bytes[frame + 5] = window;
        log::check(&bytes);
        // What is wider, the library does not know.
        assert_eq!(reference::entries(&bytes, end).unwrap().complete, window < 0xb0, "{window:#x}");
    }
}

#[test]
fn a_frame_that_decodes_to_too_much_is_told_from_a_broken_one() {
    let log = corpus("log/zstd_wide_window");
    let with = |frame: &[u8]| {
        assert!(frame.len() < 0x80, "a length of one byte");
        let mut log = log[..84].to_vec();
        log.push(frame.len() as u8);
        log.extend(frame);
        reference::entries(&log, log.len() as u64).map(|entries| entries.complete)
    };
    let long = zstd::bulk::compress(&vec![0; (1 << 20) + 1], 3).unwrap();
    assert_eq!(with(&long), None);
    assert_eq!(with(&long[..long.len() - 1]), Some(false));
}

/// A block that may be larger than the cache is kept, and so decoded to its end, only when it is asked for a second
/// time. Where it is damaged behind the entry, the first lookup gives the value and the second is refused.
#[test]
fn damage_behind_an_entry_is_seen_when_the_block_is_kept() {
    let options = LogOptions { compression: Compression::Snappy, block_size: 1 << 17, ..LogOptions::default() };
    let mut writer = LogWriter::create(Cursor::new(Vec::new()), &options).unwrap();
    writer.put(b"key", b"value").unwrap();
    for _ in 0..100 {
        writer.put(&[b'k'; 20], &[b'v'; 200]).unwrap();
    }
    let log = Log::open(writer.finish().unwrap().0.into_inner()).unwrap();
    let index = build_index(&log, &IndexOptions::default()).unwrap();
    let mut bytes = log.into_inner();
    let end = bytes.len();
    // The last element of the block: a copy from far before its start.
    bytes[end - 2..].fill(0xff);
    let table = index::opened(&bytes, &index).unwrap();
    let cached = table.clone().with_cache(Arc::new(BlockCache::new(1 << 16)));
    assert_eq!(cached.get(b"key").unwrap().as_deref(), Some(&b"value"[..]));
    assert!(cached.get(b"key").is_err(), "the block was decoded to its end");
    index::check(&[&bytes[..], &index].concat());
}

/// A check that lets a faulty reader pass checks nothing. Each of these has one fault, and one file to show it.
mod canaries {
    use super::corpus;
    use crate::{catalogue, hll, i18n, index, json, log, mo, po, reference, stripe, yaml};
    use hammerspace_error::Result;
    use hammerspace_load::{Options, Sink};
    use hammerspace_sparkey::Found;

    /// The reader, but for the last byte of long values.
    fn forgetful(read: fn(&[u8], &Options, &mut Sink) -> Result<()>) -> Box<catalogue::Reader> {
        Box::new(move |bytes, options, sink| {
            read(bytes, options, &mut |key, value| sink(key, &value[..value.len() - usize::from(value.len() > 6)]))
        })
    }

    /// Puts other digits into records than the columns have.
    #[test]
    #[should_panic(expected = "what came back does not come back")]
    fn an_assembler_that_counts_wrong() {
        let next = |byte: &u8| if byte.is_ascii_digit() { b'0' + (byte - b'0' + 1) % 10 } else { *byte };
        let wrong = move |reader: &_| Ok(stripe::lines(reader)?.iter().map(next).collect());
        stripe::check_reader(&wrong, &corpus("stripe/document"));
    }

    #[test]
    #[should_panic(expected = "printed and read again")]
    fn a_po_reader_that_forgets_a_byte() {
        po::check_reader(&forgetful(hammerspace_load::po::read), &corpus("po/plural"));
    }

    #[test]
    #[should_panic(expected = "written and read again")]
    fn a_mo_reader_that_forgets_a_byte() {
        mo::check_reader(&forgetful(hammerspace_load::mo::read), &corpus("mo/plural"));
    }

    #[test]
    #[should_panic(expected = "what serde_json reads")]
    fn a_json_reader_that_forgets_a_byte() {
        json::check_reader(&forgetful(json::read), &corpus("json/nested"));
    }

    #[test]
    #[should_panic(expected = "printed and read again")]
    fn a_yaml_reader_that_forgets_a_byte() {
        yaml::check_reader(&forgetful(yaml::read), &corpus("yaml/blocks"));
    }

    #[test]
    #[should_panic(expected = "de.b is not named by its tree")]
    fn a_tree_that_does_not_name_all() {
        let entries = [("de", "\0{\"children\":[\"a\"]}"), ("de.a", "x"), ("de.b", "y")];
        i18n::Space(entries.map(|(key, value)| (key.into(), value.into())).into()).check();
    }

    #[test]
    #[should_panic(expected = "an entry that is not there")]
    fn a_log_reader_that_makes_an_entry_up() {
        let bytes = corpus("log/plain");
        let log = hammerspace_sparkey::Log::open(&bytes[..]).unwrap();
        let mut expected = reference::entries(&bytes, log.header().data_end).unwrap();
        expected.entries.remove(0);
        log::check_entries(&log, &expected);
    }

    #[test]
    #[should_panic(expected = "get apple")]
    fn a_table_that_finds_an_old_value() {
        let bytes = corpus("index/plain_hash4");
        let end = hammerspace_sparkey::Log::open(&bytes[..]).unwrap().header().data_end;
        let mut expected = reference::entries(&bytes, end).unwrap();
        expected.entries.iter_mut().rfind(|entry| entry.key == b"apple").unwrap().value = b"newer".to_vec();
        index::check_sound(&index::opened(&bytes, &bytes[end as usize..]).unwrap(), &expected);
    }

    #[test]
    #[should_panic(expected = "apple through a cache")]
    fn a_cache_that_gives_another_value() {
        let (bytes, mut other) = (corpus("index/plain_hash4"), corpus("index/plain_hash4"));
        let end = hammerspace_sparkey::Log::open(&bytes[..]).unwrap().header().data_end as usize;
        let table = index::opened(&bytes, &bytes[end..]).unwrap();
        let Some(Found::Mapped(range)) = table.find(b"apple").unwrap() else { panic!("mapped") };
        other[range.start] ^= 1;
        index::check_cached(&table, &index::opened(&other, &bytes[end..]).unwrap(), b"apple");
    }

    #[test]
    #[should_panic(expected = "the same registers")]
    fn a_value_that_loses_a_register() {
        let mut value = hammerspace_sketch::hll::HllBuf::read(&[0x13, 0x64, 0x40, 0x51, 0x73]).unwrap();
        value.add(1 << 63);
        hll::check_written(&[0x13, 0x64, 0x40, 0x51, 0x73], &value);
    }
}
