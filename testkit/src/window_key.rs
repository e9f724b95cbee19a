//! Windows of an Aggregate in tests: by which key their tuples are kept apart, and their results.

use graph::{Expr, ExprKind, Partition};
use tuple::Type;

use crate::{OperatorBuilder, exprs};

/// Whether tuples of a window are kept apart by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKey {
    /// All tuples are together.
    None,
    /// Partitions of the parameter `partitionBy`.
    Partition,
    /// Groups of the parameter `groupBy`.
    Group,
}

/// A result of a window: name, output function, arguments, type.
pub type WindowResult = (&'static str, &'static str, Vec<Expr>, Type);

impl WindowKey {
    /// The partition of the window.
    pub fn partition(self) -> Option<Partition> {
        (self == WindowKey::Partition).then_some(Partition { evict: None })
    }

    /// Gives an Aggregate its parameter for a key, and output `Out` with results and the key.
    pub fn add_to(
        self,
        operator: OperatorBuilder,
        key: &Expr,
        results: Vec<WindowResult>,
    ) -> OperatorBuilder {
        let mut operator = match self {
            WindowKey::None => operator,
            WindowKey::Partition => operator.param("partitionBy", [key.clone()]),
            WindowKey::Group => operator.param("groupBy", [key.clone()]),
        };
        operator = operator.output("Out", WindowKey::output(key, &results));
        let mut assigned = Vec::new();
        for (at, (_, function, arguments, ty)) in results.into_iter().enumerate() {
            let call = ExprKind::OutputCall(at as u32);
            assigned.push(Some(exprs::expr(call, ty.clone())));
            operator = operator.call(function, arguments, ty);
        }
        assigned.push(Some(key.clone()));
        operator.assign(assigned)
    }

    /// Attributes of the output: results, then the key.
    pub fn output(key: &Expr, results: &[WindowResult]) -> Vec<(&'static str, Type)> {
        let names = results.iter().map(|(name, .., ty)| (*name, ty.clone()));
        names.chain([("key", key.ty.clone())]).collect()
    }
}
