//! The versions of a space.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::time::UNIX_EPOCH;

use hammerspace::VersionInfo;

use crate::error::{Error, fill, given, invalid};

/// A list of versions.
pub struct Versions(Vec<Version>);

/// One of them, as Rust holds it.
pub(crate) struct Version {
    info: VersionInfo,
    directory: CString,
}

impl Version {
    pub(crate) fn of(info: VersionInfo) -> Self {
        Self { directory: CString::new(&*info.uid).expect("a name on disk has no NUL"), info }
    }
}

impl FromIterator<Version> for Versions {
    fn from_iter<I: IntoIterator<Item = Version>>(versions: I) -> Self {
        Self(versions.into_iter().collect())
    }
}

/// What there is to know of a version.
#[repr(C)]
pub struct VersionFacts {
    /// Rises with each publication; 0 for a version of the original gem.
    pub number: u64,
    /// Keys in it; UINT64_MAX where the index is damaged.
    pub entries: u64,
    /// Length of log and index together, in bytes.
    pub bytes: u64,
    /// When it was published, in milliseconds since 1970.
    pub published_ms: i64,
    /// The name of its directory. Lives as long as the list.
    pub directory: *const c_char,
    /// Whether it is the one that readers open.
    pub is_current: bool,
}

/// How many versions there are in a list; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_versions_len(versions: Option<&Versions>) -> usize {
    versions.map_or(0, |versions| versions.0.len())
}

/// One version of the list, by its place from 0 on.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_versions_at(
    versions: Option<&Versions>,
    at: usize,
    version: Option<&mut MaybeUninit<VersionFacts>>,
) -> Option<Box<Error>> {
    let nothing = VersionFacts {
        number: 0,
        entries: 0,
        bytes: 0,
        published_ms: 0,
        directory: std::ptr::null(),
        is_current: false,
    };
    fill(version, nothing, || {
        let listed = given(versions, "the list")?.0.get(at);
        let Version { info, directory } = listed.ok_or_else(|| invalid(format!("the list has no place {at}")))?;
        let published = info.published.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(VersionFacts {
            number: info.number.unwrap_or(0),
            entries: info.entries.unwrap_or(u64::MAX),
            bytes: info.bytes,
            published_ms: i64::try_from(published.as_millis()).unwrap_or(i64::MAX),
            directory: directory.as_ptr(),
            is_current: info.is_current,
        })
    })
}

/// Frees a list. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_versions_free(versions: Option<Box<Versions>>) {
    drop(versions);
}
