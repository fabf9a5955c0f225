//! `include/hammerspace.h` is what cbindgen makes of the sources.
//!
//! With the variable `UPDATE_HEADER` set the test writes the file in place of comparing it: `cargo xtask header`.

use std::fs;
use std::path::Path;

fn made() -> String {
    let mut header = Vec::new();
    cbindgen::generate(env!("CARGO_MANIFEST_DIR")).expect("cbindgen reads the sources").write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/hammerspace.h");
    let made = made();
    if std::env::var_os("UPDATE_HEADER").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(is_same(&kept, &made), "include/hammerspace.h is out of date: run `cargo xtask header`");
}

fn is_same(kept: &str, made: &str) -> bool {
    kept == made
}

/// A comparison that cannot see this sees nothing.
#[test]
fn canary_a_changed_word_or_a_missing_function_is_noticed() {
    let made = made();
    assert!(is_same(&made, &made.clone()));
    assert!(!is_same(&made.replacen("space", "place", 1), &made));
    let functions = made.matches("hammerspace_error *hammerspace_").count();
    assert!(functions > 20, "cbindgen finds {functions} functions that can fail");
}
