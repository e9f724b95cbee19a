//! Where a local variable lives while code is made.

use super::body_usage::LocalUsage;
use crate::lowered_value::LoweredValue;
use crate::type_parts;
use cranelift_codegen::ir;
use cranelift_frontend::Variable;
use tuple::Type;
/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalHome {
    /// Nowhere: it is another name of a value.
    Alias,
    /// In registers.
    Registers,
    /// In a `Value`.
    Memory,
}

/// A variable's home while code is made.
#[derive(Clone, Debug)]
pub enum LocalStorage {
    /// Not set yet.
    Unset,
    /// What it was set to.
    Alias(LoweredValue),
    /// A variable for each part.
    Registers(Vec<Variable>),
    /// A home for each attribute.
    Fields(Vec<LocalStorage>),
    /// A `Value` at an address.
    Memory(ir::Value),
}

/// Where a variable of a type that is used so has to live.
pub fn local_home(ty: &Type, used: &LocalUsage) -> LocalHome {
    if used.in_place || used.is_loop_carried && !type_parts::is_plain(ty) {
        LocalHome::Memory
    } else if used.initializations + used.assignments <= 1 && used.fields.is_empty() {
        LocalHome::Alias
    } else {
        LocalHome::Registers
    }
}
