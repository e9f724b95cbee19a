//! libfabric itself, loaded at run time: no header and no library is needed to build.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::abi::{FiFabricAttr, FiInfo, FidFabric};
use crate::error::FabricError;
use crate::signal_handlers::SignalHandlers;

/// File name of the library: its binary interface has had this number since version 1.0.
const LIBRARY_FILE: &str = "libfabric.so.1";

type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const FiInfo,
    *mut *mut FiInfo,
) -> c_int;

/// The functions that libfabric exports by name; all others are in tables of its objects.
pub struct FabricLibrary {
    pub(crate) getinfo: GetInfo,
    pub(crate) freeinfo: unsafe extern "C" fn(*mut FiInfo),
    pub(crate) dupinfo: unsafe extern "C" fn(*const FiInfo) -> *mut FiInfo,
    pub(crate) fabric:
        unsafe extern "C" fn(*mut FiFabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int,
    strerror: unsafe extern "C" fn(c_int) -> *const c_char,
    version: unsafe extern "C" fn() -> u32,
}

static LIBRARY: OnceLock<Result<FabricLibrary, FabricError>> = OnceLock::new();

impl FabricLibrary {
    /// The library of this process, which is loaded by the first call and stays loaded, since
    /// providers may have threads of their own. The process's signal handlers stay as they are.
    ///
    /// # Errors
    /// The library, or one that it needs, is not installed.
    pub fn load() -> Result<&'static FabricLibrary, FabricError> {
        let loaded = LIBRARY.get_or_init(|| FabricLibrary::open(LIBRARY_FILE));
        loaded.as_ref().map_err(Clone::clone)
    }

    fn open(file: &str) -> Result<FabricLibrary, FabricError> {
        let no_library = |error: libloading::Error| FabricError::NoLibrary(error.to_string());
        let _handlers = SignalHandlers::keep();
        // SAFETY: the initialisers of libfabric and of what it links only set up their own data,
        // but for signal handlers.
        let library = unsafe { Library::new(file) }.map_err(no_library)?;
        FabricLibrary::find_functions(library).map_err(no_library)
    }

    fn find_functions(library: Library) -> Result<FabricLibrary, libloading::Error> {
        // SAFETY: the types are those of the functions in libfabric's public headers, see `abi`.
        let found = unsafe {
            FabricLibrary {
                getinfo: *library.get(b"fi_getinfo\0")?,
                freeinfo: *library.get(b"fi_freeinfo\0")?,
                dupinfo: *library.get(b"fi_dupinfo\0")?,
                fabric: *library.get(b"fi_fabric\0")?,
                strerror: *library.get(b"fi_strerror\0")?,
                version: *library.get(b"fi_version\0")?,
            }
        };
        std::mem::forget(library);
        Ok(found)
    }

    /// Version of the library: major and minor number.
    pub fn version(&self) -> (u32, u32) {
        // SAFETY: the function takes nothing and only returns a constant.
        let version = unsafe { (self.version)() };
        (version >> 16, version & 0xffff)
    }

    /// The result of a call that returns a negative number of an error.
    pub(crate) fn check(&self, call: &'static str, result: isize) -> Result<(), FabricError> {
        match result {
            0.. => Ok(()),
            _ => Err(self.error(call, -result as i32)),
        }
    }

    /// The error with this positive number, which `call` has returned.
    #[cold]
    pub(crate) fn error(&self, call: &'static str, code: i32) -> FabricError {
        // SAFETY: the library has a text for every number, which ends with a zero and stays until
        // this thread asks for another.
        let text = unsafe { CStr::from_ptr((self.strerror)(code)) };
        let text = text.to_string_lossy().into_owned();
        FabricError::Call { call, code, text }
    }
}

#[cfg(test)]
mod tests {
    use super::FabricLibrary;

    #[test]
    fn a_missing_library_is_said_with_its_package() {
        let Err(error) = FabricLibrary::open("libthalweg-nothing.so.1") else {
            panic!("loaded");
        };
        let error = error.to_string();
        for word in ["libthalweg-nothing.so.1", "libfabric.so.1", "libfabric1"] {
            assert!(error.contains(word), "{error}");
        }
    }
}
