//! Telling the processor what will be read soon.

/// Asks for the cache line where `slice[offset]` lies, or would lie if the slice went on. Never faults, never waits.
#[expect(clippy::inline_always, reason = "one instruction, and a call would cost more than it saves")]
#[inline(always)]
pub fn prefetch<T>(slice: &[T], offset: usize) {
    prefetch_at(slice.as_ptr().wrapping_add(offset));
}

/// Asks for the cache line at an address, whatever lies there, if anything. Never faults, never waits.
#[inline(always)]
pub fn prefetch_at<T>(pointer: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint. It reads nothing the program can see, and any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(pointer.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; `prfm` changes no register and no flag.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) pointer, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = pointer;
}
