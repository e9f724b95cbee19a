//! The logical graph: every operator instance after composite expansion, joined by streams.

use std::sync::Arc;

use tuple::{Resolution, TupleType, Type, Value};

use crate::{Body, Expr, Function, HistoryDepths, PortIndex, Pos};

/// A whole program, expanded, as the compiler returns it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Qualified name of the main composite.
    pub name: Arc<str>,
    /// Paths of the source files that [`Pos::file`] counts.
    pub files: Arc<[Arc<str>]>,
    /// User functions that the operators use. The programs of all PEs share them.
    pub functions: Arc<[Function]>,
    /// The operators, in order of expansion.
    pub operators: Vec<OperatorNode>,
    /// Config entries of the main composite that hold for the program and not for operators:
    /// `hostPool`, `defaultPoolSize`, `applicationScope`.
    pub config: Vec<ConfigEntry>,
}

impl Program {
    /// The streams with watermarks among those that feed an input port, in their order.
    pub fn watermarked_sources<'p>(
        &'p self,
        port: &'p InPort,
    ) -> impl Iterator<Item = OutPortId> + 'p {
        let sources = port.sources.iter().copied();
        sources.filter(|stream| {
            let from = &self.operators[stream.operator.0 as usize];
            let clock = from.clock.as_ref();
            clock.is_some_and(|clock| clock.outputs.contains(&stream.port))
        })
    }

    /// A stream as its operator and port: `Filter.1`, or the operator alone if it has one port.
    pub fn stream_name(&self, stream: OutPortId) -> String {
        let operator = &self.operators[stream.operator.0 as usize];
        match operator.outputs.len() {
            1 => operator.name.to_string(),
            _ => format!("{}.{}", operator.name, stream.port),
        }
    }
}

/// An operator of [`Program::operators`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorId(pub u32);

/// An annotation: its name, and its arguments by key.
pub type Annotation = (Arc<str>, Vec<(Arc<str>, Value)>);

/// The use that an operator makes of timers. The thread of a PE's timers enters every operator that
/// has one, and the operators downstream of those that submit by a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OperatorTimers {
    /// The operator has no timer.
    #[default]
    None,
    /// A timer removes or closes something, and submits nothing, no punctuation either. It is a bug
    /// if it does: the thread of the timers may not enter what is downstream.
    Silent,
    /// A timer may submit, without any input.
    Submitting,
}

impl OperatorTimers {
    /// `Submitting` if a timer may submit, else `Silent` if there is one.
    pub fn new(has_timer: bool, submits: bool) -> OperatorTimers {
        match (has_timer, submits) {
            (true, true) => OperatorTimers::Submitting,
            (true, false) => OperatorTimers::Silent,
            (false, _) => OperatorTimers::None,
        }
    }

    /// Whether the operator has a timer.
    pub fn exist(self) -> bool {
        self != OperatorTimers::None
    }

    /// Whether the operator submits by a timer.
    pub fn submit(self) -> bool {
        self == OperatorTimers::Submitting
    }
}

/// The faults of an operator that cost it only the tuple, as its `@catch` annotation says. Each
/// word names the faults of those before it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaughtFaults {
    /// No annotation, or one that names no faults.
    #[default]
    None,
    /// `streams`: faults of the language's own operations.
    Streams,
    /// `std`: system errors and limits too.
    Std,
    /// `all`: division by zero too.
    All,
}

/// One operator instance with its ports, parameters and logic.
#[derive(Clone, Debug)]
pub struct OperatorNode {
    /// Instance path without the main composite: `Trades`, `Inner.Filtered`.
    pub name: Arc<str>,
    /// Qualified name of the primitive operator: `spl.relational::Filter`.
    pub kind: Arc<str>,
    /// Input ports of the instance.
    pub inputs: Vec<InPort>,
    /// Output ports of the instance.
    pub outputs: Vec<OutPort>,
    /// Parameters as given, in order, and defaults of the model are not filled in.
    pub params: Vec<Param>,
    /// State variables and bodies of the logic clause.
    pub logic: Logic,
    /// The config clause, own and inherited (inner-most wins).
    pub config: Vec<ConfigEntry>,
    /// `@threading`, `@catch`, `@view`, ...: name and constant arguments.
    pub annotations: Vec<Annotation>,
    /// Whether the operator submits from a thread of its own although it has input ports, as its
    /// model says.
    pub has_own_thread: bool,
    /// The use that the operator makes of timers, as its model says.
    pub timers: OperatorTimers,
    /// Clock of the operator's event time; `None` if no stream with event time comes to it or
    /// leaves it.
    pub clock: Option<EventClock>,
    /// The head of the invocation.
    pub pos: Pos,
}

impl OperatorNode {
    /// An operator without ports, parameters and logic, of a qualified kind.
    ///
    /// # Example
    /// ```
    /// use thalweg_graph::{OperatorNode, OutPort, Pos};
    ///
    /// let beacon = OperatorNode {
    ///     outputs: vec![OutPort::new("Ticks", Default::default())],
    ///     ..OperatorNode::new("Ticks", "spl.utility::Beacon", Pos::default())
    /// };
    /// assert!(beacon.inputs.is_empty());
    /// ```
    pub fn new(name: impl Into<Arc<str>>, kind: impl Into<Arc<str>>, pos: Pos) -> OperatorNode {
        OperatorNode {
            name: name.into(),
            kind: kind.into(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            params: Vec::new(),
            logic: Logic::default(),
            config: Vec::new(),
            annotations: Vec::new(),
            has_own_thread: false,
            timers: OperatorTimers::None,
            clock: None,
            pos,
        }
    }

    /// Whether config asks for a queue at an input port.
    pub fn declares_queue(&self, port: PortIndex) -> bool {
        let Some(port) = self.inputs.get(port.index()) else {
            return false;
        };
        let entries = self.config.iter();
        let entries = entries.filter(|entry| &*entry.name == "threadedPort");
        let mut values = entries.flat_map(|entry| &entry.values);
        values.any(|value| {
            let inner = value.strip_prefix("queue(");
            let name = inner.and_then(|inner| inner.split(", ").next());
            name == Some(&*port.name)
        })
    }

    /// Whether expressions of the operator look back on earlier tuples of a port.
    pub fn keeps_history(&self) -> bool {
        self.inputs.iter().any(|port| !port.history.is_empty())
    }

    /// The faults that `@catch` of the operator names.
    pub fn caught_faults(&self) -> CaughtFaults {
        match self.catch_argument("exception") {
            Some(Value::RString(word)) => match word.as_bytes() {
                b"streams" => CaughtFaults::Streams,
                b"std" => CaughtFaults::Std,
                b"all" => CaughtFaults::All,
                _ => CaughtFaults::None,
            },
            _ => CaughtFaults::None,
        }
    }

    /// An argument of the operator's `@catch` by key: `exception`, `tupleTrace`.
    pub fn catch_argument(&self, key: &str) -> Option<&Value> {
        let mut annotations = self.annotations.iter();
        let (_, arguments) = annotations.find(|(name, _)| &**name == "catch")?;
        let argument = arguments.iter().find(|(name, _)| &**name == key);
        argument.map(|(_, value)| value)
    }

    /// A parameter by name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| &*p.name == name)
    }
}

/// The event time of an operator: `@eventTime`, and what follows from it downstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventClock {
    /// The attribute that holds it.
    pub attribute: Arc<str>,
    /// Length of a tick, for an integer attribute.
    pub resolution: Resolution,
    /// Nanoseconds that watermarks lie behind the greatest event time.
    pub lag_ns: i128,
    /// Nanoseconds that they advance at least.
    pub min_gap_ns: i128,
    /// The output ports that send watermarks, in order.
    pub outputs: Vec<PortIndex>,
    /// Watermarks are made of what the operator sends; else those that come in are passed on.
    pub generates_watermarks: bool,
}

/// An input port of an operator instance.
#[derive(Clone, Debug)]
pub struct InPort {
    /// Alias, or name of its first stream.
    pub name: Arc<str>,
    /// Schema of the tuples that arrive.
    pub schema: Arc<TupleType>,
    /// The output ports that feed it, in the order written.
    pub sources: Vec<OutPortId>,
    /// The window, if it has one.
    pub window: Option<Window>,
    /// The earlier tuples of this port that the operator's expressions read.
    pub history: HistoryDepths,
    /// `true` when the model calls it a control port.
    pub is_control: bool,
    /// Indexes into `sources` of streams that bring no window markers: each closes a loop in which
    /// every operator passes markers on, so that a marker would go round for ever.
    pub sources_without_markers: Vec<u32>,
}

impl InPort {
    /// A port without window and tuple history.
    pub fn new(
        name: impl Into<Arc<str>>,
        schema: Arc<TupleType>,
        sources: Vec<OutPortId>,
    ) -> InPort {
        InPort {
            name: name.into(),
            schema,
            sources,
            window: None,
            history: HistoryDepths::default(),
            is_control: false,
            sources_without_markers: Vec::new(),
        }
    }
}

/// One end of a stream: an output port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutPortId {
    /// Operator that has the port.
    pub operator: OperatorId,
    /// Number of its output port.
    pub port: PortIndex,
}

/// An output port of an operator instance.
#[derive(Clone, Debug)]
pub struct OutPort {
    /// Name of the stream.
    pub name: Arc<str>,
    /// Schema of the tuples that are submitted.
    pub schema: Arc<TupleType>,
    /// Output function calls in its assignments, in order of evaluation.
    pub calls: Vec<OutputCall>,
    /// The expression of each attribute: written, or forwarded from an input by the model's rule.
    /// `None`: nothing was assigned; the operator fills it (or its default stays). Empty if the
    /// operator's model has no assignments and does not forward.
    pub assign: Vec<Option<Expr>>,
}

impl OutPort {
    /// A port without assignments.
    pub fn new(name: impl Into<Arc<str>>, schema: Arc<TupleType>) -> OutPort {
        OutPort {
            name: name.into(),
            schema,
            calls: Vec::new(),
            assign: Vec::new(),
        }
    }
}

/// A call of an output function: `Average(price)`.
#[derive(Clone, Debug)]
pub struct OutputCall {
    /// Name of the output function.
    pub function: Arc<str>,
    /// Arguments of the call, over the input tuple. Nested output calls are `ExprKind::OutputCall`.
    pub args: Vec<Expr>,
    /// Type of the result.
    pub ty: Type,
    /// Position in the program's text.
    pub pos: Pos,
}

/// A parameter of an invocation.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name of the parameter.
    pub name: Arc<str>,
    /// Value that the invocation gives.
    pub value: ParamValue,
    /// Position in the program's text.
    pub pos: Pos,
}

/// Value of a parameter in an invocation.
#[derive(Clone, Debug)]
pub enum ParamValue {
    /// Expressions (attributes are expressions too; constants are folded).
    Exprs(Vec<Expr>),
    /// Custom literals: `strict`, `csv`, `[ascending, descending]`.
    Literals(Vec<Arc<str>>),
}

/// The logic clause of an operator instance.
#[derive(Clone, Debug, Default)]
pub struct Logic {
    /// State variables, in order.
    pub state: Vec<StateVar>,
    /// `onTuple` by input port.
    pub on_tuple: Vec<Option<Body>>,
    /// `onPunct` by input port.
    pub on_punct: Vec<Option<Body>>,
    /// Body of the `onProcess` clause.
    pub on_process: Option<Body>,
}

/// A state variable of an operator instance.
#[derive(Clone, Debug)]
pub struct StateVar {
    /// Name of the variable.
    pub name: Arc<str>,
    /// Type of the variable.
    pub ty: Type,
    /// Initial value; the expression may read state variables declared earlier.
    pub init: Option<Expr>,
}

/// An entry of a config clause, checked.
#[derive(Clone, Debug)]
pub struct ConfigEntry {
    /// The kind: `placement`, `threadedPort`, ...
    pub name: Arc<str>,
    /// Values as SPL text with constants folded: `partitionColocation("a")`, `queue(In, Sys.Wait,
    /// 1000)`.
    pub values: Vec<Arc<str>>,
    /// Position in the program's text.
    pub pos: Pos,
}

/// A window of an input port.
#[derive(Clone, Debug)]
pub struct Window {
    /// Tumbling, sliding, or one of those over event time.
    pub kind: WindowKind,
    /// When tuples leave (tumbling: when the window is flushed).
    pub evict: Policy,
    /// Sliding only: when the window is processed.
    pub trigger: Option<Policy>,
    /// `partitioned`, with its eviction.
    pub partition: Option<Partition>,
    /// Position in the program's text.
    pub pos: Pos,
}

impl Window {
    /// Seconds after which it is flushed, or triggered, again and again, if time says when.
    pub fn period_s(&self) -> Option<f64> {
        let policy = match self.kind {
            WindowKind::Tumbling => Some(&self.evict),
            WindowKind::Sliding => self.trigger.as_ref(),
            WindowKind::TimeInterval | WindowKind::Session => None,
        };
        policy.and_then(Policy::seconds)
    }

    /// Seconds that an item stays in a sliding window, if time says so.
    pub fn lifetime_s(&self) -> Option<f64> {
        let evict = Some(&self.evict).filter(|_| self.kind == WindowKind::Sliding);
        evict.and_then(Policy::seconds)
    }
}

/// The kinds of window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum WindowKind {
    Tumbling,
    Sliding,
    /// Over event time; its eviction is an [`TimeInterval`].
    TimeInterval,
    /// Over event time; its eviction is a [`SessionGap`].
    Session,
}

/// The panes of a window over event time: `[N * period_s + offset, N * period_s + offset +
/// duration)` for every whole N. All in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeInterval {
    /// Nanoseconds from the start of a pane to its end; above 0.
    pub duration_ns: i128,
    /// Nanoseconds from the start of a pane to the start of the next one; above 0.
    pub period_ns: i128,
    /// Start of a pane, in nanoseconds.
    pub offset_ns: i128,
    /// Nanoseconds after its end for which a pane accepts late tuples.
    pub discard_ns: i128,
    /// The attribute that holds the event time: its index in the port's schema.
    pub attribute: u32,
    /// Length of a tick, for an integer attribute.
    pub resolution: Resolution,
}

/// The sessions of a window over event time: tuples of a key whose event times lie less than the
/// gap apart, one after the other, are in one session. It ends the gap after its last event time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionGap {
    /// Nanoseconds from the last event time of a session to its end; above 0.
    pub gap_ns: i128,
    /// Nanoseconds after its end for which a session accepts late tuples.
    pub discard_ns: i128,
    /// The attribute that holds the event time: its index in the port's schema.
    pub attribute: u32,
    /// Length of a tick, for an integer attribute.
    pub resolution: Resolution,
}

/// An eviction or trigger policy.
#[derive(Clone, Debug)]
pub enum Policy {
    /// A number of tuples.
    Count(u32),
    /// A time in seconds.
    Time(f64),
    /// An attribute (index in the port's schema) has moved by more than an amount of its own type
    /// (a timestamp attribute: float64 seconds).
    Delta(u32, Value),
    /// Each window marker of the stream.
    Punct,
    /// The watermark has passed the end of a pane, or its age.
    Interval(TimeInterval),
    /// The watermark has passed the end of a session, or its age.
    Session(SessionGap),
}

impl Policy {
    fn seconds(&self) -> Option<f64> {
        match self {
            Policy::Time(seconds) => Some(*seconds),
            Policy::Count(_)
            | Policy::Delta(..)
            | Policy::Punct
            | Policy::Interval(_)
            | Policy::Session(_) => None,
        }
    }
}

/// `partitioned` and how partitions leave.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The eviction, if any.
    pub evict: Option<PartitionEviction>,
}

/// Bound on the partitions of a window: `partitionAge`, `partitionCount` or `tupleCount`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionEviction {
    /// Seconds without a new tuple.
    Age(f64),
    /// A bound on the number of partitions.
    Count(u32),
    /// A bound on the number of tuples in all partitions.
    Tuples(u32),
}
