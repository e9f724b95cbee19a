//! Operator models: what a primitive operator accepts, as data.
//!
//! The toolkit declares one static [`OperatorModel`] an operator; the compiler checks invocations
//! against it without knowing any operator by name; `thalweg doc` prints it.

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
    /// Names of its metrics.
    pub metrics: &'static [&'static str],
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
    pub punctuation: PunctuationIn,
    /// Whether it may have a window.
    pub window: Windowing,
    /// Whether logic may change its tuples.
    pub mutable: bool,
    /// A control port: final markers on it are not waited for.
    pub control: bool,
}

/// A set of like output ports.
#[derive(Clone, Copy, Debug)]
pub struct OutPortModel {
    /// How many.
    pub count: Cardinality,
    /// Whether it makes window markers.
    pub punctuation: PunctuationOut,
    /// What may be assigned in the `output` clause.
    pub assign: Assignment,
    /// Unassigned attributes are forwarded from input attributes of the same name and type.
    pub forwards: bool,
    /// Every attribute must end up assigned.
    pub complete: bool,
    /// Its schema must equal that of this input port.
    pub same_schema_as: Option<u32>,
}

/// Input ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationIn {
    /// It works without.
    Oblivious,
    /// It needs them.
    Expecting,
    /// It needs them if its window is punct().
    WindowBound,
}

/// Output ports and window markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PunctuationOut {
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
pub enum Windowing {
    NonWindowed,
    Windowed,
    OptionallyWindowed,
}

/// What may be assigned to output attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignment {
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
    /// Its type as SPL writes it, `any`, or the name of a custom literal type.
    pub ty: &'static str,
    /// What may be given.
    pub mode: ParamMode,
    /// It must be given.
    pub mandatory: bool,
    /// It takes a list of values.
    pub list: bool,
    /// Its expressions see only this input port.
    pub port: Option<u32>,
    /// What it means, unit, default.
    pub doc: &'static str,
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
}
