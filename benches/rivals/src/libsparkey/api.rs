//! The functions of the library: Spotify's, which is linked, or those of another with the same interface.

use hammerspace_testkit::c::Libraries;
use libloading::Library;
use sparkey_sys as c;

/// Where the functions are. Those that read; what writes is always Spotify's.
#[derive(Debug)]
pub struct Api {
    pub(super) functions: Functions,
    /// Keeps the functions where they are.
    _library: Option<Library>,
}

/// Declares the table of functions, the linked ones, and how to find them in a library.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        #[derive(Debug)]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            const LINKED: Self = Self { $($name: c::$name,)* };

            fn of(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: it is our library; its functions have the types of Spotify's of these names, as its suite sees to.
                Ok(unsafe { Self { $($name: *library.get(concat!("sparkey_", stringify!($name)))?,)* } })
            }
        }
    };
}

functions! {
    hash_open: fn(*mut *mut c::hashreader, *const i8, *const i8) -> c::returncode;
    hash_close: fn(*mut *mut c::hashreader);
    hash_getreader: fn(*mut c::hashreader) -> *mut c::logreader;
    hash_numentries: fn(*mut c::hashreader) -> u64;
    hash_get: fn(*mut c::hashreader, *const u8, u64, *mut c::logiter) -> c::returncode;
    logreader_maxkeylen: fn(*mut c::logreader) -> u64;
    logreader_maxvaluelen: fn(*mut c::logreader) -> u64;
    logiter_create: fn(*mut *mut c::logiter, *mut c::logreader) -> c::returncode;
    logiter_close: fn(*mut *mut c::logiter);
    logiter_next: fn(*mut c::logiter, *mut c::logreader) -> c::returncode;
    logiter_hashnext: fn(*mut c::logiter, *mut c::hashreader) -> c::returncode;
    logiter_state: fn(*mut c::logiter) -> c::iter_state;
    logiter_keylen: fn(*mut c::logiter) -> u64;
    logiter_valuelen: fn(*mut c::logiter) -> u64;
    logiter_fill_key: fn(*mut c::logiter, *mut c::logreader, u64, *mut u8, *mut u64) -> c::returncode;
    logiter_fill_value: fn(*mut c::logiter, *mut c::logreader, u64, *mut u8, *mut u64) -> c::returncode;
    logiter_valuechunk: fn(*mut c::logiter, *mut c::logreader, u64, *mut *mut u8, *mut u64) -> c::returncode;
}

impl Api {
    /// Spotify's.
    pub const LINKED: Self = Self { functions: Functions::LINKED, _library: None };

    /// Those of our own `libsparkey.so`, which this builds as the program was built that calls it.
    pub fn ours() -> Result<Self, String> {
        let built = Libraries::like_us("hammerspace-sparkey-abi")?.shared;
        // SAFETY: it is the library that was just built, which runs nothing as it is loaded.
        let library = unsafe { Library::new(&built) }.map_err(|error| error.to_string())?;
        let functions = Functions::of(&library).map_err(|error| error.to_string())?;
        Ok(Self { functions, _library: Some(library) })
    }
}
