#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| touchmoved_fuzz::laws::run("dgt_emulation", data));
