//! Iterating over one version, some kilobytes of pairs in each call.

use std::cell::RefCell;
use std::sync::Arc;

use hammerspace::{Error, Pair, Result, Snapshot};
use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use crate::bytes::Form;
use crate::errors::thrown;
use crate::job::gathered;

/// A call gives no further pair once it has as many bytes.
const ENOUGH: usize = 8192;

/// A walk through a version, which it holds until it ends.
#[napi]
pub struct Pairs {
    key_form: Form,
    value_form: Form,
    walk: RefCell<Option<Walk>>,
}

struct Walk {
    // Dropped first: they borrow from the snapshot. Their lifetime is not really 'static.
    pairs: hammerspace::Pairs<'static>,
    _snapshot: Arc<Snapshot>,
    /// The error that comes after the pairs before it.
    then: Option<Error>,
}

impl Walk {
    fn new(snapshot: Snapshot) -> Self {
        let snapshot = Arc::new(snapshot);
        // SAFETY: the snapshot stays where it is until the walk drops it, after all that borrows from it;
        // and it is only ever read.
        let held: &'static Snapshot = unsafe { &*Arc::as_ptr(&snapshot) };
        Self { pairs: held.iter(), _snapshot: snapshot, then: None }
    }

    /// The next pairs; none at the end. They borrow from the walk, whatever their type says.
    fn step(&mut self) -> Result<Vec<Pair<'_>>> {
        if let Some(error) = self.then.take() {
            return Err(error);
        }
        let (mut step, mut bytes) = (Vec::new(), 0);
        while bytes < ENOUGH {
            match self.pairs.next() {
                Some(Ok((key, value))) => {
                    bytes += key.len() + value.len() + size_of::<Pair<'_>>();
                    step.push((key, value));
                }
                Some(Err(error)) if step.is_empty() => return Err(error),
                Some(Err(error)) => {
                    self.then = Some(error);
                    break;
                }
                None => break,
            }
        }
        Ok(step)
    }
}

impl Pairs {
    pub fn new(snapshot: Snapshot, key_form: Form, value_form: Form) -> Self {
        Self { key_form, value_form, walk: RefCell::new(Some(Walk::new(snapshot))) }
    }
}

#[napi]
impl Pairs {
    /// Key, value, key, value, …: the next pairs. None at the end and after an error, when the version is
    /// let go.
    #[napi(catch_unwind)]
    pub fn next<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        let mut walk = self.walk.borrow_mut();
        let step = walk.as_mut().map_or_else(|| Ok(Vec::new()), Walk::step);
        let given = match &step {
            Ok(pairs) => {
                let forms = [self.key_form, self.value_form];
                let parts = pairs.iter().flat_map(|(key, value)| [key, value]).zip(forms.into_iter().cycle());
                gathered(env, parts.map(|(part, form)| form.give(env, part)), 2 * pairs.len())
            }
            Err(error) => Err(thrown(env, error)),
        };
        let is_over = step.is_ok_and(|pairs| pairs.is_empty()) || given.is_err();
        if is_over {
            *walk = None;
        }
        given
    }

    /// Lets the version go.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.walk.borrow_mut().take();
    }
}
