//! Numbers of a suite that whoever runs it may set, by variables of the environment.

/// The number of this name, or what `default` gives. Panics with words if it is no number.
pub fn setting(name: &str, default: impl FnOnce() -> u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is no number")),
        Err(_) => default(),
    }
}

/// The seed that `HAMMERSPACE_SEED` asks for, or a random one; printed, so that it can be asked for.
pub fn seed() -> u64 {
    let seed = setting("HAMMERSPACE_SEED", || fastrand::u64(..u64::MAX / 2));
    println!("HAMMERSPACE_SEED={seed}");
    seed
}
