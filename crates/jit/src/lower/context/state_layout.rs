//! Types and places of an operator's state variables.

use eval::{TableLayouts, TableVariable};
use graph::StateId;
use runtime::abi::CodeScope;
use tuple::Type;

/// Types and places of an operator's state variables.
#[derive(Debug, Default)]
pub struct StateLayout {
    /// The types of the variables.
    pub types: Vec<Type>,
    /// The layouts of the tables.
    pub tables: Vec<TableLayouts>,
    /// For each variable of a table, the index of the table, and the place there.
    homes: Vec<Option<(usize, TableVariable)>>,
}

impl StateLayout {
    /// The layout of what an operator's code may name.
    pub fn from_scope(scope: &CodeScope<'_>) -> StateLayout {
        let mut layout = StateLayout {
            types: scope.state.iter().map(|var| var.ty.clone()).collect(),
            tables: Vec::new(),
            homes: vec![None; scope.state.len()],
        };
        for (at, table) in scope.tables.iter().enumerate() {
            let layouts = TableLayouts::new(table, scope.state);
            for (variable, &home) in table.variables.iter().zip(&layouts.homes) {
                layout.homes[variable.0 as usize] = Some((at, home));
            }
            layout.tables.push(layouts);
        }
        layout
    }

    /// Type of a variable.
    pub fn ty(&self, variable: StateId) -> &Type {
        &self.types[variable.0 as usize]
    }

    /// Table of a variable that lives in one, and the place there.
    pub fn home(&self, variable: StateId) -> Option<(usize, TableVariable)> {
        self.homes[variable.0 as usize]
    }
}
