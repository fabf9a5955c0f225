//! The peer: GNU gettext's command-line tools.

use std::fs;
use std::process::Command;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Endianness {
    Little,
    Big,
}

/// The `.mo` that `msgfmt` makes of a `.po`, or what it says against it.
pub(crate) fn msgfmt(po: &[u8], endianness: Endianness) -> Result<Vec<u8>, String> {
    let order = match endianness {
        Endianness::Little => "--endianness=little",
        Endianness::Big => "--endianness=big",
    };
    run(Command::new("msgfmt").arg(order), po)
}

/// The `.po` that `msgunfmt` makes of a `.mo`.
pub(crate) fn msgunfmt(mo: &[u8]) -> Result<Vec<u8>, String> {
    run(&mut Command::new("msgunfmt"), mo)
}

/// Runs a tool from a file `in` to a file `out`.
fn run(tool: &mut Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("in"), input).unwrap();
    let done = tool.args(["-o", "out", "in"]).current_dir(directory.path()).env("LC_ALL", "C.UTF-8").output();
    let done = done.unwrap_or_else(|error| panic!("{tool:?}: {error}; install the Debian package `gettext`"));
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    // msgfmt writes no file where nothing is translated.
    Ok(fs::read(directory.path().join("out")).unwrap())
}
