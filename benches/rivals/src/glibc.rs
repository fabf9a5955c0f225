//! glibc's allocator, in which the benches live too.

use std::ffi::c_int;

// SAFETY: as `malloc.h` declares it.
unsafe extern "C" {
    fn malloc_trim(pad: usize) -> c_int;
}

/// Gives free memory back to the kernel: what earlier work left in the heaps of threads that are gone, tens of MiB by chance, would
/// be counted with later work.
pub fn trim() {
    // SAFETY: it touches nothing that is in use, in any thread (malloc_trim(3)).
    unsafe { malloc_trim(0) };
}
