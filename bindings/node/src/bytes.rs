//! Keys and values on their way in, as bytes; values on their way out, as strings or as Buffers.

use std::ptr;

use hammerspace::Error;
use napi::bindgen_prelude::{BufferSlice, FromNapiValue, JsValue, ToNapiValue, Unknown};
use napi::{Env, Status, sys};

use crate::errors::{invalid, thrown};

/// Keys of fewer bytes are read in one call and without allocating.
const SHORT: usize = 120;

/// What JavaScript gives as a key or a value: a string, which stands for its UTF-8, or a `Uint8Array`. A
/// copy.
pub struct Given {
    short: [u8; SHORT],
    len: usize,
    /// All of it, where it is not short.
    long: Vec<u8>,
    /// A string with a lone surrogate has no UTF-8: no space has it as a key, and none can take it.
    is_possible: bool,
}

impl Given {
    fn of_bytes(bytes: &[u8]) -> Self {
        let mut given = Self { short: [0; SHORT], len: bytes.len(), long: Vec::new(), is_possible: true };
        match given.short.get_mut(..bytes.len()) {
            Some(short) => short.copy_from_slice(bytes),
            None => given.long = bytes.to_vec(),
        }
        given
    }

    fn all(&self) -> &[u8] {
        self.short.get(..self.len).filter(|_| self.long.is_empty()).unwrap_or(&self.long)
    }

    /// The bytes to look up; `None` where nothing can be found.
    pub(crate) fn wanted(&self) -> Option<&[u8]> {
        self.is_possible.then(|| self.all())
    }

    /// The bytes to write.
    pub(crate) fn written(&self) -> Result<&[u8], Error> {
        self.wanted().ok_or_else(|| {
            invalid("a string with a lone surrogate has no UTF-8", "write its bytes as a Buffer, or repair the string")
        })
    }
}

impl FromNapiValue for Given {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        let mut given = Self { short: [0; SHORT], len: 0, long: Vec::new(), is_possible: true };
        // SAFETY: the caller gives a live environment and a value of it; the buffer is as long as is said,
        // and outlives the call.
        let status = unsafe { read_utf8(env, value, &mut given.short, &mut given.len) };
        if status == sys::Status::napi_string_expected {
            // SAFETY: as above.
            return unsafe { of_array(env, value) };
        }
        check(status)?;
        // The call cuts what does not fit, before a character of up to four bytes and with room for a zero
        // byte.
        if given.len + 5 > SHORT {
            // SAFETY: as above; without a buffer the call gives the length.
            check(unsafe { sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut given.len) })?;
            given.long = vec![0; given.len + 1];
            // SAFETY: as above.
            check(unsafe { read_utf8(env, value, &mut given.long, &mut given.len) })?;
            given.long.truncate(given.len);
        }
        // What a lone surrogate is turned into, and what a string may also hold by itself.
        if has_replacement(given.all()) {
            // SAFETY: as above.
            given.is_possible = unsafe { is_well_formed(env, value) }?;
        }
        Ok(given)
    }
}

/// Whether the text has U+FFFD.
fn has_replacement(utf8: &[u8]) -> bool {
    !utf8.is_ascii() && utf8.windows(3).any(|window| window == "\u{FFFD}".as_bytes())
}

/// Reads a string as UTF-8 into a buffer, and says how many bytes there are.
///
/// # Safety
/// The environment is live, and the value is one of it.
unsafe fn read_utf8(
    env: sys::napi_env,
    value: sys::napi_value,
    buffer: &mut [u8],
    len: &mut usize,
) -> sys::napi_status {
    // SAFETY: promised by the caller; the buffer is as long as is said.
    unsafe { sys::napi_get_value_string_utf8(env, value, buffer.as_mut_ptr().cast(), buffer.len(), len) }
}

/// Whether every surrogate of a string has its other half.
///
/// # Safety
/// The environment is live, and the value is a string of it.
unsafe fn is_well_formed(env: sys::napi_env, value: sys::napi_value) -> napi::Result<bool> {
    let mut len = 0;
    // SAFETY: promised by the caller; without a buffer the call gives the length.
    check(unsafe { sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut len) })?;
    let mut units = vec![0u16; len + 1];
    // SAFETY: promised by the caller; the buffer is as long as is said.
    check(unsafe { sys::napi_get_value_string_utf16(env, value, units.as_mut_ptr(), units.len(), &raw mut len) })?;
    Ok(char::decode_utf16(units[..len].iter().copied()).all(|character| character.is_ok()))
}

/// A copy of a `Uint8Array`, which a Buffer is.
///
/// # Safety
/// The environment is live, and the value is one of it.
unsafe fn of_array(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Given> {
    let (mut kind, mut len, mut data) = (-1, 0, ptr::null_mut());
    // SAFETY: promised by the caller; every pointer is to a local of the right type, or null where the call
    // allows that.
    let status = unsafe {
        let (kind, len, data) = (&raw mut kind, &raw mut len, &raw mut data);
        sys::napi_get_typedarray_info(env, value, kind, len, data, ptr::null_mut(), ptr::null_mut())
    };
    if status != sys::Status::napi_ok || kind != sys::TypedarrayType::uint8_array {
        return Err(type_error(&Env::from_raw(env)));
    }
    if data.is_null() {
        return Ok(Given::of_bytes(&[]));
    }
    // SAFETY: the array has that many bytes there, and no script runs until they are copied, so it keeps
    // them. Should it lie in shared memory that another thread writes to, the copy holds some of its bytes
    // and some of ours, each a byte all the same.
    Ok(Given::of_bytes(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }))
}

#[cold]
fn type_error(env: &Env) -> napi::Error {
    let message = "keys and values are strings, Buffers or other Uint8Arrays; give a codec for anything else";
    match env.throw_type_error(message, Some("ERR_INVALID_ARG_TYPE")) {
        Ok(()) => napi::Error::new(Status::PendingException, message),
        Err(failure) => failure,
    }
}

/// What bytes are in JavaScript.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Buffer,
}

impl Form {
    pub(crate) fn of(is_raw: bool) -> Self {
        if is_raw { Self::Buffer } else { Self::Text }
    }

    /// A string or a Buffer of these bytes, which are copied.
    pub(crate) fn give<'env>(self, env: &'env Env, bytes: &[u8]) -> napi::Result<Unknown<'env>> {
        match self {
            Self::Buffer => BufferSlice::copy_from(env, bytes)?.into_unknown(env),
            // A string of one byte a character is a copy, and half as long.
            Self::Text if bytes.is_ascii() => Ok(env.create_string_latin1(bytes)?.to_unknown()),
            Self::Text => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(env.create_string(text)?.to_unknown()),
                Err(_) => Err(thrown(env, &not_text())),
            },
        }
    }
}

#[cold]
fn not_text() -> Error {
    invalid("these bytes are no UTF-8", "read them as a Buffer, with the codec of that name")
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    if status == sys::Status::napi_ok {
        Ok(())
    } else {
        Err(napi::Error::new(Status::from(status), "Node refused a call"))
    }
}
