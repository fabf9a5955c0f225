//! Which form of a translation a count takes: the rule in the header of a gettext catalogue, for all languages.
//!
//! ```text
//! Plural-Forms: nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2;
//! ```
//! `nplurals` is the number of forms, and `plural` an expression of C over the count `n`: numbers, `?:`, `||`, `&&`, `==`, `!=`,
//! `<`, `>`, `<=`, `>=`, `+`, `-`, `*`, `/`, `%`, `!` and parentheses. Each part ends at its `;`; blanks and the order of the parts
//! do not matter.
//!
//! What always holds:
//! 1. Arithmetic is that of GNU's libintl: unsigned, in 64 bits, and wrapping.
//! 2. A rule is read and evaluated in bounded time and stack: it has at most [`LEN_MAX`] bytes and [`DEPTH_MAX`] levels.
//! 3. A form is one of `nplurals`. A division by zero and a larger number give none.
//!
//! ```
//! use hammerspace_plural::Rule;
//!
//! let polish = Rule::of_header(b"Plural-Forms: nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2;\n")?;
//! assert_eq!([1, 2, 5].map(|count| polish.form(count)), [Some(0), Some(1), Some(2)]);
//! # Ok::<(), hammerspace_error::Error>(())
//! ```
#![forbid(unsafe_code)]

mod expression;

use hammerspace_error::{Error, Kind, Result};

use crate::expression::Expression;

pub use crate::expression::{DEPTH_MAX, LEN_MAX};

/// A rule. The default is that of English and most Germanic languages, which gettext falls back to: `n != 1`.
#[derive(Clone, Debug)]
pub struct Rule {
    count: u64,
    expression: Expression,
}

impl Rule {
    /// The rule in a catalogue's header.
    ///
    /// # Errors
    /// [`Kind::Corrupt`] where the header has none, or one that cannot be read, such as the placeholder of `xgettext`. A
    /// reader then takes the default, as gettext does.
    pub fn of_header(header: &[u8]) -> Result<Self> {
        let value = value(header).ok_or_else(|| refusal("the header has no `Plural-Forms`"))?;
        let part = |name| part(value, name).ok_or_else(|| refusal(&format!("`Plural-Forms` has no `{name}`")));
        let (count, plural) = (part("nplurals")?, part("plural")?);
        if plural == b"EXPRESSION" {
            return Err(refusal("`Plural-Forms` is the placeholder of xgettext"));
        }
        let count = str::from_utf8(count).ok().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
        let count = count.ok_or_else(|| refusal("`nplurals` is no number of forms"))?;
        let expression = Expression::parse(plural).ok_or_else(|| {
            refusal(&format!("`{}` is no rule for plurals", plural[..plural.len().min(80)].escape_ascii()))
        })?;
        Ok(Self { count, expression })
    }

    /// The number of the form that so many things take, from 0; `None` if the rule gives none that there is.
    pub fn form(&self, count: u64) -> Option<u64> {
        self.expression.value(count).filter(|form| *form < self.count)
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self { count: 2, expression: Expression::parse(b"n != 1").expect("it is a rule") }
    }
}

/// What follows the name of the header's field.
fn value(header: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"plural-forms:";
    let is_field = |line: &&[u8]| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    header.split(|byte| *byte == b'\n').find(is_field).map(|line| &line[NAME.len()..])
}

/// What a part of the field's value is set to.
fn part<'h>(value: &'h [u8], name: &str) -> Option<&'h [u8]> {
    value.split(|byte| *byte == b';').find_map(|part| {
        let equals = part.iter().position(|byte| *byte == b'=')?;
        (part[..equals].trim_ascii() == name.as_bytes()).then(|| part[equals + 1..].trim_ascii())
    })
}

#[cold]
fn refusal(finding: &str) -> Error {
    Error::new(Kind::Corrupt, finding).remedy("write it as in `Plural-Forms: nplurals=2; plural=n != 1;`")
}
