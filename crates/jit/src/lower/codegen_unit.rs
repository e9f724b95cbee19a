//! What all machine functions of a PE share, and making each of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{self, UserFuncName, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use eval::NativeFn;
use graph::{Function, FunctionId};

use super::{
    BodyContext, EntryBody, EntryContext, EntryRequirements, FunctionLowering, InliningDecisions,
};
use crate::code::{ConstantPool, ImportedFunction};
use crate::error::Error;

/// What all machine functions share.
pub struct CodegenUnit {
    /// What code refers to by address.
    pub pool: ConstantPool,
    /// The program's functions.
    pub functions: Arc<[Function]>,
    /// The library's.
    pub natives: Arc<[NativeFn]>,
    /// How calls of the program's functions are made.
    pub inlining: InliningDecisions,
    /// How the machine calls.
    pub target_config: TargetFrontendConfig,
    /// The code so far.
    pub module: JITModule,
    /// The program's functions that are called, and so have to be made.
    user_functions: HashMap<FunctionId, FuncId>,
    pending_functions: VecDeque<FunctionId>,
    imports: HashMap<ImportedFunction, FuncId>,
    cranelift_context: Context,
    builder: FunctionBuilderContext,
    /// The text of what was made, if it is wanted.
    pub listings: Option<Vec<MachineCodeListing>>,
    /// What was made: title, function, bytes of code.
    pub compiled: Vec<(String, FuncId, usize)>,
}

/// A machine function as text.
#[derive(Clone, Debug)]
pub struct MachineCodeListing {
    /// The operator and the body, or the user function.
    pub title: String,
    /// Cranelift's intermediate code, before it is optimised.
    pub clif: String,
    /// Instructions of the machine.
    pub asm: String,
}

impl CodegenUnit {
    /// An empty unit.
    pub fn new(module: JITModule, functions: &[Function], natives: &[NativeFn]) -> CodegenUnit {
        CodegenUnit {
            pool: ConstantPool::default(),
            functions: functions.into(),
            natives: natives.into(),
            inlining: InliningDecisions::decide(functions),
            target_config: module.target_config(),
            cranelift_context: module.make_context(),
            module,
            user_functions: HashMap::new(),
            pending_functions: VecDeque::new(),
            imports: HashMap::new(),
            builder: FunctionBuilderContext::new(),
            listings: None,
            compiled: Vec::new(),
        }
    }

    /// Makes an entry.
    pub fn compile_entry(
        &mut self,
        title: &str,
        entry: &EntryBody<'_>,
        context: &EntryContext,
    ) -> Result<(FuncId, EntryRequirements), Error> {
        let mut signature = self.module.make_signature();
        signature.params.push(ir::AbiParam::new(types::I64));
        signature.returns.push(ir::AbiParam::new(types::I32));
        let id = self.module.declare_anonymous_function(&signature)?;
        let made = self.compile_function(id, signature, title, |lower| {
            lower.lower_entry(entry, context)
        })?;
        Ok((id, made))
    }

    /// Makes the user functions that are called.
    pub fn compile_called_functions(&mut self) -> Result<(), Error> {
        while let Some(function) = self.pending_functions.pop_front() {
            let functions = Arc::clone(&self.functions);
            let source = &functions[function.0 as usize];
            let signature = super::signature(source, self.module.make_signature());
            let id = self.user_functions[&function];
            let title = format!("function {}", source.name);
            self.compile_function(id, signature, &title, |lower| {
                lower.lower_function(function)
            })?;
        }
        Ok(())
    }

    fn compile_function<R>(
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
        let bytes = context
            .compiled_code()
            .map_or(0, |code| code.code_buffer().len());
        self.compiled.push((title.to_owned(), id, bytes));
        self.module.clear_context(&mut context);
        self.cranelift_context = context;
        self.builder = builder;
        Ok(result)
    }

    /// A user function, to be made later.
    fn declare_user_function(&mut self, function: FunctionId) -> Result<FuncId, Error> {
        if let Some(&id) = self.user_functions.get(&function) {
            return Ok(id);
        }
        let source = &self.functions[function.0 as usize];
        let signature = super::signature(source, self.module.make_signature());
        let id = self.module.declare_anonymous_function(&signature)?;
        self.user_functions.insert(function, id);
        self.pending_functions.push_back(function);
        Ok(id)
    }

    /// A import, as a function of the module.
    fn declare_import(&mut self, import: ImportedFunction) -> Result<FuncId, Error> {
        if let Some(&id) = self.imports.get(&import) {
            return Ok(id);
        }
        let entry = import.declaration();
        let mut signature = self.module.make_signature();
        signature
            .params
            .extend(entry.params.into_iter().map(ir::AbiParam::new));
        signature
            .returns
            .extend(entry.results.into_iter().map(ir::AbiParam::new));
        let id = self
            .module
            .declare_function(entry.name, Linkage::Import, &signature)?;
        self.imports.insert(import, id);
        Ok(id)
    }
}

impl<'a, 'b> FunctionLowering<'a, 'b> {
    fn begin(mut b: FunctionBuilder<'b>, unit: &'a mut CodegenUnit) -> FunctionLowering<'a, 'b> {
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
            outside_calls: 0,
            local_types: Vec::new(),
            locals_base: env,
            imports: HashMap::new(),
        }
    }

    /// A import, as this function refers to it.
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

    /// A user function, as this function refers to it.
    pub fn user_function_ref(&mut self, function: FunctionId) -> ir::FuncRef {
        let id = self
            .unit
            .declare_user_function(function)
            .expect("a function has one signature");
        self.unit.module.declare_func_in_func(id, self.builder.func)
    }

    /// Takes the variables of a function that live in memory.
    pub fn enter_frame(&mut self, function: &Function, uses: &super::BodyUsage) -> bool {
        let locals = function.body.locals.iter().zip(&uses.locals).enumerate();
        let in_memory = locals.filter(|(_, (local, used))| {
            !local.by_reference
                && super::locals::local_home(&local.ty, used) == super::LocalHome::Memory
        });
        let types: Vec<_> = in_memory.map(|(_, (local, _))| local.ty.clone()).collect();
        if types.is_empty() {
            return false;
        }
        let (row, len) = self.unit.pool.type_list(types);
        let (row, len) = (self.word(row), self.word(len));
        self.locals_base = self.call_for_word(ImportedFunction::EnterFrame, &[row, len]);
        true
    }

    /// Gives them back.
    pub fn exit_frame(&mut self, has_frame: bool) {
        if has_frame {
            self.call(ImportedFunction::ExitFrame, &[]);
        }
    }
}
