//! The build context: what a built operator is made from. It gives access to the operator's
//! description, makes code of its expressions, and notes what the operator asks of the run time.
//!
//! ```
//! # extern crate thalweg_runtime as runtime;
//! use eval::Fault;
//! # use graph::PortIndex;
//! use runtime::abi::Projection;
//! use runtime::{BuildContext, Operator, Outlet, TimerId};
//! use tuple::TupleRef;
//!
//! struct Sampler {
//!     timer: TimerId,
//!     key: Option<Projection>,
//! }
//!
//! fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
//!     // A parameter without attributes, evaluated now.
//!     let period_s = build.number("period")?.unwrap_or(1.0);
//!     Ok(Box::new(Sampler {
//!         timer: build.add_timer(period_s),
//!         // Code that is evaluated for each tuple.
//!         key: build.param_projection("key")?,
//!     }))
//! }
//! # impl Operator for Sampler {
//! #     fn process(
//! #         &mut self,
//! #         _: PortIndex,
//! #         _: TupleRef<'_>,
//! #         _: &mut dyn Outlet,
//! #     ) -> Result<(), Fault> {
//! #         Ok(())
//! #     }
//! # }
//! ```

use std::sync::Arc;

use eval::{Fault, FaultKind, Services, State, StateMemory};
use graph::{Expr, ParamValue, PortIndex};
use tuple::{Layout, TupleType, Type, Value};

use super::flush_buffer::FlushBuffer;
use super::operator::TimerId;
use crate::abi::{Backend, CodeScope, Predicate, Projection};
use crate::blocking::stop_signal::StopSignal;
use crate::blocking::thread_waits::RoomNotifier;
use crate::edge::crossing_resources::CrossingResources;

/// Everything that a built operator is made from. Expressions are handed to the backend here, once;
/// their code is ready before the first tuple.
pub struct BuildContext<'a> {
    /// Description of the instance: parameters, ports, windows.
    pub operator: &'a graph::OperatorNode,
    /// Index of the operator in the program.
    pub index: u32,
    /// Layouts of the input ports, by port.
    pub inputs: Vec<Arc<Layout>>,
    /// Layouts of the output ports, by port.
    pub outputs: Vec<Arc<Layout>>,
    /// The backend that makes code of expressions.
    pub backend: &'a mut dyn Backend,
    /// Services for evaluating attribute-free parameters now, and for the data directory.
    pub services: &'a mut dyn Services,
    pub(crate) state: &'a mut State,
    pub(crate) stop_signal: StopSignal,
    pub(crate) room_notifier: RoomNotifier,
    pub(crate) crossing_resources: &'a mut CrossingResources,
    pub(crate) requirements: OperatorRequirements,
}

/// Reads metrics that an operator keeps by itself: names and values.
pub(crate) type GaugeReader = Box<dyn Fn() -> Vec<(String, i64)> + Send + Sync>;

/// Requirements that an operator stated while it was built.
#[derive(Default)]
pub(crate) struct OperatorRequirements {
    pub timers: Vec<f64>,
    pub flush_buffer: Option<Arc<dyn FlushBuffer>>,
    pub own_thread: bool,
    pub is_bounded: bool,
    pub needs_flush: bool,
    pub always_finishes: bool,
    pub keeps_markers: bool,
    pub keeps_watermarks: bool,
    pub accepts_owned: bool,
    pub drains: bool,
    pub interrupt: StopSignal,
    pub gauges: Option<GaugeReader>,
    pub counts_state: bool,
}

/// Code for expressions; [`CodeScope`] says which names they may use.
impl BuildContext<'_> {
    /// Code for a tuple of expressions, written as a flat tuple of a synthetic schema (`_0`, `_1`,
    /// ...).
    ///
    /// # Errors
    /// The backend cannot make code of an expression, or the tuple would be too large.
    pub fn projection(&mut self, exprs: &[Expr]) -> Result<Projection, Fault> {
        let layout = BuildContext::layout_of_types(exprs.iter().map(|e| &e.ty));
        let layout = layout.map_err(|fault| match exprs.first() {
            Some(first) => fault.with_pos(first.pos),
            None => fault,
        })?;
        let exprs: Vec<_> = exprs.iter().map(Some).collect();
        let scope = operator_scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.projection(&scope, &exprs, &layout)?;
        Ok(Projection { layout, code })
    }

    /// Like [`BuildContext::projection`], for the expressions of a parameter; `None` if it is not
    /// given.
    ///
    /// # Errors
    /// The backend cannot make code of an expression, or the tuple would be too large.
    pub fn param_projection(&mut self, param: &str) -> Result<Option<Projection>, Fault> {
        let exprs = self.param_exprs(param);
        exprs.map(|exprs| self.projection(exprs)).transpose()
    }

    /// Code for a boolean expression.
    ///
    /// # Errors
    /// The backend cannot make code of the expression.
    pub fn predicate(&mut self, expr: &Expr) -> Result<Predicate, Fault> {
        let scope = operator_scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.predicate(&scope, expr)?;
        Ok(Predicate { code })
    }

    /// Code for the assignments of an output port. Attributes without one get their default.
    /// Results of the port's output function calls come from
    /// [`crate::EvaluationInputs::with_results`].
    ///
    /// # Errors
    /// The backend cannot make code of an expression, or the tuple of results would be too large.
    pub fn output_projection(&mut self, port: PortIndex) -> Result<Projection, Fault> {
        let layout = self.outputs[port.index()].clone();
        let assign = &self.operator.outputs[port.index()].assign;
        let mut exprs: Vec<_> = assign.iter().map(Option::as_ref).collect();
        exprs.resize(layout.schema.attributes.len(), None);
        let results = self.results_layout(port)?;
        self.results_projection(&results, &exprs, &layout)
    }

    /// Code for a tuple of `layout`, over results of output function calls that have the layout
    /// `results` and come from [`crate::EvaluationInputs::with_results`]. Attributes without an
    /// expression get their default.
    ///
    /// # Errors
    /// The backend cannot make code of an expression.
    pub fn results_projection(
        &mut self,
        results: &Arc<Layout>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Projection, Fault> {
        let results = Some(results).filter(|r| !r.schema.attributes.is_empty());
        let scope = operator_scope(
            self.operator,
            self.index,
            &self.inputs,
            &self.outputs,
            results,
        );
        let code = self.backend.projection(&scope, exprs, layout)?;
        let layout = layout.clone();
        Ok(Projection { layout, code })
    }

    /// Layout of values without names: one attribute for each type.
    ///
    /// # Errors
    /// Bounded types make the tuple larger than [`tuple::layout::FIXED_BYTES_MAX`].
    pub fn layout_of_types<'t>(
        types: impl Iterator<Item = &'t Type>,
    ) -> Result<Arc<Layout>, Fault> {
        Layout::try_new(&unnamed_schema(types)).map_err(|error| {
            let message = format!("these values have no room in a tuple: {error}");
            Fault::new(FaultKind::Limit, message)
        })
    }

    /// Layout of the results of an output port's function calls: one attribute for each call.
    ///
    /// # Errors
    /// Bounded types make the tuple larger than [`tuple::layout::FIXED_BYTES_MAX`].
    pub fn results_layout(&self, port: PortIndex) -> Result<Arc<Layout>, Fault> {
        let calls = &self.operator.outputs[port.index()].calls;
        let layout = BuildContext::layout_of_types(calls.iter().map(|c| &c.ty));
        layout.map_err(|fault| fault.with_pos(self.operator.pos))
    }
}

/// Parameters of the operator, as code or as values.
impl<'a> BuildContext<'a> {
    /// The expressions of a parameter, or `None` if it is not given.
    pub fn param_exprs(&self, param: &str) -> Option<&'a [Expr]> {
        match &self.operator.param(param)?.value {
            ParamValue::Exprs(exprs) => Some(exprs),
            ParamValue::Literals(_) => None,
        }
    }

    /// The value of a parameter, evaluated once, now; `None` if it is not given.
    ///
    /// # Errors
    /// The fault of the expression.
    pub fn value(&mut self, param: &str) -> Result<Option<Value>, Fault> {
        let Some([expr, ..]) = self.param_exprs(param) else {
            return Ok(None);
        };
        self.evaluate(expr).map(Some)
    }

    /// All values of a parameter that takes a list, evaluated once, now; `None` if it is not given.
    ///
    /// # Errors
    /// The fault of an expression.
    pub fn values(&mut self, param: &str) -> Result<Option<Vec<Value>>, Fault> {
        let Some(exprs) = self.param_exprs(param) else {
            return Ok(None);
        };
        let values = exprs.iter().map(|expr| self.evaluate(expr));
        values.collect::<Result<_, _>>().map(Some)
    }

    /// The value of an attribute-free expression, evaluated now.
    ///
    /// # Errors
    /// The fault of the expression, at its position in the program.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let value = self.backend.evaluate(expr, self.state, self.services);
        value.map_err(|fault| fault.with_pos(expr.pos))
    }

    /// The literal of a parameter of a custom literal type, or `None` if it is not given.
    pub fn literal(&self, param: &str) -> Option<&'a str> {
        Some(self.literals(param)?.first()?)
    }

    /// All literals of a parameter of a custom literal type, or `None` if it is not given.
    pub fn literals(&self, param: &str) -> Option<&'a [Arc<str>]> {
        match &self.operator.param(param)?.value {
            ParamValue::Literals(names) => Some(names),
            ParamValue::Exprs(_) => None,
        }
    }

    /// The value of a boolean parameter, or `default` if it is not given.
    ///
    /// # Errors
    /// The fault of the expression, or a value that is no boolean.
    pub fn flag(&mut self, param: &str, default: bool) -> Result<bool, Fault> {
        match self.value(param)? {
            None => Ok(default),
            Some(Value::Boolean(flag)) => Ok(flag),
            Some(_) => Err(self.wrong_param(param, "a boolean")),
        }
    }

    /// The value of a float64 or integer parameter, or `None` if it is not given.
    ///
    /// # Errors
    /// The fault of the expression, or a value that is no number.
    pub fn number(&mut self, param: &str) -> Result<Option<f64>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(Value::Float64(number)) => Ok(Some(number)),
            Some(value) => match value.as_integer() {
                Some(number) => Ok(Some(number as f64)),
                None => Err(self.wrong_param(param, "a number")),
            },
        }
    }

    /// The value of an integer parameter of any width, or `None` if it is not given.
    ///
    /// # Errors
    /// The fault of the expression, or a value that is no integer.
    pub fn integer(&mut self, param: &str) -> Result<Option<i128>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(value) => match value.as_integer() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong_param(param, "an integer")),
            },
        }
    }

    pub(crate) fn wrong_param(&self, param: &str, expected: &str) -> Fault {
        let message = format!("parameter {param} is not {expected}");
        let fault = Fault::new(FaultKind::Limit, message);
        match self.operator.param(param) {
            Some(param) => fault.with_pos(param.pos),
            None => fault,
        }
    }
}

/// Threads, timers and other things that the operator asks of the run time.
impl BuildContext<'_> {
    /// Asks for a timer that fires every `seconds`, from the start of the PE on.
    pub fn add_timer(&mut self, seconds: f64) -> TimerId {
        let id = TimerId(self.requirements.timers.len() as u32);
        self.requirements.timers.push(seconds);
        id
    }

    /// Asks for a thread of the operator's own, [`crate::Operator::take_source`], although it has
    /// input ports. Its other calls submit nothing, the run time forwards no marker, and the final
    /// marker follows when [`crate::Source::run`] returns.
    ///
    /// The source has to return once [`crate::Operator::finish`] was called, whether a shutdown was
    /// requested or not. In loops, which do not end by themselves after a shutdown, it also has to
    /// return once the returned signal is requested.
    pub fn use_own_thread(&mut self) -> StopSignal {
        self.requirements.own_thread = true;
        self.requirements.interrupt.clone()
    }

    /// Bounds the operator: [`crate::Operator::has_room`] is asked before each tuple. Any call on
    /// the operator may make room; a thread of its own says so through the returned notifier.
    pub fn set_bounded(&mut self) -> RoomNotifier {
        self.requirements.is_bounded = true;
        self.room_notifier.0.set_has_bounds();
        self.room_notifier.clone()
    }

    /// Declares that the operator holds tuples back to send several together:
    /// [`crate::Operator::flush`] is called before a thread that enters it sleeps.
    pub fn set_needs_flush(&mut self) {
        self.requirements.needs_flush = true;
    }

    /// Shares the bytes that the operator holds back, so that they are written out within a second
    /// even if no tuple follows: see [`FlushBuffer`].
    pub fn set_flush_buffer(&mut self, buffer: Arc<dyn FlushBuffer>) {
        self.requirements.flush_buffer = Some(buffer);
    }

    /// Counts of the tuples that the operator keeps, which it counts itself. The metrics
    /// `nStateEntries` and `nStateBytes` show them, and config `stateBytesMax` bounds them.
    pub fn state_memory(&mut self) -> Arc<StateMemory> {
        self.requirements.counts_state = true;
        self.state.memory().clone()
    }

    /// Declares that the operator sends window markers by itself: the run time forwards none,
    /// whatever the model says.
    pub fn set_keeps_markers(&mut self) {
        self.requirements.keeps_markers = true;
    }

    /// Declares that the operator may keep the buffers of tuples:
    /// [`crate::Operator::process_owned`] is called where the submitting operator needs a tuple no
    /// more.
    pub fn set_accepts_owned(&mut self) {
        self.requirements.accepts_owned = true;
    }

    /// The stop signal of the PE, for threads of the operator that wait for something.
    pub fn stop_signal(&self) -> StopSignal {
        self.stop_signal.clone()
    }
}

/// Schema of values without names: `_0`, `_1`, ...
pub(crate) fn unnamed_schema<'t>(types: impl Iterator<Item = &'t Type>) -> Arc<TupleType> {
    let named = types
        .enumerate()
        .map(|(at, ty)| (format!("_{at}"), ty.clone()));
    Arc::new(TupleType::new(named))
}

/// The scope of an operator's expressions: a slot for each input port's tuple and its history, then
/// the results of output function calls.
pub(crate) fn operator_scope<'a>(
    operator: &'a graph::OperatorNode,
    index: u32,
    inputs: &[Arc<Layout>],
    outputs: &[Arc<Layout>],
    results: Option<&Arc<Layout>>,
) -> CodeScope<'a> {
    CodeScope {
        operator,
        index,
        inputs: slot_layouts(operator, inputs, results),
        outputs: outputs.to_vec(),
        state: &operator.logic.state,
        tables: &[],
    }
}

/// The layout of every slot, as [`eval::InputTuples`] numbers them.
pub(crate) fn slot_layouts(
    operator: &graph::OperatorNode,
    inputs: &[Arc<Layout>],
    results: Option<&Arc<Layout>>,
) -> Vec<Arc<Layout>> {
    let ports = operator.inputs.iter().zip(inputs);
    let slots = ports.flat_map(|(port, layout)| {
        std::iter::repeat_n(layout.clone(), port.history.slots() as usize)
    });
    slots.chain(results.cloned()).collect()
}
