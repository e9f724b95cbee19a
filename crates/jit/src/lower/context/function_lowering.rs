//! A machine function while it is generated, and the functions that it refers to.

use std::collections::HashMap;

use cranelift_codegen::ir;
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::Module;
use graph::FunctionId;

use super::body_context::BodyContext;
use super::codegen_unit::CodegenUnit;
use super::register_cache::RegisterCache;
use crate::code::ImportedFunction;

/// One machine function while it is generated.
pub struct FunctionLowering<'a, 'b> {
    /// Cranelift's builder, at the block that is being filled.
    pub builder: FunctionBuilder<'b>,
    /// The unit that the function belongs to.
    pub unit: &'a mut CodegenUnit,
    /// The environment: the first argument.
    pub env: ir::Value,
    /// The function's first block.
    pub entry_block: ir::Block,
    /// Block that a fault jumps to.
    pub fault_block: ir::Block,
    /// Meaning of the names of the body that is being lowered.
    pub body: BodyContext,
    /// How often something temporary has been taken so far.
    pub allocations: u32,
    /// Whether there are bodies of operators that are inlined.
    pub inlines: bool,
    /// Whether functions of arms are called, which may take temporary memory.
    pub calls_arms: bool,
    /// Whether the code that is being lowered seldom runs.
    pub is_seldom: bool,
    /// Whether any stream is tapped, as asked for the tuple that is being delivered.
    pub taps_open: Option<ir::Value>,
    /// Words for the arguments and results of calls that preserve the registers.
    pub call_words: Option<ir::StackSlot>,
    /// Counters and state variables in registers.
    pub cache: RegisterCache,
    /// The address of the next frame of a batch, and the number of frames that were taken.
    pub batch_cursor: Option<[Variable; 2]>,
    /// Types of the variables in memory, after those that are taken.
    pub local_types: Vec<tuple::Type>,
    /// The address of the first variable in memory.
    pub locals_base: ir::Value,
    /// Helpers that this function calls.
    imports: HashMap<ImportedFunction, ir::FuncRef>,
}

impl<'a, 'b> FunctionLowering<'a, 'b> {
    pub fn begin(
        mut b: FunctionBuilder<'b>,
        unit: &'a mut CodegenUnit,
    ) -> FunctionLowering<'a, 'b> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let env = b.block_params(entry)[0];
        let fail = b.create_block();
        b.set_cold_block(fail);
        FunctionLowering {
            builder: b,
            unit,
            env,
            entry_block: entry,
            fault_block: fail,
            body: BodyContext::default(),
            allocations: 0,
            inlines: false,
            calls_arms: false,
            is_seldom: false,
            taps_open: None,
            call_words: None,
            cache: RegisterCache::default(),
            batch_cursor: None,
            local_types: Vec::new(),
            locals_base: env,
            imports: HashMap::new(),
        }
    }

    /// Reference to an imported function, for calls from this function.
    pub fn import_ref(&mut self, import: ImportedFunction) -> ir::FuncRef {
        if let Some(&known) = self.imports.get(&import) {
            return known;
        }
        let id = self
            .unit
            .declare_import(import)
            .expect("the imports' signatures agree");
        let reference = self.unit.module.declare_func_in_func(id, self.builder.func);
        self.imports.insert(import, reference);
        reference
    }

    /// Reference to a user function, for calls from this function.
    pub fn user_function_ref(&mut self, function: FunctionId) -> ir::FuncRef {
        let id = self
            .unit
            .declare_user_function(function)
            .expect("a function has one signature");
        self.unit.module.declare_func_in_func(id, self.builder.func)
    }
}
