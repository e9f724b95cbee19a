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

use super::element::Element;
use super::names::Names;
use condition::Condition;

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// As it was written.
    pub text: String,
    alternatives: Vec<Alternative>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Alternative {
    /// From the element outside inwards.
    steps: Vec<Step>,
    tail: Tail,
    /// The end is taken of all elements below as well.
    is_deep: bool,
}

/// A child of an element, or an element at any depth below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// `None` stands for any name.
    name: Option<String>,
    is_deep: bool,
    conditions: Vec<Condition>,
}

/// What is taken of the element that the steps lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tail {
    Element,
    Text,
    Attribute(String),
    Attributes,
}

/// What a path is to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
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
pub enum Node<'e> {
    /// An element.
    Element(&'e Element),
    /// Its text, or an attribute.
    Text(&'e str),
}

/// An element that has begun: its name, and its attributes if paths ask for them.
pub type Begun<'n> = (&'n str, &'n [(String, String)]);

impl Path {
    /// The path to a child's text.
    pub fn child_text(name: &str) -> Path {
        Path::single(
            format!("{name}/text()"),
            vec![Step::child(name)],
            Tail::Text,
        )
    }

    /// The path to children of a name.
    pub fn child(name: &str) -> Path {
        Path::single(name.to_owned(), vec![Step::child(name)], Tail::Element)
    }

    /// The path to an attribute.
    pub fn attribute(name: &str) -> Path {
        let tail = Tail::Attribute(name.to_owned());
        Path::single(format!("@{name}"), Vec::new(), tail)
    }

    /// The path to an element's own text.
    pub fn text() -> Path {
        Path::single("text()".to_owned(), Vec::new(), Tail::Text)
    }

    /// The path to an element's own attributes.
    pub fn attributes() -> Path {
        Path::single("@*".to_owned(), Vec::new(), Tail::Attributes)
    }

    fn single(text: String, steps: Vec<Step>, tail: Tail) -> Path {
        let one = Alternative {
            steps,
            tail,
            is_deep: false,
        };
        Path {
            text,
            alternatives: vec![one],
        }
    }

    /// Whether a path from the document leads to the last of these elements, outermost first.
    pub fn leads_to(&self, way: &[Begun<'_>], names: Names) -> bool {
        let mut all = self.alternatives.iter();
        all.any(|one| leads(&one.steps, way, names))
    }

    /// Whether a trigger asks for attributes of elements on its way.
    pub fn asks_attributes(&self) -> bool {
        let mut steps = self.alternatives.iter().flat_map(|one| &one.steps);
        steps.any(|step| !step.conditions.is_empty())
    }

    /// The names of all elements that have to be there; `None` stands for any.
    pub fn steps(&self) -> impl Iterator<Item = Option<&str>> {
        self.alternatives.iter().flat_map(Alternative::names)
    }
}

impl Alternative {
    fn names(&self) -> impl Iterator<Item = Option<&str>> {
        let deep = self.is_deep.then_some(None);
        self.steps.iter().flat_map(Step::names).chain(deep)
    }
}

impl Step {
    fn child(name: &str) -> Step {
        Step {
            name: Some(name.to_owned()),
            is_deep: false,
            conditions: Vec::new(),
        }
    }

    fn names(&self) -> impl Iterator<Item = Option<&str>> {
        let name = self.name.as_deref().filter(|_| !self.is_deep);
        let asked = self.conditions.iter().flat_map(Condition::children);
        std::iter::once(name).chain(asked.map(Some))
    }

    fn takes(&self, name: &str, names: Names) -> bool {
        let wanted = self.name.as_ref();
        wanted.is_none_or(|wanted| names.same(wanted, name))
    }
}

/// Whether steps lead exactly to the end of a way.
fn leads(steps: &[Step], way: &[Begun<'_>], names: Names) -> bool {
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
        step.takes(name, names)
            && conditions.all(|one| one.holds_of(attributes, names))
            && leads(rest, &way[at + 1..], names)
    })
}
