//! What goes before every key that a file is loaded with.
//!
//! ```text
//! --prefix '{locale}:'      locale/pt_BR/LC_MESSAGES/app.mo ─► pt_BR:    main/de/days.json ─► de:    po/fil.po ─► fil:
//! --prefix '{dir}/{file}/'  main/de/days.json               ─► de/days/
//! ```
//! A locale is looked for above `LC_MESSAGES`, then in the file's name after its last dot but one, then in the name of
//! its directory. Two letters count only as a language of ISO 639-1, so that `po/` and `ui/` are none; three letters
//! alone might be anything, so they count only where no other of these places has a locale.

use std::path::{Component, Path};
use std::str::FromStr;

use hammerspace_error::{Error, Kind, Result};

/// A text with places to fill.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    File,
    Dir,
    Locale,
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(mut text: &str) -> std::result::Result<Self, String> {
        let mut parts = Vec::new();
        while let Some((before, rest)) = text.split_once('{') {
            let (name, after) = rest.split_once('}').ok_or("a `{` is not closed")?;
            parts.push(Part::Text(before.into()));
            parts.push(match name {
                "file" => Part::File,
                "dir" => Part::Dir,
                "locale" => Part::Locale,
                _ => return Err(format!("{{{name}}} is none of {{file}}, {{dir}} and {{locale}}")),
            });
            text = after;
        }
        parts.push(Part::Text(text.into()));
        Ok(Self(parts))
    }
}

impl Prefix {
    /// The prefix for the keys of `file`.
    pub(crate) fn of(&self, file: &Path) -> Result<Vec<u8>> {
        let mut prefix = Vec::new();
        for part in &self.0 {
            prefix.extend_from_slice(part.of(file).ok_or_else(|| nameless(part))?.as_bytes());
        }
        Ok(prefix)
    }
}

impl Part {
    fn of<'a>(&'a self, file: &'a Path) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::File => stem(file),
            Self::Dir => dir(file, 1),
            Self::Locale => locale(file),
        }
    }
}

fn nameless(part: &Part) -> Error {
    let finding = match part {
        Part::Locale => "neither the file's name nor its directory's names a locale",
        Part::Dir => "the path names no directory",
        _ => "the file has no name in UTF-8",
    };
    Error::new(Kind::Invalid, finding).remedy("load it by itself, and spell the prefix out")
}

fn stem(file: &Path) -> Option<&str> {
    file.file_stem()?.to_str()
}

/// The name of the directory so many levels above the file.
fn dir(file: &Path, levels: usize) -> Option<&str> {
    match file.components().rev().nth(levels)? {
        Component::Normal(name) => name.to_str(),
        _ => None,
    }
}

fn locale(file: &Path) -> Option<&str> {
    if dir(file, 1) == Some("LC_MESSAGES") {
        return dir(file, 2);
    }
    let last = stem(file).and_then(|stem| stem.rsplit('.').next());
    let places = [last, dir(file, 1)].into_iter().flatten();
    let find = |accept: fn(&str) -> bool| places.clone().find(|place| accept(place));
    find(is_surely_locale).or_else(|| find(is_three_letters))
}

fn is_three_letters(name: &str) -> bool {
    name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A language of two letters, or a language with script, region, variant or modifier, as `pt_BR`, `zh-Hant`, `ca@valencia`.
fn is_surely_locale(name: &str) -> bool {
    let (tag, modifier) = name.split_once('@').map_or((name, None), |(tag, modifier)| (tag, Some(modifier)));
    let mut subtags = tag.split(['_', '-']);
    let language = subtags.next().unwrap_or_default();
    let known = is_language(language);
    let more = tag.len() > language.len() || modifier.is_some();
    (known || (more && is_three_letters(language))) && subtags.all(is_subtag)
}

/// Script (4 letters), region (2 letters or 3 digits), variant (5 to 8, or 4 from a digit on).
fn is_subtag(subtag: &str) -> bool {
    let (len, digit) = (subtag.len(), subtag.starts_with(|first: char| first.is_ascii_digit()));
    subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && match len {
            2 => subtag.bytes().all(|byte| byte.is_ascii_uppercase()),
            3 => subtag.bytes().all(|byte| byte.is_ascii_digit()),
            4 => digit || subtag.starts_with(|first: char| first.is_ascii_uppercase()),
            5..=8 => true,
            _ => false,
        }
}

fn is_language(name: &str) -> bool {
    name.len() == 2 && ISO_639_1.split_ascii_whitespace().any(|language| language == name)
}

/// The two-letter languages of ISO 639-1, and `sh` and `iw`, `in`, `ji` of old, which catalogues still use.
const ISO_639_1: &str = "\
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo \
    es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji \
    jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne \
    ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st \
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(template: &str, file: &str) -> String {
        let prefix: Prefix = template.parse().unwrap();
        String::from_utf8(prefix.of(Path::new(file)).unwrap()).unwrap()
    }

    #[test]
    fn places_are_filled_from_the_path() {
        assert_eq!(prefix("", "main/de/days.json"), "");
        assert_eq!(prefix("fruit.", "-"), "fruit.");
        assert_eq!(prefix("{dir}/{file}/", "main/de/days.json"), "de/days/");
        assert_eq!(prefix("x{file}", "app.tar.po"), "xapp.tar");
    }

    #[test]
    fn a_template_that_cannot_be_filled_is_refused() {
        for template in ["{", "{nothing}", "{file"] {
            assert!(template.parse::<Prefix>().is_err(), "{template}");
        }
        let locale: Prefix = "{locale}".parse().unwrap();
        for file in ["-", "messages.po", "po/app2.po", "ui/menu.json", "/x.po"] {
            assert_eq!(locale.of(Path::new(file)).unwrap_err().kind(), Kind::Invalid, "{file}");
        }
    }

    #[test]
    fn locales_are_found_where_people_put_them() {
        for (file, locale) in [
            ("locale/pt_BR/LC_MESSAGES/app.mo", "pt_BR"),
            ("locale/sr@latin/LC_MESSAGES/de.mo", "sr@latin"),
            ("po/de.po", "de"),
            ("po/fil.po", "fil"),
            ("po/ca@valencia.po", "ca@valencia"),
            ("messages.zh-Hant-TW.json", "zh-Hant-TW"),
            ("main/de/languages.json", "de"),
            ("main/ast/languages.json", "ast"),
            ("main/de/app.json", "de"),
            ("de-1996/x.json", "de-1996"),
            ("es-419.json", "es-419"),
        ] {
            assert_eq!(prefix("{locale}", file), locale, "{file}");
        }
    }
}
