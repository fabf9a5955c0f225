//! Writing: the next version, private until it is published.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammerspace::Space;
use jni::objects::{JByteArray, JClass, JObject, JObjectArray};
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, jni_str};

use crate::errors::{Failure, Result, answer, answer_by, invalid};
use crate::jvm::{Array, Jvm, too_long};
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

fn of<'a>(jvm: Jvm<'_>, this: &'a JObject<'_>) -> &'a Writer {
    // SAFETY: the receivers of the methods below are `NativeWriter`s, whose addresses `NativeReader.writer` makes.
    unsafe { handle::of(jvm, this) }
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_writer<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| begin(jvm, &this, Space::writer))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_replace<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| begin(jvm, &this, Space::replace))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_updater<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| begin(jvm, &this, Space::updater))
}

/// The address of a new writer, which begins in one of these ways.
fn begin(
    jvm: Jvm<'_>,
    this: &JObject<'_>,
    how: impl FnOnce(&Space) -> hammerspace::Result<hammerspace::Writer>,
) -> Result<jlong> {
    let space = reader::space(jvm, this)?;
    let draft = Mutex::new(Some(how(&space)?));
    Ok(handle::address_of(Writer { space, draft }))
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
    answer(&mut env, |jvm| {
        let (key, value) = (jvm.bytes(&key)?, jvm.bytes(&value)?);
        of(jvm, &this).with(|writer| writer.put(&*key, &*value))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_delete<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        of(jvm, &this).with(|writer| writer.delete(&*key))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_get<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> Array {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        let found = of(jvm, &this).with(|writer| writer.get(&*key))?;
        found.map_or_else(|| Ok(Array::default()), |value| jvm.array(&value))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_size<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| Ok(of(jvm, &this).with(hammerspace::Writer::count)?.cast_signed()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_keys<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
) -> JObjectArray<'l> {
    answer_by(&mut env, |env| {
        let keys = of(Jvm::from(&*env), &this).with(hammerspace::Writer::keys)?;
        let len = jint::try_from(keys.len()).map_err(|_| too_long(keys.len()))?;
        let array = env.new_object_array(len, jni_str!("[B"), JObject::null())?;
        for (at, key) in keys.iter().enumerate() {
            let key = env.byte_array_from_slice(key)?;
            array.set_element(env, at, &key)?;
            env.delete_local_ref(key);
        }
        Ok(array)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_clear<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| of(jvm, &this).with(hammerspace::Writer::clear));
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_restart<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| of(jvm, &this).with(hammerspace::Writer::restart));
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_isChanged<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jboolean {
    answer(&mut env, |jvm| of(jvm, &this).with(|writer| Ok(writer.is_changed())))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_publish<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| Ok(of(jvm, &this).publish()?.cast_signed()))
}

/// Gives up what is pending.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeWriter_close<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| {
        let pending = of(jvm, &this).lock().take();
        drop(pending);
        Ok(())
    });
}
