//! Definite assignment: the variables that surely have a value at a point of a body, and whether
//! the point can be reached.

use graph::LocalId;

/// Variables that have a value at one point of a body, and whether the point can be reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefiniteAssignment {
    assigned: Vec<bool>,
    /// Control never gets here: after `return`, `break`, `continue`.
    pub is_unreachable: bool,
    /// How many loops are around.
    pub loops: u32,
}

impl DefiniteAssignment {
    /// Whether a variable surely has a value. Where control never gets, everything has.
    pub fn is_assigned(&self, id: LocalId) -> bool {
        self.is_unreachable || self.assigned.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// A variable gets a value.
    pub fn assign(&mut self, id: LocalId) {
        let at = id.0 as usize;
        if self.assigned.len() <= at {
            self.assigned.resize(at + 1, false);
        }
        self.assigned[at] = true;
    }

    /// The point where two ways meet: assigned is what is assigned on both.
    pub fn join(self, other: DefiniteAssignment) -> DefiniteAssignment {
        if self.is_unreachable {
            return other;
        }
        if other.is_unreachable {
            return self;
        }
        let both = self
            .assigned
            .iter()
            .zip(&other.assigned)
            .map(|(a, b)| *a && *b)
            .collect();
        DefiniteAssignment {
            assigned: both,
            is_unreachable: false,
            loops: self.loops,
        }
    }
}
