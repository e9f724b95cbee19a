//! The physical plan: which process, which thread and which medium each part of a program gets.
//!
//! It refers to a [`Program`] by operator number and holds nothing of it, so that one program can
//! have many plans. All operators are fused into one PE; an edge is a direct call.
//!
//! ```text
//!   PE 0
//!     region 0: begins at the source 0, runs 0 1 3
//!     region 1: begins at the source 2, runs 2 3      3 is shared by both regions
//! ```
//!
//! # Invariants
//! Every operator is in exactly one PE. A region's first operator is where it begins. An operator
//! that no source reaches (it is fed only by its own loop) is in no region.

use std::fmt;

use crate::{Edge, OperatorId, Program};

/// How a program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its processes.
    pub pes: Vec<Pe>,
}

/// A processing element: a fused set of operators in one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pe {
    /// Its operators, in order of the program.
    pub operators: Vec<OperatorId>,
    /// What each of its threads runs.
    pub regions: Vec<Region>,
    /// Operators that more than one region runs, in order: they need a lock.
    pub shared: Vec<OperatorId>,
    /// Every edge that ends in this PE, in order of the receiving ports.
    pub edges: Vec<Route>,
}

/// What one thread runs by direct calls, depth first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The source at which it begins.
    pub source: OperatorId,
    /// Every operator that it may reach, the source first, in depth-first order of the calls.
    pub operators: Vec<OperatorId>,
}

/// An edge with its medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The output port.
    pub from: Edge,
    /// The receiving operator.
    pub operator: OperatorId,
    /// Its input port.
    pub port: u32,
    /// How tuples get there.
    pub medium: Medium,
}

/// How tuples cross an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// By a direct call.
    Fused,
}

impl Plan {
    /// The plan as text, with the operators' names.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        Text {
            plan: self,
            program,
        }
    }
}

impl Pe {
    /// Whether more than one region runs an operator.
    pub fn is_shared(&self, operator: OperatorId) -> bool {
        self.shared.binary_search(&operator).is_ok()
    }
}

struct Text<'a> {
    plan: &'a Plan,
    program: &'a Program,
}

impl Text<'_> {
    fn name(&self, id: OperatorId) -> &str {
        let operator = self.program.operators.get(id.0 as usize);
        operator.map_or("?", |o| &*o.name)
    }

    fn pe(&self, f: &mut fmt::Formatter<'_>, pe: &Pe) -> fmt::Result {
        for (number, region) in pe.regions.iter().enumerate() {
            let names: Vec<_> = region.operators.iter().map(|&o| self.name(o)).collect();
            writeln!(f, "  region {number}: {}", names.join(" "))?;
        }
        if !pe.shared.is_empty() {
            let names: Vec<_> = pe.shared.iter().map(|&o| self.name(o)).collect();
            writeln!(f, "  shared: {}", names.join(" "))?;
        }
        for route in &pe.edges {
            let from = self.name(route.from.operator);
            let to = self.name(route.operator);
            let Medium::Fused = route.medium;
            writeln!(
                f,
                "  edge {from}.{} -> {to}.{} fused",
                route.from.port, route.port
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan {}", self.program.name)?;
        for (number, pe) in self.plan.pes.iter().enumerate() {
            writeln!(f, "pe {number}: {} operators", pe.operators.len())?;
            self.pe(f, pe)?;
        }
        Ok(())
    }
}
