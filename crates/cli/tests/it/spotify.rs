//! Spotify's own tool beside ours: same words, same standard output, same exit code.
//!
//! Its source comes with the crate `sparkey-sys`, which the rivals depend on; it is compiled here, and needs a C compiler
//! and `libsnappy-dev`. It knows no zstd. Identifiers and seeds are random, so lines that depend on them are masked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use fastrand::Rng;

use crate::ran::{Place, Ran};

/// The tool, compiled once.
fn spotify() -> &'static Path {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    TOOL.get_or_init(|| {
        let (source, tool) = (source(), Path::new(env!("CARGO_TARGET_TMPDIR")).join("spotify-sparkey"));
        let files = std::fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path());
        // The rest are programs of their own: a benchmark and tests.
        let parts = files.filter(|path| {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            path.extension() == Some("c".as_ref()) && !stem.starts_with("test") && stem != "bench"
        });
        let compiled = Command::new("cc")
            .args(["-std=gnu99", "-O1", "-w", "-o"])
            .arg(&tool)
            .arg("-I")
            .arg(&source)
            .args(parts)
            .arg("-lsnappy")
            .output()
            .expect("a C compiler: apt-get install gcc libc6-dev libsnappy-dev");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{said}\napt-get install gcc libc6-dev libsnappy-dev");
        tool
    })
}

/// Where cargo keeps the C sources.
fn source() -> PathBuf {
    let metadata = Command::new(env!("CARGO")).args(["metadata", "--format-version=1", "--locked"]).output().unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("cargo metadata");
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "sparkey-sys").expect("a rival of ours");
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().join("sparkey/src")
}

/// Two directories in which the same is done, by their tool and by ours.
struct Beside {
    theirs: Place,
    ours: Place,
}

impl Beside {
    fn new() -> Self {
        Self { theirs: Place::new(), ours: Place::new() }
    }

    fn run(&self, line: &str, input: &[u8]) -> [Ran; 2] {
        let words: Vec<&str> = line.split_whitespace().collect();
        [self.theirs.feed(spotify(), &words, input), self.ours.feed(&self.ours.sparkey, &words, input)]
    }

    /// Does it on both sides, and compares what must be equal.
    #[track_caller]
    fn same(&self, line: &str, input: &[u8]) {
        let [theirs, ours] = self.run(line, input).map(|ran| essence(&ran));
        assert_eq!(ours, theirs, "sparkey {line}");
    }
}

/// Exit code and standard output, less what is random, and less the size of packed data: the two snappy encoders find
/// different matches now and then.
fn essence(ran: &Ran) -> (i32, String) {
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let packed = stdout.contains("Compression: Snappy");
    let masked = |line: &str| match line.split_once(": ") {
        Some(("Identifier" | "Num collisions", _)) => "(random)\n".into(),
        Some(("Data size", sizes)) if packed => format!("{}\n", sizes.split_once(", ").map_or(sizes, |(_, rest)| rest)),
        _ => format!("{line}\n"),
    };
    (ran.code, stdout.lines().map(masked).collect())
}

const CALLS: [&str; 55] = [
    "",
    "info",
    "get",
    "get x.spi",
    "writehash",
    "createlog",
    "appendlog",
    "rewrite",
    "rewrite x.spi",
    "no-such-verb",
    "createlog a.spl",
    "createlog -c none -b 16 b.spl",
    "createlog -c snappy c.spl",
    "createlog -csnappy -b100 d.spl",
    "createlog e.spl -c snappy -b 1073741824",
    "createlog -c lzma f.spl",
    "createlog -b 15 f.spl",
    "createlog -b 1073741825 f.spl",
    "createlog -b many f.spl",
    "createlog -c",
    "createlog -x f.spl",
    "createlog no/such/directory/f.spl",
    "info a.spl b.spl c.spl d.spl e.spl",
    "info a.spl f.spl b.spl",
    "writehash a.spl",
    "writehash c.spl",
    "writehash f.spl",
    "writehash a.spi",
    "writehash a",
    "info a.spi c.spi",
    "info a.spi a.spl bin/sparkey",
    "get a.spi key",
    "get c.spi key",
    "get a.spl key",
    "get f.spi key",
    "get b.spi key",
    "appendlog f.spl",
    "appendlog -d ab a.spl",
    "appendlog -d",
    "appendlog -x a.spl",
    "rewrite a.spi a.spi",
    "rewrite a.spi g",
    "rewrite a g.spi",
    "rewrite f.spi g.spi",
    // The last of an option counts.
    "createlog -c snappy -c none -b 32 h.spl",
    "createlog -b 32 -b 64 -c none -csnappy i.spl",
    "info h.spl i.spl",
    "appendlog -d : -d , a.spl",
    // Words that a verb has no use for.
    "createlog j.spl k.spl",
    "info j.spl k.spl",
    "writehash j.spl a b",
    "get j.spi key another",
    "appendlog j.spl k.spl",
    "rewrite j.spi l.spi m.spi",
    "info l.spl m.spl",
];

#[test]
fn calls_right_and_wrong_end_alike() {
    let beside = Beside::new();
    for line in CALLS {
        beside.same(line, b"");
    }
}

#[test]
fn lines_are_taken_alike() {
    let beside = Beside::new();
    beside.same("createlog a.spl", b"");
    for (options, input) in [
        ("", &b"k\tv\nl\tw\tw\n"[..]),
        ("", b""),
        ("", b"\t\tk\tv\n"),
        ("", b"k\t\tv\n"),
        ("-d :", b"x:1\ny::2\nz:3:\n"),
        ("-d :", b"good:1\nbad\nlost:2\n"),
        ("", b"good2\t1\nbad\t\nlost\t2\n"),
        ("", b"\n"),
        ("", b"\tonly\n"),
        ("-d k", b"akb\n"),
        ("", b"k\t\xff\xfe\r\n"),
    ] {
        beside.same(&format!("appendlog {options} a.spl"), input);
        beside.same("info a.spl", b"");
    }
    beside.same("writehash a.spl", b"");
    beside.same("info a.spi", b"");
    for key in ["k", "l", "x", "y", "z", "good", "good2", "lost", "bad", "only", "a", "\u{fffd}"] {
        beside.same(&format!("get a.spi {key}"), b"");
    }
    assert_eq!(without_identifier(beside.ours.read("a.spl")), without_identifier(beside.theirs.read("a.spl")));
}

fn without_identifier(mut log: Vec<u8>) -> Vec<u8> {
    log[12..16].fill(0);
    log
}

/// Random lines for `appendlog`, and their keys.
fn lines(rng: &mut Rng) -> (Vec<u8>, Vec<String>) {
    let (mut lines, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..rng.usize(1..200) {
        let key = format!("key{}", rng.u32(..100_000));
        let value: String = (0..rng.usize(1..300)).map(|_| rng.alphanumeric()).collect();
        lines.extend_from_slice(format!("{key}\t{value}\n").as_bytes());
        keys.push(key);
    }
    (lines, keys)
}

#[test]
fn either_goes_on_with_what_the_other_wrote() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    for options in ["-c none", "-c snappy -b 64", "-c snappy -b 4096"] {
        let beside = Beside::new();
        let (first, mut keys) = lines(&mut rng);
        let (second, more) = lines(&mut rng);
        keys.extend(more);
        beside.same(&format!("createlog {options} a.spl"), b"");
        beside.same("appendlog a.spl", &first);
        swap(&beside, "a.spl");
        beside.same("appendlog a.spl", &second);
        beside.same("writehash a.spl", b"");
        beside.same("info a.spl a.spi", b"");
        swap(&beside, "a.spl");
        swap(&beside, "a.spi");
        for key in keys.iter().step_by(20) {
            beside.same(&format!("get a.spi {key}"), b"");
        }
        beside.same("get a.spi nothing", b"");
        beside.same("rewrite -c snappy -b 128 a.spi b.spi", b"");
        swap(&beside, "b.spl");
        swap(&beside, "b.spi");
        for key in keys.iter().step_by(20) {
            beside.same(&format!("get b.spi {key}"), b"");
        }
    }
}

/// Each side gets the other's file.
fn swap(beside: &Beside, name: &str) {
    let (theirs, ours) = (beside.theirs.read(name), beside.ours.read(name));
    beside.theirs.write(name, ours);
    beside.ours.write(name, theirs);
}

#[test]
fn golden_files_are_described_and_read_byte_for_byte_alike() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/sparkey");
    let place = Place::new();
    let mut compared = 0;
    for entry in std::fs::read_dir(golden).unwrap() {
        let index = entry.unwrap().path();
        if index.extension() != Some("spi".as_ref()) {
            continue;
        }
        let (log, index) = (index.with_extension("spl"), index.to_str().unwrap().to_owned());
        let described = both(&place, &["info", log.to_str().unwrap(), &index]);
        // Their tool of 2014 refuses zstd, and counts that compression makes legal.
        if described[0].code != 0 {
            continue;
        }
        assert_eq!(described[0].stdout, described[1].stdout, "info {index}");
        for key in some_keys(&place, &index).iter().chain(["absent".into()].iter()) {
            let [theirs, ours] = both(&place, &["get", &index, key]);
            assert_eq!((theirs.code, theirs.stdout), (ours.code, ours.stdout), "get {index} {key}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} lookups were compared");
}

fn both(place: &Place, words: &[&str]) -> [Ran; 2] {
    [spotify(), &place.sparkey].map(|tool| place.feed(tool, words, b""))
}

/// Keys that can stand on a command line.
fn some_keys(place: &Place, index: &str) -> Vec<String> {
    let dumped = place.words(&["sparkey", "dump", index, "--json"]).ends(0).objects();
    let keys = dumped.iter().filter_map(|object| object["key"].as_str());
    keys.filter(|key| !key.is_empty() && !key.contains('\0')).step_by(1 + dumped.len() / 5).map(String::from).collect()
}

/// A comparison that cannot see these differences sees none.
#[test]
fn canary_another_output_or_code_is_noticed() {
    let beside = Beside::new();
    beside.run("createlog a.spl", b"");
    beside.ours.sparkey("createlog -c snappy a.spl").ends(0);
    let [theirs, ours] = beside.run("info a.spl", b"");
    assert_ne!(essence(&theirs), essence(&ours));
    std::fs::remove_file(beside.ours.path().join("a.spl")).unwrap();
    let [theirs, ours] = beside.run("info a.spl", b"");
    assert_ne!(essence(&theirs), essence(&ours));
}
