//! A value where it lies: an object with Python's buffer protocol, for `memoryview`.
//!
//! PyO3 has the buffer protocol for the stable ABI of Python 3.11 and newer. Ours begins with 3.10, whose interpreter has the
//! same protocol, the same slots and the same `Py_buffer`, and promised them a release later. So this one type is made by
//! hand, of calls that 3.10's stable ABI has; what it lacks are two numbers and the layout below.

use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void};
use std::mem::{ManuallyDrop, size_of};
use std::ptr;

use hammerspace::Snapshot;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::raised;

/// `Py_bf_getbuffer` in CPython's `typeslots.h`.
const GETBUFFER: c_int = 1;
/// `Py_TPFLAGS_DISALLOW_INSTANTIATION` in CPython's `object.h`, from 3.10 on.
const DISALLOW_INSTANTIATION: u32 = 1 << 7;
/// `PyBUF_WRITABLE`, `PyBUF_FORMAT`, `PyBUF_ND`, `PyBUF_STRIDES` without `PyBUF_ND`, in CPython's `pybuffer.h`.
const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const ND: c_int = 0x8;
const STRIDES: c_int = 0x10;

/// `Py_buffer` in CPython's `pybuffer.h`: the same from 3.3 on, and a part of the stable ABI from 3.11 on.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut ffi::Py_ssize_t,
    strides: *mut ffi::Py_ssize_t,
    suboffsets: *mut ffi::Py_ssize_t,
    internal: *mut c_void,
}

/// What Python allocates: its own head, then what we keep.
#[repr(C)]
struct Raw {
    head: ffi::PyObject,
    value: ManuallyDrop<Value>,
    /// What views give as their shape.
    len: ffi::Py_ssize_t,
}

/// Bytes, and what keeps them.
struct Value {
    /// Of a lifetime that ends with the snapshot; where the version is compressed, a copy.
    bytes: Cow<'static, [u8]>,
    _snapshot: Snapshot,
}

/// A read-only `memoryview` of the value of `key`, which keeps its version; `None` where there is none.
pub(crate) fn view<'py>(py: Python<'py>, snapshot: &Snapshot, key: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(bytes) = snapshot.get(key).map_err(raised)? else { return Ok(None) };
    // SAFETY: borrowed bytes lie in the mapping that the snapshot holds, at an address that does not change while any clone of
    // the snapshot lives; `Value` drops its own after the bytes, and nothing hands them out without it.
    let bytes = unsafe { std::mem::transmute::<Cow<'_, [u8]>, Cow<'static, [u8]>>(bytes) };
    let raw = Raw::made(py, Value { bytes, _snapshot: snapshot.clone() })?;
    // SAFETY: it is given a live object, and what it gives is ours or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromObject(raw.as_ptr())) }.map(Some)
}

impl Raw {
    fn made(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
        let class = class(py)?.as_ptr().cast::<ffi::PyTypeObject>();
        // SAFETY: `class` is a type of ours, whose instances have the size of `Raw`; the allocation is zeroed, its head is
        // filled, and it holds a reference to its type. What follows the head is written before anybody sees the object.
        unsafe {
            let object = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(class, 0))?;
            let raw = object.as_ptr().cast::<Self>();
            (&raw mut (*raw).len).write(value.bytes.len().cast_signed());
            (&raw mut (*raw).value).write(ManuallyDrop::new(value));
            Ok(object)
        }
    }
}

/// The type, made once.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || make_class(py)).map(|class| class.bind(py))
}

fn make_class(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let mut slots = [
        ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: deallocate as *mut c_void },
        ffi::PyType_Slot { slot: GETBUFFER, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() },
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"hammerspace._native.Raw".as_ptr(),
        basicsize: const { size_of::<Raw>() as u16 }.into(),
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as u32 | DISALLOW_INSTANTIATION,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the slots end with 0 and hold functions of the types that they name. Python copies what it needs of the spec,
    // but for the name, which is static. Nobody but us makes instances, which would hold no value.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)) }.map(Bound::unbind)
}

/// `tp_dealloc`.
unsafe extern "C" fn deallocate(object: *mut ffi::PyObject) {
    // SAFETY: Python calls it once, for an object of ours that nobody refers to any more. Instances of a type made at run
    // time hold a reference to it, which goes after the memory is freed by the type's own function.
    unsafe {
        let class = ffi::Py_TYPE(object);
        ManuallyDrop::drop(&mut (*object.cast::<Raw>()).value);
        let free = ffi::PyType_GetSlot(class, ffi::Py_tp_free);
        let free = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(free);
        free(object.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// `bf_getbuffer`.
unsafe extern "C" fn get_buffer(object: *mut ffi::PyObject, view: *mut View, flags: c_int) -> c_int {
    // SAFETY: Python gives an object of ours and a view to fill. What the view points to lies in the object, which the view
    // holds a reference to, or is static.
    unsafe {
        let raw = object.cast::<Raw>();
        (*view).obj = ptr::null_mut();
        if flags & WRITABLE != 0 {
            ffi::PyErr_SetString(ffi::PyExc_BufferError, c"values of a space are read-only".as_ptr());
            return -1;
        }
        let if_asked = |flag: c_int, pointer| if flags & flag != 0 { pointer } else { ptr::null_mut() };
        let value: &Value = &(*raw).value;
        (*view).buf = value.bytes.as_ptr().cast_mut().cast();
        (*view).len = (*raw).len;
        (*view).itemsize = 1;
        (*view).readonly = 1;
        (*view).ndim = 1;
        (*view).format = if flags & FORMAT != 0 { c"B".as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).shape = if_asked(ND, &raw mut (*raw).len);
        (*view).strides = if_asked(STRIDES, &raw mut (*view).itemsize);
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = ptr::null_mut();
        ffi::Py_INCREF(object);
        (*view).obj = object;
    }
    0
}
