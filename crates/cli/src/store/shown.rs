//! Records as they are shown: to people as bytes, with `--json` with all that is known of them.

use hammerspace::store::{Meta, OwnedKey, Value, ValueKind};
use serde_json::{Map, Value as Json, json};

use crate::output::Pair;

/// A key as it is shown: integers in decimal.
pub(crate) fn shown_key(key: &OwnedKey) -> Vec<u8> {
    match key {
        OwnedKey::Integer(key) => key.to_string().into_bytes(),
        OwnedKey::Bytes(bytes) => bytes.clone(),
    }
}

/// A value as it is shown: numbers in decimal.
pub(crate) fn shown_value(value: &Value) -> Vec<u8> {
    value.number().map_or_else(|| value.bytes.clone(), |number| number.to_string().into_bytes())
}

/// A record as JSON: which of two keys it is that look alike, and what conditions and programs go by.
pub(crate) fn record(key: &OwnedKey, value: Option<&Value>) -> Map<String, Json> {
    let shown = json!(Pair { key: &shown_key(key), value: value.map(shown_value).as_deref() });
    let is_integer = json!({ "integer": matches!(key, OwnedKey::Integer(_)) });
    let meta = value.map_or(Json::Null, |value| described(value.meta));
    [shown, is_integer, meta].into_iter().filter_map(|fields| fields.as_object().cloned()).flatten().collect()
}

/// The last instant that can be written with four digits for the year, at the end of 9999: records may expire later.
fn last_shown() -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(253_402_300_799_999)
}

/// What is known of a record, as JSON.
pub(crate) fn described(meta: Meta) -> Json {
    let expiry = meta.expiry.map(|expiry| humantime::format_rfc3339_millis(expiry.min(last_shown())).to_string());
    let mut described = json!({ "kind": meta.kind.name(), "version": meta.version, "expiry": expiry });
    if let ValueKind::Other(code) = meta.kind {
        described["kind_code"] = code.into();
    }
    described
}
