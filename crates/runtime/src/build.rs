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

use graph::{Expr, Fault, FaultKind, ParamValue, Services, State};
use tuple::{Layout, TupleType, Type, Value};

use crate::TimerId;
use crate::abi::{Backend, Predicate, Projection, Scope};
use crate::crossing::Borders;
use crate::held::Held;
use crate::stop::Stop;
use crate::voice::Gauges;
use crate::wait::Room;

/// What a built operator is made from. Expressions are handed to the backend here, once; their code
/// is ready before the first tuple.
pub struct Build<'a> {
    /// The instance: parameters, ports, windows.
    pub operator: &'a graph::Operator,
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
    pub(crate) stop: Stop,
    pub(crate) room: Room,
    pub(crate) borders: &'a mut Borders,
    pub(crate) wishes: Wishes,
}

/// What an operator asked for while it was built.
#[derive(Default)]
pub(crate) struct Wishes {
    pub timers: Vec<f64>,
    pub held: Option<Arc<dyn Held>>,
    pub own_thread: bool,
    pub bounded: bool,
    pub flushes: bool,
    pub tells_end: bool,
    pub keeps_markers: bool,
    pub keeps_watermarks: bool,
    pub takes_made: bool,
    pub drains: bool,
    pub interrupt: Stop,
    pub core: Option<u32>,
    pub gauges: Option<Gauges>,
}

/// Code for expressions: see [`Scope`] for what they read.
impl Build<'_> {
    /// Code for a tuple of expressions, written as a flat tuple of a synthetic schema (`_0`, `_1`,
    /// ...).
    pub fn projection(&mut self, exprs: &[Expr]) -> Result<Projection, Fault> {
        let layout = Layout::of(&synthetic(exprs.iter().map(|e| &e.ty)));
        let exprs: Vec<_> = exprs.iter().map(Some).collect();
        let scope = scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.projection(&scope, &exprs, &layout)?;
        Ok(Projection { layout, code })
    }

    /// The same for the expressions of a parameter, if it is given.
    pub fn param_projection(&mut self, param: &str) -> Result<Option<Projection>, Fault> {
        let exprs = self.exprs(param);
        exprs.map(|exprs| self.projection(exprs)).transpose()
    }

    /// Code for a condition.
    pub fn predicate(&mut self, expr: &Expr) -> Result<Predicate, Fault> {
        let scope = scope(self.operator, self.index, &self.inputs, &self.outputs, None);
        let code = self.backend.predicate(&scope, expr)?;
        Ok(Predicate { code })
    }

    /// Code for the assignments of an output port; attributes without one get their default. What
    /// its function calls gave comes from [`crate::Row::with`].
    pub fn output(&mut self, port: usize) -> Result<Projection, Fault> {
        let layout = self.outputs[port].clone();
        let assign = &self.operator.outputs[port].assign;
        let mut exprs: Vec<_> = assign.iter().map(Option::as_ref).collect();
        exprs.resize(layout.schema.attributes.len(), None);
        let results = self.results(port);
        self.projection_over(&results, &exprs, &layout)
    }

    /// Code for a tuple of this layout over results of output function calls that are laid out so
    /// and come from [`crate::Row::with`]; what has no expression gets its default.
    pub fn projection_over(
        &mut self,
        results: &Arc<Layout>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Projection, Fault> {
        let results = Some(results).filter(|r| !r.schema.attributes.is_empty());
        let scope = scope(
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
    pub fn layout_of<'t>(types: impl Iterator<Item = &'t Type>) -> Arc<Layout> {
        Layout::of(&synthetic(types))
    }

    /// The layout of the results of an output port's function calls: one attribute a call.
    pub fn results(&self, port: usize) -> Arc<Layout> {
        let calls = &self.operator.outputs[port].calls;
        Layout::of(&synthetic(calls.iter().map(|c| &c.ty)))
    }
}

/// Parameters.
impl<'a> Build<'a> {
    /// The expressions of a parameter, if it is given.
    pub fn exprs(&self, param: &str) -> Option<&'a [Expr]> {
        match &self.operator.param(param)?.value {
            ParamValue::Exprs(exprs) => Some(exprs),
            ParamValue::Literals(_) => None,
        }
    }

    /// A parameter that is evaluated once, now.
    pub fn value(&mut self, param: &str) -> Result<Option<Value>, Fault> {
        let Some([expr, ..]) = self.exprs(param) else {
            return Ok(None);
        };
        self.evaluate(expr).map(Some)
    }

    /// All values of a parameter that takes a list, evaluated once, now.
    pub fn values(&mut self, param: &str) -> Result<Option<Vec<Value>>, Fault> {
        let Some(exprs) = self.exprs(param) else {
            return Ok(None);
        };
        let values = exprs.iter().map(|expr| self.evaluate(expr));
        values.collect::<Result<_, _>>().map(Some)
    }

    /// An attribute-free expression, evaluated now.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        let value = self.backend.evaluate(expr, self.state, self.services);
        value.map_err(|fault| fault.at(expr.pos))
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
            Some(_) => Err(self.unfit(param, "a boolean")),
        }
    }

    /// A float64 parameter; integers are taken too.
    pub fn number(&mut self, param: &str) -> Result<Option<f64>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(Value::Float64(number)) => Ok(Some(number)),
            Some(value) => match integer(&value) {
                Some(number) => Ok(Some(number as f64)),
                None => Err(self.unfit(param, "a number")),
            },
        }
    }

    /// An integer parameter of whatever width.
    pub fn integer(&mut self, param: &str) -> Result<Option<i128>, Fault> {
        match self.value(param)? {
            None => Ok(None),
            Some(value) => match integer(&value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.unfit(param, "an integer")),
            },
        }
    }

    fn unfit(&self, param: &str, wanted: &str) -> Fault {
        let message = format!("parameter {param} is not {wanted}");
        let fault = Fault::new(FaultKind::Limit, message);
        match self.operator.param(param) {
            Some(param) => fault.at(param.pos),
            None => fault,
        }
    }
}

/// Threads and time.
impl Build<'_> {
    /// Asks for a timer that fires every so many seconds, from the start of the PE on.
    pub fn timer(&mut self, seconds: f64) -> TimerId {
        let id = TimerId(self.wishes.timers.len() as u32);
        self.wishes.timers.push(seconds);
        id
    }

    /// The operator's output is that of a thread of its own, [`crate::Operator::source`], although
    /// it has input ports. Its other calls submit nothing; the run time forwards no marker, and the
    /// final marker follows when [`crate::Source::run`] returns. It has to return once
    /// [`crate::Operator::finish`] was called, a shutdown or not; and once the returned handle is
    /// raised, which happens in loops alone: they do not end by themselves after a shutdown.
    pub fn thread(&mut self) -> Stop {
        self.wishes.own_thread = true;
        self.wishes.interrupt.clone()
    }

    /// The operator has bounds: [`crate::Operator::has_room`] is asked before each tuple. Any call
    /// on the operator may make room; a thread of its own says so through the handle.
    pub fn bounded(&mut self) -> Room {
        self.wishes.bounded = true;
        self.room.clone()
    }

    /// The operator holds tuples back to send them together: [`crate::Operator::flush`] is called
    /// before a thread that enters it sleeps.
    pub fn flushes(&mut self) {
        self.wishes.flushes = true;
    }

    /// Hands over the bytes that the operator holds back, to be written out within a second although
    /// nothing more comes: see [`Held`].
    pub fn holds(&mut self, held: Arc<dyn Held>) {
        self.wishes.held = Some(held);
    }

    /// Window markers are the operator's own business: none is forwarded, whatever the model says.
    pub fn keeps_markers(&mut self) {
        self.wishes.keeps_markers = true;
    }

    /// Watermarks are the operator's own business: none is passed on.
    pub(crate) fn keeps_watermarks(&mut self) {
        self.wishes.keeps_watermarks = true;
    }

    /// The operator may keep the buffers of tuples: [`crate::Operator::process_made`] is called where
    /// whoever submits has no more need of them.
    pub fn takes_made(&mut self) {
        self.wishes.takes_made = true;
    }

    /// Somebody on another thread waits for its end: [`crate::Operator::finish`] is called although no
    /// final marker has come, if none will come.
    pub(crate) fn tells_end(&mut self) {
        self.wishes.tells_end = true;
    }

    /// It is a queue: its output is that of a thread of its own, perhaps on a core of its own.
    pub(crate) fn queue(&mut self, core: Option<u32>) -> Stop {
        self.drains();
        self.wishes.core = core;
        self.thread()
    }

    /// Its metrics are read here, besides those that it creates.
    pub(crate) fn gauges(&mut self, gauges: Gauges) {
        self.wishes.gauges = Some(gauges);
    }

    /// Its own thread goes on after a shutdown, until its input has ended.
    pub(crate) fn drains(&mut self) {
        self.wishes.drains = true;
    }

    /// A parameter of an inserted operator: numbers of links, origins, ...
    pub(crate) fn numbers(&mut self, param: &str) -> Result<Vec<u32>, Fault> {
        let values = self.values(param)?.unwrap_or_default();
        let numbers = values.iter().map(|value| {
            let number = integer(value).and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| self.unfit(param, "a uint32"))
        });
        numbers.collect()
    }

    /// For threads of its own that wait for something: the shutdown.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

/// A schema for values without names.
pub(crate) fn synthetic<'t>(types: impl Iterator<Item = &'t Type>) -> Arc<TupleType> {
    let named = types
        .enumerate()
        .map(|(at, ty)| (format!("_{at}"), ty.clone()));
    Arc::new(TupleType::new(named))
}

/// The scope of an operator's expressions: a slot for each input port's tuple and its history, then
/// the results of output function calls.
pub(crate) fn scope<'a>(
    operator: &'a graph::Operator,
    index: u32,
    inputs: &[Arc<Layout>],
    outputs: &[Arc<Layout>],
    results: Option<&Arc<Layout>>,
) -> Scope<'a> {
    Scope {
        operator,
        index,
        inputs: slots(operator, inputs, results),
        outputs: outputs.to_vec(),
        state: &operator.logic.state,
    }
}

/// The layout of every slot, as [`graph::Inputs`] numbers them.
pub(crate) fn slots(
    operator: &graph::Operator,
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
