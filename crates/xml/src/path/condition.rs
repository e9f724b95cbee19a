//! Conditions of a step: questions about an element besides its name.
//!
//! ```text
//! condition  = '[' number ']' | '[last()]'            which of those that are left
//!            | '[' any ']'
//! any        = all ('or' all)*
//! all        = question ('and' question)*
//! question   = asked (('=' | '!=') (string | number))?
//! asked      = '@' name | name | 'text()' | '.'       a name is that of a child
//! ```
//! As in XPath, a question about children holds if it holds for one child of that name. Without a
//! comparison it asks whether there is one. With a number on the right, numbers are compared.
//! Unlike in XPath, the text of a child is its own text, without that of elements below it.

use super::name_matching::NameMatching;
use crate::scan::text::is_name;
use crate::tree::XmlNodeRef;

/// The condition in one pair of brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathCondition {
    /// Position of the element, from 1.
    Position(usize),
    Last,
    /// At least one of these lists, all of whose questions must hold.
    Any(Vec<Vec<PathPredicate>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPredicate {
    operand: PredicateOperand,
    /// Whether the value must be equal or unequal, and to what; `None`: it must exist.
    comparison: Option<(bool, PredicateLiteral)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PredicateOperand {
    Attribute(String),
    Child(String),
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PredicateLiteral {
    Text(String),
    /// The number as it is written.
    Number(String),
}

impl PathCondition {
    /// Reads the text between brackets; `None` if it is not a condition.
    pub(super) fn parse(text: &str) -> Option<PathCondition> {
        let text = text.trim();
        if text == "last()" {
            return Some(PathCondition::Last);
        }
        if let Ok(position) = text.parse() {
            return (position > 0).then_some(PathCondition::Position(position));
        }
        let any = split_at_word(text, "or").into_iter().map(|all| {
            let questions = split_at_word(all, "and")
                .into_iter()
                .map(PathPredicate::parse);
            questions.collect()
        });
        any.collect::<Option<_>>().map(PathCondition::Any)
    }

    /// Names of the children that the condition asks about.
    pub(super) fn child_names(&self) -> impl Iterator<Item = &str> {
        let questions = match self {
            PathCondition::Any(any) => &any[..],
            _ => &[],
        };
        let questions = questions.iter().flatten();
        questions.filter_map(|question| match &question.operand {
            PredicateOperand::Child(name) => Some(&**name),
            _ => None,
        })
    }

    /// Whether attributes alone decide the condition.
    pub(super) fn needs_attributes_only(&self) -> bool {
        let is_attribute =
            |question: &PathPredicate| matches!(question.operand, PredicateOperand::Attribute(_));
        match self {
            PathCondition::Any(any) => any.iter().flatten().all(is_attribute),
            _ => false,
        }
    }

    /// Whether the condition holds for an element at a position, from 1, among a number of
    /// candidates.
    pub(super) fn holds(
        &self,
        of: XmlNodeRef<'_>,
        (position, count): (usize, usize),
        names: NameMatching,
    ) -> bool {
        match self {
            PathCondition::Position(wanted) => position == *wanted,
            PathCondition::Last => position == count,
            PathCondition::Any(any) => any
                .iter()
                .any(|all| all.iter().all(|question| question.holds(of, names))),
        }
    }

    /// Whether the condition holds for an element of which only the attributes are known.
    pub(super) fn holds_for_attributes(
        &self,
        attributes: &[(String, String)],
        names: NameMatching,
    ) -> bool {
        let PathCondition::Any(any) = self else {
            return false;
        };
        any.iter().any(|all| {
            all.iter()
                .all(|question| question.holds_for_attributes(attributes, names))
        })
    }
}

impl PathPredicate {
    fn parse(text: &str) -> Option<PathPredicate> {
        let (asked, compared) = match text.find('=') {
            None => (text, None),
            Some(at) => {
                let literal = PredicateLiteral::parse(text[at + 1..].trim())?;
                let before = &text[..at];
                match before.strip_suffix('!') {
                    Some(asked) => (asked, Some((false, literal))),
                    None => (before, Some((true, literal))),
                }
            }
        };
        let asked = match asked.trim() {
            "text()" | "." => PredicateOperand::Text,
            name => match name.strip_prefix('@') {
                Some(name) if is_name(name) => PredicateOperand::Attribute(name.to_owned()),
                None if is_name(name) => PredicateOperand::Child(name.to_owned()),
                _ => return None,
            },
        };
        Some(PathPredicate {
            operand: asked,
            comparison: compared,
        })
    }

    fn holds(&self, of: XmlNodeRef<'_>, names: NameMatching) -> bool {
        match &self.operand {
            PredicateOperand::Attribute(wanted) => {
                let mut attributes = of.attributes();
                let found = attributes.find(|attribute| names.matches(wanted, attribute.name()));
                found.is_some_and(|attribute| self.matches_value(attribute.value()))
            }
            PredicateOperand::Text => {
                let text = of.own_text();
                !text.is_empty() && self.matches_value(&text)
            }
            PredicateOperand::Child(name) => of.child_elements().any(|child| {
                names.matches(name, child.name()) && self.matches_value(&child.own_text())
            }),
        }
    }

    fn holds_for_attributes(&self, attributes: &[(String, String)], names: NameMatching) -> bool {
        let PredicateOperand::Attribute(wanted) = &self.operand else {
            return false;
        };
        let mut named = attributes.iter();
        let found = named.find(|(name, _)| names.matches(wanted, name));
        found.is_some_and(|(_, value)| self.matches_value(value))
    }

    fn matches_value(&self, value: &str) -> bool {
        match &self.comparison {
            None => true,
            Some((equal, literal)) => literal.equals(value) == *equal,
        }
    }
}

impl PredicateLiteral {
    fn parse(text: &str) -> Option<PredicateLiteral> {
        for quote in ['"', '\''] {
            let inside = text.strip_prefix(quote);
            if let Some(inside) = inside.and_then(|text| text.strip_suffix(quote)) {
                return (!inside.contains(quote))
                    .then(|| PredicateLiteral::Text(inside.to_owned()));
            }
        }
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        is_number.then(|| PredicateLiteral::Number(text.to_owned()))
    }

    fn equals(&self, value: &str) -> bool {
        match self {
            PredicateLiteral::Text(text) => value == text,
            PredicateLiteral::Number(number) => {
                let value = value.trim().parse::<f64>();
                value.is_ok_and(|value| number.parse() == Ok(value))
            }
        }
    }
}

/// Splits a text at each occurrence of a word that stands alone, outside of quotes.
fn split_at_word<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
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
