//! Writing Sparkey files without a space around them.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

use hammerspace::Result;
use hammerspace::sparkey::{LogFile, Pair};

use crate::bytes::{bytes, path};
use crate::error::{Error, answer, fill, given, invalid};
use crate::options::{Effort, log_options};

/// A log file being written. Nothing of it is seen before it is finished.
pub struct Log(Option<LogFile>);

const LOG: &str = "the log";

fn open(log: Option<&mut Log>) -> Result<&mut LogFile> {
    given(log, LOG)?.0.as_mut().ok_or_else(|| invalid("the log is finished; append to it with a new handle"))
}

/// Begins a log, which takes the place of one that is there when it is finished. `compression` is a
/// hammerspace_compression, `block_size` the bytes per block before compression; 0 and 0 are the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_log_create(
    file: *const c_char,
    compression: u32,
    block_size: u32,
    log: Option<&mut MaybeUninit<Option<Box<Log>>>>,
) -> Option<Box<Error>> {
    fill(log, None, || {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let file = unsafe { path(file) }?;
        let log = LogFile::create(file, &log_options(compression, block_size)?)?;
        Ok(Some(Box::new(Log(Some(log)))))
    })
}

/// Goes on with a log, packed as it is, unless somebody else does at the moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_log_append(
    file: *const c_char,
    log: Option<&mut MaybeUninit<Option<Box<Log>>>>,
) -> Option<Box<Error>> {
    fill(log, None, || {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let file = unsafe { path(file) }?;
        Ok(Some(Box::new(Log(Some(LogFile::append(file)?)))))
    })
}

/// Sets the value of a key from here on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_log_put(
    log: Option<&mut Log>,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: so many bytes each, by the rules of the header.
        let (key, value) = unsafe { (bytes(key, key_len)?, bytes(value, value_len)?) };
        open(log)?.put(key, value)
    })
}

/// Ends the life of a key, which need not have one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_log_delete(
    log: Option<&mut Log>,
    key: *const c_void,
    key_len: usize,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: so many bytes, by the rules of the header.
        let key = unsafe { bytes(key, key_len) }?;
        open(log)?.delete(key)
    })
}

/// Makes the log durable, and visible under its name. Whether it succeeds or not, all that is left to do is to free it.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_log_finish(log: Option<&mut Log>) -> Option<Box<Error>> {
    answer(|| {
        let log = given(log, LOG)?.0.take();
        log.ok_or_else(|| invalid("the log is finished already"))?.finish().map(drop)
    })
}

/// Frees the handle of a log; what was not finished is dropped. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_log_free(log: Option<Box<Log>>) {
    drop(log);
}

/// Writes the index of a log, in place of one that is there. Takes time linear in the log, all processors, and 256 MiB of
/// memory; what they do not hold goes to a file without a name, beside the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_index_write(log: *const c_char, index: *const c_char) -> Option<Box<Error>> {
    // SAFETY: the caller's promise about `log` and `index` is the same.
    unsafe { hammerspace_index_write_within(log, index, None) }
}

/// The same with so much memory and so many threads, on which the index does not depend; or the defaults if `effort` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_index_write_within(
    log: *const c_char,
    index: *const c_char,
    effort: Option<&Effort>,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: text that ends with a NUL, by the rules of the header.
        let (log, index) = unsafe { (path(log)?, path(index)?) };
        let pair = Pair { log: log.into(), index: index.into() };
        pair.build_index_within(&Effort::to_ours(effort)).map(drop)
    })
}
