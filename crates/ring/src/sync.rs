//! Atomics, and what tells loom of plain memory: the one place that knows of `cfg(loom)` types.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

pub(crate) use shadow::Shadow;

/// Nothing: the processor needs no telling.
#[cfg(not(loom))]
mod shadow {
    #[derive(Clone)]
    pub(crate) struct Shadow;

    impl Shadow {
        pub(crate) fn new(_bytes: usize) -> Shadow {
            Shadow
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
    use loom::cell::UnsafeCell;
    use std::sync::Arc;

    #[derive(Clone)]
    pub(crate) struct Shadow(Arc<Vec<UnsafeCell<()>>>);

    impl Shadow {
        pub(crate) fn new(bytes: usize) -> Shadow {
            let cells = (0..bytes / 8).map(|_| UnsafeCell::new(()));
            Shadow(Arc::new(cells.collect()))
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
