//! The versions on disk.

use std::time::UNIX_EPOCH;

use hammerspace::VersionInfo;
use jni::objects::{JObject, JObjectArray, JValue};
use jni::sys::jint;
use jni::{Env, EnvUnowned, jni_sig, jni_str};

use crate::errors::{Result, answer_by};
use crate::jvm::{Jvm, too_long};
use crate::reader::space;

/// An array of `Version`, newest first.
#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_versions<'l>(
    mut env: EnvUnowned<'l>,
    this: JObject<'l>,
) -> JObjectArray<'l> {
    answer_by(&mut env, |env| {
        let versions = space(Jvm::from(&*env), &this)?.versions()?;
        let len = jint::try_from(versions.len()).map_err(|_| too_long(versions.len()))?;
        let class = jni_str!("hammerspace/Version");
        let array = env.new_object_array(len, class, JObject::null())?;
        for (at, version) in versions.iter().enumerate() {
            let version = object(env, version)?;
            array.set_element(env, at, &version)?;
            env.delete_local_ref(version);
        }
        Ok(array)
    })
}

fn object<'l>(env: &mut Env<'l>, version: &VersionInfo) -> Result<JObject<'l>> {
    let absent_or = |number: Option<u64>| JValue::Long(number.map_or(-1, u64::cast_signed));
    let uid = env.new_string(&version.uid)?;
    let published = version.published.duration_since(UNIX_EPOCH).unwrap_or_default();
    let arguments = [
        absent_or(version.number),
        JValue::Object(&uid),
        JValue::Bool(version.is_current),
        absent_or(version.entries),
        JValue::Long(version.bytes.cast_signed()),
        JValue::Long(published.as_secs().cast_signed()),
        JValue::Int(published.subsec_nanos().cast_signed()),
    ];
    let signature = jni_sig!("(JLjava/lang/String;ZJJJI)Lhammerspace/Version;");
    let made = env.call_static_method(jni_str!("hammerspace/Version"), jni_str!("of"), signature, &arguments)?.l()?;
    env.delete_local_ref(uid);
    Ok(made)
}
