//! Comments in a plan's text: why a choice was made.

use std::sync::Arc;

/// Why a choice of a plan was made, in a few words for people; empty if the user made it.
///
/// A comment is no part of the plan: plans that differ in comments alone are equal, and a plan that
/// is read back from its text has none.
///
/// # Example
/// ```
/// use thalweg_graph::PlanComment;
///
/// let comment = PlanComment::new("same host");
/// assert_eq!(comment.text(), "same host");
/// assert_eq!(comment, PlanComment::default());
/// ```
#[derive(Clone, Debug, Default)]
pub struct PlanComment {
    text: Option<Arc<str>>,
}

impl PlanComment {
    /// A comment of one line.
    pub fn new(text: &str) -> PlanComment {
        let line = text.replace(char::is_control, " ");
        PlanComment {
            text: Some(line.into()),
        }
    }

    /// The words of the comment; empty if there is none.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }
}

impl PartialEq for PlanComment {
    fn eq(&self, _: &PlanComment) -> bool {
        true
    }
}

impl Eq for PlanComment {}
