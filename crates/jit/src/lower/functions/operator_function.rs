//! Machine functions of operators, which handles call.

use std::rc::Rc;
use std::sync::Arc;

use cranelift_codegen::ir::{InstBuilder, types};
use graph::{Body, Expr, HistoryDepths};
use runtime::abi::FrameForm;
use tuple::{Layout, Type};

use crate::code::{NO_INLINED_OPERATOR, StateAddresses, offsets};
use crate::lower::context::{
    BodyContext, BodyInput, BodyUsage, FunctionLowering, MemoryRequirements, OutputTarget,
    OwnWords, RegisterCache, ReturnTarget, SampledOperator, StateLayout, StateStorage,
    WatermarkWords,
};
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm};

/// Source of an operator's machine function: expressions or statements.
pub enum FunctionSource<'a> {
    /// Expressions for the attributes of a tuple that the function writes.
    Projection(&'a [Option<&'a Expr>], &'a Arc<Layout>),
    /// A condition that the function tests.
    Predicate(&'a Expr),
    /// Statements that the function runs.
    Body(&'a Body),
    /// Runs statements for each frame of a batch, the tuples of an input slot in a form.
    BatchBody(&'a Body, u32, FrameForm),
}

/// Surroundings that an operator's function is compiled against: inputs, state, outputs.
#[derive(Clone, Debug)]
pub struct FunctionContext {
    /// Layout of every input slot.
    pub inputs: Vec<Arc<Layout>>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub first_slots: Vec<u32>,
    /// The depths of the history that have a slot, by input port.
    pub history: Vec<HistoryDepths>,
    /// Types and places of the state variables.
    pub state_layout: Rc<StateLayout>,
    /// The addresses of the state, if it is always the same.
    pub state: Option<StateAddresses>,
    /// The words of the operator's watermark, if they are known.
    pub watermark: Option<WatermarkWords>,
    /// Targets of submitted tuples, by output port.
    pub targets: Vec<OutputTarget>,
    /// The address of the shutdown flag.
    pub stop_address: Option<i64>,
    /// The operator that the code is of, for samples of the thread; `None`: nobody samples.
    pub sampled: Option<SampledOperator>,
    /// Whether a call processes many tuples, so that it may keep words in registers.
    pub processes_many: bool,
}

impl FunctionLowering<'_, '_> {
    /// A whole function of an operator. It returns 0, or 1 after a fault; a predicate returns 0, 1,
    /// or 2 after a fault.
    pub fn lower_operator_function(
        mut self,
        source: &FunctionSource<'_>,
        context: &FunctionContext,
    ) -> MemoryRequirements {
        self.locals_base = self.load_env(types::I64, offsets::LOCALS);
        let uses = match source {
            FunctionSource::Projection(exprs, _) => {
                let mut all = BodyUsage::default();
                exprs.iter().flatten().for_each(|e| {
                    all.changed_state
                        .extend(BodyUsage::from_expr(e).changed_state)
                });
                all
            }
            FunctionSource::Predicate(e) => BodyUsage::from_expr(e),
            FunctionSource::Body(body) | FunctionSource::BatchBody(body, ..) => {
                BodyUsage::from_body(body)
            }
        };
        self.body = self.operator_body_context(context, &uses);
        self.mark_operator();
        let mut operators = context.targets.iter().flat_map(OutputTarget::operators);
        self.inlines = operators.next().is_some();
        if context.processes_many || matches!(source, FunctionSource::BatchBody(..)) {
            self.cache = self.register_cache(context, &uses);
            self.load_cached_words();
        }
        match source {
            FunctionSource::Projection(exprs, layout) => {
                let values = exprs.iter().map(|e| e.map(|e| self.expr(e)));
                let values: Vec<Option<LoweredValue>> = values.collect();
                self.make_tuple(&values, layout);
                self.return_status(0, &[]);
            }
            FunctionSource::Predicate(e) => {
                let holds = self.expr_single_part(e);
                let holds = self.builder.ins().uextend(types::I32, holds);
                self.builder.ins().return_(&[holds]);
            }
            FunctionSource::Body(body) => {
                self.lower_body(body, &uses);
                self.store_cached_words();
                self.return_status(0, &[]);
            }
            FunctionSource::BatchBody(body, slot, form) => {
                let layout = &context.inputs[*slot as usize];
                self.batch_loop(*slot, (*form, layout), |lower| {
                    lower.lower_body(body, &uses)
                });
                self.store_cached_words();
                self.store_batch_cursor();
                self.return_status(0, &[]);
            }
        }
        self.switch_to_sealed(self.fault_block);
        self.store_cached_words();
        self.store_batch_cursor();
        let failed = if matches!(source, FunctionSource::Predicate(_)) {
            2
        } else {
            1
        };
        self.return_status(failed, &[]);
        self.finish_function()
    }

    /// The words that a function which processes many tuples keeps in registers.
    fn register_cache(&mut self, context: &FunctionContext, uses: &BodyUsage) -> RegisterCache {
        let own = OwnWords {
            layout: &context.state_layout,
            scalars: context.state.map(|state| state.scalars),
            watermark: context.watermark,
        };
        RegisterCache::new(uses, own, &context.targets, &mut |ty| {
            self.builder.declare_var(ty)
        })
    }

    /// The statements of a body, up to where they all end.
    fn lower_body(&mut self, body: &Body, uses: &BodyUsage) {
        let done = self.block();
        self.body.return_targets.push(ReturnTarget {
            block: done,
            ty: Type::Void,
        });
        self.body.types = body.locals.iter().map(|local| local.ty.clone()).collect();
        self.body.locals = self.assign_storages(body, 0, uses);
        self.stmts(&body.stmts);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    fn operator_body_context(
        &mut self,
        context: &FunctionContext,
        uses: &BodyUsage,
    ) -> BodyContext {
        let state = match context.state {
            Some(state) => StateStorage::At {
                scalars: self.word(state.scalars),
                scalars_address: Some(state.scalars),
                values: self.word(state.values),
                tables: self.word(state.tables),
            },
            None => StateStorage::At {
                scalars: self.load_env(types::I64, offsets::SCALARS),
                scalars_address: None,
                values: self.load_env(types::I64, offsets::VALUES),
                tables: self.load_env(types::I64, offsets::TABLES),
            },
        };
        let inputs = self.load_inputs(context.inputs.len());
        BodyContext {
            inputs,
            input_types: context
                .inputs
                .iter()
                .map(|l| Type::Tuple(l.schema.clone()))
                .collect(),
            first_slots: context.first_slots.clone(),
            history: context.history.clone(),
            state,
            state_layout: context.state_layout.clone(),
            changed_state: uses.changed_state.clone(),
            stop_address: context.stop_address,
            watermark: context.watermark,
            targets: context.targets.clone(),
            inlined_operator: NO_INLINED_OPERATOR,
            sampled: context.sampled,
            ..BodyContext::default()
        }
    }

    /// The tuples that the environment has in the operator's input slots.
    fn load_inputs(&mut self, slots: usize) -> Vec<Option<BodyInput>> {
        if slots == 0 {
            return Vec::new();
        }
        let input_array = self.load_env(types::I64, offsets::INPUTS);
        let bound = (0..slots as i32).map(|slot| {
            let at = self.load(AccessRegion::Env, types::I64, input_array, 16 * slot);
            let bytes = self.load(AccessRegion::Env, types::I64, input_array, 16 * slot + 8);
            Some(BodyInput {
                // The fixed part of a tuple is always there.
                tuple: LoweredValue::new_fixed(ValueForm::Flat(at, 0)),
                bytes: Some(bytes),
            })
        });
        bound.collect()
    }
}
