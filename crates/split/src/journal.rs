//! What a run is about to do: a text of lines, complete when it ends with `end`.
//!
//! ```text
//! hammerspace split 1
//! stage run-00c0ffee00c0ffee
//! id task_0001
//! name 2011-06-20.csv
//! end
//! ```
//! The page `docs/format/split.md` has the meaning of each.

use hammerspace_error::{Error, Kind, Result};

const HEADER: &str = "hammerspace split 1";
const END: &str = "end";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Journal {
    /// The directory that the files are in.
    pub(crate) stage: String,
    /// What the run was called.
    pub(crate) id: Option<String>,
    /// The files, and their names to come.
    pub(crate) names: Vec<String>,
}

impl Journal {
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![HEADER.to_owned(), format!("stage {}", self.stage)];
        lines.extend(self.id.iter().map(|id| format!("id {id}")));
        lines.extend(self.names.iter().map(|name| format!("name {name}")));
        lines.push(END.into());
        lines.join("\n") + "\n"
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        match lines.next() {
            Some(HEADER) => {}
            Some(other)
                if other.strip_prefix("hammerspace split ").is_some_and(|version| version.parse::<u32>().is_ok()) =>
            {
                return Err(Error::new(Kind::Unsupported, format!("this journal is of another version: {other}"))
                    .remedy("run a newer hammerspace on this directory once"));
            }
            _ => return Err(malformed("it does not begin as one")),
        }
        let mut journal = Self { stage: String::new(), id: None, names: Vec::new() };
        let mut is_complete = false;
        for line in lines {
            match line.split_once(' ') {
                _ if is_complete => return Err(malformed("it goes on behind its end")),
                Some((_, rest)) if rest.is_empty() || rest.contains('/') || rest.starts_with('.') => {
                    return Err(malformed("it names something outside its directory"));
                }
                Some(("stage", stage)) => journal.stage = stage.into(),
                Some(("id", id)) => journal.id = Some(id.into()),
                Some(("name", name)) => journal.names.push(name.into()),
                _ if line == END => is_complete = true,
                _ => return Err(malformed("it has a line that says nothing")),
            }
        }
        if is_complete && journal.stage.starts_with("run-") { Ok(journal) } else { Err(malformed("it is cut off")) }
    }
}

#[cold]
fn malformed(what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("this is no journal of a run: {what}"))
        .remedy("move it away; the files of that run are in the directory run-… beside it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_page_shows_a_journal_as_it_is() {
        let page = include_str!("../../../docs/format/split.md");
        let block =
            page.split("```text\n").find_map(|block| block.starts_with(HEADER).then(|| block.split("```").next()));
        let text = block.flatten().expect("the page shows a journal");
        let journal = Journal::parse(text).unwrap();
        assert_eq!(journal.text(), text);
        assert_eq!((journal.id.as_deref(), journal.names.len()), (Some("task_0001"), 2));
    }

    #[test]
    fn what_is_no_whole_journal_is_refused() {
        let journal = Journal { stage: "run-1".into(), id: None, names: vec!["a.csv".into(), "b c.csv".into()] };
        let text = journal.text();
        assert_eq!(Journal::parse(&text).unwrap(), journal);
        for cut in 0..text.len() - 1 {
            assert_eq!(Journal::parse(&text[..cut]).unwrap_err().kind(), Kind::Corrupt, "{cut}");
        }
        for bad in ["name ../x", "name .hidden", "id a/b", "stage /x", "nonsense", "name "] {
            let text = text.replace("name a.csv", bad);
            assert_eq!(Journal::parse(&text).unwrap_err().kind(), Kind::Corrupt, "{bad}");
        }
        assert_eq!(Journal::parse("hammerspace split 2\nend\n").unwrap_err().kind(), Kind::Unsupported);
    }
}
