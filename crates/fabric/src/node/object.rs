//! Objects of libfabric with one owner, closed when it is dropped.

use std::ptr::NonNull;

use crate::abi::{Fid, FidAv, FidCq, FidDomain, FidEp, FidEq, FidFabric, FidMr, FidPep};

/// A type of libfabric's that begins with a `fid`.
///
/// # Safety
/// The first field is a [`Fid`], and the layout is that of C.
pub(super) unsafe trait FabricObject {}

// SAFETY: all have `repr(C)` and begin with their `fid`.
unsafe impl FabricObject for FidFabric {}
// SAFETY: see above.
unsafe impl FabricObject for FidDomain {}
// SAFETY: see above.
unsafe impl FabricObject for FidEq {}
// SAFETY: see above.
unsafe impl FabricObject for FidCq {}
// SAFETY: see above.
unsafe impl FabricObject for FidPep {}
// SAFETY: see above.
unsafe impl FabricObject for FidEp {}
// SAFETY: see above.
unsafe impl FabricObject for FidMr {}
// SAFETY: see above.
unsafe impl FabricObject for FidAv {}

/// The one owner of an object.
pub(super) struct Owned<T: FabricObject>(NonNull<T>);

// SAFETY: objects have no tie to a thread. Calls on those of one domain are serialised: one node
// owns them all, and no two threads have references to it, for pointers make it not `Sync`.
unsafe impl<T: FabricObject> Send for Owned<T> {}

impl<T: FabricObject> Owned<T> {
    /// Takes over an object that the library has opened. `None`: a null pointer.
    ///
    /// # Safety
    /// The pointer is null, or to an open object that nothing else closes.
    pub(super) unsafe fn new(object: *mut T) -> Option<Owned<T>> {
        NonNull::new(object).map(Owned)
    }

    pub(super) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    pub(super) fn fid(&self) -> *mut Fid {
        self.0.as_ptr().cast()
    }
}

impl<T: FabricObject> Drop for Owned<T> {
    fn drop(&mut self) {
        let fid = self.fid();
        // SAFETY: the object is open and this is its only owner; the objects that refer to it were
        // dropped before, as the node declares them before it.
        let result = unsafe { ((*(*fid).ops).close)(fid) };
        debug_assert_eq!(
            result, 0,
            "an object of libfabric was in use when it was closed"
        );
    }
}
