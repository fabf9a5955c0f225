//! A value where it lies, as the memory of a `ByteBuffer`.

use std::borrow::Cow;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JByteBuffer, JClass, JObject};
use jni::sys::{jint, jlong};

use crate::errors::{answer, answer_by};
use crate::handle;
use crate::jvm::too_long;
use crate::pinned::Pinned;
use crate::reader::pinned;

/// Bytes, and what keeps them in place.
struct View {
    /// Of a lifetime that ends with what is pinned; of a compressed version, a copy.
    bytes: Cow<'static, [u8]>,
    _pinned: Pinned,
}

/// The address of a new view of a key's value, to be freed by `NativeView.free`; zero where there is none.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_pin<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> jlong {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        let pinned = pinned(jvm, &this)?;
        let Some(bytes) = pinned.get(&key)? else { return Ok(0) };
        if jint::try_from(bytes.len()).is_err() {
            return Err(too_long(bytes.len()));
        }
        // SAFETY: borrowed bytes lie in a mapping that what is pinned holds, at an address that does not change while any clone of
        // that lives; `View` drops its own after the bytes, and nothing hands them out without it.
        let bytes = unsafe { std::mem::transmute::<Cow<'_, [u8]>, Cow<'static, [u8]>>(bytes) };
        Ok(handle::address_of(View { bytes, _pinned: pinned }))
    })
}

/// A buffer over the bytes of a view. Java wraps it as read-only, and frees the view once the buffer and all that was made from it
/// cannot be reached.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeView_buffer<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    address: jlong,
) -> JByteBuffer<'l> {
    answer_by(&mut env, |env| {
        // SAFETY: `NativeView` calls this with the address of a view that it has not freed.
        let bytes = unsafe { &*(address as *const View) }.bytes.as_ref();
        // SAFETY: the memory is there until the view is freed. Nothing writes to it: the buffer is seen by nobody but through its
        // read-only copy.
        Ok(unsafe { env.new_direct_byte_buffer(bytes.as_ptr().cast_mut(), bytes.len()) }?)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeView_free<'l>(mut env: EnvUnowned<'l>, _class: JClass<'l>, address: jlong) {
    answer(&mut env, |_| {
        // SAFETY: the cleaner of a buffer calls this, once, with the address of its view.
        unsafe { handle::free::<View>(address) };
        Ok(())
    });
}
