//! What a case does to the directory itself, and asks of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;

use super::Word;

/// Does what `verb` says to the directory of a space.
pub(super) fn perform(space: &Path, verb: &str, arguments: &[Word]) -> Result<Vec<Word>, String> {
    match (verb, arguments) {
        ("write", [file, offset, bytes]) => write(&space.join(file.text()?), offset.to_number()?, bytes.bytes()),
        ("truncate", [file, len]) => truncate(&space.join(file.text()?), len.to_number()?),
        ("remove", [file]) => fs::remove_file(space.join(file.text()?)),
        ("link", [file, target]) => symlink(target.text()?, space.join(file.text()?)),
        ("mkdir", []) => fs::create_dir(space),
        ("directories", []) => return directories(space).map(|count| vec![Word::number(count)]).map_err(said),
        _ => return Err("the disk knows no such verb with these arguments".into()),
    }
    .map(|()| Vec::new())
    .map_err(said)
}

fn write(file: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
    File::options().write(true).create(true).truncate(false).open(file)?.write_all_at(bytes, offset)
}

fn truncate(file: &Path, len: u64) -> io::Result<()> {
    File::options().write(true).open(file)?.set_len(len)
}

fn directories(space: &Path) -> io::Result<u64> {
    let mut count = 0;
    for entry in fs::read_dir(space)? {
        count += u64::from(entry?.file_type()?.is_dir());
    }
    Ok(count)
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn said(error: io::Error) -> String {
    error.to_string()
}
