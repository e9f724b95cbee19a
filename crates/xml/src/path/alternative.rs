//! The parsed form of one alternative of a path: steps between elements, and what is taken at their
//! end.

use super::condition::PathCondition;
use super::name_matching::NameMatching;

/// One of the parts of a path between `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathAlternative {
    /// Steps from an outer element to inner ones.
    pub(super) steps: Vec<PathStep>,
    pub(super) tail: PathTail,
    /// Whether the tail is taken of the last element and of all elements below it.
    pub(super) is_deep: bool,
}

/// A step to children of an element, or to elements at any depth below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathStep {
    /// `None` stands for any name.
    pub(super) name: Option<String>,
    pub(super) is_deep: bool,
    pub(super) conditions: Vec<PathCondition>,
}

/// Part that is taken of the elements that the steps lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathTail {
    Element,
    Text,
    Attribute(String),
    Attributes,
}

impl PathAlternative {
    /// The names of all elements that the tree must keep for this path; `None` stands for any.
    pub(super) fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        let deep = self.is_deep.then_some(None);
        self.steps
            .iter()
            .flat_map(PathStep::element_names)
            .chain(deep)
    }
}

impl PathStep {
    /// The step to children of one name.
    pub(super) fn child(name: &str) -> PathStep {
        PathStep {
            name: Some(name.to_owned()),
            is_deep: false,
            conditions: Vec::new(),
        }
    }

    fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        let name = self.name.as_deref().filter(|_| !self.is_deep);
        let children = self.conditions.iter().flat_map(PathCondition::child_names);
        std::iter::once(name).chain(children.map(Some))
    }

    /// Whether an element of this name passes the step's name test.
    pub(super) fn matches_name(&self, name: &str, names: NameMatching) -> bool {
        let wanted = self.name.as_ref();
        wanted.is_none_or(|wanted| names.matches(wanted, name))
    }
}
