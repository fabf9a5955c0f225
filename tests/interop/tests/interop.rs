//! Every peer writes, every peer goes on with it, every peer indexes it, every peer reads it. See the crate's page.

use std::fs;
use std::path::Path;

use hammerspace_interop::{C, Case, Change, Contents, Format, Java, Ours, Pair, Peer, Result, Twin};
use hammerspace_sparkey::{Compression, HashSize};
use tempfile::TempDir;

const SEEDS: std::ops::Range<u64> = 0..6;
const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Snappy, Compression::Zstd];

type Peers = [Box<dyn Peer>; 3];

fn peers() -> Peers {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../interop-java");
    let java = Java::start(&built).unwrap_or_else(|why| panic!("{why}"));
    [Box::new(Ours), Box::new(C), Box::new(java)]
}

fn scratch() -> (TempDir, Pair) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let pair = Pair::new(directory.path(), "pair");
    (directory, pair)
}

/// Which peers know the compression.
fn able(peers: &Peers, compression: Compression) -> Vec<usize> {
    (0..peers.len()).filter(|&peer| peers[peer].knows(compression)).collect()
}

/// What the reader has wrong, or why it could not read; nothing if it sees just what is right.
fn faults(reader: &mut dyn Peer, pair: &Pair, right: &Contents, probes: &[Vec<u8>]) -> Vec<String> {
    reader.read(pair, probes).map_or_else(|why| vec![why], |seen| right.differences(&seen))
}

/// Fails unless every peer that knows the compression sees just this.
fn read_by_all(
    peers: &mut Peers,
    pair: &Pair,
    compression: Compression,
    right: &Contents,
    probes: &[Vec<u8>],
) -> Result {
    for reader in peers.iter_mut().filter(|peer| peer.knows(compression)) {
        let faults = faults(&mut **reader, pair, right, probes);
        if !faults.is_empty() {
            return Err(format!("{} reads it wrongly: {faults:#?}", reader.name()));
        }
    }
    Ok(())
}

/// One peer creates and indexes, one appends, one indexes again; all read, before the append and after it.
fn exchange(peers: &mut Peers, [creator, appender, indexer]: [usize; 3], case: &Case, format: Format) -> Result {
    let ((_directory, pair), probes) = (scratch(), case.probes());

    peers[creator].create(&pair, format, &case.first)?;
    peers[creator].index(&pair, format.hash_size)?;
    let before = Twin::of(format, &case.first).contents(&probes);
    read_by_all(peers, &pair, format.compression, &before, &probes)?;

    peers[appender].append(&pair, &case.second)?;
    peers[indexer].index(&pair, format.hash_size)?;
    let after = Twin::of(format, &[&case.first[..], &case.second].concat()).contents(&probes);
    read_by_all(peers, &pair, format.compression, &after, &probes)
}

/// The case in all compressions, with every peer in every role.
fn exchange_in_all_roles(peers: &mut Peers, case: &Case) {
    for compression in COMPRESSIONS {
        let format = case.format(compression);
        for roles in roles(&able(peers, compression)) {
            exchange(peers, roles, case, format).unwrap_or_else(|why| {
                let [creator, appender, indexer] = roles.map(|role| peers[role].name());
                let roles = format!("created by {creator}, appended to by {appender}, indexed by {indexer}");
                panic!("{}, {format:?}, {roles}: {why}", case.name)
            });
        }
    }
}

/// Every way to choose three of them, one for each role.
fn roles(able: &[usize]) -> Vec<[usize; 3]> {
    let mut roles = Vec::new();
    for &creator in able {
        for &appender in able {
            roles.extend(able.iter().map(|&indexer| [creator, appender, indexer]));
        }
    }
    roles
}

#[test]
fn random_histories_mean_the_same_to_everybody() {
    let mut peers = peers();
    for seed in SEEDS {
        exchange_in_all_roles(&mut peers, &Case::random(seed));
    }
}

#[test]
fn edges_mean_the_same_to_everybody() {
    let mut peers = peers();
    for case in Case::edges() {
        exchange_in_all_roles(&mut peers, &case);
    }
}

/// What was appended since is invisible to lookups and to iteration.
#[test]
fn an_older_index_shows_the_older_contents() {
    let mut peers = peers();
    let case = Case::random(7);
    let probes = case.probes();
    for compression in COMPRESSIONS {
        let (_directory, pair) = scratch();
        let format = case.format(compression);
        peers[0].create(&pair, format, &case.first).unwrap();
        peers[0].index(&pair, format.hash_size).unwrap();
        peers[0].append(&pair, &case.second).unwrap();
        let older = Twin::of(format, &case.first).contents(&probes);
        for reader in able(&peers, compression) {
            let seen = peers[reader].read(&pair, &probes).unwrap().without_header();
            assert_eq!(older.differences(&seen), [""; 0], "{} on {format:?}", peers[reader].name());
        }
    }
}

/// C's and Java's own writers each fail Java's reader here; ours must not.
#[test]
fn a_delete_longer_than_any_put_is_read_by_everybody() {
    let mut peers = peers();
    let changes = [Change::Put(b"k".to_vec(), b"v".to_vec()), Change::Delete(vec![b'd'; 1000])];
    let probes = [b"k".to_vec(), vec![b'd'; 1000]];
    for compression in COMPRESSIONS {
        let (_directory, pair) = scratch();
        let format = Format { compression, block_size: 64, hash_size: HashSize::Four };
        peers[0].create(&pair, format, &changes).unwrap();
        peers[0].index(&pair, format.hash_size).unwrap();
        for reader in able(&peers, compression) {
            let seen = peers[reader].read(&pair, &probes).unwrap().without_header();
            let right = Twin::of(format, &changes).contents(&probes);
            assert_eq!(right.differences(&seen), [""; 0], "{} on {format:?}", peers[reader].name());
        }
    }
}

/// A comparison that cannot see these faults cannot see any.
#[test]
fn canary_a_wrong_expectation_is_noticed_with_every_reader() {
    let mut peers = peers();
    let case = Case::random(3);
    let (_directory, pair) = scratch();
    let (format, probes) = (case.format(Compression::None), case.probes());
    peers[0].create(&pair, format, &case.first).unwrap();
    peers[0].index(&pair, format.hash_size).unwrap();
    let right = Twin::of(format, &case.first).contents(&probes);
    let mut wrong = [right.clone(), right.clone(), right.clone(), right.clone()];
    wrong[0].live[1].1.push(b'!');
    wrong[1].live.swap(0, 1);
    *wrong[2].found.last_mut().unwrap() = Some(b"never put".to_vec());
    *wrong[3].header.get_mut("max_value_len").unwrap() += 1;
    for reader in &mut peers {
        assert_eq!(faults(&mut **reader, &pair, &right, &probes), [""; 0], "{}", reader.name());
        for (at, wrong) in wrong.iter().enumerate() {
            assert_eq!(faults(&mut **reader, &pair, wrong, &probes).len(), 1, "{} and fault {at}", reader.name());
        }
    }
}

#[test]
fn canary_one_flipped_byte_is_noticed_with_every_reader() {
    let mut peers = peers();
    let changes = [Change::Put(b"k".to_vec(), b"value".to_vec()), Change::Put(b"l".to_vec(), b"other".to_vec())];
    let (_directory, pair) = scratch();
    let format = Format { compression: Compression::None, block_size: 0, hash_size: HashSize::Eight };
    peers[0].create(&pair, format, &changes).unwrap();
    peers[0].index(&pair, format.hash_size).unwrap();
    let mut log = fs::read(&pair.log).unwrap();
    *log.last_mut().unwrap() ^= 1;
    fs::write(&pair.log, log).unwrap();
    let right = Twin::of(format, &changes).contents(&[b"l".to_vec()]);
    for reader in &mut peers {
        let faults = faults(&mut **reader, &pair, &right, &[b"l".to_vec()]);
        assert_eq!(faults.len(), 2, "{} sees it in the walk and in the lookup: {faults:#?}", reader.name());
    }
}

#[test]
fn a_java_peer_that_was_not_built_says_how_to_build_it() {
    let why = Java::start(Path::new("not/built")).err().expect("nothing is there");
    assert!(why.contains("`cargo xtask test`"), "{why}");
}
