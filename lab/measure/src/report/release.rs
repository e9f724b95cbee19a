//! The results of one release.

use crate::Outcome;

/// What was measured of one release.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Release {
    /// Its name on charts; may be empty if it is the only one.
    pub name: String,
    /// What was measured.
    pub outcomes: Vec<Outcome>,
}
