//! Storage of local variables while code is generated.

use cranelift_codegen::ir;
use cranelift_frontend::Variable;
use tuple::Type;

use super::body_usage::LocalUsage;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

/// Kind of storage that a local variable needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    /// Nowhere: it is another name of a value.
    Alias,
    /// One machine variable for each part.
    Registers,
    /// A `Value` in the call frame of the machine function.
    Memory,
}

/// Storage of a local variable while code is generated.
#[derive(Clone, Debug)]
pub enum LocalStorage {
    /// The variable has no value yet.
    Unset,
    /// The lowered value that the variable was set to.
    Alias(LoweredValue),
    /// A variable for each part.
    Registers(Vec<Variable>),
    /// Storage for each attribute of a tuple.
    Fields(Vec<LocalStorage>),
    /// A `Value` at an address.
    Memory(ir::Value),
}

/// Kind of storage that a variable of a type needs, given its usage.
pub fn storage_kind(ty: &Type, used: &LocalUsage) -> StorageKind {
    if used.in_place || used.is_loop_carried && !type_parts::is_plain(ty) {
        StorageKind::Memory
    } else if used.initializations + used.assignments <= 1 && used.fields.is_empty() {
        StorageKind::Alias
    } else {
        StorageKind::Registers
    }
}
