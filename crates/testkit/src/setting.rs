//! Numbers of a suite that environment variables may set.

/// The number of this name, or what `default` gives. Panics with words if it is no number.
pub fn setting(name: &str, default: impl FnOnce() -> u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is no number")),
        Err(_) => default(),
    }
}

/// The seed that `HAMMERSPACE_SEED` asks for, or the suite's, so that a red run is red again. Printed, to be asked for.
pub fn seed() -> u64 {
    let seed = setting("HAMMERSPACE_SEED", || 0x5eed);
    println!("HAMMERSPACE_SEED={seed}");
    seed
}
