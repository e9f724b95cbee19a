//! Paths to nodes of a document: the part of XPath that XMLParse has.
//!
//! ```text
//! path        = alternative ('|' alternative)*
//! alternative = '/'? step ('/' step)*           with '/' in front: from the document
//! step        = '.' | name | '*'
//!             | 'text()' | '@' name | '@*'      at the end
//! ```
//! An element without text has no `text()`: a path to it finds nothing.

use super::element::Element;
use super::names::Names;

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
}

/// A child of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Any,
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

const FORMS: &str =
    "paths are made of names, `*`, `.` and `|`, with `text()` or `@name` at the end";

impl Path {
    /// Reads a path.
    pub fn parse(text: &str, wanted: Wanted) -> Result<Path, PathFault> {
        if text.contains('[') {
            return refuse(format!("the path `{text}` has a predicate"), FORMS);
        }
        let alternatives = text.split('|').map(|one| alternative(one.trim(), wanted));
        Ok(Path {
            text: text.to_owned(),
            alternatives: alternatives.collect::<Result<_, _>>()?,
        })
    }

    /// The path to a child's text.
    pub fn child_text(name: &str) -> Path {
        let steps = vec![Step::Name(name.to_owned())];
        Path::single(format!("{name}/text()"), steps, Tail::Text)
    }

    /// The path to children of a name.
    pub fn child(name: &str) -> Path {
        let steps = vec![Step::Name(name.to_owned())];
        Path::single(name.to_owned(), steps, Tail::Element)
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
        let alternatives = vec![Alternative { steps, tail }];
        Path { text, alternatives }
    }

    /// Whether a path from the document leads to the element of these names, outermost first.
    pub fn leads_to<'n>(
        &self,
        path: impl ExactSizeIterator<Item = &'n str> + Clone,
        names: Names,
    ) -> bool {
        self.alternatives.iter().any(|one| {
            let mut steps = one.steps.iter().zip(path.clone());
            one.steps.len() == path.len() && steps.all(|(step, name)| step.takes(name, names))
        })
    }

    /// The names of all elements on the way; `None` stands for any.
    pub fn steps(&self) -> impl Iterator<Item = Option<&str>> {
        let steps = self.alternatives.iter().flat_map(|one| &one.steps);
        steps.map(|step| match step {
            Step::Name(name) => Some(&**name),
            Step::Any => None,
        })
    }

    /// What the path finds from an element, in the order of the document.
    pub fn select<'e>(&self, from: &'e Element, names: Names) -> Vec<Node<'e>> {
        let mut found = Vec::new();
        let active: Vec<_> = self.alternatives.iter().map(|one| (one, 0)).collect();
        walk(from, &active, names, &mut found);
        found
    }
}

impl Step {
    fn takes(&self, name: &str, names: Names) -> bool {
        match self {
            Step::Any => true,
            Step::Name(wanted) => names.same(wanted, name),
        }
    }
}

/// Alternatives, each with the number of steps taken.
type Active<'p> = [(&'p Alternative, usize)];

fn walk<'e>(at: &'e Element, active: &Active<'_>, names: Names, found: &mut Vec<Node<'e>>) {
    let arrived = active
        .iter()
        .filter(|(one, taken)| *taken == one.steps.len());
    arrived.for_each(|(one, _)| take(at, &one.tail, names, found));
    if active.iter().all(|(one, taken)| *taken == one.steps.len()) {
        return;
    }
    for child in &at.children {
        let further = active.iter().filter_map(|&(one, taken)| {
            let step = one.steps.get(taken)?;
            step.takes(&child.name, names).then_some((one, taken + 1))
        });
        let further: Vec<_> = further.collect();
        if !further.is_empty() {
            walk(child, &further, names, found);
        }
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

fn alternative(text: &str, wanted: Wanted) -> Result<Alternative, PathFault> {
    let steps = match (text.strip_prefix('/'), wanted) {
        (Some(rest), Wanted::Trigger) => rest,
        (None, Wanted::Trigger) => {
            let help = format!("a trigger is the path from the document to an element: `/{text}`");
            return refuse(
                format!("the trigger `{text}` does not begin with `/`"),
                &help,
            );
        }
        (Some(_), _) => {
            let help = "it starts at the element of the trigger, or of the path around it; leave \
                        the `/` in front out";
            return refuse(format!("the path `{text}` begins with `/`"), help);
        }
        (None, _) => text,
    };
    let mut one = Alternative {
        steps: Vec::new(),
        tail: Tail::Element,
    };
    for step in steps.split('/') {
        if one.tail != Tail::Element {
            return refuse(format!("the path `{text}` goes on behind its end"), FORMS);
        }
        one.add(step.trim(), text)?;
    }
    one.tail = fitting(one.tail, wanted, text)?;
    if wanted == Wanted::Trigger && one.steps.is_empty() {
        return refuse(
            format!("the trigger `{text}` names no element"),
            "`/name` is the root element of that name, `/*` any",
        );
    }
    Ok(one)
}

impl Alternative {
    fn add(&mut self, step: &str, text: &str) -> Result<(), PathFault> {
        let what = match step {
            "." => return Ok(()),
            "*" => {
                self.steps.push(Step::Any);
                return Ok(());
            }
            "text()" => {
                self.tail = Tail::Text;
                return Ok(());
            }
            "@*" => {
                self.tail = Tail::Attributes;
                return Ok(());
            }
            "" if text.contains("//") => "the step `//`",
            "" => "a step without a name",
            ".." => "the step `..`",
            _ if step.contains("::") => "an axis",
            _ if step.contains('(') => "a function or a node test other than `text()`",
            _ => match step.strip_prefix('@') {
                Some(name) if is_name(name) => {
                    self.tail = Tail::Attribute(name.to_owned());
                    return Ok(());
                }
                None if is_name(step) => {
                    self.steps.push(Step::Name(step.to_owned()));
                    return Ok(());
                }
                _ => return refuse(format!("`{step}` in the path `{text}` is no name"), FORMS),
            },
        };
        refuse(format!("the path `{text}` has {what}"), FORMS)
    }
}

/// The end of a path that is to lead to something.
fn fitting(tail: Tail, wanted: Wanted, text: &str) -> Result<Tail, PathFault> {
    let leads = |what: &str| format!("the path `{text}` leads to {what}");
    match (&tail, wanted) {
        (Tail::Element, Wanted::Trigger | Wanted::Element)
        | (Tail::Text | Tail::Attribute(_), Wanted::Text)
        | (Tail::Attributes, Wanted::Attributes) => Ok(tail),
        (Tail::Element, Wanted::Attributes) => Ok(Tail::Attributes),
        (Tail::Element, Wanted::Text) => {
            let help = format!("`{text}/text()` is its text, `{text}/@name` an attribute");
            refuse(leads("an element, not to text"), &help)
        }
        (Tail::Attributes, Wanted::Text) => refuse(
            leads("all attributes, not to one"),
            "`@name` is one of them; XPathMap gives all as a map",
        ),
        (_, Wanted::Attributes) => {
            refuse(leads("text, not to attributes"), "all attributes are `@*`")
        }
        (_, Wanted::Trigger | Wanted::Element) => refuse(
            leads("no element"),
            "leave out what is behind the last name",
        ),
    }
}

fn refuse<T>(message: String, help: &str) -> Result<T, PathFault> {
    let help = help.to_owned();
    Err(PathFault { message, help })
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{B7}');
    let begins = |c: char| !c.is_numeric() && !matches!(c, '-' | '.' | '\u{B7}');
    text.chars().all(is_part) && text.chars().next().is_some_and(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, text: &str, children: Vec<Element>) -> Element {
        let attributes = vec![("id".to_owned(), format!("{name}1"))];
        let mut element = Element::new(name, attributes);
        element.add_text(text, false);
        element.children = children;
        element
    }

    /// `<r id="r1"><a>x<b>y</b></a><c>z</c><a><b>w</b></a></r>`, each with an id.
    fn document() -> Element {
        let first = element("a", "x", vec![element("b", "y", vec![])]);
        let second = element("a", "", vec![element("b", "w", vec![])]);
        element("r", "", vec![first, element("c", "z", vec![]), second])
    }

    fn texts(path: &str) -> Vec<String> {
        let path = Path::parse(path, Wanted::Text).unwrap();
        let document = document();
        let found = path.select(&document, Names::default());
        let texts = found.iter().map(|node| match node {
            Node::Text(text) => (*text).to_owned(),
            Node::Element(element) => panic!("{element:?}"),
        });
        texts.collect()
    }

    #[test]
    fn paths_find_nodes_in_the_order_of_the_document() {
        assert_eq!(texts("a/b/text()"), ["y", "w"]);
        assert_eq!(texts("a/text()"), ["x"]);
        assert_eq!(texts("./@id"), ["r1"]);
        assert_eq!(texts("@id"), ["r1"]);
        assert_eq!(texts("a/@id | c/text()"), ["a1", "z", "a1"]);
        assert_eq!(texts("c/text()|a/text()"), ["x", "z"]);
        assert_eq!(texts("*/b/text()"), ["y", "w"]);
        assert_eq!(texts("*/text()"), ["x", "z"]);
        assert_eq!(texts("b/text()"), [""; 0]);
        assert_eq!(texts("a/@none"), [""; 0]);
        assert_eq!(texts("text()"), [""; 0]);
    }

    #[test]
    fn triggers_lead_from_the_document() {
        let leads = |trigger: &str, path: &[&str]| {
            let trigger = Path::parse(trigger, Wanted::Trigger).unwrap();
            trigger.leads_to(path.iter().copied(), Names::default())
        };
        assert!(leads("/r/a", &["r", "a"]));
        assert!(!leads("/r/a", &["r"]));
        assert!(!leads("/r/a", &["r", "a", "a"]));
        assert!(leads("/r/a|/r/b", &["r", "b"]));
        assert!(leads("/r/*", &["r", "c"]));
        assert!(leads("/r/./a", &["r", "a"]));
    }

    fn refused(cases: &[(&str, Wanted, &str)]) {
        for (path, wanted, why) in cases {
            let refused = Path::parse(path, *wanted).expect_err(path);
            assert_eq!(refused.message, *why);
        }
    }

    #[test]
    fn what_is_more_of_xpath_is_refused() {
        refused(&[
            (
                "a[1]/text()",
                Wanted::Text,
                "the path `a[1]/text()` has a predicate",
            ),
            (
                "a//text()",
                Wanted::Text,
                "the path `a//text()` has the step `//`",
            ),
            (
                "../@id",
                Wanted::Text,
                "the path `../@id` has the step `..`",
            ),
            (
                "child::a/text()",
                Wanted::Text,
                "the path `child::a/text()` has an axis",
            ),
            (
                "/a/text()",
                Wanted::Text,
                "the path `/a/text()` begins with `/`",
            ),
            (
                "a/node()",
                Wanted::Element,
                "the path `a/node()` has a function or a node test other than `text()`",
            ),
        ]);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        refused(&[
            (
                "a",
                Wanted::Text,
                "the path `a` leads to an element, not to text",
            ),
            (
                "@*",
                Wanted::Text,
                "the path `@*` leads to all attributes, not to one",
            ),
            (
                "text()/a",
                Wanted::Element,
                "the path `text()/a` goes on behind its end",
            ),
            (
                "a/@b",
                Wanted::Element,
                "the path `a/@b` leads to no element",
            ),
            (
                "a/text()",
                Wanted::Attributes,
                "the path `a/text()` leads to text, not to attributes",
            ),
            ("", Wanted::Element, "the path `` has a step without a name"),
            (
                "a|",
                Wanted::Element,
                "the path `` has a step without a name",
            ),
            ("a b", Wanted::Element, "`a b` in the path `a b` is no name"),
            (
                "a",
                Wanted::Trigger,
                "the trigger `a` does not begin with `/`",
            ),
            ("/.", Wanted::Trigger, "the trigger `/.` names no element"),
            (
                "/a/text()",
                Wanted::Trigger,
                "the path `/a/text()` leads to no element",
            ),
        ]);
    }
}
