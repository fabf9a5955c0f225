//! A planted fault, one branch per letter. A fuzzer that sees which branches an input takes finds it in a second; by
//! chance it would need 2^48 tries.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let is = |at: usize, letter| data.get(at) == Some(&letter);
    let found = is(0, b'c') && is(1, b'a') && is(2, b'n') && is(3, b'a') && is(4, b'r') && is(5, b'y');
    assert!(!found, "found, as it should be");
});
