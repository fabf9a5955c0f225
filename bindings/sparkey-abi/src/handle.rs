//! What C hands in, and all unsafe code there is.
//!
//! Each wrapper has the layout of the pointer in it. None can be made in Rust, so that one exists only where C called us, and
//! what C promises by calling holds for it:
//!
//! | wrapper | C promises |
//! |---|---|
//! | all | it is null, or as the rows below say until the call returns; and lies aligned |
//! | [`Shared`] | it came from a function of ours and was not closed; nobody else changes it |
//! | [`Unique`] | the same, and nobody else uses it |
//! | [`Owner`] | a variable of C's; for functions that close, what it holds came from us and nobody uses it any more |
//! | [`Out`] | a variable of C's that may be written |
//! | [`Bytes`] | as many bytes as C says with it may be read, and nobody changes them |
//! | [`Buffer`] | as many bytes as C says with it may be written |
//! | [`Name`] | a string that ends with NUL |

use crate::code::{Code, Outcome};
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, slice};

/// An object of ours that several threads may use.
#[repr(transparent)]
pub(crate) struct Shared<T>(*const T);

impl<T> Shared<T> {
    /// The object, or the error for something closed.
    pub(crate) fn get(&self, closed: Code) -> Outcome<&T> {
        self.maybe().ok_or(closed)
    }

    pub(crate) fn maybe(&self) -> Option<&T> {
        // SAFETY: null, or made by `Owner::fill` and not closed yet, as C promises; the result does not outlive the call.
        unsafe { self.0.as_ref() }
    }
}

/// An object of ours that this call has to itself.
#[repr(transparent)]
pub(crate) struct Unique<T>(*mut T);

impl<T> Unique<T> {
    /// The object, or the error for something closed.
    pub(crate) fn get(&mut self, closed: Code) -> Outcome<&mut T> {
        // SAFETY: null, or made by `Owner::fill` and not closed yet, and used by nobody else, as C promises; the result does not
        // outlive the call. Where C may hand in one object twice, the caller asks `is` first.
        unsafe { self.0.as_mut() }.ok_or(closed)
    }

    /// Whether both are one object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

/// A variable of C's for a pointer to an object of ours, which belongs to C from then on.
#[repr(transparent)]
pub(crate) struct Owner<T>(*mut *mut T);

impl<T> Owner<T> {
    /// Hands an object over.
    pub(crate) fn fill(&mut self, object: T) -> Outcome {
        self.check()?;
        Out(self.0).set(Box::into_raw(Box::new(object)))
    }

    /// Whether there is a variable to hand something over to.
    pub(crate) fn check(&self) -> Outcome {
        if self.0.is_null() { Err(Code::InternalError) } else { Ok(()) }
    }

    /// The object, if there is one.
    pub(crate) fn get(&mut self) -> Option<&mut T> {
        // SAFETY: the variable is C's; what it holds is null, or was made by `fill`, and nobody else uses it, as C promises.
        unsafe { self.0.as_mut()?.as_mut() }
    }

    /// Ends the object's life, if there is one, and leaves null.
    pub(crate) fn close(&mut self) {
        // SAFETY: the variable is C's, as C promises.
        let Some(variable) = (unsafe { self.0.as_mut() }) else { return };
        let object = std::mem::replace(variable, ptr::null_mut());
        if !object.is_null() {
            // SAFETY: `fill` made it from a box, and the variable held it until now, so that nobody has freed it.
            drop(unsafe { Box::from_raw(object) });
        }
    }
}

/// A variable of C's for a result.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    pub(crate) fn set(&mut self, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(Code::InternalError);
        }
        // SAFETY: not null, so it may be written, as C promises. Nothing that needs dropping lies there.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

/// Bytes of C's. How many, C says beside it.
#[repr(transparent)]
pub(crate) struct Bytes(*const u8);

impl Bytes {
    /// All `len` of them; null stands for none.
    pub(crate) fn get(&self, len: u64) -> Outcome<&[u8]> {
        let len = usize::try_from(len).ok().filter(|len| isize::try_from(*len).is_ok()).ok_or(Code::InternalError)?;
        match len {
            0 => Ok(&[]),
            _ if self.0.is_null() => Err(Code::InternalError),
            // SAFETY: not null, and `len` bytes may be read, as C promises; more than `isize::MAX` were refused.
            _ => Ok(unsafe { slice::from_raw_parts(self.0, len) }),
        }
    }
}

/// Memory of C's to be written. How much, C says beside it.
#[repr(transparent)]
pub(crate) struct Buffer(*mut u8);

impl Buffer {
    /// Writes `bytes` and moves on behind them. All that is written must fit what C says beside it.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Outcome {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.0.is_null() {
            return Err(Code::InternalError);
        }
        // SAFETY: not null, so as much may be written as C says, and callers write no more. `bytes` lies in a file's mapping or in
        // memory of ours, where C has no buffer.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len());
            self.0 = self.0.add(bytes.len());
        }
        Ok(())
    }
}

/// The name of a file.
#[repr(transparent)]
pub(crate) struct Name(*const c_char);

impl Name {
    pub(crate) fn path(&self) -> Outcome<&Path> {
        self.text().map(|text| Path::new(OsStr::from_bytes(text))).ok_or(Code::FileNotFound)
    }

    /// Without the NUL.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, so a string with a NUL at its end, as C promises.
        Some(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }
}

/// A copy for C to give to `free`; null without memory.
pub(crate) fn freeable(text: &CStr) -> *mut c_char {
    // SAFETY: a string that ends with NUL, of which `strdup` makes a copy with `malloc`.
    unsafe { libc::strdup(text.as_ptr()) }
}
