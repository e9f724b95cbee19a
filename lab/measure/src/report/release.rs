//! The results of one release.

use crate::Outcome;

/// The results of one release, as charts and comparisons take them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Release {
    /// Name of the release on charts; may be empty if it is the only one.
    pub name: String,
    /// Results that were measured of the release.
    pub outcomes: Vec<Outcome>,
}
