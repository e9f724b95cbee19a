//! Entries of the registry: which operators there are, and how each is made.

use eval::Fault;
use graph::OperatorModel;

use crate::abi::LoweredLogic;
use crate::contract::build_context::BuildContext;
use crate::contract::operator::Operator;
use crate::inserted::inserted_operator::InsertedOperator;

/// How an operator is made: as data, or as Rust code.
#[derive(Clone, Copy, Debug)]
pub enum OperatorConstructor {
    /// Makes typed statements, which a backend interprets or compiles.
    Lower(fn(&graph::OperatorNode) -> Result<LoweredLogic, Fault>),
    /// Makes an operator that is Rust code.
    Build(fn(&mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault>),
    /// Makes an operator that a plan inserts; only entries of [`crate::crossing`] have it.
    Insert(InsertedConstructor),
    /// Chooses one of the others, depending on how the operator is invoked.
    Choose(fn(&graph::OperatorNode) -> OperatorConstructor),
}

/// The function that makes an inserted operator.
#[derive(Clone, Copy, Debug)]
pub struct InsertedConstructor {
    pub(crate) make: MakeInserted,
}

type MakeInserted = fn(&mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault>;

/// An entry of the registry: an operator's model and its constructor.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use graph::{InPortModel, OperatorModel, PortIndex};
/// use runtime::{BuildContext, Operator, OperatorEntry, Outlet};
/// use tuple::TupleRef;
///
/// struct Discard;
///
/// impl Operator for Discard {
///     fn process(
///         &mut self,
///         _port: PortIndex,
///         _tuple: TupleRef<'_>,
///         _out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         Ok(())
///     }
/// }
///
/// fn build(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
///     Ok(Box::new(Discard))
/// }
///
/// static MODEL: OperatorModel = OperatorModel {
///     namespace: "my.operators",
///     name: "Discard",
///     doc: "Takes tuples and does nothing with them.",
///     inputs: &[InPortModel::ANY],
///     ..OperatorModel::DEFAULT
/// };
///
/// const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);
/// assert_eq!(ENTRY.model.name, "Discard");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OperatorEntry {
    /// The interface of the operator: ports, parameters, docs.
    pub model: &'static OperatorModel,
    /// The function that makes the operator.
    pub constructor: OperatorConstructor,
}

impl OperatorEntry {
    /// The entry of an operator that is Rust code.
    pub const fn built(
        model: &'static OperatorModel,
        make: fn(&mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault>,
    ) -> OperatorEntry {
        let make = OperatorConstructor::Build(make);
        OperatorEntry {
            model,
            constructor: make,
        }
    }

    /// The entry of a kind of operator, `namespace::Name`, if the registry has it.
    pub fn find(registry: &[OperatorEntry], kind: &str) -> Option<OperatorEntry> {
        let (namespace, name) = kind.split_once("::")?;
        let mut entries = registry.iter().copied();
        entries.find(|entry| (entry.model.namespace, entry.model.name) == (namespace, name))
    }

    /// The entry of an operator that a plan inserts.
    pub(crate) const fn inserted(
        model: &'static OperatorModel,
        make: MakeInserted,
    ) -> OperatorEntry {
        OperatorEntry {
            model,
            constructor: OperatorConstructor::Insert(InsertedConstructor { make }),
        }
    }
}
