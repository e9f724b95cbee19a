//! Names and what they mean: the loaded units, their namespaces, and the scopes within them.
//!
//! [`World`] is everything that can be named from anywhere, indexed by namespace. A [`Scope`] is what
//! can be named at one place: a chain of frames from the innermost block out to the unit.

mod composite;
mod elsewhere;
mod enumerator;
mod index;
mod lookup;
mod operator;
mod regrouped;
mod scope;
mod suggest;
mod unit;
mod world;

pub use composite::{Binding, CompositeFrame, Schema, Stream, StreamId};
pub(crate) use elsewhere::foreign_function;
pub use enumerator::Enumerator;
pub(crate) use enumerator::{
    in_definition as enumerators_in_definition, in_type as enumerators_in_type,
};
pub(crate) use index::{duplicate_enumerator, name_in_prototype};
pub use lookup::{Found, Kind};
pub use operator::{Channel, InputPort, OperatorFrame, OutputPort, StateEntry};
pub(crate) use scope::{BlockFrame, LocalEntry, LocalKind, LocalType};
pub use scope::{Frame, Scope};
pub use suggest::{Suggestions, did_you_mean, nearest};
pub use unit::{IMPLICIT_USES, LoadedUnit, UnitId};
pub use world::World;
