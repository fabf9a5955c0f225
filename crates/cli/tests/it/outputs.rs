//! Files that verbs write: what is at the path stays what it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::Command;
use std::thread;

use crate::ran::Place;

/// A space, a log, and what they give to files that nobody has touched.
fn place() -> Place {
    let place = Place::new();
    place.run("set s k v").ends(0);
    place.run("export s --output plain").ends(0);
    place.sparkey("createlog plain.spl").ends(0);
    place.sparkey("writehash plain.spl").ends(0);
    place
}

/// Each verb that writes a file, and the file.
const WRITES: [(&str, &str); 5] = [
    ("hammerspace export s --output out", "out"),
    ("hammerspace export s --format sparkey --output o.spl", "o.spl"),
    ("sparkey writehash plain.spl", "plain.spi"),
    ("sparkey createlog made.spl", "made.spl"),
    ("sparkey rewrite plain.spi copy.spi", "copy.spi"),
];

fn run(place: &Place, line: &str) {
    let (program, line) = line.split_once(' ').unwrap();
    let ran = if program == "sparkey" { place.sparkey(line) } else { place.run(line) };
    ran.ends(0);
}

#[test]
fn a_file_keeps_its_mode_and_a_link_stays() {
    for (line, name) in WRITES {
        let place = place();
        let at = |name: &str| place.path().join(name);
        place.write("target", "old");
        fs::set_permissions(at("target"), fs::Permissions::from_mode(0o604)).unwrap();
        fs::remove_file(at(name)).ok();
        symlink("target", at(name)).unwrap();
        run(&place, line);
        assert!(at(name).is_symlink(), "{line}");
        assert_ne!(place.read("target"), b"old", "{line}");
        assert_eq!(fs::metadata(at("target")).unwrap().permissions().mode() & 0o7777, 0o604, "{line}");
    }
}

/// What the reader of a named pipe at `name` gets from a verb.
fn through_a_pipe(place: &Place, line: &str, name: &str) -> Vec<u8> {
    let pipe = place.path().join(name);
    fs::remove_file(&pipe).ok();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let got = thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(&pipe).unwrap());
        run(place, line);
        reader.join().unwrap()
    });
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "{line}");
    fs::remove_file(&pipe).unwrap();
    got
}

#[test]
fn a_pipe_is_written_into() {
    let place = place();
    assert_eq!(through_a_pipe(&place, "hammerspace export s --output pipe", "pipe"), place.read("plain"));
    let index = through_a_pipe(&place, "sparkey writehash plain.spl", "plain.spi");
    place.write("plain.spi", index);
    place.sparkey("verify plain.spi").ends(0);
}

#[test]
fn a_dash_is_standard_output() {
    let place = place();
    assert_eq!(place.run("export s --output -").ends(0).stdout, place.read("plain"));
    assert!(!place.path().join("-").exists());
    place.run("export s --output ./-").ends(0);
    assert_eq!(place.read("-"), place.read("plain"));
    place.run("export s --format sparkey --output -").ends(2);
}

#[test]
fn an_error_names_the_file_that_was_asked_for() {
    for (line, name) in WRITES {
        let place = place();
        fs::remove_file(place.path().join(name)).ok();
        fs::create_dir(place.path().join(name)).unwrap();
        let (program, line) = line.split_once(' ').unwrap();
        let ran = if program == "sparkey" { place.sparkey(line).ends(1) } else { place.run(line).ends(2) };
        assert!(ran.stderr.contains(&format!("{name}: this is a directory")), "{}", ran.stderr);
    }
}
