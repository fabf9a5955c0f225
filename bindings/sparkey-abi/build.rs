//! Programs that were linked against Spotify's library ask the loader for it by this name.
#![forbid(unsafe_code)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libsparkey.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
