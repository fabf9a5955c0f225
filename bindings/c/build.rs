//! What programs that link the shared library ask the loader for: the number rises when they must be built anew.
#![forbid(unsafe_code)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhammerspace.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
