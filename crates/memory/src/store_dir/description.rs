//! `store.toml`: what a store's directory says about where its region lies.
//!
//! Field by field: `docs/format/store.md`, which a test reads. It is written under another name before there
//! is a region, and gets its own once the region is whole. So a file of the other name that nobody holds the
//! lock beside tells of a region that was left behind half made.

use std::io::Write;
use std::path::{Path, PathBuf};

use hammerspace_error::{Doing, Error, Kind, Result};
use hammerspace_os::Dir;
use serde::Deserialize;
use uuid::Uuid;

/// Of a store that is there.
pub(crate) const NAME: &str = "store.toml";
/// Of one that is being made.
pub(crate) const MAKING: &str = "store.toml.new";
/// Of the store before, whose region was not there any more.
pub(crate) const GONE: &str = "store.toml.gone";
const FORMAT: u64 = 1;
/// Bytes that no description has.
const LEN_MAX: usize = 1 << 16;

/// What it says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    format: u64,
    pub(crate) id: Uuid,
    pub(crate) region: PathBuf,
}

/// Writes that a store is being made, whose region will lie at `place`.
pub(crate) fn write(dir: &Dir, id: Uuid, place: &Path) -> Result<()> {
    let place = place.to_str().ok_or_else(|| Error::new(Kind::Invalid, "the path is not UTF-8").file(place))?;
    // A literal string of TOML, which cannot hold what it is delimited by, nor what does not show.
    if place.contains(|sign: char| sign == '\'' || sign.is_control()) {
        let error = Error::new(Kind::Invalid, "the path has a quote or a control character in it").file(place);
        return Err(error.remedy("put the region into another directory"));
    }
    let text = format!(
        "# A store of Hammerspace. Its data lies in the region.\nformat = {FORMAT}\nid = \"{id}\"\nregion = '{place}'\n"
    );
    let mut file = dir.create_file(MAKING)?;
    file.write_all(text.as_bytes()).doing("write").map_err(|error| error.file(file.path()))?;
    // What a restart of the machine left half written would say nothing of a region, and nobody could remove
    // it.
    file.sync()
}

/// What the file of this name says, if there is one.
pub(crate) fn read(dir: &Dir, name: &str) -> Result<Option<Description>> {
    let Some(file) = dir.open_file(name)? else { return Ok(None) };
    let mut bytes = vec![0; LEN_MAX];
    let len = file.read_at(&mut bytes, 0)?;
    parse(&bytes[..len]).map(Some).map_err(|error| error.file(file.path()))
}

fn parse(bytes: &[u8]) -> Result<Description> {
    let corrupt = |finding: String| {
        let error = Error::new(Kind::Corrupt, finding);
        error.remedy(
            "delete the directory by hand, and its region: the `/dev/shm/hammerspace-*` that no other store names",
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|error| corrupt(format!("not a description: {error}")))?;
    let description: Description =
        toml::from_str(text).map_err(|error| corrupt(format!("not a description: {}", error.message())))?;
    if description.format != FORMAT {
        let finding = format!("the store has format {}, and this build knows {FORMAT}", description.format);
        return Err(Error::new(Kind::Unsupported, finding).remedy("use the build that made it"));
    }
    Ok(description)
}

#[cfg(test)]
mod tests {
    use hammerspace_testkit::page;

    use super::*;

    const PAGE: &str = include_str!("../../../../docs/format/store.md");

    fn example() -> &'static str {
        PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap()
    }

    #[test]
    fn the_page_says_what_is_parsed() {
        let description = parse(example().as_bytes()).unwrap();
        assert_eq!(description.region, Path::new(&format!("/dev/shm/hammerspace-{}", description.id)));
        let fields: Vec<_> = page::rows(PAGE, "store.toml").into_iter().map(|row| row[0].trim_matches('`')).collect();
        let lines: Vec<_> = example().lines().map(|line| line.split(" = ").next().unwrap()).collect();
        assert_eq!(fields, lines);
        for line in example().lines() {
            assert!(parse(example().replace(line, "").as_bytes()).is_err(), "without {line}");
        }
        assert!(parse(format!("{}more = 1\n", example()).as_bytes()).is_err());
        let version = format!("format = {FORMAT}");
        assert_eq!(page::rows(PAGE, "store.toml")[0][2], FORMAT.to_string());
        assert!(example().contains(&version));
    }
}
