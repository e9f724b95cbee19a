//! Machine functions of a unit: those of operators, and the user functions that these call.

use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::ir;
use cranelift_codegen::ir::UserFuncName;
use cranelift_codegen::ir::types;
use cranelift_codegen::{Context, Final, MachSrcLoc};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use graph::FunctionId;

use super::operator_function::{FunctionContext, FunctionSource};
use crate::error::Error;
use crate::lower::context::{
    CodegenUnit, CompiledFunction, FunctionLowering, MachineCodeListing, MemoryRequirements,
    signature,
};
impl CodegenUnit {
    /// Compiles a function of an operator against its context.
    ///
    /// # Errors
    /// If Cranelift rejects the function.
    pub fn compile_function(
        &mut self,
        title: &str,
        source: &FunctionSource<'_>,
        context: &FunctionContext,
    ) -> Result<(FuncId, MemoryRequirements), Error> {
        let mut signature = self.module.make_signature();
        signature.params.push(ir::AbiParam::new(types::I64));
        signature.returns.push(ir::AbiParam::new(types::I32));
        let id = self.module.declare_anonymous_function(&signature)?;
        let requirements = self.define_function(id, signature, title, |lower| {
            lower.lower_operator_function(source, context)
        })?;
        Ok((id, requirements))
    }

    /// Compiles the user functions that are called, and those that they call.
    ///
    /// # Errors
    /// If Cranelift rejects a function.
    pub fn compile_called_functions(&mut self) -> Result<(), Error> {
        loop {
            if let Some(function) = self.pending_functions.pop_front() {
                self.compile_user_function(function)?;
            } else if let Some((id, import)) = self.pending_preserving.pop() {
                let signature = self.preserving_signature();
                let title = format!("call of {}", import.declaration().name);
                self.define_function(id, signature, &title, |lower| {
                    lower.lower_preserving_call(import)
                })?;
            } else if let Some((id, arm)) = self.pending_arms.pop() {
                let signature = self.preserving_signature();
                self.define_function(id, signature, "an arm that seldom runs", |lower| {
                    lower.lower_arm(arm)
                })?;
            } else {
                return Ok(());
            }
        }
    }

    fn compile_user_function(&mut self, function: FunctionId) -> Result<(), Error> {
        let functions = Arc::clone(&self.functions);
        let user_function = &functions[function.0 as usize];
        let signature = signature(user_function, self.module.make_signature());
        let id = self.user_functions[&function];
        let title = format!("function {}", user_function.name);
        self.define_function(id, signature, &title, |lower| {
            lower.lower_user_function(function)
        })
    }

    fn define_function<R>(
        &mut self,
        id: FuncId,
        signature: ir::Signature,
        title: &str,
        work: impl FnOnce(FunctionLowering<'_, '_>) -> R,
    ) -> Result<R, Error> {
        let mut context = std::mem::replace(&mut self.cranelift_context, Context::new());
        let mut builder = std::mem::take(&mut self.builder);
        context.func.signature = signature;
        context.func.name = UserFuncName::user(0, id.as_u32());
        context.set_disasm(self.listings.is_some());
        let b = FunctionBuilder::new(&mut context.func, &mut builder);
        let result = work(FunctionLowering::begin(b, self));
        let clif = self
            .listings
            .as_ref()
            .map(|_| context.func.display().to_string());
        let defined = self.module.define_function(id, &mut context);
        if let Err(error) = defined {
            return Err(Error::compile(title, &error, &context.func));
        }
        if let (Some(texts), Some(clif)) = (&mut self.listings, clif) {
            let code = context.compiled_code();
            let asm = code.and_then(|code| code.vcode.clone()).unwrap_or_default();
            texts.push(MachineCodeListing {
                title: title.to_owned(),
                clif,
                asm,
            });
        }
        if let Some(code) = context.compiled_code() {
            let bytes = code.code_buffer().len();
            self.compiled.push(CompiledFunction {
                title: title.to_owned(),
                id,
                bytes,
                operators: operator_ranges(code.buffer.get_srclocs_sorted(), bytes),
            });
        }
        self.module.clear_context(&mut context);
        self.cranelift_context = context;
        self.builder = builder;
        Ok(result)
    }
}

/// The bytes of a function's code that are each operator's, given the known places in it. What
/// Cranelift puts in place of other instructions has none, and stands before the instruction that
/// needs it: it is of the operator of that one.
fn operator_ranges(places: &[MachSrcLoc<Final>], bytes: usize) -> Vec<(Range<usize>, u32)> {
    let known = places.iter().filter(|place| !place.loc.is_default());
    let mut ranges: Vec<(Range<usize>, u32)> = Vec::new();
    for place in known {
        let (begin, operator) = (
            ranges.last().map_or(0, |(range, _)| range.end),
            place.loc.bits(),
        );
        match ranges.last_mut() {
            Some((range, last)) if *last == operator => range.end = place.end as usize,
            _ => ranges.push((begin..place.end as usize, operator)),
        }
    }
    if let Some((range, _)) = ranges.last_mut() {
        range.end = bytes;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::ir::SourceLoc;

    use super::*;

    #[test]
    fn code_without_a_place_is_of_the_operator_behind_it() {
        let place = |start, end, loc| MachSrcLoc { start, end, loc };
        let of = |operator| SourceLoc::new(operator);
        let places = [
            place(4, 8, of(1)),
            place(8, 12, SourceLoc::default()),
            place(12, 16, of(2)),
            place(20, 24, of(2)),
            place(24, 28, of(1)),
        ];
        let expected = vec![(0..8, 1), (8..24, 2), (24..40, 1)];
        assert_eq!(operator_ranges(&places, 40), expected);
        assert_eq!(operator_ranges(&places[1..2], 40), vec![]);
    }
}
