//! Writing: the next version, private until it is published.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammerspace::Space;
use jni::objects::{JByteArray, JClass, JObject, JObjectArray};
use jni::sys::{jboolean, jlong};
use jni::{Env, EnvUnowned, jni_str};

use crate::bytes::{self, Bytes};
use crate::errors::{Failure, Result, answer, invalid};
use crate::{handle, reader};

struct Writer {
    space: Arc<Space>,
    /// `None` once it was published or given up. Threads take turns.
    draft: Mutex<Option<hammerspace::Writer>>,
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, Option<hammerspace::Writer>> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut hammerspace::Writer) -> hammerspace::Result<T>) -> Result<T> {
        let mut draft = self.lock();
        let writer = draft.as_mut().ok_or_else(ended)?;
        Ok(work(writer)?)
    }

    /// Makes it the current version, to which the space moves on. Where that fails it is pending still.
    fn publish(&self) -> Result<u64> {
        let mut draft = self.lock();
        let writer = draft.take().ok_or_else(ended)?;
        let number = writer.try_publish().map_err(|failed| {
            *draft = failed.writer;
            failed.error
        })?;
        drop(draft);
        self.space.refresh()?;
        Ok(number)
    }
}

#[cold]
fn ended() -> Failure {
    invalid("this writer has published or was closed", "take a new one: `writer` or `replace` of the space")
}

fn of<'a>(env: &Env<'_>, this: &'a JObject<'_>) -> &'a Writer {
    // SAFETY: the receivers of the methods below are `NativeWriter`s, whose addresses `NativeReader.writer` makes.
    unsafe { handle::of(env, this) }
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_writer<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    replace: jboolean,
) -> jlong {
    answer(&mut env, |env| {
        let space = reader::space(env, &this)?;
        let writer = if replace { space.replace() } else { space.writer() }?;
        Ok(handle::address_of(Writer { space, draft: Mutex::new(Some(writer)) }))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_free<'l>(mut env: EnvUnowned<'l>, _class: JClass<'l>, address: jlong) {
    answer(&mut env, |_| {
        // SAFETY: the cleaner of a `NativeWriter` calls this, once, with its address.
        unsafe { handle::free::<Writer>(address) };
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_put<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
    value: JByteArray<'l>,
) {
    answer(&mut env, |env| {
        let (key, value) = (Bytes::of(env, &key)?, Bytes::of(env, &value)?);
        of(env, &this).with(|writer| writer.put(&*key, &*value))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_delete<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) {
    answer(&mut env, |env| {
        let key = Bytes::of(env, &key)?;
        of(env, &this).with(|writer| writer.delete(&*key))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_get<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> JByteArray<'l> {
    answer(&mut env, |env| {
        let key = Bytes::of(env, &key)?;
        let found = of(env, &this).with(|writer| writer.get(&*key))?;
        found.map_or_else(|| Ok(JByteArray::default()), |value| bytes::array(env, &value))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_size<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |env| Ok(of(env, &this).with(hammerspace::Writer::count)?.cast_signed()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_keys<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
) -> JObjectArray<'l> {
    answer(&mut env, |env| {
        let keys = of(env, &this).with(hammerspace::Writer::keys)?;
        let len = i32::try_from(keys.len()).map_err(|_| bytes::too_long(keys.len()))?;
        let array = env.new_object_array(len, jni_str!("[B"), JObject::null())?;
        for (at, key) in keys.iter().enumerate() {
            let key = bytes::array(env, key)?;
            array.set_element(env, at, &key)?;
            env.delete_local_ref(key);
        }
        Ok(array)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_clear<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |env| {
        let this = of(env, &this);
        this.with(|_| Ok(()))?;
        let empty = this.space.replace()?;
        drop(this.with(|writer| Ok(mem::replace(writer, empty)))?);
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_publish<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |env| Ok(of(env, &this).publish()?.cast_signed()))
}

/// Gives up what is pending.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_close<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |env| {
        let pending = of(env, &this).lock().take();
        drop(pending);
        Ok(())
    });
}
