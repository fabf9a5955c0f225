//! The expression of a rule: parsed once, from the loosest operator to the tightest.

/// The longest expression, in bytes. The longest of a real language, Arabic's, has 92.
pub const LEN_MAX: usize = 1000;
/// How deep an expression may be nested.
pub const DEPTH_MAX: usize = 100;

#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Count,
    Number(u64),
    Not(Box<Self>),
    Both(Operator, Box<(Self, Self)>),
    Choice(Box<(Self, Self, Self)>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    Greater,
    AtMost,
    AtLeast,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

/// By how tightly they bind; of two with the same beginning the longer first.
const LEVELS: [&[(&str, Operator)]; 6] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("==", Operator::Equal), ("!=", Operator::Unequal)],
    &[("<=", Operator::AtMost), (">=", Operator::AtLeast), ("<", Operator::Less), (">", Operator::Greater)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Over), ("%", Operator::Modulo)],
];

impl Expression {
    /// The whole of `text` as an expression.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut parser = Parser { rest: text, depth: 0 };
        let expression = (text.len() <= LEN_MAX).then(|| parser.choice())??;
        parser.blanks();
        parser.rest.is_empty().then_some(expression)
    }

    /// What it gives for so many things; `None` if it divides by zero.
    pub(crate) fn value(&self, count: u64) -> Option<u64> {
        match self {
            Self::Count => Some(count),
            Self::Number(number) => Some(*number),
            Self::Not(inner) => Some(u64::from(inner.value(count)? == 0)),
            Self::Choice(parts) => if parts.0.value(count)? != 0 { &parts.1 } else { &parts.2 }.value(count),
            Self::Both(operator, sides) => {
                let left = sides.0.value(count)?;
                match operator {
                    Operator::Or if left != 0 => Some(1),
                    Operator::And if left == 0 => Some(0),
                    _ => operator.apply(left, sides.1.value(count)?),
                }
            }
        }
    }
}

impl Operator {
    fn apply(self, left: u64, right: u64) -> Option<u64> {
        Some(match self {
            // The left side has not decided it.
            Self::Or | Self::And => u64::from(right != 0),
            Self::Equal => u64::from(left == right),
            Self::Unequal => u64::from(left != right),
            Self::Less => u64::from(left < right),
            Self::Greater => u64::from(left > right),
            Self::AtMost => u64::from(left <= right),
            Self::AtLeast => u64::from(left >= right),
            Self::Plus => left.wrapping_add(right),
            Self::Minus => left.wrapping_sub(right),
            Self::Times => left.wrapping_mul(right),
            Self::Over => left.checked_div(right)?,
            Self::Modulo => left.checked_rem(right)?,
        })
    }
}

struct Parser<'t> {
    rest: &'t [u8],
    depth: usize,
}

impl Parser<'_> {
    fn choice(&mut self) -> Option<Expression> {
        self.nested(|parser| {
            let condition = parser.operation(0)?;
            if !parser.take("?") {
                return Some(condition);
            }
            let yes = parser.choice()?;
            let no = parser.take(":").then(|| parser.choice())??;
            Some(Expression::Choice(Box::new((condition, yes, no))))
        })
    }

    fn operation(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.operation(level + 1)?;
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.take(text)) {
            let right = self.operation(level + 1)?;
            left = Expression::Both(*operator, Box::new((left, right)));
        }
        Some(left)
    }

    fn operand(&mut self) -> Option<Expression> {
        if self.take("!") {
            return self.nested(|parser| Some(Expression::Not(Box::new(parser.operand()?))));
        }
        if self.take("(") {
            let inner = self.choice()?;
            return self.take(")").then_some(inner);
        }
        if self.take("n") { Some(Expression::Count) } else { self.number().map(Expression::Number) }
    }

    fn number(&mut self) -> Option<u64> {
        let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        str::from_utf8(digits).ok()?.parse().ok()
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Option<Expression>) -> Option<Expression> {
        self.depth += 1;
        let expression = (self.depth <= DEPTH_MAX).then(|| parse(self))?;
        self.depth -= 1;
        expression
    }

    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(token.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }
}
