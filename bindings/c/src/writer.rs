//! Writers of spaces.

use std::borrow::Cow;
use std::ffi::c_void;
use std::mem::MaybeUninit;

use hammerspace::Result;

use crate::bytes::{Value, bytes};
use crate::error::{Error, answer, fill, given, invalid};

/// The next version of a space, private until it is published. Freed before that, it leaves nothing behind.
pub struct Writer(Option<hammerspace::Writer>);

impl Writer {
    #[expect(clippy::unnecessary_wraps, reason = "what its callers write to their callers' memory")]
    pub(crate) fn boxed(writer: hammerspace::Writer) -> Option<Box<Self>> {
        Some(Box::new(Self(Some(writer))))
    }
}

const WRITER: &str = "the writer";

fn open(writer: Option<&mut Writer>) -> Result<&mut hammerspace::Writer> {
    given(writer, WRITER)?.0.as_mut().ok_or_else(|| invalid("the writer has published; take a new one"))
}

/// Sets the value of a key, whatever it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_writer_put(
    writer: Option<&mut Writer>,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: so many bytes each, by the rules of the header.
        let (key, value) = unsafe { (bytes(key, key_len)?, bytes(value, value_len)?) };
        open(writer)?.put(key, value)
    })
}

/// Removes a key, if it is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_writer_delete(
    writer: Option<&mut Writer>,
    key: *const c_void,
    key_len: usize,
) -> Option<Box<Error>> {
    answer(|| {
        // SAFETY: so many bytes, by the rules of the header.
        let key = unsafe { bytes(key, key_len) }?;
        open(writer)?.delete(key)
    })
}

/// The value that a key would have if this were published now; its data is NULL if there would be none. Lives until it is
/// freed. From the first call on, the writer keeps its changes in memory too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hammerspace_writer_get(
    writer: Option<&mut Writer>,
    key: *const c_void,
    key_len: usize,
    value: Option<&mut MaybeUninit<Value>>,
) -> Option<Box<Error>> {
    fill(value, Value::NOTHING, || {
        // SAFETY: so many bytes, by the rules of the header.
        let key = unsafe { bytes(key, key_len) }?;
        Ok(Value::of(open(writer)?.get(key)?.map(Cow::Owned)))
    })
}

/// Drops what is pending, and starts from the version that is current by now. One of
/// hammerspace_space_updater keeps its turn.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_writer_restart(writer: Option<&mut Writer>) -> Option<Box<Error>> {
    answer(|| open(writer)?.restart())
}

/// Whether a key was put or deleted since the writer began, be it without effect. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_writer_is_changed(writer: Option<&Writer>) -> bool {
    writer.and_then(|writer| writer.0.as_ref()).is_some_and(hammerspace::Writer::is_changed)
}

/// Makes this the current version, in one step, and gives its number (`number` may be NULL). All that is left to do with the
/// writer then is to free it. If it fails the version before is still current, unless the error says otherwise, and
/// `hammerspace_writer_is_pending` tells whether it can be tried again.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_writer_publish(
    writer: Option<&mut Writer>,
    number: Option<&mut MaybeUninit<u64>>,
) -> Option<Box<Error>> {
    let mut unwanted = MaybeUninit::uninit();
    fill(Some(number.unwrap_or(&mut unwanted)), 0, || {
        let place = &mut given(writer, WRITER)?.0;
        let writer = place.take().ok_or_else(|| invalid("the writer has published before; take a new one"))?;
        writer.try_publish().map_err(|failed| {
            *place = failed.writer;
            failed.error
        })
    })
}

/// Whether a writer has anything left to publish: false once it has published, and for NULL. After a failure true means that
/// nothing is lost, and that it can be published once the cause is gone, as after making room; only if a sync failed each later
/// try fails, and says so.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_writer_is_pending(writer: Option<&Writer>) -> bool {
    writer.is_some_and(|writer| writer.0.is_some())
}

/// Frees a writer, and drops what it did not publish. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hammerspace_writer_free(writer: Option<Box<Writer>>) {
    drop(writer);
}
