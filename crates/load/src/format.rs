//! The formats we read, and what their files are called.

use std::path::Path;

/// A format that [`read`](crate::read) knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// GNU gettext's text catalogue, `.po`.
    Po,
    /// GNU gettext's compiled catalogue, `.mo` or `.gmo`.
    Mo,
    /// One JSON document, flat or nested, `.json`.
    Json,
    /// One YAML document, flat or nested, `.yaml` or `.yml`.
    Yaml,
    /// One JSON object `{"key": …, "value": …}` per line, `.ndjson` or `.jsonl`.
    Ndjson,
    /// Comma-separated values, `.csv`.
    Csv,
    /// Tab-separated values, `.tsv`.
    Tsv,
}

impl Format {
    /// Every format, in the order of the manual.
    pub const ALL: [Self; 7] = [Self::Po, Self::Mo, Self::Json, Self::Yaml, Self::Ndjson, Self::Csv, Self::Tsv];

    /// The format's name, which is also its first extension.
    pub const fn name(self) -> &'static str {
        self.extensions()[0]
    }

    /// What the format's files end with, in lower case and without the dot.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Po => &["po"],
            Self::Mo => &["mo", "gmo"],
            Self::Json => &["json"],
            Self::Yaml => &["yaml", "yml"],
            Self::Ndjson => &["ndjson", "jsonl"],
            Self::Csv => &["csv"],
            Self::Tsv => &["tsv"],
        }
    }

    /// The format that `path` names by its extension, upper or lower case.
    pub fn of(path: impl AsRef<Path>) -> Option<Self> {
        let extension = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.extensions().contains(&extension.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_names_the_format() {
        for format in Format::ALL {
            assert_eq!(Format::of(format!("de.{}", format.name())), Some(format));
        }
        assert_eq!(Format::of("locale/de/LC_MESSAGES/app.MO"), Some(Format::Mo));
        assert_eq!(Format::of("config/locales/de.yml"), Some(Format::Yaml));
        assert_eq!(Format::of("events.jsonl"), Some(Format::Ndjson));
        assert_eq!(Format::of("fruits.spl"), None);
        assert_eq!(Format::of("po"), None);
    }
}
