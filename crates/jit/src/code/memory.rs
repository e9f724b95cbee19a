//! Owning machine code: made executable once, freed when the last handle is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use cranelift_jit::JITModule;

use super::pool::Pool;

/// Machine code and what it refers to. Dropping it frees the code.
pub struct Memory {
    module: Option<JITModule>,
    /// Refers to nothing in the code; kept because the code refers to it.
    _pool: Arc<Pool>,
}

impl Memory {
    /// Takes over a module whose functions are final.
    pub fn new(module: JITModule, pool: Arc<Pool>) -> Memory {
        Memory {
            module: Some(module),
            _pool: pool,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: every handle that could call into the code holds an `Arc` of this.
            unsafe { module.free_memory() };
        }
    }
}

// SAFETY: the module is only dropped from here on, by one thread; the code in it is read-only.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` offers nothing.
unsafe impl Sync for Memory {}

/// Where the code of a handle will be: filled when the PE's code is finished.
#[derive(Default)]
pub struct Door {
    entry: AtomicPtr<u8>,
    memory: std::sync::OnceLock<Arc<Memory>>,
}

impl Door {
    /// Sets where the code is.
    pub fn open(&self, entry: *const u8, memory: &Arc<Memory>) {
        // The code is kept first, so that whoever sees the entry may call it.
        let _ = self.memory.set(Arc::clone(memory));
        self.entry.store(entry.cast_mut(), Ordering::Release);
    }

    /// Where the code is; null before it is finished. Pairs with `open`.
    pub fn entry(&self) -> *const u8 {
        self.entry.load(Ordering::Acquire)
    }
}
