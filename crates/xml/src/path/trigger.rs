//! Matching of triggers: paths from the document that are decided when an element begins.

use super::alternative::PathStep;
use super::name_matching::NameMatching;
use super::xml_path::XmlPath;

/// An element that has begun: its name, and its attributes if a trigger asks for them.
pub(super) type StartTag<'n> = (&'n str, &'n [(String, String)]);

impl XmlPath {
    /// Whether the path, from the document, leads to the last of these nested elements, which are
    /// given outermost first.
    pub(super) fn leads_to(&self, open: &[StartTag<'_>], names: NameMatching) -> bool {
        let mut all = self.alternatives.iter();
        all.any(|alternative| steps_match(&alternative.steps, open, names))
    }

    /// Whether a trigger asks for attributes of elements on its way.
    pub(super) fn needs_attributes(&self) -> bool {
        let mut steps = self.alternatives.iter().flat_map(|path| &path.steps);
        steps.any(|step| !step.conditions.is_empty())
    }
}

/// Whether the steps lead exactly to the last of the open elements.
fn steps_match(steps: &[PathStep], open: &[StartTag<'_>], names: NameMatching) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return open.is_empty();
    };
    let starts = match step.is_deep {
        true => open.len(),
        false => open.len().min(1),
    };
    (0..starts).any(|at| {
        let (name, attributes) = open[at];
        let mut conditions = step.conditions.iter();
        step.matches_name(name, names)
            && conditions.all(|condition| condition.holds_for_attributes(attributes, names))
            && steps_match(rest, &open[at + 1..], names)
    })
}
