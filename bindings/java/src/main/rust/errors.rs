//! Errors as Java's exceptions: one class for each kind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hammerspace::{Error, Kind};
use jni::errors::ErrorPolicy;
use jni::objects::{JString, JThrowable, JValue};
use jni::strings::{JNIStr, JNIString};
use jni::{Env, EnvUnowned, jni_sig, jni_str};

use crate::jvm::Jvm;

/// Why a native method did not succeed.
pub(crate) enum Failure {
    /// Found by us.
    Ours(Error),
    /// The JVM refused a call. Usually it has thrown an exception, which then stays what it is.
    Java(jni::errors::Error),
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Self {
        Self::Java(error)
    }
}

/// A call that cannot be: `InvalidException`.
#[cold]
pub(crate) fn invalid(finding: &str, remedy: &str) -> Failure {
    Failure::Ours(Error::new(Kind::Invalid, finding).remedy(remedy))
}

/// Does the work of a native method. Where it fails an exception is thrown, and the result is nothing.
#[inline]
pub(crate) fn answer<'l, T: Default>(env: &mut EnvUnowned<'l>, work: impl FnOnce(Jvm<'l>) -> Result<T>) -> T {
    let jvm = Jvm::from(&*env);
    match catch_unwind(AssertUnwindSafe(|| work(jvm))) {
        Ok(Ok(result)) => result,
        Ok(Err(failure)) => refuse(env, || Err(failure)),
        Err(panic) => refuse(env, || resume_unwind(panic)),
    }
}

#[cold]
fn refuse<T: Default>(env: &mut EnvUnowned<'_>, fail: impl FnOnce() -> Result<T>) -> T {
    answer_by(env, |_| fail())
}

/// The same, for methods that need more of the JVM and less speed.
pub(crate) fn answer_by<'l, T: Default>(env: &mut EnvUnowned<'l>, work: impl FnOnce(&mut Env<'l>) -> Result<T>) -> T {
    env.with_env(work).resolve::<Throw>()
}

/// Throws what failed, and panics as `java.lang.InternalError`.
struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'unowned: 'method, 'method> = ();

    #[cold]
    fn on_error<'unowned: 'method, 'method>(
        env: &mut Env<'unowned>,
        (): &mut (),
        failure: Failure,
    ) -> jni::errors::Result<T> {
        if !env.exception_check() {
            let thrown = match &failure {
                Failure::Ours(error) => throw(env, error),
                Failure::Java(error) => throw_internal(env, &format!("the JVM refused a call: {error}")),
            };
            ensure_thrown(env, &thrown);
        }
        Ok(T::default())
    }

    #[cold]
    fn on_panic<'unowned: 'method, 'method>(
        env: &mut Env<'unowned>,
        (): &mut (),
        panic: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let finding = format!("a bug in Hammerspace: {}; report it", said.unwrap_or("a panic without words"));
        let thrown = throw_internal(env, &finding);
        ensure_thrown(env, &thrown);
        Ok(T::default())
    }
}

/// Success with nothing done would be worse than the end.
fn ensure_thrown(env: &Env<'_>, thrown: &jni::errors::Result<()>) {
    if !env.exception_check() {
        env.fatal_error(&JNIString::from(format!("an exception cannot be thrown: {thrown:?}")));
    }
}

fn throw_internal(env: &mut Env<'_>, message: &str) -> jni::errors::Result<()> {
    env.throw_new(jni_str!("java/lang/InternalError"), JNIString::from(message))
}

fn throw(env: &mut Env<'_>, error: &Error) -> jni::errors::Result<()> {
    let message = env.new_string(error.to_string())?;
    let finding = env.new_string(error.finding())?;
    let file = text_or_null(env, error.path().map(|path| path.to_string_lossy()))?;
    let offset = error.offset().map_or(-1, u64::cast_signed);
    let remedy = text_or_null(env, error.advice())?;
    let arguments = [
        JValue::Object(&message),
        JValue::Object(&finding),
        JValue::Object(&file),
        JValue::Long(offset),
        JValue::Object(&remedy),
    ];
    let constructor = jni_sig!("(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;JLjava/lang/String;)V");
    let exception = env.new_object(class(error.kind()), constructor, &arguments)?;
    let exception = env.cast_local::<JThrowable>(exception)?;
    env.throw(exception)
}

fn text_or_null<'l>(env: &mut Env<'l>, text: Option<impl AsRef<str>>) -> jni::errors::Result<JString<'l>> {
    text.map_or_else(|| Ok(JString::null()), |text| env.new_string(text))
}

fn class(kind: Kind) -> &'static JNIStr {
    match kind {
        Kind::Corrupt => jni_str!("hammerspace/CorruptException"),
        Kind::Unsupported => jni_str!("hammerspace/UnsupportedException"),
        Kind::Busy => jni_str!("hammerspace/BusyException"),
        Kind::Full => jni_str!("hammerspace/FullException"),
        Kind::Invalid => jni_str!("hammerspace/InvalidException"),
        Kind::Permission => jni_str!("hammerspace/PermissionException"),
        Kind::Missing => jni_str!("hammerspace/MissingException"),
        Kind::OwnerDead => jni_str!("hammerspace/OwnerDeadException"),
        Kind::Io => jni_str!("hammerspace/IoException"),
        Kind::Changed => jni_str!("hammerspace/ChangedException"),
    }
}
