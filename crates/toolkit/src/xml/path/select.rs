//! A walk from an element along a path.

use super::{PathAlternative, PathStep, PathTail, SelectedNode, XmlPath};
use crate::xml::name_matching::NameMatching;
use crate::xml::xml_element::XmlElement;

impl XmlPath {
    /// What the path finds from an element, in the order of the document.
    pub fn select<'e>(&self, from: &'e XmlElement, names: NameMatching) -> Vec<SelectedNode<'e>> {
        let mut walk = PathWalk {
            alternatives: &self.alternatives,
            names,
            selected: Vec::new(),
        };
        let active: Vec<_> = (0..self.alternatives.len()).map(|one| (one, 0)).collect();
        walk.visit(from, &active);
        walk.selected
    }
}

/// An alternative, and how many of its steps are taken.
type PathProgress = (usize, usize);

struct PathWalk<'p, 'e> {
    alternatives: &'p [PathAlternative],
    names: NameMatching,
    selected: Vec<SelectedNode<'e>>,
}

impl<'e> PathWalk<'_, 'e> {
    fn visit(&mut self, at: &'e XmlElement, active: &[PathProgress]) {
        for &(one, taken) in active {
            let one = &self.alternatives[one];
            if taken == one.steps.len() {
                select_tail(at, &one.tail, self.names, &mut self.selected);
            }
        }
        let mut further: Vec<(usize, PathProgress)> = Vec::new();
        for &active in active {
            self.advance(at, active, &mut further);
        }
        further.sort_unstable();
        // Two ways of an alternative may meet: what is found by both is found once.
        further.dedup();
        for group in further.chunk_by(|a, b| a.0 == b.0) {
            let active: Vec<PathProgress> = group.iter().map(|(_, active)| *active).collect();
            self.visit(&at.children[group[0].0], &active);
        }
    }

    /// The children that an alternative goes on to, and how far it is there.
    fn advance(
        &self,
        at: &XmlElement,
        (one, taken): PathProgress,
        further: &mut Vec<(usize, PathProgress)>,
    ) {
        let alternative = &self.alternatives[one];
        let step = alternative.steps.get(taken);
        if step.map_or(alternative.is_deep, |step| step.is_deep) {
            further.extend((0..at.children.len()).map(|child| (child, (one, taken))));
        }
        if let Some(step) = step {
            let children = step.matching_children(&at.children, self.names);
            further.extend(children.into_iter().map(|child| (child, (one, taken + 1))));
        }
    }
}

impl PathStep {
    /// The numbers of those of an element's children that the step takes. A condition counts what
    /// those before it have left.
    fn matching_children(&self, children: &[XmlElement], names: NameMatching) -> Vec<usize> {
        let named = (0..children.len()).filter(|&at| self.matches_name(&children[at].name, names));
        let mut left: Vec<usize> = named.collect();
        for condition in &self.conditions {
            let (mut position, count) = (0, left.len());
            left.retain(|&at| {
                position += 1;
                condition.holds(&children[at], (position, count), names)
            });
        }
        left
    }
}

fn select_tail<'e>(
    of: &'e XmlElement,
    tail: &PathTail,
    names: NameMatching,
    found: &mut Vec<SelectedNode<'e>>,
) {
    match tail {
        PathTail::Element | PathTail::Attributes => found.push(SelectedNode::Element(of)),
        PathTail::Text if of.text.is_empty() => {}
        PathTail::Text => found.push(SelectedNode::Text(&of.text)),
        PathTail::Attribute(wanted) => {
            let mut named = of.attributes.iter();
            let value = named.find(|(name, _)| names.matches(wanted, name));
            found.extend(value.map(|(_, value)| SelectedNode::Text(value)));
        }
    }
}
