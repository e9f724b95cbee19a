//! What all machine functions of a PE share, and making each of them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{self, UserFuncName, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use graph::{Function, FunctionId, NativeFn};

use super::{Against, Entry, Frame, Inlining, Lower, Made};
use crate::code::{Import, Pool};
use crate::error::Error;

/// What all machine functions share.
pub struct Unit {
    /// What code refers to by address.
    pub pool: Pool,
    /// The program's functions.
    pub functions: Arc<[Function]>,
    /// The library's.
    pub natives: Arc<[NativeFn]>,
    /// How calls of the program's functions are made.
    pub inlining: Inlining,
    /// How the machine calls.
    pub frontend: TargetFrontendConfig,
    /// The code so far.
    pub module: JITModule,
    /// The program's functions that are called, and so have to be made.
    called: HashMap<FunctionId, FuncId>,
    todo: VecDeque<FunctionId>,
    imports: HashMap<Import, FuncId>,
    context: Context,
    builder: FunctionBuilderContext,
    /// The text of what was made, if it is wanted.
    pub texts: Option<Vec<Text>>,
    /// What was made: title, function, bytes of code.
    pub made: Vec<(String, FuncId, usize)>,
}

/// A machine function as text.
#[derive(Clone, Debug)]
pub struct Text {
    /// The operator and the body, or the user function.
    pub title: String,
    /// Cranelift's intermediate code, before it is optimised.
    pub clif: String,
    /// Instructions of the machine.
    pub asm: String,
}

impl Unit {
    /// An empty unit.
    pub fn new(module: JITModule, functions: &[Function], natives: &[NativeFn]) -> Unit {
        Unit {
            pool: Pool::default(),
            functions: functions.into(),
            natives: natives.into(),
            inlining: Inlining::of(functions),
            frontend: module.target_config(),
            context: module.make_context(),
            module,
            called: HashMap::new(),
            todo: VecDeque::new(),
            imports: HashMap::new(),
            builder: FunctionBuilderContext::new(),
            texts: None,
            made: Vec::new(),
        }
    }

    /// Makes an entry.
    pub fn entry(
        &mut self,
        title: &str,
        entry: &Entry<'_>,
        against: &Against,
    ) -> Result<(FuncId, Made), Error> {
        let mut signature = self.module.make_signature();
        signature.params.push(ir::AbiParam::new(types::I64));
        signature.returns.push(ir::AbiParam::new(types::I32));
        let id = self.module.declare_anonymous_function(&signature)?;
        let made = self.make(id, signature, title, |lower| lower.entry(entry, against))?;
        Ok((id, made))
    }

    /// Makes the user functions that are called.
    pub fn called_functions(&mut self) -> Result<(), Error> {
        while let Some(function) = self.todo.pop_front() {
            let functions = Arc::clone(&self.functions);
            let source = &functions[function.0 as usize];
            let signature = super::signature(source, self.module.make_signature());
            let id = self.called[&function];
            let title = format!("function {}", source.name);
            self.make(id, signature, &title, |lower| lower.function(function))?;
        }
        Ok(())
    }

    fn make<R>(
        &mut self,
        id: FuncId,
        signature: ir::Signature,
        title: &str,
        work: impl FnOnce(Lower<'_, '_>) -> R,
    ) -> Result<R, Error> {
        let mut context = std::mem::replace(&mut self.context, Context::new());
        let mut builder = std::mem::take(&mut self.builder);
        context.func.signature = signature;
        context.func.name = UserFuncName::user(0, id.as_u32());
        context.set_disasm(self.texts.is_some());
        let b = FunctionBuilder::new(&mut context.func, &mut builder);
        let result = work(Lower::begin(b, self));
        let clif = self
            .texts
            .as_ref()
            .map(|_| context.func.display().to_string());
        let defined = self.module.define_function(id, &mut context);
        if let Err(error) = defined {
            return Err(Error::compile(title, &error, &context.func));
        }
        if let (Some(texts), Some(clif)) = (&mut self.texts, clif) {
            let code = context.compiled_code();
            let asm = code.and_then(|code| code.vcode.clone()).unwrap_or_default();
            texts.push(Text {
                title: title.to_owned(),
                clif,
                asm,
            });
        }
        let bytes = context
            .compiled_code()
            .map_or(0, |code| code.code_buffer().len());
        self.made.push((title.to_owned(), id, bytes));
        self.module.clear_context(&mut context);
        self.context = context;
        self.builder = builder;
        Ok(result)
    }

    /// A user function, to be made later.
    fn user(&mut self, function: FunctionId) -> Result<FuncId, Error> {
        if let Some(&id) = self.called.get(&function) {
            return Ok(id);
        }
        let source = &self.functions[function.0 as usize];
        let signature = super::signature(source, self.module.make_signature());
        let id = self.module.declare_anonymous_function(&signature)?;
        self.called.insert(function, id);
        self.todo.push_back(function);
        Ok(id)
    }

    /// A import, as a function of the module.
    fn import(&mut self, import: Import) -> Result<FuncId, Error> {
        if let Some(&id) = self.imports.get(&import) {
            return Ok(id);
        }
        let entry = import.entry();
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

impl<'a, 'b> Lower<'a, 'b> {
    fn begin(mut b: FunctionBuilder<'b>, unit: &'a mut Unit) -> Lower<'a, 'b> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let env = b.block_params(entry)[0];
        let fail = b.create_block();
        b.set_cold_block(fail);
        Lower {
            b,
            unit,
            env,
            entry,
            fail,
            frame: Frame::default(),
            allocations: 0,
            outside_calls: 0,
            slots: Vec::new(),
            slot_base: env,
            imports: HashMap::new(),
        }
    }

    /// A import, as this function refers to it.
    pub fn import(&mut self, import: Import) -> ir::FuncRef {
        if let Some(&known) = self.imports.get(&import) {
            return known;
        }
        let id = self
            .unit
            .import(import)
            .expect("the imports' signatures agree");
        let reference = self.unit.module.declare_func_in_func(id, self.b.func);
        self.imports.insert(import, reference);
        reference
    }

    /// A user function, as this function refers to it.
    pub fn user_function(&mut self, function: FunctionId) -> ir::FuncRef {
        let id = self
            .unit
            .user(function)
            .expect("a function has one signature");
        self.unit.module.declare_func_in_func(id, self.b.func)
    }

    /// Takes the variables of a function that live in memory.
    pub fn enter_frame(&mut self, function: &Function, uses: &super::Uses) -> bool {
        let locals = function.body.locals.iter().zip(&uses.locals).enumerate();
        let in_memory = locals.filter(|(_, (local, used))| {
            !local.by_reference && super::locals::home(&local.ty, used) == super::Home::Memory
        });
        let types: Vec<_> = in_memory.map(|(_, (local, _))| local.ty.clone()).collect();
        if types.is_empty() {
            return false;
        }
        let (row, len) = self.unit.pool.row(types);
        let (row, len) = (self.word(row), self.word(len));
        self.slot_base = self.call1(Import::Enter, &[row, len]);
        true
    }

    /// Gives them back.
    pub fn exit_frame(&mut self, has_frame: bool) {
        if has_frame {
            self.call(Import::Exit, &[]);
        }
    }
}
