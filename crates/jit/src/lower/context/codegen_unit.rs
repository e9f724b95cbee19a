//! State that all machine functions of a PE share.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{self};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use eval::NativeFn;
use graph::{Function, FunctionId, NativeId};

use super::body_usage::BodyUsage;
use super::inlining_decisions::InliningDecisions;
use super::seldom_arm::SeldomArm;
use super::signature::signature;
use crate::code::{ConstantPool, ImportedFunction};
use crate::error::Error;

/// State shared by all machine functions of a PE: constants, functions, and the module they go
/// into.
pub struct CodegenUnit {
    /// Constants that compiled code refers to by address.
    pub pool: ConstantPool,
    /// User functions of the program, by id.
    pub functions: Arc<[Function]>,
    /// Native functions of the library, by id.
    pub natives: Arc<[NativeFn]>,
    /// Decisions on calls of the program's functions.
    pub inlining: InliningDecisions,
    /// How the machine calls.
    pub target_config: TargetFrontendConfig,
    /// The code so far.
    pub module: JITModule,
    /// User functions that are called, and so must be compiled.
    pub user_functions: HashMap<FunctionId, FuncId>,
    pub pending_functions: VecDeque<FunctionId>,
    /// Functions that preserve the registers around a call.
    pub preserving: HashMap<ImportedFunction, FuncId>,
    pub pending_preserving: Vec<(FuncId, ImportedFunction)>,
    pub pending_arms: Vec<(FuncId, SeldomArm)>,
    pub imports: HashMap<ImportedFunction, FuncId>,
    pub cranelift_context: Context,
    pub builder: FunctionBuilderContext,
    /// Text of the finished machine functions, if it is wanted.
    pub listings: Option<Vec<MachineCodeListing>>,
    /// The finished machine functions.
    pub compiled: Vec<CompiledFunction>,
}

/// A finished machine function.
#[derive(Debug)]
pub struct CompiledFunction {
    /// The operator and the body, or the user function.
    pub title: String,
    /// The function in the module.
    pub id: FuncId,
    /// Length of the code in bytes.
    pub bytes: usize,
    /// Bytes of the code that are an operator's, with the operator's number, if that is kept.
    pub operators: Vec<(Range<usize>, u32)>,
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
    /// A unit without machine functions.
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
            preserving: HashMap::new(),
            pending_preserving: Vec::new(),
            pending_arms: Vec::new(),
            imports: HashMap::new(),
            builder: FunctionBuilderContext::new(),
            listings: None,
            compiled: Vec::new(),
        }
    }

    /// Whether tuples have to be counted one by one: the body may let its thread sleep, or reads
    /// counts, by a statement or in any function that it calls.
    pub fn needs_counts(&self, usage: &BodyUsage) -> bool {
        let mut pending: Vec<FunctionId> = usage.calls.clone();
        let mut known: HashSet<FunctionId> = pending.iter().copied().collect();
        let needs_counts = |usage: &BodyUsage| {
            let mut natives = usage.native_calls.iter();
            let native = |id: &NativeId| self.natives.get(id.0 as usize);
            usage.sleeps || natives.any(|id| native(id).is_some_and(|one| one.needs_counts))
        };
        if needs_counts(usage) {
            return true;
        }
        while let Some(function) = pending.pop() {
            let called = BodyUsage::from_body(&self.functions[function.0 as usize].body);
            if needs_counts(&called) {
                return true;
            }
            pending.extend(
                called
                    .calls
                    .into_iter()
                    .filter(|called| known.insert(*called)),
            );
        }
        false
    }

    /// Declares a user function, which is compiled later.
    ///
    /// # Errors
    /// If the module has the function with another signature.
    pub fn declare_user_function(&mut self, function: FunctionId) -> Result<FuncId, Error> {
        if let Some(&id) = self.user_functions.get(&function) {
            return Ok(id);
        }
        let source = &self.functions[function.0 as usize];
        let signature = signature(source, self.module.make_signature());
        let id = self.module.declare_anonymous_function(&signature)?;
        self.user_functions.insert(function, id);
        self.pending_functions.push_back(function);
        Ok(id)
    }

    /// Declares an imported function in the module.
    ///
    /// # Errors
    /// If the module has the function with another signature.
    pub fn declare_import(&mut self, import: ImportedFunction) -> Result<FuncId, Error> {
        if let Some(&id) = self.imports.get(&import) {
            return Ok(id);
        }
        let signature = self.import_signature(import);
        let name = import.declaration().name;
        let id = self
            .module
            .declare_function(name, Linkage::Import, &signature)?;
        self.imports.insert(import, id);
        Ok(id)
    }

    /// Declares the function of an arm, which is compiled later.
    ///
    /// # Errors
    /// If the module cannot declare a function.
    pub fn declare_arm(&mut self, arm: SeldomArm) -> Result<FuncId, Error> {
        let signature = self.preserving_signature();
        let id = self.module.declare_anonymous_function(&signature)?;
        self.pending_arms.push((id, arm));
        Ok(id)
    }

    /// The signature of an imported function.
    pub fn import_signature(&self, import: ImportedFunction) -> ir::Signature {
        let declared = import.declaration();
        let mut signature = self.module.make_signature();
        let params = declared.params.into_iter().map(ir::AbiParam::new);
        signature.params.extend(params);
        let results = declared.results.into_iter().map(ir::AbiParam::new);
        signature.returns.extend(results);
        signature
    }
}
