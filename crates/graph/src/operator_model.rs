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
//!     outputs: &[OutPortModel { auto_assignment: true, complete_assignment: true, ..OutPortModel::DEFAULT }],
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

use crate::{OperatorNode, Unsupported, WindowKind};

/// A primitive operator's interface.
#[derive(Clone, Copy, Debug)]
pub struct OperatorModel {
    /// `spl.relational`
    pub namespace: &'static str,
    /// `Filter`
    pub name: &'static str,
    /// What it does; the first sentence stands alone.
    pub doc: &'static str,
    /// Input ports, in order; the last set may be open.
    pub inputs: &'static [InPortModel],
    /// Output ports, in order; the last set may be open.
    pub outputs: &'static [OutPortModel],
    /// Parameters.
    pub params: &'static [ParamModel],
    /// Parameters that are known by name only.
    pub unsupported_params: &'static [(&'static str, Unsupported)],
    /// Whether parameters that are not listed are accepted (mode expression, any type).
    pub allow_any_param: bool,
    /// Custom literal types: name and values.
    pub enums: &'static [(&'static str, &'static [&'static str])],
    /// Prototypes of its output functions: `<any T> T First(T v)`.
    pub output_functions: &'static [&'static str],
    /// Output functions may stand inside each other's arguments and inside expressions.
    pub nested_output_functions: bool,
    /// Whether a `logic` clause is allowed.
    pub allows_logic: bool,
    /// Whether it may `submit` in its logic and have `onProcess` (only Custom).
    pub submits: bool,
    /// Whether it submits from a thread of its own although it has input ports: what it sends is
    /// not brought about by what comes in at that moment.
    pub has_own_thread: bool,
    /// Whether an operator submits by timers; `None`: never.
    pub submits_by_timer: Option<SubmitsByTimer>,
    /// Why an operator whose output ports generate window markers never sends one; `None`, or
    /// nothing said: it may.
    pub no_markers_reason: Option<NoMarkersReason>,
    /// Names of its metrics.
    pub metrics: &'static [&'static str],
    /// What it is for the program around it.
    pub role: OperatorRole,
    /// Why it cannot be used: it is known by name only.
    pub unsupported: Option<Unsupported>,
    /// Whether it can begin a consistent region whose trigger is operatorDriven.
    pub starts_consistent_region: bool,
    /// What the fields above cannot say (attribute types of a port, parameters that need each
    /// other): looks at an invocation that is otherwise correct.
    pub verify: Option<VerifyInvocation>,
}

/// See [`OperatorModel::verify`].
pub type VerifyInvocation = fn(&OperatorNode) -> Result<(), InvocationError>;

impl OperatorModel {
    /// No ports, no parameters, logic allowed.
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
        nested_output_functions: false,
        allows_logic: true,
        submits: false,
        has_own_thread: false,
        submits_by_timer: None,
        no_markers_reason: None,
        metrics: &[],
        role: OperatorRole::Ordinary,
        unsupported: None,
        starts_consistent_region: false,
        verify: None,
    };
}

impl OperatorModel {
    /// Whether one of [`OperatorModel::output_functions`] has this name.
    pub fn has_output_function(&self, name: &str) -> bool {
        self.output_functions.iter().any(|prototype| {
            let before = prototype.split('(').next().unwrap_or_default();
            before.rsplit(' ').find(|word| !word.is_empty()) == Some(name)
        })
    }
}

/// Tells of an operator, with its parameters and windows, whether it submits by timers.
pub type SubmitsByTimer = fn(&OperatorNode) -> bool;

/// Tells of an operator, with its parameters and windows, why it makes no window markers: a clause
/// without a full stop.
pub type NoMarkersReason = fn(&OperatorNode) -> Option<&'static str>;

/// What an operator is for the program around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorRole {
    /// One of many.
    Ordinary,
    /// It joins streams of jobs (Import, Export): no config, no `@parallel`, no `@catch`. With an
    /// input port it exports by `streamId` or `properties`; without one it imports by `streamId` or
    /// `subscription`, and gets an input port if something in the program matches.
    Boundary,
    /// It deals the stream of one input port of a parallel region out to the region's channels, an
    /// output port each; the compiler puts it there. Parameters: `key`, the attributes that choose
    /// the channel, or `broadcast`, if all channels get everything; else they take turns.
    /// `dropMarkers`, if window markers end here.
    Splitter,
    /// What its output ports feed has threads of its own.
    Threading,
    /// The one that a program with consistent regions needs exactly once.
    ControlPlane,
}

/// What [`OperatorModel::verify`] finds wrong: a sentence without a full stop, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationError {
    /// The part of the invocation that the caret shows.
    pub part: InvocationPart,
    /// What is wrong, in the user's words.
    pub message: String,
    /// What would be right; may be empty.
    pub help: String,
}

/// A part of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvocationPart {
    /// The whole head.
    Head,
    /// An input port.
    Input(u32),
    /// An output port.
    Output(u32),
    /// An output attribute: of its assignment if it has one, else the port.
    Attribute(u32, u32),
    /// A parameter.
    Param(&'static str),
    /// The parameter at this place of [`crate::OperatorNode::params`].
    ParamIndex(u32),
    /// The window of an input port.
    Window(u32),
}

/// How often a port set occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// Exactly so many.
    Exactly(u32),
    /// None or one.
    Optional,
    /// Any number.
    Any,
}

/// A set of like input ports.
#[derive(Clone, Copy, Debug)]
pub struct InPortModel {
    /// How many.
    pub count: Cardinality,
    /// What it makes of window markers.
    pub punctuation: PunctuationInputMode,
    /// Whether it may have a window.
    pub window: WindowingMode,
    /// Whether logic may change its tuples.
    pub mutable: bool,
    /// A control port: final markers on it are not waited for.
    pub is_control: bool,
    /// The parameter that partitions its window: a `partitioned` window needs it, and it needs one.
    pub partition_param: Option<&'static str>,
    /// The forms of window that it takes; empty for all that are not over event time.
    pub windows: &'static [WindowForm],
    /// Whether it takes windows over event time.
    pub allows_time_interval: bool,
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
    };

    /// As many ports like that as one likes, also none.
    pub const ANY: InPortModel = InPortModel {
        count: Cardinality::Any,
        ..InPortModel::DEFAULT
    };
}

/// A form of window that a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowForm {
    /// Tumbling or sliding.
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
}

/// A set of like output ports.
#[derive(Clone, Copy, Debug)]
pub struct OutPortModel {
    /// How many.
    pub count: Cardinality,
    /// Whether it makes window markers.
    pub punctuation: PunctuationOutputMode,
    /// What may be assigned in the `output` clause.
    pub assign: AssignmentMode,
    /// Unassigned attributes are forwarded from input attributes of the same name and type.
    pub auto_assignment: bool,
    /// Every attribute must end up assigned.
    pub complete_assignment: bool,
    /// Its schema must equal that of this input port.
    pub same_schema_as: Option<u32>,
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

    /// As many ports like that as one likes, also none.
    pub const ANY: OutPortModel = OutPortModel {
        count: Cardinality::Any,
        ..OutPortModel::DEFAULT
    };
}

/// Input ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationInputMode {
    /// It works without.
    Oblivious,
    /// It needs them.
    Expecting,
    /// It needs them if its window is punct().
    WindowBound,
}

/// Output ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationOutputMode {
    /// The operator sends its own; incoming ones are not forwarded.
    Generating,
    /// Those of an input port (its index) are forwarded.
    Preserving(u32),
    /// None.
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

/// What may be assigned to output attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignmentMode {
    /// Nothing.
    None,
    /// Expressions without attributes of input tuples.
    AttributeFree,
    /// Any expression.
    Expression,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamModel {
    /// Its name.
    pub name: &'static str,
    /// Its type as SPL writes it, several with ` | ` between (`int32 | uint32`), `any`, or the name
    /// of a custom literal type.
    pub ty: &'static str,
    /// What may be given.
    pub mode: ParamMode,
    /// It must be given.
    pub mandatory: bool,
    /// It takes a list of values.
    pub is_list: bool,
    /// Its expressions see only this input port.
    pub port: Option<u32>,
    /// What it means, unit, default.
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
        doc: "",
    };
}

/// What a parameter may be given.
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
    /// A custom literal.
    Literal,
    /// A condition over the properties of streams; kept as it is written. Only for operators of
    /// [`OperatorRole::Boundary`].
    Subscription,
    /// A condition over the tuples of output port 0, which is to be port 0 of the inputs too.
    Filter,
}
