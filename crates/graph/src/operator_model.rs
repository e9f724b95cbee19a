//! Operator models: what a primitive operator accepts, as data.
//!
//! The toolkit declares one static [`OperatorModel`] an operator; the compiler checks invocations
//! against it without knowing any operator by name; `thalweg doc` prints it.
//!
//! Models are written with struct update, so that a field that is added later needs no change:
//!
//! ```
//! use thalweg_graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
//!
//! static FILTER: OperatorModel = OperatorModel {
//!     namespace: "spl.relational",
//!     name: "Filter",
//!     inputs: &[InPortModel::DEFAULT],
//!     outputs: &[OutPortModel {
//!         auto_assignment: true,
//!         complete_assignment: true,
//!         ..OutPortModel::DEFAULT
//!     }],
//!     params: &[ParamModel {
//!         name: "filter",
//!         ty: "boolean",
//!         mode: ParamMode::Expression,
//!         ..ParamModel::DEFAULT
//!     }],
//!     ..OperatorModel::DEFAULT
//! };
//! assert_eq!(FILTER.inputs.len(), 1);
//! ```

use crate::{OperatorNode, OperatorTimers, PortIndex, Unsupported, WindowKind};

/// A primitive operator's interface.
#[derive(Clone, Copy, Debug)]
pub struct OperatorModel {
    /// Namespace in SPL, such as `spl.relational`.
    pub namespace: &'static str,
    /// Name without the namespace, such as `Filter`.
    pub name: &'static str,
    /// Description of the operator; its first sentence stands alone.
    pub doc: &'static str,
    /// Input ports, in order; the last set may be open.
    pub inputs: &'static [InPortModel],
    /// Output ports, in order; the last set may be open.
    pub outputs: &'static [OutPortModel],
    /// Parameters that the operator takes.
    pub params: &'static [ParamModel],
    /// Parameters that are known by name only.
    pub unsupported_params: &'static [(&'static str, Unsupported)],
    /// Whether parameters that are not listed are accepted (mode expression, any type).
    pub allow_any_param: bool,
    /// Custom literal types: name and values.
    pub enums: &'static [(&'static str, &'static [&'static str])],
    /// Prototypes of its output functions: `<any T> T First(T v)`.
    pub output_functions: &'static [&'static str],
    /// Names of output functions whose arguments are evaluated each at a time of its own, in the
    /// order in which they stand, so that one may change what another reads.
    pub stepwise_output_functions: &'static [&'static str],
    /// Output functions may stand inside each other's arguments and inside expressions.
    pub nested_output_functions: bool,
    /// Whether a `logic` clause is allowed.
    pub allows_logic: bool,
    /// Whether the operator may `submit` in its logic and have `onProcess` (only Custom).
    pub submits: bool,
    /// Whether the operator submits from a thread of its own although it has input ports,
    /// independently of the tuples that arrive at that moment.
    pub has_own_thread: bool,
    /// The use that an operator makes of timers; `None`: it has none.
    pub timers: Option<TimersOf>,
    /// Why an operator whose output ports generate window markers never sends one; `None`, or
    /// nothing said: it may.
    pub no_markers_reason: Option<NoMarkersReason>,
    /// Names of its metrics.
    pub metrics: &'static [&'static str],
    /// Role of the operator in the program around it.
    pub role: OperatorRole,
    /// Why it cannot be used: it is known by name only.
    pub unsupported: Option<Unsupported>,
    /// Whether the operator can begin a consistent region whose trigger is operatorDriven.
    pub starts_consistent_region: bool,
    /// Check of an invocation that is otherwise correct, for rules that the fields above cannot
    /// express: attribute types of a port, parameters that need each other.
    pub verify: Option<VerifyInvocation>,
}

/// Signature of a check, see [`OperatorModel::verify`].
pub type VerifyInvocation = fn(&OperatorNode) -> Result<(), InvocationError>;

impl OperatorModel {
    /// A model without ports and parameters, which allows logic.
    pub const DEFAULT: OperatorModel = OperatorModel {
        namespace: "",
        name: "",
        doc: "",
        inputs: &[],
        outputs: &[],
        params: &[],
        unsupported_params: &[],
        allow_any_param: false,
        enums: &[],
        output_functions: &[],
        stepwise_output_functions: &[],
        nested_output_functions: false,
        allows_logic: true,
        submits: false,
        has_own_thread: false,
        timers: None,
        no_markers_reason: None,
        metrics: &[],
        role: OperatorRole::Ordinary,
        unsupported: None,
        starts_consistent_region: false,
        verify: None,
    };
}

impl OperatorModel {
    /// Writes into an invocation, otherwise complete, the threads and timers that the model says it
    /// has.
    pub fn set_threads_and_timers(&self, operator: &mut OperatorNode) {
        operator.has_own_thread = self.has_own_thread;
        operator.timers = self
            .timers
            .map_or(OperatorTimers::None, |timers| timers(operator));
    }

    /// Whether one of [`OperatorModel::output_functions`] has this name.
    pub fn has_output_function(&self, name: &str) -> bool {
        self.output_functions.iter().any(|prototype| {
            let before = prototype.split('(').next().unwrap_or_default();
            before.rsplit(' ').find(|word| !word.is_empty()) == Some(name)
        })
    }
}

/// Tells of an operator, with its parameters and windows, what it uses timers for.
pub type TimersOf = fn(&OperatorNode) -> OperatorTimers;

/// Tells of an operator, with its parameters and windows, why it makes no window markers: a clause
/// without a full stop.
pub type NoMarkersReason = fn(&OperatorNode) -> Option<&'static str>;

/// Role of an operator in the program around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorRole {
    /// An operator without a special role.
    Ordinary,
    /// Joins streams of jobs (Import, Export): no config, no `@parallel`, no `@catch`. With an
    /// input port it exports by `streamId` or `properties`; without one it imports by `streamId` or
    /// `subscription`, and gets an input port if something in the program matches.
    Boundary,
    /// Deals the stream of one input port of a parallel region out to the region's channels, an
    /// output port each; the compiler inserts it. Parameters: `key`, the attributes that choose the
    /// channel, or `broadcast`, if all channels get everything; else the channels take turns.
    /// `dropMarkers`, if window markers end here.
    Splitter,
    /// Gives the operators that its output ports feed threads of their own.
    Threading,
    /// The one that a program with consistent regions needs exactly once.
    ControlPlane,
}

/// Finding of [`OperatorModel::verify`]: a sentence without a full stop, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationError {
    /// The part of the invocation that the caret shows.
    pub part: InvocationPart,
    /// Fault of the invocation, in the user's words.
    pub message: String,
    /// Remedy for the user; may be empty.
    pub help: String,
}

/// A part of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvocationPart {
    /// The head of the invocation, from its first stream to its inputs.
    Head,
    /// An input port, by number.
    Input(PortIndex),
    /// An output port, by number.
    Output(PortIndex),
    /// An output attribute: of its assignment if it has one, else the port.
    Attribute(PortIndex, u32),
    /// A parameter, by name.
    Param(&'static str),
    /// The parameter at this place of [`crate::OperatorNode::params`].
    ParamIndex(u32),
    /// The window of an input port.
    Window(PortIndex),
}

/// Number of ports in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// Exactly this number of ports.
    Exactly(u32),
    /// One port or none.
    Optional,
    /// Any number of ports, none included.
    Any,
}

/// A set of like input ports.
#[derive(Clone, Copy, Debug)]
pub struct InPortModel {
    /// Number of ports in the set.
    pub count: Cardinality,
    /// Treatment of window markers that come in.
    pub punctuation: PunctuationInputMode,
    /// Whether the port may have a window.
    pub window: WindowingMode,
    /// Whether logic may change its tuples.
    pub mutable: bool,
    /// Whether the port is a control port: final markers on it are not waited for.
    pub is_control: bool,
    /// The parameter that partitions its window: a `partitioned` window needs it, and it needs one.
    pub partition_param: Option<&'static str>,
    /// The forms of window that it takes; empty for all that are not over event time.
    pub windows: &'static [WindowForm],
    /// Whether the port takes timeInterval windows.
    pub allows_time_interval: bool,
    /// Whether the port takes session windows.
    pub allows_session: bool,
}

impl InPortModel {
    /// One oblivious port without a window.
    pub const DEFAULT: InPortModel = InPortModel {
        count: Cardinality::Exactly(1),
        punctuation: PunctuationInputMode::Oblivious,
        window: WindowingMode::NonWindowed,
        mutable: false,
        is_control: false,
        partition_param: None,
        windows: &[],
        allows_time_interval: false,
        allows_session: false,
    };

    /// Any number of like ports, none included.
    pub const ANY: InPortModel = InPortModel {
        count: Cardinality::Any,
        ..InPortModel::DEFAULT
    };
}

/// A form of window that a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowForm {
    /// Kind of the window, tumbling or sliding.
    pub kind: WindowKind,
    /// The eviction policies; empty for all.
    pub evict: &'static [PolicyKind],
    /// Sliding: the trigger is count(1), or is not written.
    pub every_tuple: bool,
}

/// The kinds of eviction and trigger policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the SPL policy of its name")]
pub enum PolicyKind {
    Count,
    Time,
    Delta,
    Punct,
    Interval,
    Session,
}

/// A set of like output ports.
#[derive(Clone, Copy, Debug)]
pub struct OutPortModel {
    /// Number of ports in the set.
    pub count: Cardinality,
    /// Treatment of window markers by the port.
    pub punctuation: PunctuationOutputMode,
    /// Assignments that the `output` clause may hold.
    pub assign: AssignmentMode,
    /// Unassigned attributes are forwarded from input attributes of the same name and type.
    pub auto_assignment: bool,
    /// Every attribute must end up assigned.
    pub complete_assignment: bool,
    /// Input port whose schema the port's schema must equal.
    pub same_schema_as: Option<PortIndex>,
}

impl OutPortModel {
    /// One generating port, nothing assigned or forwarded.
    pub const DEFAULT: OutPortModel = OutPortModel {
        count: Cardinality::Exactly(1),
        punctuation: PunctuationOutputMode::Generating,
        assign: AssignmentMode::None,
        auto_assignment: false,
        complete_assignment: false,
        same_schema_as: None,
    };

    /// Any number of like ports, none included.
    pub const ANY: OutPortModel = OutPortModel {
        count: Cardinality::Any,
        ..OutPortModel::DEFAULT
    };
}

/// Input ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationInputMode {
    /// The operator works without window markers.
    Oblivious,
    /// The operator needs window markers.
    Expecting,
    /// The operator needs window markers if its window is punct().
    WindowBound,
}

/// Output ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationOutputMode {
    /// The operator sends its own; incoming ones are not forwarded.
    Generating,
    /// Window markers of an input port (its index) are forwarded.
    Preserving(PortIndex),
    /// The port submits no window markers of its input.
    Free,
}

/// Whether a port may have a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum WindowingMode {
    NonWindowed,
    Windowed,
    OptionallyWindowed,
}

/// Assignments to output attributes that an operator accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignmentMode {
    /// No assignment at all.
    None,
    /// Expressions without attributes of input tuples.
    AttributeFree,
    /// Any expression over the input tuple.
    Expression,
}

/// A parameter of an operator.
#[derive(Clone, Copy, Debug)]
pub struct ParamModel {
    /// Name of the parameter.
    pub name: &'static str,
    /// Type of the parameter as SPL writes it, several with ` | ` between (`int32 | uint32`),
    /// `any`, or the name of a custom literal type.
    pub ty: &'static str,
    /// Forms of value that the parameter takes.
    pub mode: ParamMode,
    /// Whether an invocation must give the parameter.
    pub mandatory: bool,
    /// Whether the parameter takes a list of values.
    pub is_list: bool,
    /// The only input port that the parameter's expressions may read; `None` for all.
    pub port: Option<PortIndex>,
    /// Port whose tuple type the parameter's value has; `None` if `ty` says the type.
    pub tuple_of: Option<TuplePort>,
    /// Description of the parameter: meaning, unit, default.
    pub doc: &'static str,
}

impl ParamModel {
    /// An optional attribute-free value of any type.
    pub const DEFAULT: ParamModel = ParamModel {
        name: "",
        ty: "any",
        mode: ParamMode::AttributeFree,
        mandatory: false,
        is_list: false,
        port: None,
        tuple_of: None,
        doc: "",
    };
}

/// Port that gives a parameter its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TuplePort {
    /// An input port, by number.
    Input(PortIndex),
    /// An output port, by number.
    Output(PortIndex),
}

/// Form of value that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamMode {
    /// A value known when compiling.
    Constant,
    /// An expression without attributes of input tuples; evaluated once, at start-up.
    AttributeFree,
    /// An expression over input tuples.
    Expression,
    /// An attribute of an input port.
    Attribute,
    /// A custom literal, such as `csv`.
    Literal,
    /// A condition over the properties of streams; kept as it is written. Only for operators of
    /// [`OperatorRole::Boundary`].
    Subscription,
    /// A condition over the tuples of output port 0, which is to be port 0 of the inputs too.
    Filter,
}
