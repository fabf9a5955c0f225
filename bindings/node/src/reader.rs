//! Reading: a handle that moves from version to version, or one version that stays.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use hammerspace::{Error, Result, Snapshot, Space, VersionInfo};
use napi::Env;
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, Unknown};
use napi_derive::napi;

use crate::bytes::{Form, Given};
use crate::errors::{invalid, thrown};
use crate::job::{Job, Outcome, gathered, promise, to_number};
use crate::options;
use crate::pairs::Pairs;
use crate::writer::Writer;

/// The native half of a `Space` and of a `Snapshot`.
#[napi]
pub struct Reader {
    /// `None` once it was closed.
    source: RefCell<Option<Source>>,
}

/// What is read.
#[derive(Clone)]
enum Source {
    Space(Arc<Space>),
    Snapshot(Snapshot),
}

impl Source {
    fn snapshot(&self) -> Snapshot {
        match self {
            Self::Space(space) => space.snapshot(),
            Self::Snapshot(snapshot) => snapshot.clone(),
        }
    }

    #[inline]
    fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        match self {
            Self::Space(space) => space.get_with(key, show),
            Self::Snapshot(snapshot) => snapshot.get_with(key, show),
        }
    }

    fn contains(&self, key: &[u8]) -> Result<bool> {
        match self {
            Self::Space(space) => space.contains(key),
            Self::Snapshot(snapshot) => snapshot.contains(key),
        }
    }
}

impl Reader {
    fn of(source: Source) -> Self {
        Self { source: RefCell::new(Some(source)) }
    }

    /// Does something with what is read. What it does runs no script, so nothing closes the reader meanwhile.
    #[inline]
    fn with<T>(&self, env: &Env, work: impl FnOnce(&Source) -> Result<T>) -> napi::Result<T> {
        let source = self.source.borrow();
        source.as_ref().ok_or_else(closed).and_then(work).map_err(|error| thrown(env, &error))
    }

    fn space(&self, env: &Env) -> napi::Result<Arc<Space>> {
        self.with(env, |source| match source {
            Source::Space(space) => Ok(Arc::clone(space)),
            Source::Snapshot(_) => Err(invalid("a snapshot stays as it is", "use the space that it was taken of")),
        })
    }

    fn snapshot_now(&self, env: &Env) -> napi::Result<Snapshot> {
        self.with(env, |source| Ok(source.snapshot()))
    }

    /// A promise of what is done with the space on another thread.
    fn apart(
        &self,
        env: &Env,
        work: impl FnOnce(&Arc<Space>) -> Result<Outcome> + Send + 'static,
    ) -> napi::Result<AsyncTask<Job>> {
        let space = self.space(env)?;
        Ok(promise(move || work(&space)))
    }
}

#[cold]
fn closed() -> Error {
    invalid("the space or snapshot is closed", "open the space again")
}

#[napi]
impl Reader {
    /// Opens the space at a path, and makes the directory first where that is asked for.
    #[napi(factory, catch_unwind)]
    pub fn open(env: &Env, path: Given, create: bool, words: Vec<String>) -> napi::Result<Self> {
        let open = || {
            let (path, options) = (OsStr::from_bytes(path.written()?), options::parse(&words)?);
            if create { options.create(path) } else { options.open(path) }
        };
        let space = open().map_err(|error| thrown(env, &error))?;
        Ok(Self::of(Source::Space(Arc::new(space))))
    }

    /// The version that is read now, held.
    #[napi(catch_unwind)]
    pub fn snapshot(&self, env: &Env) -> napi::Result<Self> {
        Ok(Self::of(Source::Snapshot(self.snapshot_now(env)?)))
    }

    #[napi(catch_unwind)]
    pub fn get<'env>(&self, env: &'env Env, key: Given, raw: bool) -> napi::Result<Unknown<'env>> {
        let form = Form::of(raw);
        let find =
            |source: &Source| key.wanted().map_or(Ok(None), |key| source.get_with(key, |value| form.give(env, value)));
        self.with(env, find)?.unwrap_or_else(|| ().into_unknown(env))
    }

    /// The values of many keys, all of one version, in the order of the keys.
    #[napi(catch_unwind)]
    pub fn get_many<'env>(&self, env: &'env Env, keys: Vec<Given>, raw: bool) -> napi::Result<Unknown<'env>> {
        let snapshot = self.snapshot_now(env)?;
        // One that cannot be looked up leaves its place to the empty key, and what is found for that is
        // dropped.
        let wanted: Vec<_> = keys.iter().map(|key| key.wanted().unwrap_or_default()).collect();
        let found = snapshot.get_many(&wanted).map_err(|error| thrown(env, &error))?;
        let values = keys.iter().zip(found).map(|(key, value)| match value {
            Some(value) if key.wanted().is_some() => Form::of(raw).give(env, &value),
            _ => ().into_unknown(env),
        });
        gathered(env, values, keys.len())
    }

    #[napi(catch_unwind)]
    pub fn has(&self, env: &Env, key: Given) -> napi::Result<bool> {
        self.with(env, |source| key.wanted().map_or(Ok(false), |key| source.contains(key)))
    }

    #[napi(catch_unwind)]
    pub fn size(&self, env: &Env) -> napi::Result<f64> {
        Ok(to_number(self.snapshot_now(env)?.len()))
    }

    /// The number of the version; `None` where there is none, or where Airbnb's gem wrote it.
    #[napi(catch_unwind)]
    pub fn version<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        match self.snapshot_now(env)?.number() {
            Some(number) => to_number(number).into_unknown(env),
            None => ().into_unknown(env),
        }
    }

    #[napi(catch_unwind)]
    pub fn pairs(&self, env: &Env, raw_keys: bool, raw_values: bool) -> napi::Result<Pairs> {
        Ok(Pairs::new(self.snapshot_now(env)?, Form::of(raw_keys), Form::of(raw_values)))
    }

    /// Moves on to the current version; whether it was another one.
    #[napi(catch_unwind)]
    pub fn refresh(&self, env: &Env) -> napi::Result<bool> {
        self.space(env)?.refresh().map_err(|error| thrown(env, &error))
    }

    /// A writer that starts from the current version, or empty.
    #[napi(catch_unwind)]
    pub fn writer(&self, env: &Env, replace: bool) -> napi::Result<AsyncTask<Job>> {
        self.apart(env, move |space| {
            let draft = if replace { space.replace() } else { space.writer() }?;
            Ok(Outcome::Begun(Writer::new(space, draft)))
        })
    }

    /// A writer in turn, if the turn is free; else it is `Busy`.
    #[napi(catch_unwind)]
    pub fn updater(&self, env: &Env) -> napi::Result<AsyncTask<Job>> {
        self.apart(env, |space| Ok(Outcome::Begun(Writer::new(space, space.updater_within(Duration::ZERO)?))))
    }

    #[napi(catch_unwind)]
    pub fn clear(&self, env: &Env) -> napi::Result<AsyncTask<Job>> {
        self.apart(env, |space| {
            space.clear()?;
            space.refresh().map(|_| Outcome::Nothing)
        })
    }

    /// Makes the version of this number current again, or the one before the current one.
    #[napi(catch_unwind)]
    pub fn rollback(&self, env: &Env, number: Option<f64>) -> napi::Result<AsyncTask<Job>> {
        #[expect(clippy::cast_sign_loss, reason = "`lib/space.cjs` lets through whole numbers from 1 on")]
        let number = number.map(|number| number as u64);
        self.apart(env, move |space| {
            let number = space.rollback(number)?;
            space.refresh().map(|_| Outcome::Number(number))
        })
    }

    /// The versions on disk, newest first.
    #[napi(catch_unwind)]
    pub fn versions(&self, env: &Env) -> napi::Result<Vec<Version>> {
        let versions = self.space(env)?.versions().map_err(|error| thrown(env, &error))?;
        Ok(versions.into_iter().map(Version::from).collect())
    }

    /// Lets go of what is read.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.source.borrow_mut().take();
    }
}

/// A version on disk.
#[napi(object)]
pub struct Version {
    pub number: Option<f64>,
    pub name: String,
    pub is_current: bool,
    pub entries: Option<f64>,
    pub bytes: f64,
    /// Milliseconds since 1970.
    pub published: f64,
}

impl From<VersionInfo> for Version {
    fn from(version: VersionInfo) -> Self {
        let published = version.published.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            number: version.number.map(to_number),
            name: version.uid,
            is_current: version.is_current,
            entries: version.entries.map(to_number),
            bytes: to_number(version.bytes),
            published: published.as_secs_f64() * 1000.0,
        }
    }
}
