//! Links the stores in C and C++. Berkeley DB's handles are structs of function pointers, so its calls are made by a few lines of C.
//! The program that shows what an allocator takes is C too: nothing else is on its heap.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=src/stores/berkeley_db.c");
    cc::Build::new().file("src/stores/berkeley_db.c").warnings(true).compile("hammerspace_berkeley_db");
    println!("cargo:rustc-link-lib=db-5.3");
    println!("cargo:rustc-link-lib=kyotocabinet");
    println!("cargo:rustc-link-lib=rocksdb");
    let heap = Path::new(&std::env::var("OUT_DIR").expect("cargo says where")).join("heap");
    println!("cargo:rerun-if-changed=src/stores/heap.c");
    println!("cargo:rustc-env=HAMMERSPACE_HEAP={}", heap.display());
    let mut compiler = cc::Build::new().opt_level(2).get_compiler().to_command();
    let built = compiler.args(["-fno-builtin-malloc", "src/stores/heap.c", "-o"]).arg(heap).status();
    assert!(built.is_ok_and(|status| status.success()), "the C compiler fails");
}
