//! Stage `index`: names and their meanings. Loaded units, their namespaces, and the scopes within
//! them.
//!
//! [`SymbolTable`] is everything that can be named from anywhere, indexed by namespace. A [`Scope`]
//! is what can be named at one place: a chain of levels from the innermost block out to the unit.

mod composite_scope;
mod enumerator;
mod foreign_names;
mod foreign_operators;
mod lazy_result;
mod lookup;
mod misplaced;
mod namespace_index;
mod operator_scope;
mod regrouped_exprs;
mod scope;
mod stream_id;
mod suggest;
mod symbol_table;
mod symbols_text;
mod unit;

pub use composite_scope::{CompositeScope, CompositeStream, FormalBinding, StreamSchema};
pub use enumerator::Enumerator;
pub(crate) use enumerator::{
    in_definition as enumerators_in_definition, in_type as enumerators_in_type,
};
pub(crate) use foreign_names::{foreign_function, foreign_param, sends};
pub(crate) use lazy_result::{CircularDefinition, LazyResult};
pub(crate) use lookup::LANGUAGE_FUNCTIONS;
pub use lookup::{Definition, DefinitionKind};
pub(crate) use misplaced::MisplacedDefinition;
pub(crate) use namespace_index::{duplicate_enumerator, name_in_prototype};
pub use operator_scope::{
    ChannelPosition, OperatorScope, ScopeInputPort, ScopeOutputPort, StateEntry,
};
pub(crate) use scope::{BlockScope, LocalEntry, LocalKind, LocalType};
pub use scope::{Scope, ScopeLevel};
pub use stream_id::StreamId;
pub use suggest::{Suggestions, did_you_mean, nearest};
pub use symbol_table::SymbolTable;
pub use unit::{IMPLICIT_USES, LoadedUnit, UnitId};
