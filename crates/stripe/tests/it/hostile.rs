//! Damaged files: an error that helps, or records; never a panic, never for ever.

use std::io::Write;

use hammerspace_error::{Kind, Result};
use hammerspace_os::File;
use hammerspace_stripe::{Compression, Options, Reader, Schema};

use crate::round_trip::striped;

fn read(bytes: &[u8]) -> Result<usize> {
    let mut file = File::without_name("hostile")?;
    file.write_all(bytes).unwrap();
    let reader = Reader::new(file)?;
    let leaves: Vec<usize> = (0..reader.schema().leaves().len()).collect();
    let mut len = 0;
    reader.unstripe(&leaves, 1, |some| {
        len += some.len();
        Ok(())
    })?;
    Ok(len)
}

#[test]
fn a_damaged_file_is_an_error_that_helps_or_gives_records() {
    let schema = "message m { required int32 a; optional binary s (STRING); repeated group g { optional double d; repeated int64 n; } }";
    let schema = Schema::parse(schema).unwrap();
    let lines = "{\"a\":1,\"s\":\"x\",\"g\":[{\"d\":1.5,\"n\":[1,2]},{}]}\n{\"a\":2}\n{\"a\":3,\"s\":\"x\"}\n";
    let mut refused = 0;
    for compression in Compression::ALL {
        let file = striped(&schema, lines, &Options { compression, workers: 1, ..Options::default() });
        let whole = std::fs::read(file.path()).unwrap();
        let cut = (0..whole.len()).map(|len| whole[..len].to_vec());
        let changed = (0..whole.len()).flat_map(|at| [0, 0x7f, 0xff, whole[at] ^ 1].map(|byte| (at, byte)));
        let changed = changed.map(|(at, byte)| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            bytes
        });
        for bytes in cut.chain(changed) {
            if let Err(error) = read(&bytes) {
                refused += 1;
                assert!(matches!(error.kind(), Kind::Corrupt | Kind::Unsupported), "{error:?}");
                assert!(error.advice().is_some_and(|advice| !advice.is_empty()), "no remedy: {error}");
            }
        }
    }
    assert!(refused > 3000, "{refused} files were refused");
}
