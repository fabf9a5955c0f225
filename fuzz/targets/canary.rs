//! A planted fault, one branch per letter. A fuzzer that sees which branches an input takes finds it in a second; by
//! chance it would need 2^48 tries.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let spells = |at: usize, letter| data.get(at) == Some(&letter);
    if spells(0, b'c') && spells(1, b'a') && spells(2, b'n') && spells(3, b'a') && spells(4, b'r') && spells(5, b'y') {
        panic!("found, as it should be");
    }
});
