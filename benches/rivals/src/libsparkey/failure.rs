//! The library's return codes as an error.

use std::ffi::CStr;
use std::fmt;

use sparkey_sys::{errstring, returncode};

use super::Result;

/// What was being done, and what the library returned instead of 0.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    doing: &'static str,
    code: i32,
    words: String,
}

impl Failure {
    /// The library's return code.
    pub fn code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.doing, self.words, self.code)
    }
}

impl std::error::Error for Failure {}

/// `Ok` for the code 0.
pub(super) fn check(doing: &'static str, code: returncode) -> Result<()> {
    if code as i32 == 0 { Ok(()) } else { Err(failure(doing, code)) }
}

#[cold]
fn failure(doing: &'static str, code: returncode) -> Failure {
    // SAFETY: `errstring` takes any code and returns a pointer to one of its string literals.
    let words = unsafe { CStr::from_ptr(errstring(code)) };
    Failure { doing, code: code as i32, words: words.to_string_lossy().into_owned() }
}
