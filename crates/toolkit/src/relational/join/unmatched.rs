//! Outer joins: what becomes of a tuple that leaves its window and has found no partner.

use graph::{Expr, ExprKind, OperatorNode, PortIndex, Stmt};

use super::verify::{algorithm, outer_sides};
use crate::kept_tuple::KeptTuple;
use crate::lower;
use crate::stateful_lowering::StatefulLowering;

const DEFAULT_TUPLE: [&str; 2] = ["defaultTupleLHS", "defaultTupleRHS"];

/// The output for a side's tuples that find no partner.
pub enum UnmatchedOutput {
    /// The tuple itself, at this port.
    Submit(PortIndex),
    /// A pair with a tuple of the other side: that of a variable, or one of default values.
    Pair(Option<Expr>),
}

impl UnmatchedOutput {
    /// The output for tuples of a side, if they are not dropped.
    pub fn of(
        operator: &OperatorNode,
        side: usize,
        code: &mut StatefulLowering,
    ) -> Option<UnmatchedOutput> {
        let (outer, _) = outer_sides(algorithm(operator));
        let at = outer.iter().position(|&other| other == side)?;
        if operator.outputs.len() > 1 {
            return Some(UnmatchedOutput::Submit(PortIndex(at as u32 + 1)));
        }
        let name = DEFAULT_TUPLE[1 - side];
        let default = lower::param(operator, name);
        let variable = default.map(|default| code.initialized_variable(name, default));
        Some(UnmatchedOutput::Pair(variable))
    }

    /// The expressions that read tuples which have found no partner.
    pub fn read(&self, operator: &OperatorNode, side: usize) -> Option<Expr> {
        let is_whole = matches!(self, UnmatchedOutput::Submit(_));
        is_whole.then(|| lower::input(operator, PortIndex(side as u32)))
    }

    /// Statements that submit a tuple of a side: that of the current entry, or, without a kept one,
    /// the one that is here. `submitted` are run before a pair.
    pub fn submit(
        &self,
        operator: &OperatorNode,
        side: usize,
        kept: Option<&KeptTuple>,
        submitted: Stmt,
    ) -> Vec<Stmt> {
        let own = |expr: &Expr| match kept {
            Some(kept) => kept.substitute(expr, operator),
            None => expr.clone(),
        };
        match self {
            UnmatchedOutput::Submit(port) => {
                let tuple = own(&lower::input(operator, PortIndex(side as u32)));
                vec![lower::submit(*port, tuple)]
            }
            UnmatchedOutput::Pair(default) => {
                let tuple = lower::output(&operator.outputs[0], operator.pos, |assigned| {
                    with_default(own(assigned), PortIndex(1 - side as u32), default.as_ref())
                });
                vec![submitted, lower::submit(PortIndex(0), tuple)]
            }
        }
    }
}

/// An expression in which a default tuple stands for that of a port.
fn with_default(mut expr: Expr, of: PortIndex, default: Option<&Expr>) -> Expr {
    expr.for_each(&mut |part| match part.kind {
        ExprKind::Attribute { port, index, .. } if port == of => {
            let ty = part.ty.clone();
            *part = match default {
                Some(tuple) => {
                    let field = ExprKind::Field(Box::new(tuple.clone()), index);
                    lower::expr(field, ty, part.pos)
                }
                None => lower::default_value(&ty, part.pos),
            };
        }
        ExprKind::Input { port, .. } if port == of => {
            *part = match default {
                Some(tuple) => tuple.clone(),
                None => lower::default_value(&part.ty, part.pos),
            };
        }
        _ => {}
    });
    expr
}
