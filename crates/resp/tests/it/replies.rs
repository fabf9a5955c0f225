//! What the encoder writes, the decoder reads.

use hammerspace_resp::{DEPTH_MAX, Encoder, ProtocolError, Value, Version, decode};

fn written(version: Version, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Encoder::new(&mut out, version));
    out
}

fn everything(encoder: &mut Encoder<'_>) {
    encoder.array(12);
    encoder.simple("OK");
    encoder.error("ERR two\r\nlines");
    encoder.integer(-7);
    encoder.bulk(b"a\r\nb");
    encoder.null();
    encoder.null_array();
    encoder.map(1);
    encoder.bulk(b"key");
    encoder.set(1);
    encoder.integer(1);
    encoder.push(0);
    encoder.boolean(true);
    encoder.double(0.5);
    encoder.double(f64::NEG_INFINITY);
    encoder.verbatim("text");
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.into())
}

#[test]
fn a_client_of_either_version_reads_the_same() {
    let common = || {
        let texts = [Value::Simple("OK".into()), Value::Error("ERR two  lines".into())];
        let rest = [Value::Integer(-7), bulk("a\r\nb"), Value::Null, Value::Null];
        texts.into_iter().chain(rest).collect::<Vec<_>>()
    };
    let one = || vec![Value::Integer(1)];
    let third = [
        Value::Map(vec![(bulk("key"), Value::Set(one()))]),
        Value::Push(vec![]),
        Value::Boolean(true),
        Value::Double(0.5),
        Value::Double(f64::NEG_INFINITY),
        bulk("text"),
    ];
    let second = [
        Value::Array(vec![bulk("key"), Value::Array(one())]),
        Value::Array(vec![]),
        Value::Integer(1),
        bulk("0.5"),
        bulk("-inf"),
        bulk("text"),
    ];
    for (version, rest) in [(Version::Two, second), (Version::Three, third)] {
        let bytes = written(version, everything);
        let wanted = Value::Array(common().into_iter().chain(rest).collect());
        assert_eq!(decode(&bytes), Ok(Some((wanted, bytes.len()))), "{version:?}");
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), Ok(None), "{len} bytes of {version:?}");
        }
    }
}

/// Which takes the stack of no thread, and memory for no claim.
#[test]
fn what_is_nested_too_deep_or_claims_too_much_is_bounded() {
    let nested = b"*1\r\n".repeat(DEPTH_MAX + 2);
    assert_eq!(decode(&nested), Err(ProtocolError::Reply));
    assert_eq!(decode(b"*9223372036854775807\r\n"), Ok(None));
    assert_eq!(decode(b"$9223372036854775807\r\n"), Ok(None));
    for bad in [&b"?\r\n"[..], b"\r\n", b":x\r\n", b"$-2\r\n", b"#x\r\n", b"$1\r\nabc"] {
        assert_eq!(decode(bad), Err(ProtocolError::Reply), "{}", bad.escape_ascii());
    }
}
