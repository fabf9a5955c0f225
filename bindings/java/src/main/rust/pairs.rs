//! Iterating over one version, some kilobytes of pairs in each call.

use std::sync::{Arc, Mutex, PoisonError};

use jni::EnvUnowned;
use jni::objects::{JClass, JObject};
use jni::sys::jlong;

use crate::errors::answer;
use crate::jvm::Array;
use crate::pinned::{self, Pinned};
use crate::{handle, packed, reader};

/// A call gives no further pair once it has as many bytes.
const ENOUGH: usize = 8192;

/// A walk through what it holds until it ends.
struct Pairs(Mutex<Option<Walk>>);

struct Walk {
    // Dropped first: they borrow from what is pinned. Their lifetime is not really 'static.
    pairs: pinned::Pairs<'static>,
    _pinned: Arc<Pinned>,
    /// The error that comes after the pairs before it.
    then: Option<hammerspace::Error>,
}

impl Walk {
    fn new(pinned: Pinned) -> Self {
        let pinned = Arc::new(pinned);
        // SAFETY: it stays where it is until the walk drops it, after all that borrows from it; and it is only ever read.
        let held: &'static Pinned = unsafe { &*Arc::as_ptr(&pinned) };
        Self { pairs: held.pairs(), _pinned: pinned, then: None }
    }

    /// The next pairs; none at the end.
    fn step(&mut self) -> hammerspace::Result<Vec<u8>> {
        let mut packed = Vec::new();
        if let Some(error) = self.then.take() {
            return Err(error);
        }
        while packed.len() < ENOUGH {
            match self.pairs.next() {
                Some(Ok((key, value))) => {
                    packed::push(&mut packed, Some(&key));
                    packed::push(&mut packed, Some(&value));
                }
                Some(Err(error)) if packed.is_empty() => return Err(error),
                Some(Err(error)) => {
                    self.then = Some(error);
                    break;
                }
                None => break,
            }
        }
        Ok(packed)
    }
}

impl Pairs {
    /// The next pairs; none at the end and after an error, when what is read is let go.
    fn step(&self) -> hammerspace::Result<Vec<u8>> {
        let mut walk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let step = walk.as_mut().map_or_else(|| Ok(Vec::new()), Walk::step);
        if !matches!(&step, Ok(packed) if !packed.is_empty()) {
            *walk = None;
        }
        step
    }
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativeReader_pairs<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> jlong {
    answer(&mut env, |jvm| {
        let walk = Walk::new(reader::pinned(jvm, &this)?);
        Ok(handle::address_of(Pairs(Mutex::new(Some(walk)))))
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativePairs_next<'l>(mut env: EnvUnowned<'l>, this: JObject<'l>) -> Array {
    answer(&mut env, |jvm| {
        // SAFETY: the receiver is a `NativePairs`, whose address `NativeReader.pairs` made.
        let pairs: &Pairs = unsafe { handle::of(jvm, &this) };
        jvm.array(&pairs.step()?)
    })
}

#[unsafe(no_mangle)]
extern "system" fn Java_hammerspace_NativePairs_free<'l>(mut env: EnvUnowned<'l>, _class: JClass<'l>, address: jlong) {
    answer(&mut env, |_| {
        // SAFETY: the cleaner of a `NativePairs` calls this, once, with its address.
        unsafe { handle::free::<Pairs>(address) };
        Ok(())
    });
}
