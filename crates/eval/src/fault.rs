//! Faults of a running program: SPL's run-time exceptions.

use std::fmt;

use graph::Pos;

/// A run-time failure. It ends the operator (and the program) unless something catches it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault(Box<FaultDetails>);

#[derive(Clone, Debug, PartialEq)]
struct FaultDetails {
    kind: FaultKind,
    message: String,
    pos: Option<Pos>,
}

/// Kind of a fault; decides which faults `@catch` takes and how the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Out-of-range index, missing key, failed cast, unwrapped null: the SPL runtime's exceptions.
    Value,
    /// Integer division by zero.
    Division,
    /// `assert` failed or `abort` was called.
    Abort,
    /// An operating system call failed: file, directory, disk.
    System,
    /// A limit of the implementation.
    Limit,
}

impl Fault {
    /// A failure with its sentence (no full stop).
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault(Box::new(FaultDetails {
            kind,
            message: message.into(),
            pos: None,
        }))
    }

    /// A fault of the kind [`FaultKind::Value`].
    pub fn value(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Value, message)
    }

    /// Sets the place, if none is set yet.
    pub fn with_pos(mut self, pos: Pos) -> Fault {
        self.0.pos.get_or_insert(pos);
        self
    }

    /// Kind of the fault.
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// Sentence that describes the fault.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Position in the program, if known.
    pub fn pos(&self) -> Option<Pos> {
        self.0.pos
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Fault {}
