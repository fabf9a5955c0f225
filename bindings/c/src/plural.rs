//! Which form of a translation a count takes.

use std::ffi::c_void;

use hammerspace_plural::Rule;

use crate::bytes::bytes;

/// Which form of a translation so many things take, from 0, by the rule in a gettext catalogue's header (`Plural-Forms`);
/// -1 if the rule gives none that there is. By the rule of English if the header has none that can be read.
///
/// # Safety
/// The header is readable for its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_plural_form(header: *const c_void, header_len: usize, count: u64) -> i64 {
    // SAFETY: that is the caller's promise.
    let header = unsafe { bytes(header, header_len) };
    let rule = header.and_then(Rule::of_header).unwrap_or_default();
    rule.form(count).and_then(|form| i64::try_from(form).ok()).unwrap_or(-1)
}
