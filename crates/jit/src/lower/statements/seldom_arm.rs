//! Arms of `if` that seldom run become functions of their own.
//!
//! Values of an arm would take registers from those that the loop around it needs in each turn. A
//! function of its own has its own registers. It takes the machine values that its statements
//! refer to as words on the stack, and preserves all registers:
//!
//! ```text
//!   words before the call   | environment | word | word | ...
//!                    after  | status (0, or 1 after a fault) |
//! ```
//! State is read and written in memory there, and what the arm submits goes on in operators that
//! are inlined there. An arm that assigns to local variables of the body around it, or leaves it,
//! or leads to operators with variables in memory, stays where it is.

use std::collections::HashMap;

use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_module::Module;
use graph::{BinaryOp, Expr, ExprKind, LocalId, Stmt};
use tuple::{Type, Value};

use crate::lower::context::{
    BodyContext, BodyInput, BodyUsage, FunctionLowering, LocalStorage, OutputTarget, SeldomArm,
    StateStorage, StorageKind, seldom_holds, storage_kind,
};
use crate::lower::values::AccessRegion;
use crate::type_parts;

/// Most words that are passed to an arm.
const WORDS_MAX: usize = 256;

/// Machine values that are passed to an arm, which has numbers in their place.
#[derive(Default)]
struct PassedWords {
    words: Vec<ir::Value>,
    numbers: HashMap<ir::Value, ir::Value>,
}

impl PassedWords {
    fn number(&mut self, word: ir::Value) -> ir::Value {
        *self.numbers.entry(word).or_insert_with(|| {
            self.words.push(word);
            ir::Value::from_u32(self.words.len() as u32 - 1)
        })
    }
}

impl FunctionLowering<'_, '_> {
    /// Lowers `if` if its arm seldom runs. Returns whether it did so.
    pub fn seldom_if(&mut self, asked: &Expr, condition: ir::Value, arm: &[Stmt]) -> bool {
        let only_changes = arm.iter().all(|stmt| self.is_closed(stmt, false));
        let is_seldom = self.is_seldom(asked) && (only_changes || seldom_holds(asked));
        if !is_seldom || !arm.iter().all(|stmt| self.is_closed(stmt, true)) {
            return false;
        }
        let uses = BodyUsage::from_stmts(arm);
        let mut passed = PassedWords::default();
        let Some(body) = self.arm_context(&uses, &mut passed) else {
            return false;
        };
        if passed.words.len() > WORDS_MAX {
            return false;
        }
        let (run, done) = (self.cold_block(), self.block());
        self.branch(condition, run, done);
        self.switch_to_sealed(run);
        self.call_arm(arm, body, &passed.words);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
        true
    }

    /// Whether a condition seldom holds: a number that changes from tuple to tuple equals another.
    fn is_seldom(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::Eq, a, b) => {
                a.ty.is_integral() && (self.is_cached(a) || self.is_cached(b))
            }
            _ => false,
        }
    }

    /// Whether an expression depends on a state variable in a register.
    fn is_cached(&self, e: &Expr) -> bool {
        let mut found = false;
        e.for_each_ref(&mut |part| {
            if let ExprKind::State(state) = part.kind {
                found |= self.cached_variable(state).is_some();
            }
        });
        found
    }

    /// The context of an arm, with numbers of words; `None` if it has to stay where it is.
    fn arm_context(&mut self, uses: &BodyUsage, passed: &mut PassedWords) -> Option<BodyContext> {
        if self.calls_inlined(uses) {
            return None;
        }
        let mut locals = Vec::new();
        for (at, used) in uses.locals.iter().enumerate() {
            let is_own = used.initializations > 0;
            let is_assigned = used.assignments > 0 || !used.fields.is_empty();
            let is_named = is_own || is_assigned || used.is_read || used.in_place;
            let storage = match self.body.locals[at].clone() {
                _ if !is_named => LocalStorage::Unset,
                storage @ LocalStorage::Memory(_) => storage,
                storage if is_own => storage,
                _ if is_assigned || used.in_place => return None,
                _ => LocalStorage::Alias(self.read_local(LocalId(at as u32))),
            };
            locals.push(map_storage(storage, &mut |word| passed.number(word)));
        }
        let inputs = self.body.inputs.iter().map(|input| {
            let input = input.as_ref().filter(|_| uses.reads_input)?;
            Some(BodyInput {
                tuple: input.tuple.map_words(&mut |word| passed.number(word)),
                bytes: input.bytes.map(|word| passed.number(word)),
            })
        });
        let inputs = inputs.collect();
        let mut number = |word| passed.number(word);
        Some(BodyContext {
            locals,
            types: self.body.types.clone(),
            inputs,
            input_types: self.body.input_types.clone(),
            first_slots: self.body.first_slots.clone(),
            history: self.body.history.clone(),
            state: map_state(self.body.state, &mut number),
            state_layout: self.body.state_layout.clone(),
            changed_state: self.body.changed_state.clone(),
            stop_address: self.body.stop_address,
            watermark: self.body.watermark,
            targets: self.body.targets.clone(),
            inlined_operator: self.body.inlined_operator,
            sampled: self.body.sampled,
            ..BodyContext::default()
        })
    }

    /// Whether a statement, with all in it, only goes on behind itself; it may submit and work on
    /// tables if `reaches_further`.
    fn is_closed(&self, stmt: &Stmt, reaches_further: bool) -> bool {
        let are_closed = |stmts: &[Stmt]| {
            let mut each = stmts.iter();
            each.all(|stmt| self.is_closed(stmt, reaches_further))
        };
        match stmt {
            Stmt::Let(..) | Stmt::Expr(_) | Stmt::Sleep(_) => true,
            Stmt::If(_, yes, no) => are_closed(yes) && are_closed(no),
            Stmt::While(_, body) | Stmt::For(_, _, body) => are_closed(body),
            Stmt::FindEntry { added, .. } => reaches_further && are_closed(added),
            Stmt::Submit { port, .. } => reaches_further && self.fits_into_arm(port),
            Stmt::SubmitPunct { .. }
            | Stmt::AddEntry(..)
            | Stmt::EntryId(..)
            | Stmt::SelectEntry(..)
            | Stmt::RemoveEntry(_)
            | Stmt::UseEntry(_)
            | Stmt::InsertElement(..)
            | Stmt::ClearElements(_) => reaches_further,
            _ => false,
        }
    }

    /// Whether the operators that tuples of a port go on in can be inlined into an arm.
    fn fits_into_arm(&self, port: &Expr) -> bool {
        let ExprKind::Const(Value::Uint32(port)) = port.kind else {
            return false;
        };
        let target = self.body.targets.get(port as usize);
        target.is_some_and(|target| self.keeps_nothing_in_memory(target))
    }

    /// Whether no body behind a target has variables in memory, of which an arm has none, or calls
    /// a function that is inlined.
    fn keeps_nothing_in_memory(&self, target: &OutputTarget) -> bool {
        target.operators().all(|edge| {
            let (body, uses) = &*edge.operator.on_tuple[edge.port.index()];
            let mut locals = body.locals.iter().zip(&uses.locals);
            let mut targets = edge.operator.targets.iter();
            locals.all(|(local, used)| storage_kind(&local.ty, used) != StorageKind::Memory)
                && !self.calls_inlined(uses)
                && targets.all(|target| self.keeps_nothing_in_memory(target))
        })
    }

    /// Whether some function that is called is inlined.
    fn calls_inlined(&self, uses: &BodyUsage) -> bool {
        let is_inlined = &self.unit.inlining.is_inlined;
        let mut calls = uses.calls.iter();
        calls.any(|callee| is_inlined[callee.0 as usize])
    }

    fn call_arm(&mut self, arm: &[Stmt], body: BodyContext, words: &[ir::Value]) {
        self.store_cached_words();
        let mut all = vec![self.env];
        all.extend_from_slice(words);
        let at = self.call_words(all.len());
        for (place, &word) in all.iter().enumerate() {
            self.store_word(word, at, place);
        }
        let type_of = |word: &ir::Value| self.builder.func.dfg.value_type(*word);
        let arm = SeldomArm {
            stmts: arm.to_vec(),
            words: words.iter().map(type_of).collect(),
            inlines: self.inlines,
            body,
        };
        let id = self.unit.declare_arm(arm).expect("it has no name");
        let function = self.unit.module.declare_func_in_func(id, self.builder.func);
        self.builder.ins().call(function, &[at]);
        self.load_cached_variables();
        self.calls_arms = true;
        let status = self.load(AccessRegion::Stack, types::I32, at, 0);
        self.check_status(status);
    }

    /// A whole function of an arm.
    pub fn lower_arm(mut self, arm: SeldomArm) {
        let at = self.env;
        let mut place = 0;
        let mut next = |lower: &mut Self, ty| {
            place += 8;
            lower.load(AccessRegion::Stack, ty, at, place - 8)
        };
        self.env = next(&mut self, types::I64);
        let words = arm.words.iter().map(|&ty| next(&mut self, ty));
        let words: Vec<ir::Value> = words.collect();
        let mut word = |number: ir::Value| words[number.as_u32() as usize];
        let context = arm.body;
        let types = context.types.iter();
        let locals = context.locals.into_iter().zip(types);
        let locals = locals.map(|(storage, ty)| {
            let storage = map_storage(storage, &mut word);
            self.own_registers(storage, ty)
        });
        let locals = locals.collect();
        let inputs = context.inputs.into_iter().map(|input| {
            let input = input?;
            Some(BodyInput {
                tuple: input.tuple.map_words(&mut word),
                bytes: input.bytes.map(&mut word),
            })
        });
        let inputs = inputs.collect();
        self.inlines = arm.inlines;
        self.body = BodyContext {
            locals,
            inputs,
            state: map_state(context.state, &mut word),
            ..context
        };
        self.mark_operator();
        let mark = self.allocation_mark();
        self.stmts(&arm.stmts);
        // Nothing temporary is known outside.
        self.reset_to_mark(mark);
        self.return_from_arm(at, 0);
        self.switch_to_sealed(self.fault_block);
        self.return_from_arm(at, 1);
        let requirements = self.finish_function();
        debug_assert!(
            requirements.local_types.is_empty(),
            "variables have a place"
        );
    }

    fn return_from_arm(&mut self, words: ir::Value, status: i64) {
        let status = self.int(types::I32, status);
        self.store(AccessRegion::Stack, status, words, 0);
        self.builder.ins().return_(&[]);
    }

    /// A storage with machine variables of this function.
    fn own_registers(&mut self, storage: LocalStorage, ty: &Type) -> LocalStorage {
        match (storage, ty) {
            (LocalStorage::Registers(_), ty) => {
                let parts = type_parts::parts(ty).into_iter();
                LocalStorage::Registers(parts.map(|part| self.builder.declare_var(part)).collect())
            }
            (LocalStorage::Fields(fields), Type::Tuple(t)) => {
                let each = fields.into_iter().zip(&t.attributes);
                let each = each.map(|(field, a)| self.own_registers(field, &a.ty));
                LocalStorage::Fields(each.collect())
            }
            (storage, _) => storage,
        }
    }
}

fn map_storage(storage: LocalStorage, map: &mut dyn FnMut(ir::Value) -> ir::Value) -> LocalStorage {
    match storage {
        LocalStorage::Unset | LocalStorage::Registers(_) => storage,
        LocalStorage::Alias(value) => LocalStorage::Alias(value.map_words(map)),
        LocalStorage::Fields(fields) => {
            let fields = fields.into_iter().map(|field| map_storage(field, map));
            LocalStorage::Fields(fields.collect())
        }
        LocalStorage::Memory(at) => LocalStorage::Memory(map(at)),
    }
}

fn map_state(state: StateStorage, map: &mut dyn FnMut(ir::Value) -> ir::Value) -> StateStorage {
    match state {
        StateStorage::None => StateStorage::None,
        StateStorage::At {
            scalars,
            scalars_address,
            values,
            tables,
        } => StateStorage::At {
            scalars: map(scalars),
            scalars_address,
            values: map(values),
            tables: map(tables),
        },
    }
}
