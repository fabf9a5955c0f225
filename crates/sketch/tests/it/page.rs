//! `docs/format/hll.md` held against the code.

use hammerspace_sketch::hll::{FIELDS, HllBuf, Kind, Params, hash};
use hammerspace_testkit::page;

const PAGE: &str = include_str!("../../../../docs/format/hll.md");

#[test]
fn the_header_is_what_its_page_says() {
    assert_eq!(page::fields(PAGE, "Header"), FIELDS);
}

#[test]
fn the_kinds_are_what_their_page_says() {
    let rows = page::rows(PAGE, "Kinds");
    assert_eq!(rows.len(), Kind::ALL.len());
    for (row, kind) in rows.iter().zip(Kind::ALL) {
        assert_eq!((row[0], row[1]), (&*(kind as u8).to_string(), kind.name()));
    }
}

#[test]
fn the_parameters_have_the_range_and_the_default_of_their_page() {
    let rows = page::rows(PAGE, "Parameters");
    let default = Params::default();
    let defaults = [
        default.log2m().to_string(),
        default.regwidth().to_string(),
        default.expthresh().to_string(),
        u8::from(default.sparseon()).to_string(),
    ];
    for (row, number) in rows.iter().zip(defaults) {
        assert_eq!(row[3], number, "{}", row[0]);
    }
    let takes = |log2m: u32, regwidth: u32| Params::new(log2m, regwidth, -1, true).is_ok();
    let range = |cell: &str| -> Vec<u32> { cell.split(" to ").map(|number| number.parse().unwrap()).collect() };
    let (log2m, regwidth) = (range(rows[0][2]), range(rows[1][2]));
    assert_eq!((0..40).filter(|log2m| takes(*log2m, 5)).collect::<Vec<_>>(), (log2m[0]..=log2m[1]).collect::<Vec<_>>());
    let widths: Vec<u32> = (0..40).filter(|regwidth| takes(11, *regwidth)).collect();
    assert_eq!(widths, (regwidth[0]..=regwidth[1]).collect::<Vec<_>>());
}

#[test]
fn the_examples_are_what_the_code_writes() {
    let list = page::hex(PAGE, "EXPLICIT, by example");
    let mut hll = HllBuf::new(Params::default());
    hll.add_many(&[hash::bigint(1, 0), hash::bigint(2, 0)]);
    assert_eq!(hll.as_bytes(), list);

    let sparse = page::hex(PAGE, "SPARSE, by example");
    let mut hll = HllBuf::new(Params::new(11, 6, 0, true).unwrap());
    hll.add(11 + (1 << (11 + 5)));
    hll.add(1099 + (1 << (11 + 18)));
    assert_eq!(hll.as_bytes(), sparse);

    let full = page::hex(PAGE, "FULL, by example");
    let mut hll = HllBuf::new(Params::new(4, 5, 0, false).unwrap());
    hll.add_many(&(1..=8).map(|element| hash::bigint(element, 0)).collect::<Vec<_>>());
    assert_eq!(hll.as_bytes(), full);
}
