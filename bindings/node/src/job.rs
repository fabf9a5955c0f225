//! Work off the JavaScript thread, which gives a promise.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hammerspace::{Error, Result};
use napi::bindgen_prelude::{Array, AsyncTask, JsValue, ToNapiValue, TypeName, Unknown};
use napi::{Env, ScopedTask, Status, ValueType};

use crate::bytes::Form;
use crate::errors::thrown;
use crate::writer::Writer;

type Work = Box<dyn FnOnce() -> Result<Outcome> + Send>;

/// A piece of work, done once on a thread of libuv's pool.
pub struct Job {
    work: Option<Work>,
    failed: Option<Error>,
}

/// What work gives, as Rust has it.
pub enum Outcome {
    Nothing,
    Flag(bool),
    Number(u64),
    Value(Option<Vec<u8>>, Form),
    Keys(Vec<Vec<u8>>, Form),
    Begun(Writer),
}

/// What a promise is fulfilled with.
pub struct Settled<'env>(Unknown<'env>);

/// A promise of what this work gives.
pub(crate) fn promise(work: impl FnOnce() -> Result<Outcome> + Send + 'static) -> AsyncTask<Job> {
    AsyncTask::new(Job { work: Some(Box::new(work)), failed: None })
}

impl<'env> ScopedTask<'env> for Job {
    type Output = Outcome;
    type JsValue = Settled<'env>;

    fn compute(&mut self) -> napi::Result<Outcome> {
        let work = self.work.take().ok_or_else(|| napi::Error::from_reason("this work was done already"))?;
        // What the work held is dropped by the unwinding, and locks that it held give way to the next that
        // comes.
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let outcome = outcome.map_err(|_| napi::Error::from_reason("a bug of Hammerspace: its work panicked"))?;
        outcome.map_err(|error| {
            let message = error.to_string();
            self.failed = Some(error);
            napi::Error::new(Status::GenericFailure, message)
        })
    }

    fn resolve(&mut self, env: &'env Env, outcome: Outcome) -> napi::Result<Settled<'env>> {
        outcome.into_js(env).map(Settled)
    }

    fn reject(&mut self, env: &'env Env, failure: napi::Error) -> napi::Result<Settled<'env>> {
        Err(self.failed.take().map_or(failure, |error| thrown(env, &error)))
    }
}

impl Outcome {
    fn into_js(self, env: &Env) -> napi::Result<Unknown<'_>> {
        match self {
            Self::Nothing | Self::Value(None, _) => ().into_unknown(env),
            Self::Flag(flag) => flag.into_unknown(env),
            Self::Number(number) => to_number(number).into_unknown(env),
            Self::Value(Some(value), form) => form.give(env, &value),
            Self::Keys(keys, form) => gathered(env, keys.iter().map(|key| form.give(env, key)), keys.len()),
            Self::Begun(writer) => writer.into_unknown(env),
        }
    }
}

/// A number as JavaScript has it: exact up to 2⁵³, which no count of ours comes near.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn to_number(number: u64) -> f64 {
    number as f64
}

/// An array of these values.
pub(crate) fn gathered<'env>(
    env: &'env Env,
    values: impl Iterator<Item = napi::Result<Unknown<'env>>>,
    len: usize,
) -> napi::Result<Unknown<'env>> {
    let mut array: Array<'env> = env.create_array(u32::try_from(len).unwrap_or(0))?;
    for (at, value) in (0..).zip(values) {
        array.set(at, value?)?;
    }
    Ok(array.to_unknown())
}

impl ToNapiValue for Settled<'_> {
    unsafe fn to_napi_value(_env: napi::sys::napi_env, settled: Self) -> napi::Result<napi::sys::napi_value> {
        Ok(settled.0.raw())
    }
}

impl TypeName for Settled<'_> {
    fn type_name() -> &'static str {
        "unknown"
    }

    fn value_type() -> ValueType {
        ValueType::Unknown
    }
}
