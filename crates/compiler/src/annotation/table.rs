//! The annotations with their keys.

use graph::Role;

use super::Target;

/// An annotation.
pub(super) struct Spec {
    /// Without the `@`.
    pub name: &'static str,
    /// At most one at one place.
    pub once: bool,
    /// Where it may stand.
    pub place: Where,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of an annotation.
pub(super) struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// It must be given.
    pub required: bool,
}

/// What a key takes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    RString,
    Int32,
    Uint32,
    Float64,
    Boolean,
    /// A list of strings.
    Strings,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An output port.
    OutputPort,
    /// A list of input ports.
    InputPorts,
    /// A list of `{port = In, attributes = [a, b]}`.
    PartitionBy,
    /// A list of attributes of the output ports.
    Attributes,
    /// An attribute of the output ports.
    Attribute,
    /// `{attr = a, expr = "regex"}`.
    Filter,
}

/// Where an annotation may stand.
#[derive(Clone, Copy)]
pub(super) enum Where {
    Anywhere,
    Invocation,
    /// The invocation of any operator but Import and Export.
    Inner,
    /// As `Inner`, and not of a source.
    Processing,
    Primitive,
}

impl Where {
    /// Why an annotation cannot stand before a target, to complete "`@x` ...".
    pub fn refuses(self, target: Target<'_>) -> Option<String> {
        let boundary = match target {
            Target::Primitive(model) if model.role == Role::Boundary => Some(model.name),
            _ => None,
        };
        match (self, target) {
            (Where::Anywhere, _) => None,
            (Where::Invocation | Where::Inner, Target::Definition) => Some(
                "stands before the invocation of an operator, not before its definition".into(),
            ),
            (Where::Primitive, Target::Definition | Target::Composite) => {
                Some("stands before the invocation of a primitive operator".into())
            }
            (Where::Inner | Where::Processing, _) if boundary.is_some() => {
                Some(format!("is not for {}", boundary.unwrap_or_default()))
            }
            (Where::Processing, Target::Primitive(model)) if model.inputs.is_empty() => Some(
                format!("is not for sources: {} has no input ports", model.name),
            ),
            _ => None,
        }
    }
}

const fn required(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        required: true,
    }
}

const fn optional(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        required: false,
    }
}

/// All annotations.
pub(super) static TABLE: &[Spec] = &[
    Spec {
        name: "spl_tag",
        once: true,
        place: Where::Anywhere,
        keys: &[required("name", Kind::RString)],
    },
    Spec {
        name: "spl_category",
        once: true,
        place: Where::Anywhere,
        keys: &[required("name", Kind::RString)],
    },
    Spec {
        name: "spl_note",
        once: false,
        place: Where::Anywhere,
        keys: &[
            required("id", Kind::RString),
            required("text", Kind::RString),
        ],
    },
    Spec {
        name: "parallel",
        once: true,
        place: Where::Inner,
        keys: &[
            required("width", Kind::Int32),
            optional("partitionBy", Kind::PartitionBy),
            optional("replicateHostTags", Kind::Strings),
            optional("broadcast", Kind::InputPorts),
        ],
    },
    Spec {
        name: "threading",
        once: true,
        place: Where::Anywhere,
        keys: &[
            required(
                "model",
                Kind::Word(&["dedicated", "automatic", "manual", "dynamic"]),
            ),
            optional("threads", Kind::Int32),
            optional("elastic", Kind::Boolean),
        ],
    },
    Spec {
        name: "consistent",
        once: true,
        place: Where::Inner,
        keys: &[
            required("trigger", Kind::Word(&["periodic", "operatorDriven"])),
            optional("period", Kind::Float64),
            optional("drainTimeout", Kind::Float64),
            optional("resetTimeout", Kind::Float64),
            optional("maxConsecutiveResetAttempts", Kind::Int32),
        ],
    },
    Spec {
        name: "autonomous",
        once: true,
        place: Where::Inner,
        keys: &[],
    },
    Spec {
        name: "catch",
        once: true,
        place: Where::Processing,
        keys: &[
            required("exception", Kind::Word(&["streams", "std", "all", "none"])),
            optional("tupleTrace", Kind::Boolean),
            optional("stackTrace", Kind::Boolean),
        ],
    },
    Spec {
        name: "view",
        once: false,
        place: Where::Invocation,
        keys: &[
            required("name", Kind::RString),
            required("port", Kind::OutputPort),
            required("sampleSize", Kind::Uint32),
            optional("bufferSize", Kind::Uint32),
            optional("bufferTime", Kind::Float64),
            optional("description", Kind::RString),
            optional("attributes", Kind::Attributes),
            optional("filter", Kind::Filter),
            optional("activateOption", Kind::Word(&["automatic", "firstAccess"])),
        ],
    },
    Spec {
        name: "eventTime",
        once: true,
        place: Where::Primitive,
        keys: &[
            required("eventTimeAttribute", Kind::Attribute),
            optional(
                "resolution",
                Kind::Word(&["Milliseconds", "Microseconds", "Nanoseconds"]),
            ),
            optional("minimumGap", Kind::Float64),
            optional("lag", Kind::Float64),
        ],
    },
];
