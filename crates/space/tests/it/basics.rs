//! Does it feel like a hash map?

use hammerspace_space::{Compression, Kind, Options, Space};

use crate::support::{contents, publish, quick, scratch, seen, version_dirs};

#[test]
fn a_new_space_is_empty_and_a_missing_directory_an_error() {
    let scratch = scratch();
    let missing = scratch.path().join("missing");
    let error = Space::open(&missing).unwrap_err();
    assert_eq!(error.kind(), Kind::Missing);
    assert!(error.to_string().contains("missing") && error.advice().is_some(), "{error}");

    let space = Space::create(&missing).unwrap();
    assert!(space.is_empty() && space.get("a").unwrap().is_none() && space.snapshot().iter().next().is_none());
    assert_eq!((space.snapshot().number(), space.snapshot().uid()), (None, None));
    assert!(Options::new().keep(0).open(&missing).is_err());
}

#[test]
fn the_format_page_shows_what_is_written() {
    let scratch = scratch();
    let page = include_str!("../../../../docs/format/space.md");
    publish(&quick().create(scratch.path()).unwrap(), &[("a", "1")]);
    let lock = std::fs::read(scratch.path().join("hammerspace.lock")).unwrap();
    assert_eq!(lock[..24], hammerspace_testkit::page::hex(page, "Lock page"));
    assert_eq!((lock.len(), lock[24..].iter().all(|byte| *byte == 0)), (4096, true));
    let stamp = std::fs::read(scratch.path().join("current/hammerspace.version")).unwrap();
    assert_eq!(stamp, hammerspace_testkit::page::hex(page, "Stamp"));
}

#[test]
fn the_last_write_of_a_key_counts() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    writer.put("a", "1").unwrap();
    writer.put("b", "2").unwrap();
    writer.put("a", "3").unwrap();
    writer.delete("b").unwrap();
    writer.delete("never there").unwrap();
    writer.put("", "empty key").unwrap();
    writer.put("empty value", "").unwrap();
    writer.publish().unwrap();

    assert!(space.refresh().unwrap());
    assert_eq!(space.len(), 3);
    assert_eq!(space.get("a").unwrap().unwrap(), b"3");
    assert_eq!(space.get("").unwrap().unwrap(), b"empty key");
    assert_eq!(space.get("empty value").unwrap().unwrap(), b"");
    assert!(!space.contains("b").unwrap());
    let many = space.get_many(&["a", "b", ""]).unwrap();
    assert_eq!(
        many.iter().map(|value| value.as_deref()).collect::<Vec<_>>(),
        [Some(&b"3"[..]), None, Some(b"empty key")]
    );
}

#[test]
fn values_compare_and_serve_as_keys_like_the_bytes_they_are() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "1"), ("b", "1")]);
    space.refresh().unwrap();
    let [a, b] = ["a", "b"].map(|key| space.get(key).unwrap().unwrap());
    assert!(a == b && a == "1" && a == b"1" && a == *b"1".as_slice() && a != "2");
    assert!(std::collections::HashSet::from([a]).contains(&b"1"[..]));
    let snapshot = space.snapshot();
    assert_eq!(snapshot.get("b").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!((&snapshot).into_iter().count(), 2);
}

#[test]
fn update_starts_from_current_and_replace_from_nothing() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "1"), ("b", "2")]);

    let mut update = space.writer().unwrap();
    update.put("c", "3").unwrap();
    update.publish().unwrap();
    assert_eq!(seen(scratch.path()).len(), 3);

    publish(&space, &[("d", "4")]);
    assert_eq!(seen(scratch.path()).into_keys().collect::<Vec<_>>(), [b"d"]);
}

#[test]
fn the_last_to_publish_wins_as_a_whole() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut first = space.writer().unwrap();
    first.put("color", "red").unwrap();
    let mut second = space.writer().unwrap();
    second.put("color", "blue").unwrap();
    second.put("fruit", "banana").unwrap();

    assert_eq!(second.publish().unwrap(), 1);
    assert_eq!(seen(scratch.path()).len(), 2);
    assert_eq!(first.publish().unwrap(), 2);
    assert_eq!(seen(scratch.path()).into_iter().collect::<Vec<_>>(), [(b"color".to_vec(), b"red".to_vec())]);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing_behind() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    let mut writer = space.writer().unwrap();
    writer.put("a", vec![b'x'; 3 << 20]).unwrap();
    assert_eq!(version_dirs(scratch.path()).len(), 1);
    drop(writer);
    assert_eq!(version_dirs(scratch.path()).len(), 0);
}

#[test]
fn an_update_that_is_mostly_garbage_is_written_anew() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    for round in 0..40 {
        let mut writer = space.writer().unwrap();
        writer.put("key", format!("{round:0100}")).unwrap();
        writer.put(format!("other {}", round % 3), [round; 50]).unwrap();
        writer.publish().unwrap();
    }
    space.refresh().unwrap();
    let header = space.snapshot().log_header().unwrap().clone();
    assert!(header.num_puts < 12, "at most as much garbage as data, and a write on top: {header:?}");
    assert_eq!(space.len(), 4);
}

#[test]
fn compression_is_kept_by_updates_and_changed_by_options() {
    let scratch = scratch();
    let compressed = quick().compression(Compression::Zstd).block_size(1000).create(scratch.path()).unwrap();
    let pairs: Vec<(String, String)> = (0..500).map(|n| (format!("key {n}"), format!("value {n} {n} {n}"))).collect();
    let mut writer = compressed.writer().unwrap();
    for (key, value) in &pairs {
        writer.put(key, value).unwrap();
    }
    writer.publish().unwrap();

    let plain = quick().open(scratch.path()).unwrap();
    let mut writer = plain.writer().unwrap();
    writer.put("key 7", "new").unwrap();
    writer.publish().unwrap();
    plain.refresh().unwrap();
    let header = plain.snapshot().log_header().unwrap().clone();
    assert_eq!((header.compression, header.block_size), (Compression::Zstd, 1000));
    assert_eq!(plain.get("key 7").unwrap().unwrap(), b"new");
    let before = contents(&plain.snapshot()).unwrap();

    let snappy = quick().compression(Compression::Snappy).open(scratch.path()).unwrap();
    snappy.writer().unwrap().publish().unwrap();
    snappy.refresh().unwrap();
    assert_eq!(snappy.snapshot().log_header().unwrap().compression, Compression::Snappy);
    assert_eq!(contents(&snappy.snapshot()).unwrap(), before);
}

#[test]
fn a_space_without_compression_can_get_one() {
    let scratch = scratch();
    publish(&quick().create(scratch.path()).unwrap(), &[("a", "1")]);
    let zstd = quick().compression(Compression::Zstd).open(scratch.path()).unwrap();
    zstd.writer().unwrap().publish().unwrap();
    zstd.refresh().unwrap();
    let snapshot = zstd.snapshot();
    let header = snapshot.log_header().unwrap();
    assert_eq!((header.compression, header.block_size, snapshot.len()), (Compression::Zstd, 4096, 1));
}

#[test]
fn one_handle_serves_many_threads() {
    let scratch = scratch();
    let space = quick().create(scratch.path()).unwrap();
    publish(&space, &[("a", "0"), ("b", "0")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut latest = 0;
                while latest < 50 {
                    space.refresh().unwrap();
                    let snapshot = space.snapshot();
                    let read = |key: &str| -> u32 {
                        String::from_utf8(snapshot.get(key.as_bytes()).unwrap().unwrap().to_vec())
                            .unwrap()
                            .parse()
                            .unwrap()
                    };
                    assert_eq!(read("a"), read("b"), "a snapshot is one version");
                    assert!(read("a") >= latest, "time does not run backwards");
                    latest = read("a");
                }
            });
        }
        for round in 1..=50 {
            let round = round.to_string();
            publish(&space, &[("a", &round), ("b", &round)]);
        }
    });
}

/// In each way that a writer can start: empty, going on from a log, and writing one anew because its packing changes.
#[test]
fn a_writer_is_asked_what_it_would_publish() {
    for (first, then) in [(Compression::None, Compression::None), (Compression::None, Compression::Zstd)] {
        let scratch = scratch();
        publish(&quick().compression(first).create(scratch.path()).unwrap(), &[("kept", "1"), ("gone", "2")]);
        let space = quick().compression(then).create(scratch.path()).unwrap();
        let mut writer = space.writer().unwrap();
        writer.put("early", "3").unwrap();
        writer.delete("gone").unwrap();
        let mut ask = |key: &str, then: Option<&str>| {
            assert_eq!(writer.get(key).unwrap().as_deref(), then.map(str::as_bytes), "{key} of {first:?} to {then:?}");
        };
        ask("kept", Some("1"));
        ask("gone", None);
        ask("early", Some("3"));
        ask("never", None);
        writer.put("late", "4").unwrap();
        writer.put("gone", "5").unwrap();
        writer.delete("early").unwrap();
        let asked = ["kept", "gone", "early", "late"].map(|key| writer.get(key).unwrap());
        assert_eq!(writer.count().unwrap(), 3);
        let keys = writer.keys().unwrap();
        writer.publish().unwrap();
        space.refresh().unwrap();
        let published =
            ["kept", "gone", "early", "late"].map(|key| space.get(key).unwrap().map(|value| value.to_vec()));
        assert_eq!(asked, published);
        assert_eq!(space.len(), 3);
        let order: Vec<_> = space.snapshot().iter().map(|pair| pair.unwrap().0.into_owned()).collect();
        assert_eq!(keys, order);
    }
}
