//! Tuples that entries of a table keep: the attributes that an operator's expressions read.

use std::collections::{BTreeMap, BTreeSet};

use graph::{Expr, ExprKind, OperatorNode, PortIndex, Stmt, TableId};

use crate::lower;
use crate::stateful_lowering::StatefulLowering;

/// Variables of a table that keep the attributes of an input port's tuples that are read.
pub struct KeptTuple {
    port: PortIndex,
    /// By index of the attribute.
    attributes: BTreeMap<u32, Expr>,
}

impl KeptTuple {
    /// Adds variables to a table for what expressions read of a port's tuples.
    pub fn new<'e>(
        operator: &OperatorNode,
        port: PortIndex,
        exprs: impl Iterator<Item = &'e Expr>,
        table: TableId,
        code: &mut StatefulLowering,
    ) -> KeptTuple {
        let schema = &operator.inputs[port.index()].schema.attributes;
        let mut read = BTreeSet::new();
        for expr in exprs {
            expr.for_each_ref(&mut |part| match part.kind {
                ExprKind::Attribute {
                    port: of, index, ..
                } if of == port => {
                    read.insert(index);
                }
                ExprKind::Input { port: of, .. } if of == port => {
                    read.extend(0..schema.len() as u32);
                }
                _ => {}
            });
        }
        let variables = read.into_iter().map(|index| {
            let attribute = &schema[index as usize];
            let ty = attribute.ty.clone();
            (index, code.variable(Some(table), &attribute.name, ty))
        });
        KeptTuple {
            port,
            attributes: variables.collect(),
        }
    }

    /// An expression in which the current entry stands for the port's tuple.
    pub fn substitute(&self, expr: &Expr, operator: &OperatorNode) -> Expr {
        let mut expr = expr.clone();
        expr.for_each(&mut |part| match part.kind {
            ExprKind::Attribute { port, index, .. } if port == self.port => {
                *part = self.attributes[&index].clone();
            }
            ExprKind::Input { port, .. } if port == self.port => {
                let schema = &operator.inputs[port.index()].schema;
                let attributes = self.attributes.values().cloned().collect();
                *part = lower::tuple(attributes, schema, part.pos);
            }
            _ => {}
        });
        expr
    }

    /// Statements that keep the tuple that is here in the current entry.
    pub fn keep(&self, code: &StatefulLowering) -> impl Iterator<Item = Stmt> {
        self.attributes.iter().map(|(&index, kept)| {
            let kind = ExprKind::Attribute {
                port: self.port,
                history: 0,
                index,
            };
            code.set(kept, lower::expr(kind, kept.ty.clone(), code.pos))
        })
    }
}
