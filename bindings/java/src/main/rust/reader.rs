//! Reading: a handle that moves from version to version, or one version that stays.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use hammerspace::{Snapshot, Space};
use jni::objects::{JByteArray, JByteBuffer, JClass, JObject, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};

use crate::bytes::{self, Bytes};
use crate::errors::{Result, answer, invalid};
use crate::handle::{self, Held, Open};
use crate::{options, packed};

/// What is read.
pub(crate) enum Source {
    /// The version that a handle is at.
    Space(Arc<Space>),
    /// One version.
    Snapshot(Snapshot),
}

/// A length that says that there is no value.
const ABSENT: jint = -1;

/// The source of a `NativeReader` that is open.
#[inline]
fn open(env: &Env<'_>, this: &JObject<'_>) -> Result<Open<Source>> {
    // SAFETY: the receivers of the methods below are `NativeReader`s, whose addresses `address_of` makes here.
    unsafe { handle::of::<Held<Source>>(env, this) }.get("space or snapshot")
}

/// The space of a `NativeReader` that is open.
pub(crate) fn space(env: &Env<'_>, this: &JObject<'_>) -> Result<Arc<Space>> {
    match &*open(env, this)? {
        Source::Space(space) => Ok(Arc::clone(space)),
        Source::Snapshot(_) => Err(invalid("a snapshot stays as it is", "use the space that it was taken of")),
    }
}

/// What a `NativeReader` that is open reads now.
pub(crate) fn snapshot(env: &Env<'_>, this: &JObject<'_>) -> Result<Snapshot> {
    Ok(open(env, this)?.snapshot())
}

impl Source {
    fn snapshot(&self) -> Snapshot {
        match self {
            Self::Space(space) => space.snapshot(),
            Self::Snapshot(snapshot) => snapshot.clone(),
        }
    }

    #[inline]
    fn get_with<T>(&self, key: &[u8], show: impl FnOnce(&[u8]) -> Result<T>) -> Result<Option<T>> {
        match self {
            Self::Space(space) => space.get_with(key, show),
            Self::Snapshot(snapshot) => snapshot.get_with(key, show),
        }?
        .transpose()
    }

    fn contains(&self, key: &[u8]) -> hammerspace::Result<bool> {
        match self {
            Self::Space(space) => space.contains(key),
            Self::Snapshot(snapshot) => snapshot.contains(key),
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
    answer(&mut env, |env| {
        let path = Bytes::of(env, &path)?;
        let path = Path::new(OsStr::from_bytes(&path));
        let options = options::parse(&options.try_to_string(env)?)?;
        let space = if create { options.create(path) } else { options.open(path) }?;
        Ok(Held::address_of(Source::Space(Arc::new(space))))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_snapshot<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |env| Ok(Held::address_of(Source::Snapshot(snapshot(env, &this)?))))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_close<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |env| {
        // SAFETY: as in `open`.
        unsafe { handle::of::<Held<Source>>(env, &this) }.close();
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
) -> JByteArray<'l> {
    answer(&mut env, |env| {
        let key = Bytes::of(env, &key)?;
        let found = open(env, &this)?.get_with(&key, |value| bytes::array(env, value))?;
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
    answer(&mut env, |env| copied(env, &this, &key, room, |value| bytes::copy_out(env, value, &into, at)))
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
    answer(&mut env, |env| {
        let capacity = env.get_direct_buffer_capacity(&into)?;
        let memory = env.get_direct_buffer_address(&into)?;
        let at = usize::try_from(at).ok().filter(|at| capacity.saturating_sub(*at) >= room.cast_unsigned() as usize);
        let at = at.ok_or_else(|| invalid("the buffer has no such place", "report it"))?;
        copied(env, &this, &key, room, |value| {
            // SAFETY: the value has no more bytes than there is room for, and that lies in the buffer, which the caller holds.
            unsafe { bytes::copy_to(value, memory.add(at)) }
        })
    })
}

/// Has a value copied that is no longer than there is room for. Gives its length either way.
#[inline]
fn copied(
    env: &Env<'_>,
    this: &JObject<'_>,
    key: &JByteArray<'_>,
    room: jint,
    copy: impl FnOnce(&[u8]),
) -> Result<jint> {
    let key = Bytes::of(env, key)?;
    let found = open(env, this)?.get_with(&key, |value| {
        let Ok(len) = jint::try_from(value.len()) else { return Err(bytes::too_long(value.len())) };
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
) -> JByteArray<'l> {
    answer(&mut env, |env| {
        let keys = Bytes::of(env, &keys)?;
        let keys = packed::pieces(&keys)?;
        // No value is given for a key that no space can have, whatever is found for what takes its place.
        let wanted: Vec<&[u8]> = keys.iter().map(|key| key.unwrap_or_default()).collect();
        let snapshot = snapshot(env, &this)?;
        let mut values = Vec::new();
        for (key, value) in keys.iter().zip(snapshot.get_many(&wanted)?) {
            packed::push(&mut values, key.and(value.as_deref()));
        }
        bytes::array(env, &values)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_contains<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) -> jboolean {
    answer(&mut env, |env| {
        let key = Bytes::of(env, &key)?;
        Ok(open(env, &this)?.contains(&key)?)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_size<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |env| Ok(snapshot(env, &this)?.len().cast_signed()))
}

/// Zero where the version has none.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_number<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |env| Ok(snapshot(env, &this)?.number().unwrap_or_default().cast_signed()))
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_refresh<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jboolean {
    answer(&mut env, |env| match &*open(env, &this)? {
        Source::Space(space) => Ok(space.refresh()?),
        Source::Snapshot(_) => Ok(false),
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_clear<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |env| {
        let space = space(env, &this)?;
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
    answer(&mut env, |env| {
        let space = space(env, &this)?;
        let now = space.rollback((number != 0).then_some(number.cast_unsigned()))?;
        space.refresh()?;
        Ok(now.cast_signed())
    })
}
