//! The calls that lookups make, without the checks that the crate `jni` makes around each.
//!
//! `jni` keeps a stack of environments for each thread, and asks before and after each call whether an exception is pending: some 40 ns
//! for a native method, and 10 for each call. Here none is pending when a native method begins, and a call that may leave one is the
//! last, or gives an error with which the method ends.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

use hammerspace::{Error, Kind};
use jni::ids::JFieldID;
use jni::objects::{JByteArray, JByteBuffer, JObject};
use jni::sys::{JNIEnv, JNINativeInterface_, jbyte, jbyteArray, jint, jlong};
use jni::{Env, EnvUnowned};

use crate::errors::{Failure, Result, invalid};

/// The JVM as the current thread calls it, for as long as a native method runs.
#[derive(Clone, Copy)]
pub(crate) struct Jvm<'l> {
    env: *mut JNIEnv,
    method: PhantomData<&'l ()>,
}

/// An array for Java, or null: what a native method returns.
#[repr(transparent)]
pub(crate) struct Array(jbyteArray);

impl Default for Array {
    fn default() -> Self {
        Self(ptr::null_mut())
    }
}

impl<'l> From<&EnvUnowned<'l>> for Jvm<'l> {
    #[inline]
    fn from(env: &EnvUnowned<'l>) -> Self {
        Self { env: env.as_raw(), method: PhantomData }
    }
}

impl<'l> From<&Env<'l>> for Jvm<'l> {
    fn from(env: &Env<'l>) -> Self {
        Self { env: env.get_raw(), method: PhantomData }
    }
}

impl Jvm<'_> {
    #[inline]
    fn calls(&self) -> &JNINativeInterface_ {
        // SAFETY: both ways to make one take the environment of the current thread, which is there while the method runs, and so
        // is its table. It is not `Send`.
        unsafe { &**self.env }
    }

    /// A field of an object.
    ///
    /// # Safety
    ///
    /// It is a `long`, and one of the object's class.
    #[inline]
    pub(crate) unsafe fn long_field(self, object: &JObject<'_>, field: JFieldID) -> jlong {
        // SAFETY: the caller's promise; reading a field throws nothing.
        unsafe { (self.calls().v1_1.GetLongField)(self.env, object.as_raw(), field.into_raw()) }
    }

    /// The bytes of an array, copied. Null is an `InvalidException`.
    #[inline]
    pub(crate) fn bytes(self, array: &JByteArray<'_>) -> Result<Bytes> {
        if array.is_null() {
            return Err(null());
        }
        // SAFETY: it is an array.
        let len = unsafe { (self.calls().v1_1.GetArrayLength)(self.env, array.as_raw()) }.cast_unsigned() as usize;
        if len <= SHORT {
            let mut short = [0; SHORT];
            self.copy_in(array, &mut short[..len]);
            return Ok(Bytes::Short(short, len as u8));
        }
        let mut long = vec![0; len];
        self.copy_in(array, &mut long);
        Ok(Bytes::Long(long))
    }

    /// `into` is as long as the array.
    #[inline]
    fn copy_in(self, array: &JByteArray<'_>, into: &mut [u8]) {
        let place = into.as_mut_ptr().cast::<jbyte>();
        // SAFETY: the array has this length, which never changes, and so has the place for the copy.
        unsafe { (self.calls().v1_1.GetByteArrayRegion)(self.env, array.as_raw(), 0, length(into), place) }
    }

    /// A new array that holds these bytes.
    #[inline]
    pub(crate) fn array(self, bytes: &[u8]) -> Result<Array> {
        let Ok(len) = jint::try_from(bytes.len()) else { return Err(too_long(bytes.len())) };
        // SAFETY: the length is not negative.
        let array = unsafe { (self.calls().v1_1.NewByteArray)(self.env, len) };
        if array.is_null() {
            // `OutOfMemoryError` is pending.
            return Err(Failure::Java(jni::errors::Error::JavaException));
        }
        let place = bytes.as_ptr().cast::<jbyte>();
        // SAFETY: the array has this length, and so have the bytes.
        unsafe { (self.calls().v1_1.SetByteArrayRegion)(self.env, array, 0, len, place) };
        Ok(Array(array))
    }

    /// Copies bytes into an array from `at` on. Where they have no room, `ArrayIndexOutOfBoundsException` is pending.
    #[inline]
    pub(crate) fn copy_out(self, bytes: &[u8], array: &JByteArray<'_>, at: jint) {
        let place = bytes.as_ptr().cast::<jbyte>();
        // SAFETY: the JVM checks the bounds of the array, and there are as many bytes.
        unsafe { (self.calls().v1_1.SetByteArrayRegion)(self.env, array.as_raw(), at, length(bytes), place) }
    }

    /// Copies bytes into a direct buffer from `at` on.
    ///
    /// # Safety
    ///
    /// The buffer is a direct one, may be written to, and has room for them there.
    #[inline]
    pub(crate) unsafe fn copy_to(self, bytes: &[u8], buffer: &JByteBuffer<'_>, at: jint) {
        // SAFETY: by the caller's promise there is such a buffer, whose memory stays where it is while the caller holds it, and has room.
        // It lies outside of all published files.
        unsafe {
            let memory = (self.calls().v1_4.GetDirectBufferAddress)(self.env, buffer.as_raw()).cast::<u8>();
            ptr::copy_nonoverlapping(bytes.as_ptr(), memory.add(at.cast_unsigned() as usize), bytes.len());
        }
    }
}

/// Most keys are shorter.
const SHORT: usize = 128;

/// The bytes of an array, copied.
pub(crate) enum Bytes {
    Short([u8; SHORT], u8),
    Long(Vec<u8>),
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

#[cold]
fn null() -> Failure {
    invalid("a key or a value is null", "give keys and values that are there, from a codec that gives bytes")
}

#[cold]
pub(crate) fn too_long(len: usize) -> Failure {
    let finding = format!("{len} bytes are more than Java's arrays and buffers hold");
    Failure::Ours(Error::new(Kind::Unsupported, finding).remedy("read it in another language, or from its log"))
}
