//! What a built operator is made from: its instance, its expressions' code, its timers.
//!
//! ```text
//! fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
//!     let rate = build.value("rate")?;              // an attribute-free parameter, now
//!     let key = build.param_projection("key")?;     // code for each tuple
//!     let output = build.output(0)?;                // the output clause
//!     ...
//! }
//! ```

use std::sync::Arc;

use eval::{Fault, FaultKind, Services, State};
use graph::{Expr, ParamValue};
use tuple::{Layout, TupleType, Type, Value};

use super::flush_buffer::FlushBuffer;
use super::operator::TimerId;
use crate::abi::{Backend, OperatorScope, Predicate, Projection};
use crate::blocking::stop_signal::StopSignal;
use crate::blocking::thread_waits::RoomNotifier;
use crate::edge::crossing_resources::CrossingResources;

/// What a built operator is made from. Expressions are handed to the backend here, once; their code
/// is ready before the first tuple.
pub struct BuildContext<'a> {
    /// The instance: parameters, ports, windows.
    pub operator: &'a graph::OperatorNode,
    /// Its index in the program.
    pub index: u32,
    /// Layouts of the input ports.
    pub inputs: Vec<Arc<Layout>>,
    /// Layouts of the output ports.
    pub outputs: Vec<Arc<Layout>>,
    /// Makes code.
    pub backend: &'a mut dyn Backend,
    /// For evaluating attribute-free parameters now, and for the data directory.
    pub services: &'a mut dyn Services,
    pub(crate) state: &'a mut State,
    pub(crate) stop_signal: StopSignal,
    pub(crate) room_notifier: RoomNotifier,
    pub(crate) crossing_resources: &'a mut CrossingResources,
    pub(crate) requirements: OperatorRequirements,
}

/// Reads metrics.
pub(crate) type GaugeReader = Box<dyn Fn() -> Vec<(String, i64)> + Send + Sync>;

/// What an operator asked for while it was built.
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
    pub core: Option<u32>,
    pub gauges: Option<GaugeReader>,
}

/// Code for expressions: see [`OperatorScope`] for what they read.
impl BuildContext<'_> {
    /// Code for a tuple of expressions, written as a flat tuple of a synthetic schema (`_0`, `_1`,
    /// ...).
    pub fn projection(&mut self, exprs: &[Expr]) -> Result<Projection, Fault> {
        let layout = Layout::new(&unnamed_schema(exprs.iter().map(|e| &e.ty)));
        let exprs: Vec<_> = exprs.iter().map(Some).collect();
        let scope = operator_scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.projection(&scope, &exprs, &layout)?;
        Ok(Projection { layout, code })
    }

    /// The same for the expressions of a parameter, if it is given.
    pub fn param_projection(&mut self, param: &str) -> Result<Option<Projection>, Fault> {
        let exprs = self.param_exprs(param);
        exprs.map(|exprs| self.projection(exprs)).transpose()
    }

    /// Code for a condition.
    pub fn predicate(&mut self, expr: &Expr) -> Result<Predicate, Fault> {
        let scope = operator_scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.predicate(&scope, expr)?;
        Ok(Predicate { code })
    }

    /// Code for the assignments of an output port; attributes without one get their default. What
    /// its function calls gave comes from [`crate::Row::with`].
    pub fn output_projection(&mut self, port: usize) -> Result<Projection, Fault> {
        let layout = self.outputs[port].clone();
        let assign = &self.operator.outputs[port].assign;
        let mut exprs: Vec<_> = assign.iter().map(Option::as_ref).collect();
        exprs.resize(layout.schema.attributes.len(), None);
        let results = self.results_layout(port);
        self.results_projection(&results, &exprs, &layout)
    }

    /// Code for a tuple of this layout over results of output function calls that are laid out so
    /// and come from [`crate::Row::with`]; what has no expression gets its default.
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

    /// The layout of values without names, an attribute each.
    pub fn layout_of_types<'t>(types: impl Iterator<Item = &'t Type>) -> Arc<Layout> {
        Layout::new(&unnamed_schema(types))
    }

    /// The layout of the results of an output port's function calls: one attribute a call.
    pub fn results_layout(&self, port: usize) -> Arc<Layout> {
        let calls = &self.operator.outputs[port].calls;
        Layout::new(&unnamed_schema(calls.iter().map(|c| &c.ty)))
    }
}

/// Parameters.
impl<'a> BuildContext<'a> {
    /// The expressions of a parameter, if it is given.
    pub fn param_exprs(&self, param: &str) -> Option<&'a [Expr]> {
        match &self.operator.param(param)?.value {
            ParamValue::Exprs(exprs) => Some(exprs),
            ParamValue::Literals(_) => None,
        }
    }

    /// A parameter that is evaluated once, now.
    pub fn value(&mut self, param: &str) -> Result<Option<Value>, Fault> {
        let Some([expr, ..]) = self.param_exprs(param) else {
            return Ok(None);
        };
        self.evaluate(expr).map(Some)
    }

    /// All values of a parameter that takes a list, evaluated once, now.
    pub fn values(&mut self, param: &str) -> Result<Option<Vec<Value>>, Fault> {
        let Some(exprs) = self.param_exprs(param) else {
            return Ok(None);
        };
        let values = exprs.iter().map(|expr| self.evaluate(expr));
        values.collect::<Result<_, _>>().map(Some)
    }

    /// An attribute-free expression, evaluated now.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let value = self.backend.evaluate(expr, self.state, self.services);
        value.map_err(|fault| fault.with_pos(expr.pos))
    }

    /// A custom literal parameter.
    pub fn literal(&self, param: &str) -> Option<&'a str> {
        Some(self.literals(param)?.first()?)
    }

    /// A custom literal parameter that takes a list.
    pub fn literals(&self, param: &str) -> Option<&'a [Arc<str>]> {
        match &self.operator.param(param)?.value {
            ParamValue::Literals(names) => Some(names),
            ParamValue::Exprs(_) => None,
        }
    }

    /// A boolean parameter, or its default.
    pub fn flag(&mut self, param: &str, default: bool) -> Result<bool, Fault> {
        match self.value(param)? {
            None => Ok(default),
            Some(Value::Boolean(flag)) => Ok(flag),
            Some(_) => Err(self.wrong_param(param, "a boolean")),
        }
    }

    /// A float64 parameter; integers are taken too.
    pub fn number(&mut self, param: &str) -> Result<Option<f64>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(Value::Float64(number)) => Ok(Some(number)),
            Some(value) => match integer(&value) {
                Some(number) => Ok(Some(number as f64)),
                None => Err(self.wrong_param(param, "a number")),
            },
        }
    }

    /// An integer parameter of whatever width.
    pub fn integer(&mut self, param: &str) -> Result<Option<i128>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(value) => match integer(&value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong_param(param, "an integer")),
            },
        }
    }

    fn wrong_param(&self, param: &str, wanted: &str) -> Fault {
        let message = format!("parameter {param} is not {wanted}");
        let fault = Fault::new(FaultKind::Limit, message);
        match self.operator.param(param) {
            Some(param) => fault.with_pos(param.pos),
            None => fault,
        }
    }
}

/// Threads and time.
impl BuildContext<'_> {
    /// Asks for a timer that fires every so many seconds, from the start of the PE on.
    pub fn add_timer(&mut self, seconds: f64) -> TimerId {
        let id = TimerId(self.requirements.timers.len() as u32);
        self.requirements.timers.push(seconds);
        id
    }

    /// The operator's output is that of a thread of its own, [`crate::OperatorNode::source`],
    /// although it has input ports. Its other calls submit nothing; the run time forwards no
    /// marker, and the final marker follows when [`crate::Source::run`] returns. It has to return
    /// once [`crate::OperatorNode::finish`] was called, a shutdown or not; and once the returned
    /// handle is raised, which happens in loops alone: they do not end by themselves after a
    /// shutdown.
    pub fn use_own_thread(&mut self) -> StopSignal {
        self.requirements.own_thread = true;
        self.requirements.interrupt.clone()
    }

    /// The operator has bounds: [`crate::OperatorNode::has_room`] is asked before each tuple. Any
    /// call on the operator may make room; a thread of its own says so through the handle.
    pub fn set_bounded(&mut self) -> RoomNotifier {
        self.requirements.is_bounded = true;
        self.room_notifier.clone()
    }

    /// The operator holds tuples back to send them together: [`crate::OperatorNode::flush`] is
    /// called before a thread that enters it sleeps.
    pub fn set_needs_flush(&mut self) {
        self.requirements.needs_flush = true;
    }

    /// Hands over the bytes that the operator holds back, to be written out within a second
    /// although nothing more comes: see [`FlushBuffer`].
    pub fn set_flush_buffer(&mut self, held: Arc<dyn FlushBuffer>) {
        self.requirements.flush_buffer = Some(held);
    }

    /// Window markers are the operator's own business: none is forwarded, whatever the model says.
    pub fn set_keeps_markers(&mut self) {
        self.requirements.keeps_markers = true;
    }

    /// Watermarks are the operator's own business: none is passed on.
    pub(crate) fn set_keeps_watermarks(&mut self) {
        self.requirements.keeps_watermarks = true;
    }

    /// The operator may keep the buffers of tuples: [`crate::OperatorNode::process_made`] is called
    /// where whoever submits has no more need of them.
    pub fn set_accepts_owned(&mut self) {
        self.requirements.accepts_owned = true;
    }

    /// Somebody on another thread waits for its end: [`crate::OperatorNode::finish`] is called
    /// although no final marker has come, if none will come.
    pub(crate) fn set_always_finishes(&mut self) {
        self.requirements.always_finishes = true;
    }

    /// It is a queue: its output is that of a thread of its own, perhaps on a core of its own.
    pub(crate) fn use_queue_thread(&mut self, core: Option<u32>) -> StopSignal {
        self.set_drains();
        self.requirements.core = core;
        self.use_own_thread()
    }

    /// Its metrics are read here, besides those that it creates.
    pub(crate) fn set_gauges(&mut self, gauges: GaugeReader) {
        self.requirements.gauges = Some(gauges);
    }

    /// Its own thread goes on after a shutdown, until its input has ended.
    pub(crate) fn set_drains(&mut self) {
        self.requirements.drains = true;
    }

    /// A parameter of an inserted operator: numbers of links, origins, ...
    pub(crate) fn param_uint32s(&mut self, param: &str) -> Result<Vec<u32>, Fault> {
        let values = self.values(param)?.unwrap_or_default();
        let numbers = values.iter().map(|value| {
            let number = integer(value).and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| self.wrong_param(param, "a uint32"))
        });
        numbers.collect()
    }

    /// For threads of its own that wait for something: the shutdown.
    pub fn stop_signal(&self) -> StopSignal {
        self.stop_signal.clone()
    }
}

/// A schema for values without names.
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
) -> OperatorScope<'a> {
    OperatorScope {
        operator,
        index,
        inputs: slot_layouts(operator, inputs, results),
        outputs: outputs.to_vec(),
        state: &operator.logic.state,
    }
}

/// The layout of every slot, as [`graph::Inputs`] numbers them.
pub(crate) fn slot_layouts(
    operator: &graph::OperatorNode,
    inputs: &[Arc<Layout>],
    results: Option<&Arc<Layout>>,
) -> Vec<Arc<Layout>> {
    let ports = operator.inputs.iter().zip(inputs);
    let slots = ports
        .flat_map(|(port, layout)| std::iter::repeat_n(layout.clone(), port.history as usize + 1));
    slots.chain(results.cloned()).collect()
}

fn integer(value: &Value) -> Option<i128> {
    Some(match *value {
        Value::Int8(n) => n.into(),
        Value::Int16(n) => n.into(),
        Value::Int32(n) => n.into(),
        Value::Int64(n) => n.into(),
        Value::Uint8(n) => n.into(),
        Value::Uint16(n) => n.into(),
        Value::Uint32(n) => n.into(),
        Value::Uint64(n) => n.into(),
        _ => return None,
    })
}
