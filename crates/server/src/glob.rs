//! Patterns over keys and channels, as Redis matches them: `*`, `?`, `[a-z]`, `[^a-z]`, and a backslash
//! before any of these.
//!
//! A star that fails is tried again only for the last star, so the time is O(pattern × text) for any pattern.

/// Whether all of `text` matches.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    // Behind the last star: what is left of the pattern, and the text it was tried on.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = pattern {
            (pattern, retry) = (rest, Some((rest, text)));
            continue;
        }
        let step = text.split_first().and_then(|(byte, rest)| Some((one(pattern, *byte)?, rest)));
        match (step, &mut retry) {
            (Some((behind, rest)), _) => (pattern, text) = (behind, rest),
            (None, _) if text.is_empty() => return pattern.is_empty(),
            (None, Some((again, from))) => {
                *from = &from[1..];
                (pattern, text) = (again, from);
            }
            (None, None) => return false,
        }
    }
}

/// What is left of the pattern when its first part matches the byte.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [] => None,
        [b'?', rest @ ..] => Some(rest),
        [b'[', rest @ ..] => class(rest, byte),
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => (*literal == byte).then_some(rest),
    }
}

/// The same of a class, behind its bracket. One that is not closed ends with the pattern.
fn class(class: &[u8], byte: u8) -> Option<&[u8]> {
    let (is_negated, mut class) = match class {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut is_in = false;
    loop {
        class = match class {
            [] => break,
            [b']', rest @ ..] => {
                class = rest;
                break;
            }
            [b'\\', literal, rest @ ..] => {
                is_in |= *literal == byte;
                rest
            }
            [start, b'-', end, rest @ ..] => {
                is_in |= (*start.min(end)..=*start.max(end)).contains(&byte);
                rest
            }
            [literal, rest @ ..] => {
                is_in |= *literal == byte;
                rest
            }
        };
    }
    (is_in != is_negated).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, yes, no) in [
            ("", "", "a"),
            ("*", "anything", "\0never"),
            ("h?llo", "hello", "hllo"),
            ("h*llo", "heeeello", "hell"),
            ("h[ae]llo", "hallo", "hillo"),
            ("h[^e]llo", "hallo", "hello"),
            ("h[z-a]llo", "hbllo", "hBllo"),
            ("\\*a", "*a", "ba"),
            ("a**b", "ab", "a"),
            ("[abc", "b", "d"),
        ] {
            assert!(matches(pattern.as_bytes(), yes.as_bytes()), "{pattern} {yes}");
            assert!(pattern == "*" || !matches(pattern.as_bytes(), no.as_bytes()), "{pattern} {no}");
        }
    }

    /// Which a matcher that goes back to every star does not come to the end of.
    #[test]
    fn many_stars_take_no_longer() {
        assert!(!matches(&b"*a".repeat(1000), &[b"a".repeat(1 << 10), b"b".to_vec()].concat()));
    }
}
