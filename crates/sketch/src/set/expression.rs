//! Expressions over named sets: `saw_ad & bought - bounced`.
//!
//! ```text
//! union        = symmetric ( "|" symmetric )*                loosest
//! symmetric    = intersection ( "^" intersection )*
//! intersection = difference ( "&" difference )*
//! difference   = operand ( "-" operand )*                    tightest
//! operand      = name | "(" union ")"
//! ```
//! The operators bind as they do in C, Python and Rust, and those of one kind from the left. A name is of letters, digits
//! and `_.:/@`; any other stands between double quotes.

use std::ops::Range;

use hammerspace_error::{Error, Kind, Result};

/// What two sets are made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `|`: what is in either.
    Union,
    /// `^`: what is in one of them alone.
    SymmetricDifference,
    /// `&`: what is in both.
    Intersection,
    /// `-`: what is in the left one alone.
    Difference,
}

impl Operator {
    /// The loosest first.
    const BY_BINDING: [Self; 4] = [Self::Union, Self::SymmetricDifference, Self::Intersection, Self::Difference];

    /// As it is written.
    pub const fn symbol(self) -> char {
        match self {
            Self::Union => '|',
            Self::SymmetricDifference => '^',
            Self::Intersection => '&',
            Self::Difference => '-',
        }
    }
}

/// A set by name, or what an operator makes of two expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A set.
    Name(String),
    /// An operator and its two sides.
    Operation(Operator, Box<[Self; 2]>),
}

/// Deeper parentheses are refused, since each takes some of the stack.
const DEPTH_MAX: usize = 200;
/// More operators are refused, since a tree of them may be as deep as they are many.
const OPERATORS_MAX: usize = 1000;

impl Expression {
    /// Reads an expression. `Invalid`, with the offset, if it is none.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0, depth: 0, operators: 0 };
        let expression = parser.operations(&Operator::BY_BINDING)?;
        match parser.peek() {
            None => Ok(expression),
            Some(_) => Err(parser.expected("an operator")),
        }
    }

    /// The names of its sets, from the left; those that it has twice come twice.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Name(name) => vec![name],
            Self::Operation(_, sides) => sides.iter().flat_map(Self::names).collect(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    operators: usize,
}

impl Parser<'_> {
    /// Operands with the first of these operators between them, which consist of those that bind tighter.
    fn operations(&mut self, operators: &[Operator]) -> Result<Expression> {
        let Some((operator, tighter)) = operators.split_first() else { return self.operand() };
        let mut left = self.operations(tighter)?;
        while self.takes(operator.symbol()) {
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                return Err(self.invalid(&format!("more than {OPERATORS_MAX} operators"), "split the expression"));
            }
            let right = self.operations(tighter)?;
            left = Expression::Operation(*operator, Box::new([left, right]));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression> {
        if self.takes('(') {
            return self.parenthesis();
        }
        let name = if self.takes('"') { self.quoted()? } else { self.bare() };
        if name.is_empty() { Err(self.expected("the name of a set")) } else { Ok(Expression::Name(name)) }
    }

    /// What stands behind an opening parenthesis.
    fn parenthesis(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.invalid(&format!("more than {DEPTH_MAX} open parentheses"), "split the expression"));
        }
        let inner = self.operations(&Operator::BY_BINDING)?;
        self.depth -= 1;
        if self.takes(')') { Ok(inner) } else { Err(self.expected("an operator or `)`")) }
    }

    fn quoted(&mut self) -> Result<String> {
        let len = self.rest().find('"').ok_or_else(|| self.invalid("an open quote", "close it with `\"`"))?;
        let name = self.take(len);
        self.at += 1;
        Ok(name)
    }

    fn bare(&mut self) -> String {
        self.peek();
        let is_of_name = |c: char| c.is_alphanumeric() || "_.:/@".contains(c);
        let len = self.rest().find(|c| !is_of_name(c)).unwrap_or(self.rest().len());
        self.take(len)
    }

    fn take(&mut self, len: usize) -> String {
        let range: Range<usize> = self.at..self.at + len;
        self.at = range.end;
        self.text[range].to_owned()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += if is_next { wanted.len_utf8() } else { 0 };
        is_next
    }

    fn expected(&mut self, what: &str) -> Error {
        let found = self.peek().map_or("its end".into(), |c| format!("`{c}`"));
        self.invalid(&format!("{found} where {what} should be"), "write it like `a & (b | \"c d\") - e`")
    }

    fn invalid(&self, finding: &str, remedy: &str) -> Error {
        Error::new(Kind::Invalid, format!("the expression has {finding}")).at(self.at as u64).remedy(remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With all parentheses that there can be.
    fn spelled(expression: &Expression) -> String {
        match expression {
            Expression::Name(name) => name.clone(),
            Expression::Operation(operator, sides) => {
                let [left, right] = sides.each_ref().map(spelled);
                format!("({left} {} {right})", operator.symbol())
            }
        }
    }

    #[test]
    fn operators_bind_as_in_c_and_from_the_left() {
        for (text, expected) in [
            ("a", "a"),
            ("saw_ad & bought - bounced", "(saw_ad & (bought - bounced))"),
            ("a | b ^ c & d - e", "(a | (b ^ (c & (d - e))))"),
            ("a - b & c ^ d | e", "((((a - b) & c) ^ d) | e)"),
            ("a-b-c", "((a - b) - c)"),
            ("a|b|c", "((a | b) | c)"),
            ("a - (b - c)", "(a - (b - c))"),
            ("((a))&(\t\"x y-z\" )", "(a & x y-z)"),
            ("shop:de/2026.01@x | ü", "(shop:de/2026.01@x | ü)"),
        ] {
            assert_eq!(spelled(&Expression::parse(text).unwrap()), expected, "{text}");
        }
        assert_eq!(Expression::parse("a & b - a").unwrap().names(), ["a", "b", "a"]);
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_offset() {
        for (text, offset, finding) in [
            ("", 0, "the expression has its end where the name of a set should be"),
            ("a & ", 4, "the expression has its end where the name of a set should be"),
            ("a b", 2, "the expression has `b` where an operator should be"),
            ("a & )", 4, "the expression has `)` where the name of a set should be"),
            ("(a | b", 6, "the expression has its end where an operator or `)` should be"),
            ("a | b)", 5, "the expression has `)` where an operator should be"),
            ("a & \"b", 5, "the expression has an open quote"),
            ("a + b", 2, "the expression has `+` where an operator should be"),
            ("\"\"", 2, "the expression has its end where the name of a set should be"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            let found = (error.kind(), error.offset(), error.finding());
            assert_eq!(found, (Kind::Invalid, Some(offset), finding), "{text}");
            assert!(error.advice().is_some());
        }
    }

    #[test]
    fn deep_and_long_ones_are_refused_rather_than_overflow_the_stack() {
        for text in ["(".repeat(1_000_000), "a-".repeat(1_000_000) + "a", "(".repeat(201) + "a"] {
            assert_eq!(Expression::parse(&text).unwrap_err().kind(), Kind::Invalid);
        }
        for text in ["(".repeat(200) + "a" + &")".repeat(200), "(a)-".repeat(300) + "a", "a-".repeat(1000) + "a"] {
            assert!(Expression::parse(&text).is_ok_and(|expression| !expression.names().is_empty()));
        }
    }
}
