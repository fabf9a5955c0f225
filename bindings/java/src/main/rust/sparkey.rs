//! Sparkey tables without a space around them: logs that are written, indexes that are built, both opened.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hammerspace::sparkey::{LogFile, LogOptions, Pair};
use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JObject, JString};
use jni::sys::{jboolean, jint, jlong};

use crate::errors::{Failure, Result, answer, answer_by, invalid};
use crate::handle::{self, Held};
use crate::jvm::Jvm;
use crate::options;
use crate::pinned::Pinned;
use crate::reader::Source;

fn path(jvm: Jvm<'_>, path: &JByteArray<'_>) -> Result<PathBuf> {
    Ok(Path::new(OsStr::from_bytes(&jvm.bytes(path)?)).to_path_buf())
}

/// The address of a `NativeReader` of the table with this log or index.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_openTable<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    file: JByteArray<'l>,
) -> jlong {
    answer(&mut env, |jvm| {
        let table = Pair::of_either(&path(jvm, &file)?)?.open()?;
        Ok(Held::address_of(Source::Pinned(Pinned::Table(Arc::new(table)))))
    })
}

/// A log that is written; `None` once it was finished or given up. Threads take turns.
struct Log(Mutex<Option<LogFile>>);

impl Log {
    fn with<T>(&self, work: impl FnOnce(&mut LogFile) -> hammerspace::Result<T>) -> Result<T> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(work(file.as_mut().ok_or_else(ended)?)?)
    }

    fn take(&self) -> Option<LogFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cold]
fn ended() -> Failure {
    invalid("this log is finished or was closed", "go on with it by `append`, if it is finished")
}

fn of<'a>(jvm: Jvm<'_>, this: &'a JObject<'_>) -> &'a Log {
    // SAFETY: the receivers of the methods below are `NativeLog`s, whose addresses `create` and `append` make.
    unsafe { handle::of(jvm, this) }
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_create<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    file: JByteArray<'l>,
    compression: JString<'l>,
    block_size: jint,
) -> jlong {
    answer_by(&mut env, |env| {
        let file = path(Jvm::from(&*env), &file)?;
        let compression = options::compression(&compression.try_to_string(env)?)?;
        let options = LogOptions { compression, block_size: block_size.max(0).cast_unsigned() };
        Ok(handle::address_of(Log(Mutex::new(Some(LogFile::create(&file, &options)?)))))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_append<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    file: JByteArray<'l>,
) -> jlong {
    answer(&mut env, |jvm| {
        let log = LogFile::append(&path(jvm, &file)?)?;
        Ok(handle::address_of(Log(Mutex::new(Some(log)))))
    })
}

/// Builds the index of a log, or brings it up to date. Gives the number of its entries.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_writeHash<'l>(
    mut env: EnvUnowned<'l>,
    _class: JClass<'l>,
    file: JByteArray<'l>,
) -> jlong {
    answer(&mut env, |jvm| {
        let header = Pair::of_either(&path(jvm, &file)?)?.build_index()?;
        Ok(header.num_entries.cast_signed())
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_free<'l>(mut env: EnvUnowned<'l>, _class: JClass<'l>, address: jlong) {
    answer(&mut env, |_| {
        // SAFETY: the cleaner of a `NativeLog` calls this, once, with its address.
        unsafe { handle::free::<Log>(address) };
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_put<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
    value: JByteArray<'l>,
) {
    answer(&mut env, |jvm| {
        let (key, value) = (jvm.bytes(&key)?, jvm.bytes(&value)?);
        of(jvm, &this).with(|log| log.put(&key, &value))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_delete<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
    key: JByteArray<'l>,
) {
    answer(&mut env, |jvm| {
        let key = jvm.bytes(&key)?;
        of(jvm, &this).with(|log| log.delete(&key))
    });
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_finish<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) {
    answer(&mut env, |jvm| {
        of(jvm, &this).take().ok_or_else(ended)?.finish()?;
        Ok(())
    });
}

/// Gives up what is not finished; whether there was anything.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeLog_close<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jboolean {
    answer(&mut env, |jvm| Ok(of(jvm, &this).take().is_some()))
}
