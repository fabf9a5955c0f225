//! From a value to the name of its file.
//!
//! | value | name, before the dot |
//! |---|---|
//! | text that can name a file | itself |
//! | with `/`, `%`, a control character, or a `.`, `_` or `-` at its beginning | the same, those bytes as `%2F` |
//! | none, or null | `_missing` |
//! | the empty text | `_empty` |
//! | longer than 200 bytes, or no value that can be gone by | `_unfit` |
//!
//! So two values have one name only in `_unfit`, and no value reaches out of the directory or hides in it.

use std::fmt::Write;

use crate::by::Value;

/// Bytes of a name: file systems take 255, and an extension follows.
const LEN_MAX: usize = 200;
const UNFIT: &str = "_unfit";

/// The name of a value's file, without extension.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    /// The name of the file for a value.
    pub fn of(value: &Value) -> Self {
        Self(match value {
            Value::Missing => "_missing".into(),
            Value::Unfit => UNFIT.into(),
            Value::Text(text) if text.is_empty() => "_empty".into(),
            Value::Text(text) => {
                Some(escaped(text)).filter(|name| name.len() <= LEN_MAX).unwrap_or_else(|| UNFIT.into())
            }
        })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, if this is its name alone without being the value as it stands.
    pub fn stands_for<'v>(&self, value: &'v Value) -> Option<&'v str> {
        match value {
            Value::Text(text) if *text != self.0 && self.0 != UNFIT => Some(text),
            _ => None,
        }
    }
}

fn escaped(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        if c.is_control() || matches!(c, '/' | '%') || (at == 0 && matches!(c, '.' | '_' | '-')) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(name, "%{byte:02X}");
            }
        } else {
            name.push(c);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_tell_values_apart() {
        let name = |text: &str| Name::of(&Value::Text(text.into())).0;
        for (text, expected) in [
            ("2011-06-20", "2011-06-20"),
            ("New York", "New York"),
            ("a/b", "a%2Fb"),
            ("a%2Fb", "a%252Fb"),
            ("..", "%2E."),
            (".hidden", "%2Ehidden"),
            ("_missing", "%5Fmissing"),
            ("-rf", "%2Drf"),
            ("", "_empty"),
            ("a\nb\u{85}", "a%0Ab%C2%85"),
            ("Zürich", "Zürich"),
            (&"x".repeat(200), &"x".repeat(200)),
            (&"x".repeat(201), "_unfit"),
            (&"/".repeat(67), "_unfit"),
        ] {
            assert_eq!(name(text), expected);
        }
        assert_eq!(Name::of(&Value::Missing).as_str(), "_missing");
        assert_eq!(Name::of(&Value::Unfit).as_str(), "_unfit");
    }
}
