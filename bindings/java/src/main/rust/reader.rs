//! Reading: a handle that moves from version to version, or one version that stays.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use hammerspace::Space;
use jni::EnvUnowned;
use jni::objects::{JByteArray, JByteBuffer, JClass, JObject, JString};
use jni::sys::{jboolean, jint, jlong};

use crate::errors::{Result, answer, answer_by, invalid};
use crate::handle::{self, Held, Open};
use crate::jvm::{Array, Jvm, too_long};
use crate::pinned::Pinned;
use crate::{options, packed};

/// What is read.
pub(crate) enum Source {
    /// The version that a handle is at.
    Space(Arc<Space>),
    /// What stays as it is.
    Pinned(Pinned),
}

/// A length that says that there is no value.
const ABSENT: jint = -1;

/// The source of a `NativeReader` that is open.
#[inline]
fn open(jvm: Jvm<'_>, this: &JObject<'_>) -> Result<Open<Source>> {
    // SAFETY: the receivers of the methods below are `NativeReader`s, whose addresses `address_of` makes here.
    unsafe { handle::of::<Held<Source>>(jvm, this) }.get("reader")
}

/// The space of a `NativeReader` that is open.
pub(crate) fn space(jvm: Jvm<'_>, this: &JObject<'_>) -> Result<Arc<Space>> {
    match &*open(jvm, this)? {
        Source::Space(space) => Ok(Arc::clone(space)),
        Source::Pinned(_) => Err(invalid("a snapshot stays as it is", "use the space that it was taken of")),
    }
}

/// What a `NativeReader` that is open reads now.
pub(crate) fn pinned(jvm: Jvm<'_>, this: &JObject<'_>) -> Result<Pinned> {
    Ok(match &*open(jvm, this)? {
        Source::Space(space) => Pinned::Snapshot(space.snapshot()),
        Source::Pinned(pinned) => pinned.clone(),
    })
}

impl Source {
    #[inline]
    fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        match self {
            Self::Space(space) => space.get_with(key, show),
            Self::Pinned(pinned) => pinned.get_with(key, show),
        }?
        .transpose()
    }

    fn contains(&self, key: &[u8]) -> hammerspace::Result<bool> {
        match self {
            Self::Space(space) => space.contains(key),
            Self::Pinned(pinned) => pinned.contains(key),
        }
    }
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_open<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    path: JByteArray<'l>,
    create: jboolean,
    options: JString<'l>,
) -> jlong {
    answer_by(&mut env, |env| {
        let path = Jvm::from(&*env).bytes(&path)?;
        let path = Path::new(OsStr::from_bytes(&path));
        let options = options::parse(&options.try_to_string(env)?)?;
        let space = if create { options.create(path) } else { options.open(path) }?;
        Ok(Held::address_of(Source::Space(Arc::new(space))))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_snapshot<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| Ok(Held::address_of(Source::Pinned(pinned(jvm, &this)?))))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_close<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| {
        // SAFETY: as in `open`.
        unsafe { handle::of::<Held<Source>>(jvm, &this) }.close();
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_free<'l>(mut env: EnvUnowned<'l>, _class: JClass<'l>, address: jlong) {
    answer(&mut env, |_| {
        // SAFETY: the cleaner of a `NativeReader` calls this, once, with its address.
        unsafe { handle::free::<Held<Source>>(address) };
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_get<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> Array {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        let found = open(jvm, &this)?.get_with(&key, |value| jvm.array(value))?;
        Ok(found.unwrap_or_default())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_copy<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
    into: JByteArray<'l>,
    at: jint,
    room: jint,
) -> jint {
    answer(&mut env, |jvm| copied(jvm, &this, &key, room, |value| jvm.copy_out(value, &into, at)))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_copyDirect<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
    into: JByteBuffer<'l>,
    at: jint,
    room: jint,
) -> jint {
    answer(&mut env, |jvm| {
        copied(jvm, &this, &key, room, |value| {
            // SAFETY: `SpaceReader.read` gives a direct buffer that may be written to, its position, and how much remains of it; the
            // value is no longer.
            unsafe { jvm.copy_to(value, &into, at) }
        })
    })
}

/// Has a value copied that is no longer than there is room for. Gives its length either way.
#[inline]
fn copied(
    jvm: Jvm<'_>,
    this: &JObject<'_>,
    key: &JByteArray<'_>,
    room: jint,
    copy: impl FnOnce(&[u8]),
) -> Result<jint> {
    let key = jvm.bytes(key)?;
    let found = open(jvm, this)?.get_with(&key, |value| {
        let Ok(len) = jint::try_from(value.len()) else { return Err(too_long(value.len())) };
        if len <= room {
            copy(value);
        }
        Ok(len)
    });
    Ok(found?.unwrap_or(ABSENT))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_getMany<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    keys: JByteArray<'l>,
) -> Array {
    answer(&mut env, |jvm| {
        let keys = jvm.bytes(&keys)?;
        let keys = packed::pieces(&keys)?;
        // No value is given for a key that no space can have, whatever is found for what takes its place.
        let wanted: Vec<&[u8]> = keys.iter().map(|key| key.unwrap_or_default()).collect();
        let pinned = pinned(jvm, &this)?;
        let mut values = Vec::new();
        for (key, value) in keys.iter().zip(pinned.get_many(&wanted)?) {
            packed::push(&mut values, key.and(value.as_deref()));
        }
        jvm.array(&values)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_contains<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> jboolean {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        Ok(open(jvm, &this)?.contains(&key)?)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_size<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| Ok(pinned(jvm, &this)?.len().cast_signed()))
}

/// Zero where the version has none.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_number<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| Ok(pinned(jvm, &this)?.number().unwrap_or_default().cast_signed()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_refresh<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jboolean {
    answer(&mut env, |jvm| match &*open(jvm, &this)? {
        Source::Space(space) => Ok(space.refresh()?),
        Source::Pinned(_) => Ok(false),
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_clear<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| {
        let space = space(jvm, &this)?;
        space.clear()?;
        space.refresh()?;
        Ok(())
    });
}

/// `number` is zero for the version before the current one.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_rollback<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    number: jlong,
) -> jlong {
    answer(&mut env, |jvm| {
        let space = space(jvm, &this)?;
        let now = space.rollback((number != 0).then_some(number.cast_unsigned()))?;
        space.refresh()?;
        Ok(now.cast_signed())
    })
}
