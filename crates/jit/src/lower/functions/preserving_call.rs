//! Calls that leave all registers alone, for code that seldom runs.
//!
//! A call may change most registers, so what lives across one is kept in memory, in all turns of a
//! loop, even if the call is hardly ever made. So a call in code that seldom runs goes to a small
//! function that saves what it changes. It is given the address of words: the arguments, in whose
//! place it leaves the results.

use cranelift_codegen::ir::{self, InstBuilder, Signature, StackSlotData, StackSlotKind, types};
use cranelift_codegen::isa::CallConv;
use cranelift_module::{FuncId, Module};
use smallvec::SmallVec;

use crate::code::ImportedFunction;
use crate::error::Error;
use crate::lower::context::{CodegenUnit, FunctionLowering};
use crate::lower::values::AccessRegion;

impl FunctionLowering<'_, '_> {
    /// Lowers code that seldom runs.
    pub fn seldom<R>(&mut self, code: impl FnOnce(&mut Self) -> R) -> R {
        let around = std::mem::replace(&mut self.is_seldom, true);
        let result = code(self);
        self.is_seldom = around;
        result
    }

    /// Calls an imported function so that all registers are preserved.
    pub fn call_preserving(
        &mut self,
        import: ImportedFunction,
        args: &[ir::Value],
    ) -> SmallVec<[ir::Value; 2]> {
        let signature = self.unit.import_signature(import);
        let words = self.call_words(args.len().max(signature.returns.len()));
        for (at, &arg) in args.iter().enumerate() {
            self.store_word(arg, words, at);
        }
        let id = self
            .unit
            .declare_preserving(import)
            .expect("all of these functions have one signature");
        let function = self.unit.module.declare_func_in_func(id, self.builder.func);
        self.builder.ins().call(function, &[words]);
        let types = signature.returns.iter().map(|result| result.value_type);
        self.load_words(words, types)
    }

    /// Words at an address.
    fn load_words(
        &mut self,
        at: ir::Value,
        types: impl Iterator<Item = ir::Type>,
    ) -> SmallVec<[ir::Value; 2]> {
        let each = types.enumerate();
        each.map(|(word, ty)| self.load(AccessRegion::Stack, ty, at, 8 * word as i32))
            .collect()
    }

    /// The address of words for arguments and results, at least as many as are needed.
    pub fn call_words(&mut self, words: usize) -> ir::Value {
        let bytes = 8 * words as u32;
        let slot = match self.call_words {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
                let slot = self.builder.create_sized_stack_slot(data);
                *self.call_words.insert(slot)
            }
        };
        let data = &mut self.builder.func.sized_stack_slots[slot];
        data.size = data.size.max(bytes);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// A whole function that preserves the registers around a call.
    pub fn lower_preserving_call(mut self, import: ImportedFunction) {
        let words = self.env;
        let signature = self.unit.import_signature(import);
        let types = signature.params.iter().map(|param| param.value_type);
        let args = self.load_words(words, types);
        let function = self.import_ref(import);
        let call = self.builder.ins().call(function, &args);
        let results: SmallVec<[ir::Value; 2]> = self.builder.inst_results(call).into();
        for (at, &result) in results.iter().enumerate() {
            self.store_word(result, words, at);
        }
        self.builder.ins().return_(&[]);
        self.switch_to_sealed(self.fault_block);
        self.builder.ins().return_(&[]);
        self.finish_function();
    }
}

impl CodegenUnit {
    /// Declares the function that preserves the registers around a call; it is compiled later.
    ///
    /// # Errors
    /// If the module cannot declare a function.
    fn declare_preserving(&mut self, import: ImportedFunction) -> Result<FuncId, Error> {
        if let Some(&id) = self.preserving.get(&import) {
            return Ok(id);
        }
        let id = self
            .module
            .declare_anonymous_function(&self.preserving_signature())?;
        self.preserving.insert(import, id);
        self.pending_preserving.push((id, import));
        Ok(id)
    }

    /// The signature of a function that preserves all registers, given the address of words.
    pub fn preserving_signature(&self) -> Signature {
        let mut signature = self.module.make_signature();
        signature.call_conv = CallConv::PreserveAll;
        signature.params.push(ir::AbiParam::new(types::I64));
        signature
    }
}
