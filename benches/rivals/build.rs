//! Links the stores in C and C++. Berkeley DB's handles are structs of function pointers, so its calls are made by a few lines of C.

fn main() {
    println!("cargo:rerun-if-changed=src/stores/berkeley_db.c");
    cc::Build::new().file("src/stores/berkeley_db.c").warnings(true).compile("hammerspace_berkeley_db");
    println!("cargo:rustc-link-lib=db-5.3");
    println!("cargo:rustc-link-lib=kyotocabinet");
}
