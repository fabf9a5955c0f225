#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| hammerspace_fuzz::stripe::check(data));
