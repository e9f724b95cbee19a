//! Table of annotations: their keys, the values that these take, and the places where each
//! annotation may stand.

use graph::OperatorRole;

use super::target::AnnotationTarget;

/// Row of the table: an annotation that the compiler knows.
pub(super) struct AnnotationSpec {
    /// Name as it is written behind the `@`.
    pub name: &'static str,
    /// At most one at one place.
    pub once: bool,
    /// Where it may stand.
    pub allowed: AllowedTarget,
    /// Keys that the annotation takes.
    pub keys: &'static [AnnotationKey],
}

/// A key of an annotation.
pub(super) struct AnnotationKey {
    /// Name of the key, as it is written before `=`.
    pub name: &'static str,
    /// Kind of value that the key takes.
    pub kind: AnnotationKeyKind,
    /// Whether the annotation is refused without this key.
    pub required: bool,
}

/// Kind of value that a key takes.
#[derive(Clone, Copy)]
pub(super) enum AnnotationKeyKind {
    RString,
    Int32,
    Uint32,
    Float64,
    Boolean,
    /// A list of strings.
    Strings,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Name of an output port of the invocation.
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
pub(super) enum AllowedTarget {
    Anywhere,
    Invocation,
    /// The invocation of any operator but Import and Export.
    Inner,
    /// As `Inner`, and not of a source.
    Processing,
    Primitive,
}

impl AllowedTarget {
    /// Why an annotation cannot stand before a target, to complete "`@x` ...".
    pub fn refuses(self, target: AnnotationTarget<'_>) -> Option<String> {
        let boundary = match target {
            AnnotationTarget::Primitive(model) if model.role == OperatorRole::Boundary => {
                Some(model.name)
            }
            _ => None,
        };
        match (self, target) {
            (AllowedTarget::Anywhere, _) => None,
            (AllowedTarget::Invocation | AllowedTarget::Inner, AnnotationTarget::Definition) => {
                Some(
                    "stands before the invocation of an operator, not before its definition".into(),
                )
            }
            (
                AllowedTarget::Primitive,
                AnnotationTarget::Definition | AnnotationTarget::Composite,
            ) => Some("stands before the invocation of a primitive operator".into()),
            (AllowedTarget::Inner | AllowedTarget::Processing, _) if boundary.is_some() => {
                Some(format!("is not for {}", boundary.unwrap_or_default()))
            }
            (AllowedTarget::Processing, AnnotationTarget::Primitive(model))
                if model.inputs.is_empty() =>
            {
                Some(format!(
                    "is not for sources: {} has no input ports",
                    model.name
                ))
            }
            _ => None,
        }
    }
}

const fn required(name: &'static str, kind: AnnotationKeyKind) -> AnnotationKey {
    AnnotationKey {
        name,
        kind,
        required: true,
    }
}

const fn optional(name: &'static str, kind: AnnotationKeyKind) -> AnnotationKey {
    AnnotationKey {
        name,
        kind,
        required: false,
    }
}

/// Table of all annotations that the compiler knows.
pub(super) static ANNOTATIONS: &[AnnotationSpec] = &[
    AnnotationSpec {
        name: "spl_tag",
        once: true,
        allowed: AllowedTarget::Anywhere,
        keys: &[required("name", AnnotationKeyKind::RString)],
    },
    AnnotationSpec {
        name: "spl_category",
        once: true,
        allowed: AllowedTarget::Anywhere,
        keys: &[required("name", AnnotationKeyKind::RString)],
    },
    AnnotationSpec {
        name: "spl_note",
        once: false,
        allowed: AllowedTarget::Anywhere,
        keys: &[
            required("id", AnnotationKeyKind::RString),
            required("text", AnnotationKeyKind::RString),
        ],
    },
    AnnotationSpec {
        name: "parallel",
        once: true,
        allowed: AllowedTarget::Inner,
        keys: &[
            required("width", AnnotationKeyKind::Int32),
            optional("partitionBy", AnnotationKeyKind::PartitionBy),
            optional("replicateHostTags", AnnotationKeyKind::Strings),
            optional("broadcast", AnnotationKeyKind::InputPorts),
        ],
    },
    AnnotationSpec {
        name: "threading",
        once: true,
        allowed: AllowedTarget::Anywhere,
        keys: &[
            required(
                "model",
                AnnotationKeyKind::Word(&["dedicated", "automatic", "manual", "dynamic"]),
            ),
            optional("threads", AnnotationKeyKind::Int32),
            optional("elastic", AnnotationKeyKind::Boolean),
        ],
    },
    AnnotationSpec {
        name: "consistent",
        once: true,
        allowed: AllowedTarget::Inner,
        keys: &[
            required(
                "trigger",
                AnnotationKeyKind::Word(&["periodic", "operatorDriven"]),
            ),
            optional("period", AnnotationKeyKind::Float64),
            optional("drainTimeout", AnnotationKeyKind::Float64),
            optional("resetTimeout", AnnotationKeyKind::Float64),
            optional("maxConsecutiveResetAttempts", AnnotationKeyKind::Int32),
        ],
    },
    AnnotationSpec {
        name: "autonomous",
        once: true,
        allowed: AllowedTarget::Inner,
        keys: &[],
    },
    AnnotationSpec {
        name: "catch",
        once: true,
        allowed: AllowedTarget::Processing,
        keys: &[
            required(
                "exception",
                AnnotationKeyKind::Word(&["streams", "std", "all", "none"]),
            ),
            optional("tupleTrace", AnnotationKeyKind::Boolean),
            optional("stackTrace", AnnotationKeyKind::Boolean),
        ],
    },
    AnnotationSpec {
        name: "view",
        once: false,
        allowed: AllowedTarget::Invocation,
        keys: &[
            required("name", AnnotationKeyKind::RString),
            required("port", AnnotationKeyKind::OutputPort),
            required("sampleSize", AnnotationKeyKind::Uint32),
            optional("bufferSize", AnnotationKeyKind::Uint32),
            optional("bufferTime", AnnotationKeyKind::Float64),
            optional("description", AnnotationKeyKind::RString),
            optional("attributes", AnnotationKeyKind::Attributes),
            optional("filter", AnnotationKeyKind::Filter),
            optional(
                "activateOption",
                AnnotationKeyKind::Word(&["automatic", "firstAccess"]),
            ),
        ],
    },
    AnnotationSpec {
        name: "eventTime",
        once: true,
        allowed: AllowedTarget::Primitive,
        keys: &[
            required("eventTimeAttribute", AnnotationKeyKind::Attribute),
            optional(
                "resolution",
                AnnotationKeyKind::Word(&["Milliseconds", "Microseconds", "Nanoseconds"]),
            ),
            optional("minimumGap", AnnotationKeyKind::Float64),
            optional("lag", AnnotationKeyKind::Float64),
        ],
    },
];
