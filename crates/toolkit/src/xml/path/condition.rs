//! What a step asks of elements besides their name.
//!
//! ```text
//! condition  = '[' number ']' | '[last()]'            which of those that are left
//!            | '[' any ']'
//! any        = all ('or' all)*
//! all        = question ('and' question)*
//! question   = asked (('=' | '!=') (string | number))?
//! asked      = '@' name | name | 'text()' | '.'       a name is that of a child
//! ```
//! As in XPath a question holds if one of the children of that name answers it; without a comparison
//! it asks whether there is one. With a number on the right, numbers are compared.

use super::parse::is_name;
use crate::xml::element::Element;
use crate::xml::names::Names;

/// One pair of brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// From 1.
    Position(usize),
    Last,
    /// One of these, each of which needs all of its questions.
    Any(Vec<Vec<Question>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    asked: Asked,
    /// Whether it is to be equal, and to what.
    compared: Option<(bool, Literal)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Attribute(String),
    Child(String),
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    /// As it is written.
    Number(String),
}

impl Condition {
    /// Reads what is between brackets; `None` if it is no condition.
    pub(super) fn parse(text: &str) -> Option<Condition> {
        let text = text.trim();
        if text == "last()" {
            return Some(Condition::Last);
        }
        if let Ok(position) = text.parse() {
            return (position > 0).then_some(Condition::Position(position));
        }
        let any = split(text, "or").into_iter().map(|all| {
            let questions = split(all, "and").into_iter().map(Question::parse);
            questions.collect()
        });
        any.collect::<Option<_>>().map(Condition::Any)
    }

    /// The names of children that are asked for.
    pub(super) fn children(&self) -> impl Iterator<Item = &str> {
        let questions = match self {
            Condition::Any(any) => &any[..],
            _ => &[],
        };
        let questions = questions.iter().flatten();
        questions.filter_map(|question| match &question.asked {
            Asked::Child(name) => Some(&**name),
            _ => None,
        })
    }

    /// Whether attributes alone tell if it holds.
    pub(super) fn asks_attributes_only(&self) -> bool {
        let is_attribute = |question: &Question| matches!(question.asked, Asked::Attribute(_));
        match self {
            Condition::Any(any) => any.iter().flatten().all(is_attribute),
            _ => false,
        }
    }

    /// Whether it holds of an element, the one of that number among so many.
    pub(super) fn holds(
        &self,
        of: &Element,
        (position, count): (usize, usize),
        names: Names,
    ) -> bool {
        match self {
            Condition::Position(wanted) => position == *wanted,
            Condition::Last => position == count,
            Condition::Any(any) => any
                .iter()
                .any(|all| all.iter().all(|question| question.holds(of, names))),
        }
    }

    /// Whether it holds of an element with these attributes, of which nothing else is known.
    pub(super) fn holds_of(&self, attributes: &[(String, String)], names: Names) -> bool {
        let Condition::Any(any) = self else {
            return false;
        };
        any.iter().any(|all| {
            all.iter()
                .all(|question| question.holds_of(attributes, names))
        })
    }
}

impl Question {
    fn parse(text: &str) -> Option<Question> {
        let (asked, compared) = match text.find('=') {
            None => (text, None),
            Some(at) => {
                let literal = Literal::parse(text[at + 1..].trim())?;
                let before = &text[..at];
                match before.strip_suffix('!') {
                    Some(asked) => (asked, Some((false, literal))),
                    None => (before, Some((true, literal))),
                }
            }
        };
        let asked = match asked.trim() {
            "text()" | "." => Asked::Text,
            name => match name.strip_prefix('@') {
                Some(name) if is_name(name) => Asked::Attribute(name.to_owned()),
                None if is_name(name) => Asked::Child(name.to_owned()),
                _ => return None,
            },
        };
        Some(Question { asked, compared })
    }

    fn holds(&self, of: &Element, names: Names) -> bool {
        match &self.asked {
            Asked::Attribute(_) => self.holds_of(&of.attributes, names),
            Asked::Text => !of.text.is_empty() && self.is_answered(&of.text),
            Asked::Child(name) => of
                .children
                .iter()
                .any(|child| names.same(name, &child.name) && self.is_answered(&child.text)),
        }
    }

    fn holds_of(&self, attributes: &[(String, String)], names: Names) -> bool {
        let Asked::Attribute(wanted) = &self.asked else {
            return false;
        };
        let mut named = attributes.iter();
        let found = named.find(|(name, _)| names.same(wanted, name));
        found.is_some_and(|(_, value)| self.is_answered(value))
    }

    fn is_answered(&self, value: &str) -> bool {
        match &self.compared {
            None => true,
            Some((equal, literal)) => literal.equals(value) == *equal,
        }
    }
}

impl Literal {
    fn parse(text: &str) -> Option<Literal> {
        for quote in ['"', '\''] {
            let inside = text.strip_prefix(quote);
            if let Some(inside) = inside.and_then(|text| text.strip_suffix(quote)) {
                return (!inside.contains(quote)).then(|| Literal::Text(inside.to_owned()));
            }
        }
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        is_number.then(|| Literal::Number(text.to_owned()))
    }

    fn equals(&self, value: &str) -> bool {
        match self {
            Literal::Text(text) => value == text,
            Literal::Number(number) => {
                let value = value.trim().parse::<f64>();
                value.is_ok_and(|value| number.parse() == Ok(value))
            }
        }
    }
}

/// The parts of a text between a word that stands alone, outside of quotes.
fn split<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {
                let rest = &text[at..];
                let is_alone = text[..at].ends_with(' ')
                    && rest
                        .strip_prefix(word)
                        .is_some_and(|after| after.starts_with(' '));
                if at >= start && is_alone {
                    parts.push(text[start..at].trim());
                    start = at + word.len();
                }
            }
        }
    }
    parts.push(text[start..].trim());
    parts
}
