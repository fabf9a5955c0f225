//! As much of Markdown as the checks ask for: headings, links, and what is code and therefore neither.

/// The lines outside of fenced code, numbered from 1.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// The level and the text of a heading.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|&byte| byte == b'#').count();
    let title = line[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

/// The fragment by which a heading is linked to, as the forges make it.
pub(super) fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of the links on a line: `[text](target)` and `[label]: target`.
pub(super) fn links(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
        found.extend(target.split_whitespace().next());
    }
    // Every second piece between backticks is code.
    for prose in line.split('`').step_by(2) {
        found.extend(prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_no_prose() {
        let text = "# One\n```text\n# two\n```\nthree\n";
        assert_eq!(prose(text).collect::<Vec<_>>(), [(1, "# One"), (5, "three")]);
    }

    #[test]
    fn headings_become_anchors() {
        assert_eq!(heading("## Published means frozen"), Some((2, "Published means frozen")));
        assert_eq!(heading("#![forbid]"), None);
        assert_eq!(anchor("`get` & Co., in 2 lines"), "get--co-in-2-lines");
    }

    #[test]
    fn links_are_found_in_both_spellings_and_not_in_code() {
        assert_eq!(links("[a](b.md) and [c](d.md#e \"title\")"), ["b.md", "d.md#e"]);
        assert_eq!(links("[label]: docs/x.md"), ["docs/x.md"]);
        assert_eq!(links("`v[i](x)` but [`code`](y.md)"), ["y.md"]);
    }
}
