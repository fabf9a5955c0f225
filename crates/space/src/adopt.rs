//! A version whose files somebody else has made: a follower that fetched them, say.
//!
//! ```text
//! PATH/<name>/ with log and index ──one rename──▶ PATH/<uid>/ ──publish──▶ current
//! ```

use std::sync::Arc;

use hammerspace_error::{Error, Kind, Result};
use hammerspace_os::Paging;

use crate::draft::Draft;
use crate::space_dir::SpaceDir;
use crate::version::Version;
use crate::{Space, publish};

/// The name of a version's log in its directory.
pub const LOG_FILE: &str = crate::layout::LOG;
/// The name of a version's index in its directory.
pub const INDEX_FILE: &str = crate::layout::INDEX;

impl Space {
    /// Makes the log and the index in the directory `name`, which lies in the space's own, the current
    /// version; gives its number. The directory becomes the version's, with all that is in it.
    ///
    /// The two files are opened and compared, which takes constant time; the caller has verified what is in
    /// them, and synced it. Where this fails before anything became current, the directory may be gone.
    pub fn adopt(&self, name: &str) -> Result<u64> {
        let space_dir = self.space_dir()?;
        let whole = Version::open(&space_dir.dir, name, Paging::OnDemand)?;
        whole.ok_or_else(|| lacking(&space_dir, name))?;
        let mut draft = Draft::adopt(Arc::clone(&space_dir), name)?;
        space_dir.sync()?;
        publish::change_current(&mut draft, None)
    }
}

fn lacking(space_dir: &SpaceDir, name: &str) -> Error {
    Error::new(Kind::Missing, format!("there is no {LOG_FILE} with its {INDEX_FILE} here"))
        .file(space_dir.dir.path().join(name))
        .remedy("make both before they are adopted")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Options;

    #[test]
    fn files_made_elsewhere_become_current_and_keep_their_companions() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        let source = Space::create(&from).unwrap();
        let target = Options::new().keep(2).create(&to).unwrap();
        assert_eq!(target.adopt("next").unwrap_err().kind(), Kind::Missing);
        for (number, color) in [(1, "red"), (2, "blue"), (3, "green")] {
            let mut writer = source.writer().unwrap();
            writer.put("color", color).unwrap();
            writer.publish().unwrap();
            source.refresh().unwrap();
            let version = from.join(source.snapshot().uid().unwrap());
            let next = to.join("next");
            fs::create_dir(&next).unwrap();
            fs::copy(version.join(LOG_FILE), next.join(LOG_FILE)).unwrap();
            assert_eq!(target.adopt("next").unwrap_err().kind(), Kind::Missing, "half of it is nothing");
            fs::copy(version.join(INDEX_FILE), next.join(INDEX_FILE)).unwrap();
            fs::write(next.join("note"), color).unwrap();
            // Killed halfway, an adoption leaves a stamp without a number.
            fs::write(next.join(crate::layout::STAMP), [0; 24]).unwrap();
            assert_eq!(target.adopt("next").unwrap(), number);
            assert!(target.refresh().unwrap());
            assert_eq!(target.get("color").unwrap().unwrap(), color);
            assert_eq!(fs::read(to.join(target.snapshot().uid().unwrap()).join("note")).unwrap(), color.as_bytes());
            assert!(!next.exists());
        }
        assert_eq!(target.versions().unwrap().len(), 2, "others are swept as after any publication");
        assert_eq!(target.rollback(None).unwrap(), 2);
    }
}
