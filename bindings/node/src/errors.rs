//! Errors as JavaScript has them: an `Error` with a `code`, and what Rust knows beside the message.

use hammerspace::{Error, Kind};
use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object};

/// What is thrown, or what a promise is rejected with.
#[cold]
pub(crate) fn thrown(env: &Env, error: &Error) -> napi::Error {
    object(env, error).map_or_else(|failure| failure, |object| object.to_unknown().into())
}

/// A call that cannot be.
#[cold]
pub(crate) fn invalid(finding: &str, remedy: &str) -> Error {
    Error::new(Kind::Invalid, finding).remedy(remedy)
}

fn object<'env>(env: &'env Env, error: &Error) -> napi::Result<Object<'env>> {
    let mut object = env.create_error(napi::Error::from_reason(error.to_string()))?;
    object.set_named_property("code", code(error.kind()))?;
    object.set_named_property("finding", error.finding())?;
    if let Some(path) = error.path() {
        object.set_named_property("path", path.to_string_lossy().as_ref())?;
    }
    #[expect(clippy::cast_precision_loss, reason = "no file is that long")]
    if let Some(offset) = error.offset() {
        object.set_named_property("offset", offset as f64)?;
    }
    if let Some(remedy) = error.advice() {
        object.set_named_property("remedy", remedy)?;
    }
    if let Some(errno) = error.os_code() {
        object.set_named_property("errno", errno)?;
    }
    Ok(object)
}

fn code(kind: Kind) -> &'static str {
    match kind {
        Kind::Corrupt => "HAMMERSPACE_CORRUPT",
        Kind::Unsupported => "HAMMERSPACE_UNSUPPORTED",
        Kind::Busy => "HAMMERSPACE_BUSY",
        Kind::Full => "HAMMERSPACE_FULL",
        Kind::Invalid => "HAMMERSPACE_INVALID",
        Kind::Permission => "HAMMERSPACE_PERMISSION",
        Kind::Missing => "HAMMERSPACE_MISSING",
        Kind::OwnerDead => "HAMMERSPACE_OWNER_DEAD",
        Kind::Io => "HAMMERSPACE_IO",
        Kind::Changed => "HAMMERSPACE_CHANGED",
    }
}
