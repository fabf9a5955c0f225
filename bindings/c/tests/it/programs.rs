//! The samples and the list of promises: compiled as C and as C++, linked both ways, run alone and under memcheck.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hammerspace::sparkey::{LogFile, LogOptions, Pair, ShardKeys, Sharding, write_shards};
use hammerspace_testkit::c::{self, Language, Libraries};
use hammerspace_testkit::spec;
use tempfile::TempDir;

fn libraries() -> &'static Libraries {
    static LIBRARIES: OnceLock<Libraries> = OnceLock::new();
    LIBRARIES.get_or_init(|| Libraries::of("hammerspace-c").unwrap_or_else(|why| panic!("{why}")))
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A program, and an empty directory that goes with it.
struct Program {
    place: TempDir,
    file: PathBuf,
}

impl Program {
    fn new(language: Language, source: &str, library: &Path) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("program");
        // The loader looks for the shared library by the name that it gives itself.
        let library = if library.extension() == Some(OsStr::new("so")) {
            let asked_for = place.path().join("libhammerspace.so.0");
            symlink(library, &asked_for).unwrap();
            asked_for
        } else {
            library.to_path_buf()
        };
        let include = here("include");
        // A C compiler alone knows what POSIX adds to it when told.
        let options = [OsStr::new("-I"), include.as_os_str(), OsStr::new("-D_POSIX_C_SOURCE=200809L")];
        c::compile(language, &here(source), &library, &options, &file).unwrap_or_else(|why| panic!("{why}"));
        Self { place, file }
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        c::run(Command::new(&self.file).args(arguments).current_dir(self.place.path()))
    }

    fn memcheck(&self, arguments: &[&str]) -> Result<String, String> {
        c::run(c::memcheck(&self.file).args(arguments).current_dir(self.place.path()))
    }
}

const PROMISES: &str = "tests/c/promises.c";

/// An empty directory, and beside it the shards that the list of promises reads.
fn workplace() -> (TempDir, [String; 2]) {
    let place = tempfile::tempdir().unwrap();
    let [work, shards] = ["work", "shards"].map(|name| place.path().join(name));
    std::fs::create_dir(&work).unwrap();
    let source = Pair::of_log(&place.path().join("source.spl")).unwrap();
    let mut log = LogFile::create(&source.log, &LogOptions::default()).unwrap();
    for (at, letter) in (b'a'..=b't').enumerate() {
        log.put(&[letter], at.to_string().as_bytes()).unwrap();
    }
    log.finish().unwrap();
    let sharding = Sharding { count: 4, keys: ShardKeys::Bytes, log: LogOptions::default() };
    write_shards(&source.open_or_index().unwrap(), &shards, &sharding).unwrap();
    (place, [work, shards].map(|path| path.display().to_string()))
}

#[test]
fn the_promises_of_the_header_hold() {
    for library in libraries().both() {
        let (program, (_place, [work, shards])) = (Program::new(Language::C, PROMISES, library), workplace());
        assert_eq!(program.memcheck(&[&work, &shards]).as_deref(), Ok("all promises hold\n"), "{}", library.display());
    }
}

#[test]
fn the_header_is_cpp_too() {
    let (_place, [work, shards]) = workplace();
    let program = Program::new(Language::Cpp, PROMISES, &libraries().shared);
    assert_eq!(program.run(&[&work, &shards]).as_deref(), Ok("all promises hold\n"));
}

/// Each fault is planted in the program; a harness that misses one would miss ours.
#[test]
fn canary_a_broken_promise_is_noticed() {
    let program = Program::new(Language::C, PROMISES, &libraries().archive);
    let program = |fault| {
        let [(_alone, alone), (_watched, watched)] = [workplace(), workplace()];
        (program.run(&[&alone[0], &alone[1], fault]), program.memcheck(&[&watched[0], &watched[1], fault]))
    };
    assert!(matches!(program("lie"), (Err(_), Err(_))));
    assert!(matches!(program("leak"), (Ok(_), Err(_))), "memcheck sees a leak, and nothing else does");
    assert!(matches!(program("overrun"), (Ok(_), Err(_))), "memcheck sees an overrun, and nothing else does");
}

#[test]
fn the_samples_do_what_they_say() {
    for library in libraries().both() {
        let [read, publish, table] =
            ["read", "publish", "table"].map(|name| Program::new(Language::C, &format!("samples/{name}.c"), library));
        let space = publish.place.path().join("space");
        let space = space.to_str().unwrap();
        for (program, arguments, expected) in [
            (&publish, &[space, "fr.hello", "Bonjour"][..], "published version 1\n"),
            (&publish, &[space, "de.hello", "Guten Tag"], "published version 2\n"),
            (&read, &[space, "de.hello"], "Guten Tag\n"),
            (&publish, &[space, "de.hello"], "published version 3\n"),
            (&read, &[space, "de.hello"], "no de.hello among 1 keys\n"),
            (&table, &["a.spl", "a.spi"], "apple: green\npear: -\nlemon: yellow\nlemon = yellow\napple = green\n"),
        ] {
            // Once is enough to watch.
            let printed =
                if library == libraries().shared { program.memcheck(arguments) } else { program.run(arguments) };
            assert_eq!(printed.as_deref(), Ok(expected), "{arguments:?}");
        }
        let refused = read.run(&["nowhere", "key"]).unwrap_err();
        assert!(refused.contains("nowhere: open the directory"), "{refused}");
    }
}

/// The cases as lines, and a directory for them.
fn cases(of: &[spec::Case]) -> (TempDir, [String; 2]) {
    let place = tempfile::tempdir().unwrap();
    let [file, directory] = ["cases", "work"].map(|name| place.path().join(name));
    std::fs::create_dir(&directory).unwrap();
    let mut text = String::new();
    for case in of {
        let fails = case.fails.map(|step| format!("fails {step}\n")).unwrap_or_default();
        writeln!(text, "case {}\n{fails}{}", case.name, case.steps.join("\n")).unwrap();
    }
    std::fs::write(&file, text).unwrap();
    (place, [file, directory].map(|path| path.display().to_string()))
}

#[test]
fn c_does_what_the_conformance_cases_say() {
    let all = spec::cases();
    let program = Program::new(Language::C, "tests/c/spec.c", &libraries().archive);
    let (_place, [file, directory]) = cases(&all);
    assert_eq!(program.run(&[&file, &directory]).as_deref(), Ok(&*format!("{} cases\n", all.len())));
}

/// A canary that is not known to be one is a case that fails.
#[test]
fn canary_c_sees_a_case_that_fails() {
    let program = Program::new(Language::C, "tests/c/spec.c", &libraries().archive);
    let unmarked = |case: spec::Case| spec::Case { fails: None, ..case };
    for case in spec::cases().into_iter().filter(|case| case.fails.is_some()).map(unmarked) {
        let (_place, [file, directory]) = cases(&[case]);
        assert!(program.run(&[&file, &directory]).is_err());
    }
}

/// Each block of shell on the page, but for the build, which has been done. Both end with the program that they built.
#[test]
fn the_guide_builds_programs_as_written() {
    let page = include_str!("../../../../docs/guide/c.md");
    let blocks: Vec<&str> = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let root = tempfile::tempdir().unwrap();
        let built = root.path().join("target/release");
        std::fs::create_dir_all(&built).unwrap();
        symlink(here("..").canonicalize().unwrap(), root.path().join("bindings")).unwrap();
        for library in libraries().both() {
            symlink(library, built.join(library.file_name().unwrap())).unwrap();
        }
        let mut writer = hammerspace::Space::create(root.path().join("fruits")).unwrap().replace().unwrap();
        writer.put("apple", "red").unwrap();
        writer.publish().unwrap();

        let script = block.lines().filter(|line| !line.starts_with("cargo build")).collect::<Vec<_>>().join("\n");
        let script = script.replace("DIRECTORY KEY", "fruits apple");
        let said = c::run(Command::new("sh").args(["-ec", &script]).current_dir(root.path())).unwrap();
        assert_eq!(said, "red\n", "{block}");
    }
}

/// What the page shows is what the samples have.
#[test]
fn the_guide_shows_the_samples() {
    let page = include_str!("../../../../docs/guide/c.md");
    let shown: Vec<&str> = page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let samples = ["read", "publish", "table"].map(|name| std::fs::read_to_string(here(&format!("samples/{name}.c"))));
    let samples = samples.map(Result::unwrap);
    assert!(shown.len() >= 3, "the page shows {} pieces of C", shown.len());
    for piece in shown {
        assert!(samples.iter().any(|sample| sample.contains(piece)), "no sample has this:\n{piece}");
    }
}
