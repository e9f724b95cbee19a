//! A walk from an element along a path.

use super::{Alternative, Node, Path, Step, Tail};
use crate::xml::element::Element;
use crate::xml::names::Names;

impl Path {
    /// What the path finds from an element, in the order of the document.
    pub fn select<'e>(&self, from: &'e Element, names: Names) -> Vec<Node<'e>> {
        let mut walk = Walk {
            alternatives: &self.alternatives,
            names,
            found: Vec::new(),
        };
        let active: Vec<_> = (0..self.alternatives.len()).map(|one| (one, 0)).collect();
        walk.visit(from, &active);
        walk.found
    }
}

/// An alternative, and how many of its steps are taken.
type Active = (usize, usize);

struct Walk<'p, 'e> {
    alternatives: &'p [Alternative],
    names: Names,
    found: Vec<Node<'e>>,
}

impl<'e> Walk<'_, 'e> {
    fn visit(&mut self, at: &'e Element, active: &[Active]) {
        for &(one, taken) in active {
            let one = &self.alternatives[one];
            if taken == one.steps.len() {
                take(at, &one.tail, self.names, &mut self.found);
            }
        }
        let mut further: Vec<(usize, Active)> = Vec::new();
        for &active in active {
            self.step(at, active, &mut further);
        }
        further.sort_unstable();
        // Two ways of an alternative may meet: what is found by both is found once.
        further.dedup();
        for group in further.chunk_by(|a, b| a.0 == b.0) {
            let active: Vec<Active> = group.iter().map(|(_, active)| *active).collect();
            self.visit(&at.children[group[0].0], &active);
        }
    }

    /// The children that an alternative goes on to, and how far it is there.
    fn step(&self, at: &Element, (one, taken): Active, further: &mut Vec<(usize, Active)>) {
        let alternative = &self.alternatives[one];
        let step = alternative.steps.get(taken);
        if step.map_or(alternative.is_deep, |step| step.is_deep) {
            further.extend((0..at.children.len()).map(|child| (child, (one, taken))));
        }
        if let Some(step) = step {
            let children = step.among(&at.children, self.names);
            further.extend(children.into_iter().map(|child| (child, (one, taken + 1))));
        }
    }
}

impl Step {
    /// The numbers of those of an element's children that the step takes. A condition counts what
    /// those before it have left.
    fn among(&self, children: &[Element], names: Names) -> Vec<usize> {
        let named = (0..children.len()).filter(|&at| self.takes(&children[at].name, names));
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

fn take<'e>(of: &'e Element, tail: &Tail, names: Names, found: &mut Vec<Node<'e>>) {
    match tail {
        Tail::Element | Tail::Attributes => found.push(Node::Element(of)),
        Tail::Text if of.text.is_empty() => {}
        Tail::Text => found.push(Node::Text(&of.text)),
        Tail::Attribute(wanted) => {
            let mut named = of.attributes.iter();
            let value = named.find(|(name, _)| names.same(wanted, name));
            found.extend(value.map(|(_, value)| Node::Text(value)));
        }
    }
}
