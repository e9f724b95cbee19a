//! The place of the cursor: what kind of thing may be written there, and what stands around it.

/// Kind of thing that may be written at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorPlace {
    /// Nothing is proposed: in a comment, a string or a number, where a new name is declared.
    Nothing,
    /// A definition of the file begins.
    Definition,
    /// A namespace or name in a `use` directive.
    Import,
    /// A clause of a composite begins.
    CompositeClause,
    /// Ports in the head of a composite.
    CompositePorts,
    /// A formal of a composite begins.
    Formal,
    /// An invocation begins in a graph clause.
    Invocation,
    /// The name of an operator.
    Operator,
    /// A stream that feeds an operator.
    InputStream,
    /// A clause of an invocation begins.
    InvocationClause,
    /// The name of a parameter.
    Parameter,
    /// The value of a parameter.
    ParameterValue(String),
    /// The name of an output port.
    OutputPort,
    /// An attribute of an output port that is assigned.
    OutputAttribute(String),
    /// The value that an output attribute is assigned.
    OutputValue,
    /// The name of an input port.
    InputPort,
    /// The parts of a window.
    Window,
    /// An entry of a logic clause begins.
    Logic,
    /// A statement begins here.
    Statement,
    /// An expression, or a part of one.
    Expression,
    /// The name of a config entry.
    ConfigName,
    /// A type, or a part of one.
    Type,
    /// A member of a value or composite; the names before the dots.
    Member(Vec<String>),
}

/// An input port of an invocation: its streams, and its alias.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenPort {
    /// Streams that feed the port.
    pub streams: Vec<String>,
    /// Name of the port, `as Alias`.
    pub alias: Option<String>,
}

impl WrittenPort {
    /// The names that mean the port.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let streams = self.streams.iter().map(String::as_str);
        self.alias.as_deref().into_iter().chain(streams)
    }
}

/// Surroundings of the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorContext {
    /// Kind of thing that may be written.
    pub place: CursorPlace,
    /// Byte offset at which the word before the cursor begins.
    pub word_start: u32,
    /// Byte offset at which the definition around the cursor begins.
    pub definition_start: u32,
    /// The composite around the cursor.
    pub composite: Option<String>,
    /// The operator that is invoked, if the cursor is in an invocation.
    pub operator: Option<String>,
    /// Input ports of the invocation.
    pub inputs: Vec<WrittenPort>,
    /// Names of the output ports of the invocation: streams and their aliases.
    pub outputs: Vec<WrittenPort>,
}
