//! A goal in words that a program can hold us to: `>= 1.3` or `<= 5 ms`.

/// What a number must be at least or at most. Without a unit it is meant for the ratio, with one for what we take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Goal<'a> {
    at_least: bool,
    limit: f64,
    unit: Option<&'a str>,
}

impl<'a> Goal<'a> {
    /// Reads `>= NUMBER [UNIT]` or `<= NUMBER [UNIT]`; `None` if it is neither.
    pub(crate) fn parse(goal: &'a str) -> Option<Self> {
        let (relation, rest) = goal.split_once(' ')?;
        let (limit, unit) = rest.split_once(' ').map_or((rest, None), |(limit, unit)| (limit, Some(unit)));
        let at_least = match relation {
            ">=" => true,
            "<=" => false,
            _ => return None,
        };
        Some(Self { at_least, limit: limit.parse().ok()?, unit })
    }

    /// Whether a row reaches it; `None` if the row lacks what the goal is about.
    pub(crate) fn is_met(self, unit: &str, ours: f64, ratio: Option<f64>) -> Option<bool> {
        let number = match self.unit {
            Some(wanted) => (wanted == unit).then_some(ours)?,
            None => ratio?,
        };
        Some(if self.at_least { number >= self.limit } else { number <= self.limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_without_a_unit_are_about_the_ratio() {
        let goal = Goal::parse(">= 1.3").unwrap();
        assert_eq!(goal.is_met("M/s", 0.1, Some(1.3)), Some(true));
        assert_eq!(goal.is_met("M/s", 9.0, Some(1.2)), Some(false));
        assert_eq!(goal.is_met("M/s", 9.0, None), None);
    }

    #[test]
    fn goals_with_a_unit_are_about_what_we_take() {
        let goal = Goal::parse("<= 5 ms").unwrap();
        assert_eq!(goal.is_met("ms", 4.9, Some(9.0)), Some(true));
        assert_eq!(goal.is_met("ms", 5.1, None), Some(false));
        assert_eq!(goal.is_met("s", 0.001, None), None, "another unit than the row's");
    }

    #[test]
    fn anything_else_is_no_goal() {
        for words in ["", "> 1", ">= fast", "1.3", ">=1.3"] {
            assert_eq!(Goal::parse(words), None, "{words}");
        }
    }
}
