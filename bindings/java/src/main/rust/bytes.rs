//! Bytes on their way in and out of Java's arrays.
//!
//! These are the calls of every lookup, so they go to the JVM's table of functions directly: `jni` asks before and after each call
//! whether an exception is pending. Ours begin with none, and whoever gets an error here returns to Java with it.

use std::ops::Deref;
use std::ptr;

use hammerspace::{Error, Kind};
use jni::Env;
use jni::objects::JByteArray;
use jni::sys::{jbyte, jint};

use crate::errors::{Failure, Result, invalid};

/// Most keys are shorter.
const SHORT: usize = 128;

/// The bytes of an array, copied.
pub(crate) enum Bytes {
    Short([u8; SHORT], u8),
    Long(Vec<u8>),
}

impl Bytes {
    /// Copies an array; null is an `InvalidException`.
    #[inline]
    pub(crate) fn of(env: &Env<'_>, array: &JByteArray<'_>) -> Result<Self> {
        if array.is_null() {
            return Err(null());
        }
        let raw = env.get_raw();
        // SAFETY: `raw` is the current thread's, no exception is pending, and the array is one.
        let len = unsafe { ((**raw).v1_1.GetArrayLength)(raw, array.as_raw()) }.cast_unsigned() as usize;
        if len <= SHORT {
            let mut short = [0; SHORT];
            copy_in(env, array, &mut short[..len]);
            return Ok(Self::Short(short, len as u8));
        }
        let mut long = vec![0; len];
        copy_in(env, array, &mut long);
        Ok(Self::Long(long))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Short(bytes, len) => &bytes[..usize::from(*len)],
            Self::Long(bytes) => bytes,
        }
    }
}

/// The length of what is as long as an array of Java, or no longer than there is room for in one.
#[inline]
fn length(bytes: &[u8]) -> jint {
    (bytes.len() as u32).cast_signed()
}

#[inline]
fn copy_in(env: &Env<'_>, array: &JByteArray<'_>, into: &mut [u8]) {
    let (raw, len) = (env.get_raw(), length(into));
    // SAFETY: as above; the array has this length, which never changes, and so has the place for the copy.
    unsafe { ((**raw).v1_1.GetByteArrayRegion)(raw, array.as_raw(), 0, len, into.as_mut_ptr().cast::<jbyte>()) }
}

/// A new array that holds these bytes.
#[inline]
pub(crate) fn array<'l>(env: &mut Env<'l>, bytes: &[u8]) -> Result<JByteArray<'l>> {
    let Ok(len) = jint::try_from(bytes.len()) else { return Err(too_long(bytes.len())) };
    let raw = env.get_raw();
    // SAFETY: `raw` is the current thread's, and no exception is pending. What it gives is a new local reference, or null with
    // an `OutOfMemoryError` pending.
    let array = unsafe { JByteArray::from_raw(env, ((**raw).v1_1.NewByteArray)(raw, len)) };
    if array.is_null() {
        return Err(Failure::Java(jni::errors::Error::JavaException));
    }
    copy_out(env, bytes, &array, 0);
    Ok(array)
}

/// Copies bytes into an array from `at` on, where they have room; else `IndexOutOfBoundsException` is pending.
#[inline]
pub(crate) fn copy_out(env: &Env<'_>, bytes: &[u8], array: &JByteArray<'_>, at: jint) {
    let (raw, len) = (env.get_raw(), length(bytes));
    // SAFETY: `raw` is the current thread's, no exception is pending, the bytes are as many, and the JVM checks the bounds of the
    // array.
    unsafe { ((**raw).v1_1.SetByteArrayRegion)(raw, array.as_raw(), at, len, bytes.as_ptr().cast::<jbyte>()) }
}

/// Copies bytes to memory that Java has given.
///
/// # Safety
///
/// As many bytes may be written there.
pub(crate) unsafe fn copy_to(bytes: &[u8], memory: *mut u8) {
    // SAFETY: by the caller's promise; and published files, where the bytes lie, are never what a program writes to.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) }
}

#[cold]
fn null() -> Failure {
    invalid("a key or a value is null", "give keys and values that are there, from a codec that gives bytes")
}

#[cold]
pub(crate) fn too_long(len: usize) -> Failure {
    let finding = format!("{len} bytes are more than Java's arrays and buffers hold");
    Failure::Ours(Error::new(Kind::Unsupported, finding).remedy("read it in another language, or from its log"))
}
