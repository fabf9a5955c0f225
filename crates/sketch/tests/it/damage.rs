//! Bytes that are no value: refused with kind, offset and remedy, in time and memory that the bytes justify.

use fastrand::Rng;
use hammerspace_error::{Error, Kind as ErrorKind};
use hammerspace_sketch::hll::{Hll, HllBuf, Params, hash};

/// Parameters of 8 bits: log2m 4, regwidth 4, and of 5: log2m 4, regwidth 1.
const BYTES: u8 = 3 << 5 | 4;
const BITS: u8 = 4;

fn refused(bytes: &[u8]) -> Error {
    let error = Hll::parse(bytes).map(|hll| panic!("{bytes:02x?} is read as {hll:?}")).unwrap_err();
    assert!(error.advice().is_some_and(|advice| !advice.is_empty()), "{error}");
    error
}

#[test]
fn every_rule_of_the_format_is_kept_by_name_and_offset() {
    let list =
        |first: u64, second: u64| [&[0x12, 0x8b, 0x7f][..], &first.to_be_bytes(), &second.to_be_bytes()].concat();
    let cases: &[(&[u8], u64, &str)] = &[
        (&[], 0, "an HLL of 0 bytes; the header alone has 3"),
        (&[0x11, 0x8b], 2, "an HLL of 2 bytes; the header alone has 3"),
        (&[0x01, 0x8b, 0x7f], 0, "an HLL of schema version 0; the first is 1"),
        (&[0x15, 0x8b, 0x7f], 0, "an HLL of kind 5; the last is 4, FULL"),
        (&[0x11, 0x83, 0x7f], 1, "an HLL with a log2m of 3; the least is 4"),
        (&[0x11, 0x8b, 0x60], 2, "an HLL with a cutoff of 32; it is 0 to 31, or 63"),
        (&[0x11, 0x8b, 0x3e], 2, "an HLL with a cutoff of 62; it is 0 to 31, or 63"),
        (&[0x10, 0x8b, 0x7f, 0], 3, "an UNDEFINED HLL of 4 bytes; it has 3"),
        (&[0x11, 0x8b, 0x7f, 0], 3, "an EMPTY HLL of 4 bytes; it has 3"),
        (&list(1, 2)[..18], 11, "an EXPLICIT HLL with 7 bytes of a hash at its end; a hash has 8"),
        (&list(7, 7), 11, "an EXPLICIT HLL with hashes that do not ascend"),
        (&list(7, u64::MAX), 11, "an EXPLICIT HLL with hashes that do not ascend"),
        (&[0x13, BYTES, 0x7f, 0x11, 0x20], 4, "a SPARSE HLL with a word of rank 0"),
        (&[0x13, BYTES, 0x7f, 0x11, 0x11], 4, "a SPARSE HLL with indices that do not ascend"),
        (&[0x13, BYTES, 0x7f, 0x21, 0x11], 4, "a SPARSE HLL with indices that do not ascend"),
        (&[0x13, 0x8b, 0x7f, 0, 0x21, 0], 5, "a SPARSE HLL with a whole byte behind its last word"),
        (&[0x13, BITS, 0x7f, 0b0000_1001], 3, "a SPARSE HLL with bits behind its last word"),
        (&[0x14, BYTES, 0x7f, 1, 2, 3], 6, "a FULL HLL of 6 bytes; with its parameters it has 11"),
        (&[0x14, BITS, 0x7f, 1, 2, 3], 5, "a FULL HLL of 6 bytes; with its parameters it has 5"),
        (&[0x14, 0xff, 0x7f], 3, "a FULL HLL of 3 bytes; with its parameters it has 2147483651"),
    ];
    for (bytes, offset, finding) in cases {
        let error = refused(bytes);
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Corrupt, Some(*offset)), "{error}");
        assert_eq!(error.finding(), *finding);
        assert!(HllBuf::read(bytes).is_err());
    }
    let error = refused(&[0x21, 0x8b, 0x7f]);
    assert_eq!(
        (error.kind(), error.finding()),
        (ErrorKind::Unsupported, "an HLL of schema version 2; this build reads 1")
    );
    assert!(Hll::parse(&list(u64::MAX, 7)).is_ok(), "hashes ascend as signed numbers");
}

/// What other writers may leave: the reserved bit, an empty list, a list over its limit, an early FULL.
#[test]
fn what_other_writers_leave_is_read_and_written_by_our_rule() {
    let reads_as =
        |bytes: &[u8], ours: &[u8]| assert_eq!(HllBuf::read(bytes).unwrap().as_bytes(), ours, "{bytes:02x?}");
    reads_as(&[0x11, 0x8b, 0xff], &[0x11, 0x8b, 0x7f]);
    reads_as(&[0x12, 0x8b, 0x7f], &[0x11, 0x8b, 0x7f]);
    let two = [&[0x12, BYTES, 0x41][..], &0x35_u64.to_be_bytes(), &0x46_u64.to_be_bytes()].concat();
    reads_as(&two, &[0x13, BYTES, 0x41, 0x51, 0x63]);
    reads_as(&[0x14, BYTES, 0x40, 0, 0, 0x01, 0x03, 0, 0, 0, 0], &[0x13, BYTES, 0x40, 0x51, 0x73]);
    reads_as(&[0x13, BYTES, 0x00, 0x51, 0x73], &[0x14, BYTES, 0x00, 0, 0, 0x01, 0x03, 0, 0, 0, 0]);
    // Register 0 is not lost to the padding, which looks like a word of its own.
    reads_as(&[0x13, BITS, 0x40, 0x0c, 0x40], &[0x13, BITS, 0x40, 0x0c, 0x40]);
    assert_eq!(Hll::parse(&[0x13, BITS, 0x40, 0x0c, 0x40]).unwrap().estimate().map(f64::round), Some(2.0));
}

/// A header may claim 2^31 registers. What has three bytes takes no memory for them.
#[test]
fn the_largest_parameters_cost_what_their_content_does() {
    let params = Params::new(31, 8, 0, true).unwrap();
    let mut hll = HllBuf::new(params);
    for element in 0..1000 {
        hll.add(hash::bigint(element, 0));
    }
    assert_eq!(hll.as_bytes().len(), 3 + (39_usize * 1000).div_ceil(8));
    assert!((hll.as_hll().estimate().unwrap() - 1000.0).abs() < 1.0);
    let mut union = HllBuf::read(&[0x11, 0xff, 0x7f]).unwrap();
    assert!(union.union(&hll.as_hll()).unwrap());
    assert_eq!(union.as_bytes()[3..], hll.as_bytes()[3..]);
}

/// Bytes that were never checked may give wrong answers, but no panic.
#[test]
fn nothing_panics_on_bytes_that_were_not_checked() {
    let mut rng = Rng::with_seed(4);
    let mut opened = 0;
    for _ in 0..50_000 {
        let mut bytes: Vec<u8> = (0..rng.usize(3..40)).map(|_| rng.u8(..)).collect();
        bytes[0] = 0x10 | rng.u8(..5);
        bytes[1] = bytes[1] & 0xe0 | rng.u8(4..6);
        bytes[2] = [0x40, 0x7f, 0x42, 0x3f][rng.usize(..4)];
        let Ok(mut hll) = HllBuf::open(bytes.clone()) else { continue };
        opened += 1;
        let other = hll.clone();
        let _ = (hll.as_hll().estimate(), hll.as_hll().absorbs(7));
        let hashes: Vec<u64> = (0..rng.usize(..40)).map(|_| rng.u64(..)).collect();
        hll.add_many(&hashes);
        hll.union(&other.as_hll()).unwrap();
        let _ = hll.as_hll().estimate();
        let _ = HllBuf::from(&other.as_hll());
    }
    assert!(opened > 1000, "{opened}");
}
