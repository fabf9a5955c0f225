//! Native objects that Java objects hold by address.
//!
//! ```text
//! Handle.address ──▶ Held<T> ──▶ Arc<T>, until it is closed
//! ```
//! The cleaner of a `Handle` frees its `Held` once no thread can reach the Java object; `close` only empties it. A native method
//! that runs has its receiver in a local reference, so the address that it reads there is valid until it returns. Calls that are
//! under way when another thread closes the handle go on with the `Arc` that they have.

use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwapOption, Guard};
use jni::ids::JFieldID;
use jni::objects::{JClass, JObject};
use jni::sys::jlong;
use jni::{EnvUnowned, jni_sig, jni_str};

use crate::errors::{Failure, Result, answer_by, invalid};
use crate::jvm::Jvm;

/// Something that can be closed while it is in use.
pub(crate) struct Held<T>(ArcSwapOption<T>);

/// What a handle held when it was asked for.
pub(crate) struct Open<T>(Guard<Option<Arc<T>>>);

impl<T> Held<T> {
    /// Gives the address for a new Java object, which becomes its owner.
    pub(crate) fn address_of(object: T) -> jlong {
        address_of(Self(ArcSwapOption::from_pointee(object)))
    }

    /// What it holds; `what` names it in the error of a closed one.
    #[inline]
    pub(crate) fn get(&self, what: &str) -> Result<Open<T>> {
        let open = self.0.load();
        if open.is_some() { Ok(Open(open)) } else { Err(closed(what)) }
    }

    /// Empties it. Nothing happens the second time.
    pub(crate) fn close(&self) {
        self.0.store(None);
    }
}

impl<T> std::ops::Deref for Open<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_ref().expect("`get` gives nothing else")
    }
}

#[cold]
pub(crate) fn closed(what: &str) -> Failure {
    invalid(&format!("this {what} is closed"), &format!("use a {what} before it is closed, or open another one"))
}

/// Gives the address for a new Java object, which becomes the owner.
pub(crate) fn address_of<T>(object: T) -> jlong {
    (Box::into_raw(Box::new(object)) as usize).cast_signed() as jlong
}

/// The native object of a Java object whose class holds such ones.
///
/// # Safety
///
/// `this` is a `Handle`, and its address was made from a `T`.
#[inline]
pub(crate) unsafe fn of<'a, T>(jvm: Jvm<'_>, this: &'a JObject<'_>) -> &'a T {
    let field = *ADDRESS.get().expect("`Handle` registers its field before the first of them is made");
    // SAFETY: it is the field of every `Handle`.
    let address = unsafe { jvm.long_field(this, field) };
    // SAFETY: by the caller's promise it is the address of a `T`, which is freed only once the Java object cannot be reached; and
    // `this` is a reference to that for as long as the result lives.
    unsafe { &*(address as *const T) }
}

/// Frees the native object at an address.
///
/// # Safety
///
/// The address was made from a `T`, whose Java object cannot be reached any more.
pub(crate) unsafe fn free<T>(address: jlong) {
    // SAFETY: by the caller's promise nothing else refers to it, and `address_of` got it from a box.
    drop(unsafe { Box::from_raw(address as *mut T) });
}

static ADDRESS: OnceLock<JFieldID> = OnceLock::new();

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_Handle_register<'l>(mut env: EnvUnowned<'l>, class: JClass<'l>) {
    answer_by(&mut env, |env| {
        let field = env.get_field_id(&class, jni_str!("address"), jni_sig!("J"))?;
        // Another thread has found the same.
        let _ = ADDRESS.set(field);
        Ok(())
    });
}
