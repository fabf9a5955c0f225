//! Reading: a snapshot is one version, held; a value holds its snapshot.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use arc_swap::Guard;
use hammerspace_error::Result;
use hammerspace_os::Map;
use hammerspace_sparkey::{Address, Effort, Found, IndexHeader, Live, LogHeader, Report};
use hammerspace_tables::scratch;

use crate::space_dir::SpaceDir;
use crate::version::Version;

/// One version of a space, as it was and stays. Cheap to clone, `Send` and `Sync`; reading takes no lock.
///
/// Keys and values are slices of the mapped file where the version is not compressed; they live as long as the snapshot.
#[derive(Clone)]
pub struct Snapshot(pub(crate) Arc<State>);

/// What a handle holds: a version, and the directory and generation it was looked up at.
pub(crate) struct State {
    pub(crate) generation: u64,
    pub(crate) version: Option<Arc<Version>>,
    pub(crate) space_dir: Arc<SpaceDir>,
}

impl State {
    #[inline]
    pub(crate) fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match &self.version {
            Some(version) => version.table.get_with(key, show),
            None => Ok(None),
        }
    }

    #[inline]
    pub(crate) fn contains(&self, key: &[u8]) -> Result<bool> {
        match &self.version {
            Some(version) => version.table.contains(key),
            None => Ok(false),
        }
    }
}

impl Snapshot {
    /// The value of `key`. O(1): one or two cache misses and a comparison of the key.
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Cow<'_, [u8]>>> {
        self.version().map_or(Ok(None), |version| version.table.get(key.as_ref()))
    }

    /// Shows the value of `key` to `show`, and gives what that gives. Nothing is allocated, compressed or not: the fastest
    /// way to read compressed values.
    #[inline]
    pub fn get_with<T>(&self, key: impl AsRef<[u8]>, show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.0.get_with(key.as_ref(), show)
    }

    /// The values of many keys, in the order of the keys.
    pub fn get_many<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Cow<'_, [u8]>>>> {
        self.version().map_or_else(|| Ok(vec![None; keys.len()]), |version| version.table.get_many(keys))
    }

    /// Whether `key` is there.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.0.contains(key.as_ref())
    }

    /// How many keys there are. O(1).
    pub fn len(&self) -> u64 {
        self.version().map_or(0, |version| version.table.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All pairs, in the order in which each key was last written.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// for pair in &space.snapshot() {
    ///     let (key, value) = pair?;
    ///     println!("{} bytes -> {} bytes", key.len(), value.len());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(&self) -> Pairs<'_> {
        Pairs(self.version().map(|version| version.table.iter()))
    }

    /// Up to `count` pairs from a place on, in the order of [`iter`](Self::iter), and the place of the next
    /// one: `None` at the end. Without a place it begins at the first pair. A place holds for the version it
    /// is from.
    ///
    /// O(pairs), and what dead entries lie between them.
    ///
    /// ```
    /// # let scratch = tempfile::tempdir()?;
    /// # let space = hammerspace_space::Space::create(scratch.path())?;
    /// # let mut writer = space.writer()?;
    /// # for key in ["a", "b", "c"] { writer.put(key, "1")?; }
    /// # writer.publish()?;
    /// # space.refresh()?;
    /// let snapshot = space.snapshot();
    /// let (page, next) = snapshot.page(None, 2)?;
    /// assert_eq!((&*page[0].0, &*page[1].0), (&b"a"[..], &b"b"[..]));
    /// let (page, next) = snapshot.page(next, 2)?;
    /// assert_eq!((page.len(), next), (1, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn page(&self, from: Option<Address>, count: usize) -> Result<(Vec<Pair<'_>>, Option<Address>)> {
        let Some(version) = self.version() else { return Ok((Vec::new(), None)) };
        let mut entries = version.table.iter_from(from.unwrap_or(Address::FIRST))?;
        let mut page = Vec::new();
        for entry in entries.by_ref() {
            let entry = entry?;
            if page.len() == count {
                return Ok((page, Some(entry.address)));
            }
            page.push((entry.key, entry.value));
        }
        Ok((page, None))
    }

    /// The version's number; `None` for an empty space and for versions that the original gem published. Reads it from disk:
    /// the instant after a publication it may not have been written yet.
    pub fn number(&self) -> Option<u64> {
        self.version()?.number()
    }

    /// The name of the version's directory; `None` for an empty space.
    pub fn uid(&self) -> Option<&str> {
        Some(&self.version()?.uid)
    }

    /// The version's log as it is mapped: what uncompressed values are slices of. `None` for an empty space.
    pub fn log_bytes(&self) -> Option<&[u8]> {
        Some(self.version()?.table.log().bytes())
    }

    /// The header of the version's log.
    pub fn log_header(&self) -> Option<&LogHeader> {
        Some(self.version()?.table.log().header())
    }

    /// The header of the version's index.
    pub fn index_header(&self) -> Option<&IndexHeader> {
        Some(self.version()?.table.index().header())
    }

    /// Walks log and index and says what is wrong with them; `None` for an empty space. Linear in the files. A large version takes
    /// [`Effort::MEMORY`] of memory, and beyond that an unnamed file where the system keeps temporary ones.
    pub fn verify(&self) -> Result<Option<Report>> {
        let verify = |version: &Version| version.table.verify_within(&Effort::default(), scratch);
        self.version().map(verify).transpose()
    }

    fn version(&self) -> Option<&Version> {
        self.0.version.as_deref()
    }
}

/// A key and its value.
pub type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// All pairs of a snapshot: see [`Snapshot::iter`].
pub struct Pairs<'a>(Option<Live<'a, Map, Map>>);

impl<'a> Iterator for Pairs<'a> {
    type Item = Result<Pair<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.0.as_mut()?.next()?;
        Some(entry.map(|entry| (entry.key, entry.value)))
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = Result<Pair<'a>>;
    type IntoIter = Pairs<'a>;

    fn into_iter(self) -> Pairs<'a> {
        self.iter()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("uid", &self.uid()).field("number", &self.number()).finish()
    }
}

/// A value that keeps its snapshot: bytes of the mapped file, or of a decoded block; valid however often the space is refreshed or replaced.
pub struct Value {
    pin: Pin,
    found: Found,
}

/// A reference to the state that costs no shared counter in the usual case, so that threads reading one handle do not
/// fight over it.
pub(crate) type Pin = Guard<Arc<State>>;

impl Value {
    pub(crate) fn find(pin: Pin, key: &[u8]) -> Result<Option<Self>> {
        let Some(version) = &pin.version else { return Ok(None) };
        let found = version.table.find(key)?;
        Ok(found.map(|found| Self { pin, found }))
    }
}

impl Deref for Value {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match (&self.found, &self.pin.version) {
            (Found::Decoded(bytes), _) => bytes,
            (Found::Cached(bytes), _) => bytes,
            (Found::Mapped(range), Some(version)) => &version.table.log().bytes()[range.clone()],
            (Found::Mapped(_), None) => unreachable!("it was found in a version, and states do not change"),
        }
    }
}

impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Compares bytes, whatever holds them: `value == "text"`, `value == b"bytes"`, `value == other_value`.
impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Value {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Borrow<[u8]> for Value {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.escape_ascii())
    }
}
