//! Owning machine code: made executable once, freed when the last handle is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use cranelift_jit::JITModule;

use super::constant_pool::ConstantPool;

/// Machine code with the constants that it refers to. Dropping it frees the code.
pub struct CodeMemory {
    module: Option<JITModule>,
    /// Constants of the code, kept because the code has their addresses.
    _pool: Arc<ConstantPool>,
}

impl CodeMemory {
    /// Takes over a module whose functions are final.
    pub fn new(module: JITModule, pool: Arc<ConstantPool>) -> CodeMemory {
        CodeMemory {
            module: Some(module),
            _pool: pool,
        }
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: every handle that could call into the code holds an `Arc` of this.
            unsafe { module.free_memory() };
        }
    }
}

// SAFETY: the module is only dropped from here on, by one thread; the code in it is read-only.
unsafe impl Send for CodeMemory {}
// SAFETY: a shared `CodeMemory` offers nothing.
unsafe impl Sync for CodeMemory {}

/// Address of a handle's code, filled when the PE's code is finished.
#[derive(Default)]
pub struct CodePointer {
    address: AtomicPtr<u8>,
    memory: std::sync::OnceLock<Arc<CodeMemory>>,
}

impl CodePointer {
    /// Publishes the address of the code. Pairs with `address`.
    pub fn publish(&self, address: *const u8, memory: &Arc<CodeMemory>) {
        // The code is kept first, so that a thread that sees the address may call it.
        let _ = self.memory.set(Arc::clone(memory));
        self.address.store(address.cast_mut(), Ordering::Release);
    }

    /// Address of the code; null before it is finished. Pairs with `publish`.
    pub fn address(&self) -> *const u8 {
        self.address.load(Ordering::Acquire)
    }
}
