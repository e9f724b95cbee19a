//! The compiler of a PE: collects functions, and makes machine code of all of them at once.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use eval::NativeFn;
use eval::interp::Interpreter;
use graph::{Body, Function};
use runtime::abi::{CodeScope, FrameForm, OperatorCodeRange, RunBody, RunBodyOnBatch};

use crate::code::{
    CodeMemory, ConstantPool, EnvRequirements, JitBatchBody, JitBody, MachineFunction,
};
use crate::error::Error;
use crate::lower::{
    CodegenUnit, CompiledFunction, FunctionContext, FunctionSource, MachineCodeListing,
    MemoryRequirements, OutputTarget, SampledOperator, StateLayout,
};
use crate::options::JitOptions;
use crate::perf_map::{self, PerfMapEntry};

/// Compiler of a PE's typed expressions and statements to machine code.
pub struct Jit {
    unit: Option<CodegenUnit>,
    machine_functions: Vec<(FuncId, MachineFunction)>,
    pub(crate) pool: Arc<OnceLock<Arc<ConstantPool>>>,
    pub(crate) interpreter: Interpreter,
    pub(crate) options: JitOptions,
    listings: Vec<MachineCodeListing>,
    pub(crate) operator_code: Vec<OperatorCodeRange>,
}

impl Jit {
    /// A compiler for a program with these functions and a library with these natives.
    ///
    /// # Errors
    /// If Cranelift does not support the machine.
    pub fn new(
        functions: &[Function],
        natives: &[NativeFn],
        options: JitOptions,
    ) -> Result<Jit, Error> {
        let mut unit = CodegenUnit::new(crate::module::new_module(&options)?, functions, natives);
        unit.listings = options.listings.then(Vec::new);
        Ok(Jit {
            unit: Some(unit),
            machine_functions: Vec::new(),
            pool: Arc::default(),
            interpreter: Interpreter::new(functions, natives),
            options,
            listings: Vec::new(),
            operator_code: Vec::new(),
        })
    }

    /// The text of all code, if [`JitOptions::listings`] asked for it; complete after `finish`.
    pub fn listings(&self) -> &[MachineCodeListing] {
        &self.listings
    }

    pub(crate) fn codegen_unit(&mut self) -> Result<&mut CodegenUnit, Error> {
        self.unit
            .as_mut()
            .ok_or_else(|| Error::new("the code of this PE is already finished"))
    }

    /// Compiles a function of an operator. Returns it for a handle to call, and the needs of its
    /// environment.
    pub(crate) fn compile_function(
        &mut self,
        title: &str,
        source: &FunctionSource<'_>,
        context: &FunctionContext,
    ) -> Result<(MachineFunction, EnvRequirements), Error> {
        let (
            id,
            MemoryRequirements {
                local_types: slots,
                allocates,
            },
        ) = self
            .codegen_unit()?
            .compile_function(title, source, context)?;
        let function = MachineFunction::new();
        self.machine_functions.push((id, function.clone()));
        let inputs = context.inputs.iter().enumerate();
        let inputs = inputs.map(|(slot, layout)| (slot as u32, Arc::clone(layout)));
        let needs = EnvRequirements {
            local_types: slots,
            inputs: inputs.collect(),
            allocates,
        };
        Ok((function, needs))
    }

    pub(crate) fn compile_body(
        &mut self,
        title: &str,
        body: &Body,
        context: &FunctionContext,
    ) -> Result<Box<dyn RunBody>, Error> {
        let (function, needs) =
            self.compile_function(title, &FunctionSource::Body(body), context)?;
        Ok(Box::new(JitBody::new(&function, &self.pool, needs)))
    }

    pub(crate) fn compile_batch_body(
        &mut self,
        title: &str,
        body: &Body,
        (port, form): (usize, FrameForm),
        context: &FunctionContext,
    ) -> Result<Box<dyn RunBodyOnBatch>, Error> {
        let source = FunctionSource::BatchBody(body, context.first_slots[port], form);
        let (function, needs) = self.compile_function(title, &source, context)?;
        Ok(Box::new(JitBatchBody::new(&function, &self.pool, needs)))
    }

    pub(crate) fn finish_module(&mut self) -> Result<(), Error> {
        let Some(mut unit) = self.unit.take() else {
            return Ok(());
        };
        unit.compile_called_functions()?;
        unit.module.finalize_definitions()?;
        self.listings = unit.listings.take().unwrap_or_default();
        let pool = Arc::new(std::mem::take(&mut unit.pool));
        let module = unit.module;
        let compiled = std::mem::take(&mut unit.compiled);
        self.operator_code = operator_code(&module, &compiled);
        if self.options.perf_map {
            map_for_perf(&module, compiled)?;
        }
        let found: Vec<_> = self.machine_functions.drain(..).collect();
        let found: Vec<(*const u8, MachineFunction)> = found
            .into_iter()
            .map(|(id, function)| (module.get_finalized_function(id), function))
            .collect();
        let memory = Arc::new(CodeMemory::new(module, Arc::clone(&pool)));
        let _ = self.pool.set(pool);
        for (address, function) in found {
            function.publish(address, &memory);
        }
        Ok(())
    }
}

/// The addresses of each operator's code, as far as they were kept.
fn operator_code(module: &JITModule, functions: &[CompiledFunction]) -> Vec<OperatorCodeRange> {
    let ranges = functions.iter().flat_map(|function| {
        let begin = module.get_finalized_function(function.id).addr();
        let operators = function.operators.iter();
        operators.map(move |(bytes, operator)| OperatorCodeRange {
            addresses: begin + bytes.start..begin + bytes.end,
            operator: *operator,
        })
    });
    ranges.collect()
}

/// Writes the addresses of functions for `perf`.
fn map_for_perf(module: &JITModule, functions: Vec<CompiledFunction>) -> Result<(), Error> {
    let placed = functions.into_iter().map(|function| PerfMapEntry {
        title: function.title,
        address: module.get_finalized_function(function.id).addr(),
        bytes: function.bytes,
    });
    let placed: Vec<PerfMapEntry> = placed.collect();
    perf_map::write_perf_map(&placed)
        .map_err(|error| Error::new(format!("the map for perf cannot be written: {error}")))
}

/// Describes an operator's inputs, state and outputs to the code of its bodies.
pub(crate) fn function_context(scope: &CodeScope<'_>, options: JitOptions) -> FunctionContext {
    let mut ports = vec![0];
    for port in &scope.operator.inputs {
        ports.push(ports[ports.len() - 1] + port.history.slots());
    }
    FunctionContext {
        inputs: scope.inputs.clone(),
        first_slots: ports,
        history: scope
            .operator
            .inputs
            .iter()
            .map(|port| port.history.clone())
            .collect(),
        state_layout: Rc::new(StateLayout::from_scope(scope)),
        state: None,
        watermark: None,
        targets: scope
            .outputs
            .iter()
            .cloned()
            .map(OutputTarget::Outlet)
            .collect(),
        stop_address: None,
        sampled: options.for_samples.then_some(SampledOperator {
            operator: scope.index,
            running: None,
        }),
        processes_many: false,
    }
}
