//! Output tuples of windows, and the keys of their partitions.

use std::collections::BTreeMap;

use graph::{Expr, ExprKind, OperatorNode, Pos, TableId};

use crate::lower;

/// The output tuple, given the results of the calls, and expressions that stand for attributes.
pub(super) fn output(
    operator: &OperatorNode,
    pos: Pos,
    results: &[Expr],
    attributes: &BTreeMap<u32, Expr>,
) -> Expr {
    lower::output(&operator.outputs[0], pos, |assigned| {
        let mut expr = assigned.clone();
        expr.for_each(&mut |part| match part.kind {
            ExprKind::OutputCall(call) => *part = results[call as usize].clone(),
            ExprKind::Attribute { index, .. } => {
                if let Some(kept) = attributes.get(&index) {
                    *part = kept.clone();
                }
            }
            _ => {}
        });
        expr
    })
}

/// The table that a key is of, with the parts of the key.
pub(super) type PartitionKey = (TableId, Vec<Expr>);
