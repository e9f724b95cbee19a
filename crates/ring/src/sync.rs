//! Atomics, and a shadow of plain memory for loom: the one file that names `cfg(loom)` types.

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use shadow::ShadowMemory;

/// An empty shadow, for builds without loom.
#[cfg(not(loom))]
mod shadow {
    #[derive(Clone)]
    pub(crate) struct ShadowMemory;

    impl ShadowMemory {
        pub(crate) fn new(_bytes: usize) -> ShadowMemory {
            ShadowMemory
        }

        #[inline(always)]
        pub(crate) fn write(&self, _at: usize, _bytes: usize) {}

        #[inline(always)]
        pub(crate) fn read(&self, _at: usize, _bytes: usize) {}
    }
}

/// A tracked cell for every 8 bytes of a ring, so that loom finds accesses that nothing orders.
#[cfg(loom)]
mod shadow {
    use std::sync::Arc;

    use loom::cell::UnsafeCell;

    #[derive(Clone)]
    pub(crate) struct ShadowMemory(Arc<Vec<UnsafeCell<()>>>);

    impl ShadowMemory {
        pub(crate) fn new(bytes: usize) -> ShadowMemory {
            let cells = (0..bytes / 8).map(|_| UnsafeCell::new(()));
            ShadowMemory(Arc::new(cells.collect()))
        }

        pub(crate) fn write(&self, at: usize, bytes: usize) {
            for cell in &self.0[at / 8..(at + bytes).div_ceil(8)] {
                cell.with_mut(|_| ());
            }
        }

        pub(crate) fn read(&self, at: usize, bytes: usize) {
            for cell in &self.0[at / 8..(at + bytes).div_ceil(8)] {
                cell.with(|_| ());
            }
        }
    }
}
