//! A region as the build wrote it that brought its format: whatever a later one adds, it reads this, and owns
//! it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hammerspace_memory::Geometry;
use hammerspace_os::process::page_size;
use hammerspace_store::{KEY_LEN_MAX, Key, Kind, Options, OwnedKey, Put, Store, Table, TableOptions, ValueKind};

const GOLDEN: &str = "format-4.zst";
/// What a region that was made elsewhere says of its pages.
const PAGE: usize = 4096;
const ID: std::ops::Range<usize> = 16..32;

/// One table: its name, and what is in it.
type Contents = (&'static str, BTreeMap<OwnedKey, (ValueKind, Vec<u8>)>);

/// What the golden region holds.
fn contents() -> [Contents; 2] {
    let bytes = |key: &[u8]| OwnedKey::Bytes(key.to_vec());
    let number = |number: i64| number.to_le_bytes().to_vec();
    let mut default = BTreeMap::from([
        (bytes(b""), (ValueKind::Bytes, Vec::new())),
        (bytes(&vec![b'k'; KEY_LEN_MAX]), (ValueKind::Bytes, b"of the longest key".to_vec())),
        (bytes(b"longest"), (ValueKind::Bytes, vec![b'v'; u16::MAX.into()])),
        (bytes(b"parts"), (ValueKind::Bytes, vec![b'p'; 200_000])),
        (bytes(b"grown"), (ValueKind::Append, b"0123456789".repeat(30))),
        (bytes(b"expires"), (ValueKind::Bytes, b"in the year 2800".to_vec())),
    ]);
    default.extend((0..300).map(|key| (OwnedKey::Integer(key), (ValueKind::Bytes, vec![key as u8; key as usize]))));
    let plain = BTreeMap::from([
        (bytes(b"sum"), (ValueKind::Add, number(5))),
        (OwnedKey::Integer(u64::MAX), (ValueKind::Min, number(i64::MIN))),
        (OwnedKey::Integer(0), (ValueKind::Max, number(i64::MAX))),
    ]);
    [("default", default), ("plain", plain)]
}

/// A time long from now.
fn late() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(830 * 365 * 24)
}

fn write(store: &Store) {
    let plain = store.create_table("plain", TableOptions { versions: false, ..TableOptions::default() }).unwrap();
    let gone = store.create_table("gone", TableOptions::default()).unwrap();
    let default = store.default_table();
    for key in 0..400_u64 {
        default.put(key, "replaced, or deleted").unwrap();
        gone.put(key, "dropped").unwrap();
    }
    let put = |table: &Table, key: Key<'_>, value: &[u8], put: &Put| {
        assert!(table.put_with(key, value, put).unwrap().is_done());
    };
    put(default, "expired".into(), b"in the year 1970", &Put::default().until(SystemTime::UNIX_EPOCH));
    for (table, (_, contents)) in [default, &plain].into_iter().zip(contents()) {
        for (key, (kind, value)) in contents {
            let how = Put::default().kind(kind);
            if kind == ValueKind::Append {
                assert!(value.chunks(10).all(|bytes| table.append(&key, bytes).is_ok()));
            } else if value.starts_with(b"in the year") {
                put(table, key.as_key(), &value, &how.until(late()));
            } else {
                put(table, key.as_key(), &value, &how);
            }
        }
    }
    (300..400_u64).for_each(|key| assert!(default.delete(key).unwrap()));
    store.drop_table("gone").unwrap();
}

/// Compares what there is with what must be; `expired` records of the default table may be counted still.
fn compare(store: &Store) {
    for (name, contents) in contents() {
        let table = store.table(name).unwrap();
        assert_eq!(table.has_versions().unwrap(), name == "default");
        let found: BTreeMap<_, _> = table
            .iter()
            .map(Result::unwrap)
            .map(|entry| {
                assert_eq!(entry.value.meta.version.is_some(), name == "default");
                assert_eq!(entry.value.meta.expiry.is_some(), entry.value.bytes.starts_with(b"in the year"));
                (entry.key, (entry.value.meta.kind, entry.value.bytes))
            })
            .collect();
        assert!(found == contents, "{name}");
        assert!(contents.iter().all(|(key, (_, value))| *table.get(key).unwrap().unwrap() == **value), "{name}");
        let has_expired = u64::from(name == "default");
        assert_eq!(table.len().unwrap(), contents.len() as u64 + has_expired, "{name}");
        let len = |key: &OwnedKey| if let OwnedKey::Bytes(key) = key { key.len() } else { 8 };
        let bytes: usize = contents.iter().map(|(key, (_, value))| len(key) + value.len()).sum();
        let expired = has_expired as usize * (b"expired".len() + b"in the year 1970".len());
        assert_eq!(table.bytes().unwrap(), (bytes + expired) as u64, "{name}");
    }
    assert_eq!(store.tables().unwrap().len(), 2);
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/region").join(name)
}

/// Makes a store at `path` of the region of this name.
fn restore(name: &str, path: &Path) {
    let region = path.with_extension("region");
    let mut packed = zstd::Decoder::new(File::open(golden(name)).unwrap()).unwrap();
    let (mut file, mut page, mut id) = (File::create(&region).unwrap(), vec![0; 16 * PAGE], 0);
    loop {
        let mut len = 0;
        while len < page.len()
            && let more @ 1.. = packed.read(&mut page[len..]).unwrap()
        {
            len += more;
        }
        if file.stream_position().unwrap() == 0 {
            id = u128::from_le_bytes(page[ID].try_into().unwrap());
        }
        // Zeros take no memory.
        if page[..len].iter().all(|byte| *byte == 0) {
            file.seek(SeekFrom::Current(len.try_into().unwrap())).unwrap();
        } else {
            file.write_all(&page[..len]).unwrap();
        }
        if len < page.len() {
            break;
        }
    }
    let end = file.stream_position().unwrap();
    file.set_len(end).unwrap();
    let digits = format!("{id:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    fs::create_dir(path).unwrap();
    let description = format!("format = 1\nid = \"{}\"\nregion = '{}'\n", parts.join("-"), region.display());
    fs::write(path.join("store.toml"), description).unwrap();
    fs::write(path.join("lock"), "").unwrap();
}

#[test]
fn a_region_of_format_4_is_read_and_owned() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("store");
    restore(GOLDEN, &path);
    if page_size() != PAGE {
        assert_eq!(Store::attach(&path).unwrap_err().kind(), Kind::Unsupported);
        return;
    }
    let reader = Store::attach(&path).unwrap();
    compare(&reader);
    let store = Store::open_with(&path, &Options { cleaners: 0, ..Options::with_limit(0) }).unwrap();
    compare(&store);
    let report = store.verify().unwrap();
    assert_eq!((report.findings, report.miscounted_tables), (vec![], vec![]));
    let put = |table: &Table| assert!((0..2000_u64).all(|key| table.put(key, "of another owner").is_ok()));
    put(store.default_table());
    put(&store.create_table("more", TableOptions::default()).unwrap());
    assert_eq!(store.verify().unwrap().findings, Vec::<String>::new());
    assert_eq!(reader.table("more").unwrap().len().unwrap(), 2000);
}

/// Where the golden region is missing it is written: once a format, since what was released never changes.
#[test]
fn a_region_is_written_as_the_golden_one_was() {
    let scratch = tempfile::tempdir().unwrap();
    let (path, regions) = (scratch.path().join("store"), scratch.path().join("regions"));
    fs::create_dir(&regions).unwrap();
    let geometry = Geometry { segment_size: 128 << 10, segments_max: 32, buckets: 32 };
    let options = Options {
        region: Some(regions.clone()),
        geometry: Some(geometry),
        seed: Some(4),
        writers: 1,
        cleaners: 0,
        ..Options::with_limit(32 * geometry.segment_size)
    };
    let store = Store::create(&path, &options).unwrap();
    write(&store);
    compare(&store);
    drop(store);
    let golden = golden(GOLDEN);
    if !golden.exists() {
        let region = fs::read_dir(&regions).unwrap().next().unwrap().unwrap().path();
        zstd::stream::copy_encode(File::open(region).unwrap(), File::create_new(&golden).unwrap(), 19).unwrap();
        panic!("{} was missing, and is written: keep it", golden.display());
    }
}
