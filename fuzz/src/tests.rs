use crate::{index, log, mo, po};
use std::fs;
use std::path::Path;

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
    check_all("log", log::check);
    check_all("index", index::check);
}
