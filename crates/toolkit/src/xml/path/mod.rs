//! Paths to nodes of a document: the part of XPath that XMLParse has.
//!
//! ```text
//! path        = alternative ('|' alternative)*
//! alternative = '/'? '/'? step ('/' '/'? step)*     with '/' in front: from the document;
//!                                                   '//': of any depth
//! step        = '.' | name condition* | '*' condition*
//!             | 'text()' | '@' name | '@*'          at the end
//! condition   = '[' ... ']'                         see `condition`
//! ```
//! An element without text has no `text()`: a path to it finds nothing.

mod condition;
mod parse;
mod select;
#[cfg(test)]
mod tests;

use super::name_matching::NameMatching;
use super::xml_element::XmlElement;
use condition::PathCondition;

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlPath {
    /// As it was written.
    pub text: String,
    alternatives: Vec<PathAlternative>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PathAlternative {
    /// From the element outside inwards.
    steps: Vec<PathStep>,
    tail: PathTail,
    /// The end is taken of all elements below as well.
    is_deep: bool,
}

/// A child of an element, or an element at any depth below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PathStep {
    /// `None` stands for any name.
    name: Option<String>,
    is_deep: bool,
    conditions: Vec<PathCondition>,
}

/// What is taken of the element that the steps lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathTail {
    Element,
    Text,
    Attribute(String),
    Attributes,
}

/// What a path is to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTarget {
    /// An element, by a path from the document.
    Trigger,
    /// An element.
    Element,
    /// `text()` or `@name`.
    Text,
    /// `@*`, or the element whose attributes are meant.
    Attributes,
}

/// Why a path is none: a sentence, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault {
    /// The sentence.
    pub message: String,
    /// What would be right.
    pub help: String,
}

/// What a path has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SelectedNode<'e> {
    /// An element.
    Element(&'e XmlElement),
    /// Its text, or an attribute.
    Text(&'e str),
}

/// An element that has begun: its name, and its attributes if paths ask for them.
pub type StartTag<'n> = (&'n str, &'n [(String, String)]);

impl XmlPath {
    /// The path to a child's text.
    pub fn child_text(name: &str) -> XmlPath {
        XmlPath::from_steps(
            format!("{name}/text()"),
            vec![PathStep::child(name)],
            PathTail::Text,
        )
    }

    /// The path to children of a name.
    pub fn child(name: &str) -> XmlPath {
        XmlPath::from_steps(
            name.to_owned(),
            vec![PathStep::child(name)],
            PathTail::Element,
        )
    }

    /// The path to an attribute.
    pub fn attribute(name: &str) -> XmlPath {
        let tail = PathTail::Attribute(name.to_owned());
        XmlPath::from_steps(format!("@{name}"), Vec::new(), tail)
    }

    /// The path to an element's own text.
    pub fn text() -> XmlPath {
        XmlPath::from_steps("text()".to_owned(), Vec::new(), PathTail::Text)
    }

    /// The path to an element's own attributes.
    pub fn attributes() -> XmlPath {
        XmlPath::from_steps("@*".to_owned(), Vec::new(), PathTail::Attributes)
    }

    fn from_steps(text: String, steps: Vec<PathStep>, tail: PathTail) -> XmlPath {
        let one = PathAlternative {
            steps,
            tail,
            is_deep: false,
        };
        XmlPath {
            text,
            alternatives: vec![one],
        }
    }

    /// Whether a path from the document leads to the last of these elements, outermost first.
    pub fn leads_to(&self, way: &[StartTag<'_>], names: NameMatching) -> bool {
        let mut all = self.alternatives.iter();
        all.any(|one| steps_match(&one.steps, way, names))
    }

    /// Whether a trigger asks for attributes of elements on its way.
    pub fn needs_attributes(&self) -> bool {
        let mut steps = self.alternatives.iter().flat_map(|one| &one.steps);
        steps.any(|step| !step.conditions.is_empty())
    }

    /// The names of all elements that have to be there; `None` stands for any.
    pub fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.alternatives
            .iter()
            .flat_map(PathAlternative::element_names)
    }
}

impl PathAlternative {
    fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        let deep = self.is_deep.then_some(None);
        self.steps
            .iter()
            .flat_map(PathStep::element_names)
            .chain(deep)
    }
}

impl PathStep {
    fn child(name: &str) -> PathStep {
        PathStep {
            name: Some(name.to_owned()),
            is_deep: false,
            conditions: Vec::new(),
        }
    }

    fn element_names(&self) -> impl Iterator<Item = Option<&str>> {
        let name = self.name.as_deref().filter(|_| !self.is_deep);
        let asked = self.conditions.iter().flat_map(PathCondition::children);
        std::iter::once(name).chain(asked.map(Some))
    }

    fn matches_name(&self, name: &str, names: NameMatching) -> bool {
        let wanted = self.name.as_ref();
        wanted.is_none_or(|wanted| names.matches(wanted, name))
    }
}

/// Whether steps lead exactly to the end of a way.
fn steps_match(steps: &[PathStep], way: &[StartTag<'_>], names: NameMatching) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return way.is_empty();
    };
    let starts = match step.is_deep {
        true => way.len(),
        false => way.len().min(1),
    };
    (0..starts).any(|at| {
        let (name, attributes) = way[at];
        let mut conditions = step.conditions.iter();
        step.matches_name(name, names)
            && conditions.all(|one| one.holds_for_attributes(attributes, names))
            && steps_match(rest, &way[at + 1..], names)
    })
}
