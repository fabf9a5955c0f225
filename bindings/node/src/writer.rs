//! Writing: the next version, private until it is published.
//!
//! JavaScript gathers changes in a batch, and starts one job of a writer after the other; so the lock below
//! is never waited for.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammerspace::{Error, Result, Space};
use napi::Env;
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;

use crate::bytes::{Form, Given};
use crate::errors::{invalid, thrown};
use crate::job::{Job, Outcome, promise, to_number};

/// The native half of a `Writer`.
#[napi]
pub struct Writer(Arc<Draft>);

/// The next version, and the space that moves on to it.
struct Draft {
    space: Arc<Space>,
    /// `None` once it was published or given up.
    writer: Mutex<Option<hammerspace::Writer>>,
}

/// Changes in the order in which they are to be made.
#[napi]
#[derive(Default)]
pub struct Batch(RefCell<Changes>);

#[derive(Default)]
struct Changes {
    list: Vec<Change>,
    bytes: usize,
}

/// A key, and its value if it has one from now on.
type Change = (Box<[u8]>, Option<Box<[u8]>>);

impl Draft {
    fn lock(&self) -> MutexGuard<'_, Option<hammerspace::Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut hammerspace::Writer) -> Result<T>) -> Result<T> {
        work(self.lock().as_mut().ok_or_else(ended)?)
    }

    fn make(&self, changes: Vec<Change>) -> Result<()> {
        self.with(|writer| {
            changes.into_iter().try_for_each(|(key, value)| match value {
                Some(value) => writer.put(key, value),
                None => writer.delete(key),
            })
        })
    }

    /// Makes it the current version, to which the space moves on. Where that fails it is pending still.
    fn publish(&self) -> Result<u64> {
        let mut pending = self.lock();
        let writer = pending.take().ok_or_else(ended)?;
        let number = writer.try_publish().map_err(|failed| {
            *pending = failed.writer;
            failed.error
        })?;
        drop(pending);
        self.space.refresh()?;
        Ok(number)
    }
}

#[cold]
fn ended() -> Error {
    invalid("this writer has published or was closed", "take a new one from the space")
}

#[napi]
impl Batch {
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a change; gives about how many bytes there are.
    #[napi(catch_unwind)]
    pub fn put(&self, env: &Env, key: Given, value: Given) -> napi::Result<f64> {
        self.add(env, &key, Some(&value))
    }

    /// Adds a change; gives about how many bytes there are.
    #[napi(catch_unwind)]
    pub fn delete(&self, env: &Env, key: Given) -> napi::Result<f64> {
        self.add(env, &key, None)
    }

    fn add(&self, env: &Env, key: &Given, value: Option<&Given>) -> napi::Result<f64> {
        let boxed = |given: &Given| given.written().map(Box::from).map_err(|error| thrown(env, &error));
        let change: Change = (boxed(key)?, value.map(boxed).transpose()?);
        let mut changes = self.0.borrow_mut();
        changes.bytes += change.0.len() + change.1.as_ref().map_or(0, |value| value.len()) + size_of::<Change>();
        changes.list.push(change);
        Ok(to_number(changes.bytes as u64))
    }
}

impl Writer {
    pub fn new(space: &Arc<Space>, writer: hammerspace::Writer) -> Self {
        Self(Arc::new(Draft { space: Arc::clone(space), writer: Mutex::new(Some(writer)) }))
    }

    /// A promise of what is done with the draft on another thread.
    fn apart(&self, work: impl FnOnce(&Draft) -> Result<Outcome> + Send + 'static) -> AsyncTask<Job> {
        let draft = Arc::clone(&self.0);
        promise(move || work(&draft))
    }
}

#[napi]
impl Writer {
    /// Makes the changes of a batch, which is empty afterwards.
    #[napi(catch_unwind)]
    pub fn make(&self, batch: &Batch) -> AsyncTask<Job> {
        let changes = batch.0.take().list;
        self.apart(|draft| draft.make(changes).map(|()| Outcome::Nothing))
    }

    #[napi(catch_unwind)]
    pub fn get(&self, key: Given, raw: bool) -> AsyncTask<Job> {
        let find = move |writer: &mut hammerspace::Writer| key.wanted().map_or(Ok(None), |key| writer.get(key));
        self.apart(move |draft| Ok(Outcome::Value(draft.with(find)?, Form::of(raw))))
    }

    #[napi(catch_unwind)]
    pub fn size(&self) -> AsyncTask<Job> {
        self.apart(|draft| draft.with(hammerspace::Writer::count).map(Outcome::Number))
    }

    /// All keys, in the order in which they were last written.
    #[napi(catch_unwind)]
    pub fn keys(&self, raw: bool) -> AsyncTask<Job> {
        self.apart(move |draft| Ok(Outcome::Keys(draft.with(hammerspace::Writer::keys)?, Form::of(raw))))
    }

    /// Starts again, from nothing.
    #[napi(catch_unwind)]
    pub fn clear(&self) -> AsyncTask<Job> {
        self.apart(|draft| draft.with(hammerspace::Writer::clear).map(|()| Outcome::Nothing))
    }

    /// Starts again, from what is current now.
    #[napi(catch_unwind)]
    pub fn restart(&self) -> AsyncTask<Job> {
        self.apart(|draft| draft.with(hammerspace::Writer::restart).map(|()| Outcome::Nothing))
    }

    #[napi(catch_unwind)]
    pub fn is_changed(&self) -> AsyncTask<Job> {
        self.apart(|draft| draft.with(|writer| Ok(Outcome::Flag(writer.is_changed()))))
    }

    #[napi(catch_unwind)]
    pub fn publish(&self) -> AsyncTask<Job> {
        self.apart(|draft| draft.publish().map(Outcome::Number))
    }

    /// Gives up what is pending.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Job> {
        self.apart(|draft| {
            let pending = draft.lock().take();
            drop(pending);
            Ok(Outcome::Nothing)
        })
    }
}
