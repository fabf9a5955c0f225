//! The format pages say what the code does.

use crate::golden;
use hammerspace_sparkey::{Entry, Index, IndexHeader, Log, LogHeader, Table};
use hammerspace_testkit::page;

const LOG: &str = include_str!("../../../../docs/format/sparkey-log.md");
const INDEX: &str = include_str!("../../../../docs/format/sparkey-index.md");

#[test]
fn headers_are_what_their_pages_say() {
    assert_eq!(page::fields(LOG, "Header"), LogHeader::FIELDS);
    assert_eq!(page::fields(INDEX, "Header"), IndexHeader::FIELDS);
}

#[test]
fn the_magic_numbers_are_what_their_pages_say() {
    assert!(LOG.contains(&format!("| magic | `{:#010x}` |", LogHeader::MAGIC)));
    assert!(INDEX.contains(&format!("| magic | `{:#010x}` |", IndexHeader::MAGIC)));
}

#[test]
fn the_worked_examples_are_real_files_and_read_as_they_say() {
    let (log, index) = (page::hex(LOG, "Worked example"), page::hex(INDEX, "Worked example"));
    assert_eq!(log, golden::bytes("j18_long_delete_dropped.spl"));
    assert_eq!(index, golden::bytes("j18_long_delete_dropped.spi"));

    let table = Table::open(log, index).unwrap();
    assert!(table.verify().is_clean());
    assert_eq!(described(table.log().entries()), ["Put ab=1 @84+0", "Delete ab= @89+0", "Put q=2 @93+0"]);
    assert_eq!(table.get(b"q").unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(table.len(), 1);
}

#[test]
fn the_compressed_example_is_a_real_file_and_reads_as_it_says() {
    let log = page::hex(LOG, "Worked example, compressed");
    assert_eq!(log, golden::bytes("c22_long_delete_key.spl"));
    assert_eq!(
        described(Log::open(log).unwrap().entries()),
        ["Put a=1 @84+0", "Put b=2 @84+1", "Delete a-very-long-key-that-was-never-put= @84+2", "Put c=3 @84+3"]
    );
}

#[test]
fn the_hash_on_the_page_is_the_hash_of_the_code() {
    let index = Index::open(page::hex(INDEX, "Worked example")).unwrap();
    let (header, hash) = (index.header(), index.header().hash_size.hash(b"q", index.header().hash_seed));
    assert_eq!((hash, hash % header.hash_capacity), (0xd95f_ab49, 1));
    assert!(INDEX.contains(&format!("The hash of `q` is {hash:#x} = {hash}")));
}

fn described<'a>(entries: impl Iterator<Item = hammerspace_error::Result<Entry<'a>>>) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    entries
        .map(Result::unwrap)
        .map(|entry| {
            let (kind, address) = (entry.kind, entry.address);
            format!("{kind:?} {}={} @{}+{}", text(&entry.key), text(&entry.value), address.offset, address.index)
        })
        .collect()
}
