//! `FIELD`, `day(FIELD)`: the value that a record goes by.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};
use hammerspace_error::{Error, Kind, Result};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A field, by its path in a record or by its number in a row, and what of it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    path: Vec<String>,
    span: Option<Span>,
}

/// A span of time that an instant falls into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Hour,
    Day,
    Month,
}

/// What a record goes by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// This.
    Text(String),
    /// The field is not there, or null.
    Missing,
    /// The field holds something that cannot be gone by: a list, an object, or no time where one is asked for.
    Unfit,
}

impl Span {
    const ALL: [(&'static str, Self); 3] = [("hour", Self::Hour), ("day", Self::Day), ("month", Self::Month)];

    /// The span that an instant falls into, in UTC.
    fn of(self, at: DateTime<Utc>) -> String {
        let date = at.date_naive();
        match self {
            Self::Hour => format!("{date}T{:02}", at.hour()),
            Self::Day => date.to_string(),
            Self::Month => format!("{:04}-{:02}", date.year(), date.month()),
        }
    }
}

impl FromStr for By {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (field, span) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            None => (text, None),
            Some((name, field)) => {
                let span = Span::ALL.into_iter().find(|(known, _)| *known == name);
                (field, Some(span.ok_or_else(|| malformed(text, "there is no such function"))?.1))
            }
        };
        let path: Vec<String> = field.split('.').map(String::from).collect();
        if path.iter().any(|name| name.is_empty() || name.contains(['(', ')'])) {
            return Err(malformed(text, "it does not name a field"));
        }
        Ok(Self { path, span })
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.path.join(".");
        match Span::ALL.into_iter().find(|(_, span)| Some(*span) == self.span) {
            Some((name, _)) => write!(f, "{name}({field})"),
            None => f.write_str(&field),
        }
    }
}

#[cold]
fn malformed(text: &str, what: &str) -> Error {
    Error::new(Kind::Invalid, format!("{text:?} is nothing to go by: {what}"))
        .remedy("give a field by its path, as in user.state, or hour(FIELD), day(FIELD) or month(FIELD)")
}

impl By {
    /// The number of the field in a row, from 1, if that is what was given.
    pub fn number(&self) -> Option<usize> {
        match &self.path[..] {
            [number] => number.parse().ok().filter(|number| *number > 0),
            _ => None,
        }
    }

    /// What a line of JSON goes by. The line is read as far as the field; whether the rest of it is JSON is not looked at.
    pub fn of_json(&self, line: &[u8]) -> Value {
        self.find(&mut serde_json::Deserializer::from_slice(line))
    }

    /// The same for a line that is read piece by piece.
    pub fn of_stream(&self, from: impl std::io::Read) -> Value {
        self.find(&mut serde_json::Deserializer::from_reader(from))
    }

    fn find<'de, D: Deserializer<'de>>(&self, from: D) -> Value {
        let mut found = None;
        // Once the field is found, an error ends the walk.
        let _ = Find { path: &self.path, found: &mut found }.deserialize(from);
        self.of_found(found)
    }

    fn of_found(&self, found: Option<Value>) -> Value {
        match found {
            Some(Value::Text(text)) => self.of_text(text),
            Some(other) => other,
            None => Value::Missing,
        }
    }

    /// What a field with this text goes by.
    pub fn of_text(&self, text: String) -> Value {
        match self.span {
            None => Value::Text(text),
            Some(span) => instant(&text).map_or(Value::Unfit, |at| Value::Text(span.of(at))),
        }
    }
}

/// The instant that a text names: a date, a date and a time, or a number of seconds, milliseconds, microseconds or
/// nanoseconds since 1970, whichever lies nearest to our time. Without an offset it is in UTC.
pub fn instant(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    if let Ok(number) = text.parse::<i64>() {
        let digits = number.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        return match digits {
            0..=11 => DateTime::from_timestamp_secs(number),
            12..=14 => DateTime::from_timestamp_millis(number),
            15..=17 => DateTime::from_timestamp_micros(number),
            _ => Some(DateTime::from_timestamp_nanos(number)),
        };
    }
    let local = |format| NaiveDateTime::parse_from_str(text, format).ok();
    let date = || text.parse::<NaiveDate>().ok().map(|date| date.and_time(NaiveTime::MIN));
    let at = local("%Y-%m-%dT%H:%M:%S%.f").or_else(|| local("%Y-%m-%d %H:%M:%S%.f")).or_else(date)?;
    Some(at.and_utc())
}

/// Walks to a field, and ends the walk there.
struct Find<'a> {
    path: &'a [String],
    found: &'a mut Option<Value>,
}

impl Find<'_> {
    fn end<E: de::Error>(self, value: Value) -> std::result::Result<(), E> {
        // Further down there is nothing but objects.
        *self.found = Some(if self.path.is_empty() || value == Value::Missing { value } else { Value::Unfit });
        Err(E::custom("it is found"))
    }

    fn text<E: de::Error>(self, value: &dyn fmt::Display) -> std::result::Result<(), E> {
        self.end(Value::Text(value.to_string()))
    }
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> std::result::Result<(), E> {
        self.text(&value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<(), E> {
        self.text(&value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<(), E> {
        self.text(&value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<(), E> {
        self.text(&value)
    }

    /// A string in which the path goes on holds a record of its own: values of spaces often do.
    fn visit_str<E: de::Error>(self, value: &str) -> std::result::Result<(), E> {
        if self.path.is_empty() {
            return self.text(&value);
        }
        let mut found = None;
        let inner = Find { path: self.path, found: &mut found };
        let _ = inner.deserialize(&mut serde_json::Deserializer::from_str(value));
        *self.found = found.or(Some(Value::Missing));
        Err(E::custom("it is found"))
    }

    fn visit_unit<E: de::Error>(self) -> std::result::Result<(), E> {
        self.end(Value::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> std::result::Result<(), A::Error> {
        self.end(Value::Unfit)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> std::result::Result<(), A::Error> {
        let Some((name, rest)) = self.path.split_first() else { return self.end(Value::Unfit) };
        while let Some(is_it) = members.next_key_seed(Is(name))? {
            if is_it {
                return members.next_value_seed(Find { path: rest, found: self.found });
            }
            members.next_value::<IgnoredAny>()?;
        }
        *self.found = Some(Value::Missing);
        Err(de::Error::custom("it is not there"))
    }
}

/// Whether a member has this name.
struct Is<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(by: &str, line: &str) -> Value {
        by.parse::<By>().unwrap().of_json(line.as_bytes())
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn a_record_goes_by_what_its_field_holds() {
        let line = r#"{"a":[1,{"state":"no"}],"user":{"id":7,"geo":{"state":"CA"}},"ok":true,"x":1.5,"no":null,"value":"{\"day\":3}"}"#;
        for (field, value) in [
            ("user.geo.state", text("CA")),
            ("user.id", text("7")),
            ("ok", text("true")),
            ("x", text("1.5")),
            ("value.day", text("3")),
            ("value.month", Value::Missing),
            ("no", Value::Missing),
            ("no.more", Value::Missing),
            ("user.geo.city", Value::Missing),
            ("user", Value::Unfit),
            ("a.state", Value::Unfit),
            ("user.id.x", Value::Unfit),
        ] {
            assert_eq!(by(field, line), value, "{field}");
        }
    }

    #[test]
    fn a_day_is_one_of_utc_however_the_instant_is_written() {
        for at in [
            "\"2011-06-20\"",
            "\"2011-06-20T23:30:00Z\"",
            "\"2011-06-20 23:30:00.5\"",
            "\"2011-06-20T19:30:00-04:00\"",
            "1308612600",
            "1308612600000",
            "1308612600000000",
            "1308612600000000000",
            "\"1308612600\"",
        ] {
            assert_eq!(by("day(ts)", &format!("{{\"ts\":{at}}}")), text("2011-06-20"), "{at}");
        }
        let late = "{\"ts\":\"2011-06-20T23:30:00-05:00\"}";
        assert_eq!(by("day(ts)", late), text("2011-06-21"));
        assert_eq!(by("hour(ts)", late), text("2011-06-21T04"));
        assert_eq!(by("month(ts)", late), text("2011-06"));
        assert_eq!(by("day(ts)", "{\"ts\":\"2011-0-21\"}"), Value::Unfit);
        assert_eq!(by("day(ts)", "{}"), Value::Missing);
    }

    #[test]
    fn what_names_no_field_is_refused() {
        for bad in ["", "a..b", "week(ts)", "day()", "day(ts", "day(day(ts))"] {
            assert_eq!(bad.parse::<By>().unwrap_err().kind(), Kind::Invalid, "{bad}");
        }
        assert_eq!("day(3)".parse::<By>().unwrap().number(), Some(3));
        assert_eq!("state".parse::<By>().unwrap().number(), None);
        assert_eq!("day(a.b)".parse::<By>().unwrap().to_string(), "day(a.b)");
    }
}
