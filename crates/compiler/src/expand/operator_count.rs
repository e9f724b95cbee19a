//! How large a composite becomes, known before it is expanded: its operators, and the composites
//! within it.
//!
//! Composites that each invoke the one before twice double the program with every line, so a count
//! that looks at each definition once answers long before an expansion would.

use std::collections::HashMap;

use syntax::ast::Composite;

use crate::names::{Definition, SymbolTable, UnitId};

/// Number of operators and composite instances of an expansion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExpansionSize {
    /// Number of primitive operators.
    pub operators: usize,
    /// Number of composite instances, the outermost included.
    pub composites: usize,
}

impl ExpansionSize {
    fn add(&mut self, other: ExpansionSize) {
        self.operators = self.operators.saturating_add(other.operators);
        self.composites = self.composites.saturating_add(other.composites);
    }
}

/// Least sizes of composites, computed when first asked for.
#[derive(Debug, Default)]
pub(super) struct ExpansionSizes {
    known: HashMap<*const Composite, ExpansionSize>,
}

impl ExpansionSizes {
    /// The composites whose sizes are known.
    pub fn measured(&self) -> impl Iterator<Item = *const Composite> {
        self.known.keys().copied()
    }

    /// The least size of an instance of a composite. Each invocation counts once, however many
    /// channels it has; an operator that is a formal, or is not known, counts as nothing, and
    /// neither do composites deeper than `depth_max`.
    pub fn least(
        &mut self,
        symbols: &SymbolTable,
        unit: UnitId,
        composite: &Composite,
        depth_max: usize,
    ) -> ExpansionSize {
        let key = std::ptr::from_ref(composite);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        // A composite within itself is reported when it is expanded.
        self.known.insert(key, ExpansionSize::default());
        let mut size = ExpansionSize {
            operators: 0,
            composites: 1,
        };
        for invocation in &composite.graph {
            let name = &invocation.operator;
            if name.name.text.starts_with('$') {
                continue;
            }
            match symbols.find_operator(unit, name) {
                Some(Definition::Operator(_)) => size.operators = size.operators.saturating_add(1),
                Some(Definition::Composite(unit, inner)) if depth_max > 0 => {
                    size.add(self.least(symbols, unit, inner, depth_max - 1));
                }
                _ => {}
            }
        }
        self.known.insert(key, size);
        size
    }
}
