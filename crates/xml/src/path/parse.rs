//! Reading of paths from their text.

use super::alternative::{PathAlternative, PathStep, PathTail};
use super::condition::PathCondition;
use super::path_fault::PathFault;
use super::xml_path::{PathTarget, XmlPath};
use crate::scan::text::is_name;

const PATH_FORMS_HELP: &str =
    "paths are made of names, `*`, `.` and `|`, with `text()` or `@name` at the end";

impl XmlPath {
    /// Reads a path that must lead to a target.
    ///
    /// # Errors
    /// If the text is not a path that XMLParse understands, or leads elsewhere.
    pub fn parse(text: &str, wanted: PathTarget) -> Result<XmlPath, PathFault> {
        let parts = split_unquoted(text, '|');
        let alternatives = parts.iter().map(|one| alternative(one.trim(), wanted));
        Ok(XmlPath {
            text: text.to_owned(),
            alternatives: alternatives.collect::<Result<_, _>>()?,
        })
    }
}

fn alternative(text: &str, wanted: PathTarget) -> Result<PathAlternative, PathFault> {
    let mut one = PathAlternative {
        steps: Vec::new(),
        tail: PathTail::Element,
        is_deep: false,
    };
    let parts = split_unquoted(relative(text, wanted)?, '/');
    let mut is_deep = false;
    for (at, part) in parts.iter().enumerate() {
        if one.tail != PathTail::Element {
            return path_fault(
                format!("the path `{text}` goes on behind its end"),
                PATH_FORMS_HELP,
            );
        }
        let is_inside = at + 1 < parts.len() && (at > 0 || wanted == PathTarget::Trigger);
        if part.is_empty() && is_inside && !is_deep {
            is_deep = true;
            continue;
        }
        one.add(part.trim(), text, is_deep)?;
        is_deep = false;
    }
    one.tail = tail_for(one.tail, wanted, text)?;
    if wanted == PathTarget::Trigger {
        check_trigger(&one, text)?;
    }
    Ok(one)
}

/// The path without the `/` that says where it begins.
fn relative(text: &str, wanted: PathTarget) -> Result<&str, PathFault> {
    match (text.strip_prefix('/'), wanted) {
        (Some(rest), PathTarget::Trigger) => Ok(rest),
        (None, PathTarget::Trigger) => {
            let help = format!("a trigger is the path from the document to an element: `/{text}`");
            path_fault(
                format!("the trigger `{text}` does not begin with `/`"),
                &help,
            )
        }
        (Some(rest), _) if rest.starts_with('/') => {
            let help = format!("write `.{text}` for what is at any depth below");
            path_fault(format!("the path `{text}` begins with `/`"), &help)
        }
        (Some(_), _) => {
            let help = "it starts at the element of the trigger, or of the path around it; leave \
                        the `/` in front out";
            path_fault(format!("the path `{text}` begins with `/`"), help)
        }
        (None, _) => Ok(text),
    }
}

/// Checks that a trigger can be decided when its element begins.
fn check_trigger(one: &PathAlternative, text: &str) -> Result<(), PathFault> {
    if one.steps.is_empty() {
        return path_fault(
            format!("the trigger `{text}` names no element"),
            "`/name` is the root element of that name, `/*` any",
        );
    }
    let mut conditions = one.steps.iter().flat_map(|step| &step.conditions);
    match conditions.all(PathCondition::needs_attributes_only) {
        true => Ok(()),
        false => path_fault(
            format!("the trigger `{text}` asks for more than attributes"),
            "what is inside of an element, and how many there are, is not known when it begins; \
             ask for that with a Filter behind",
        ),
    }
}

impl PathAlternative {
    fn add(&mut self, part: &str, text: &str, is_deep: bool) -> Result<(), PathFault> {
        match part {
            "." if !is_deep => return Ok(()),
            "text()" => self.set_tail(PathTail::Text, is_deep),
            "@*" => self.set_tail(PathTail::Attributes, is_deep),
            _ => match part.strip_prefix('@') {
                Some(name) if is_name(name) => {
                    self.set_tail(PathTail::Attribute(name.to_owned()), is_deep)
                }
                _ => self.steps.push(step(part, text, is_deep)?),
            },
        }
        Ok(())
    }

    fn set_tail(&mut self, tail: PathTail, is_deep: bool) {
        self.tail = tail;
        self.is_deep = is_deep;
    }
}

fn step(part: &str, text: &str, is_deep: bool) -> Result<PathStep, PathFault> {
    let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
    let name = match name.trim() {
        "*" => None,
        name if is_name(name) && !name.contains("::") => Some(name.to_owned()),
        name => return Err(invalid_name(name, text)),
    };
    let mut conditions = Vec::new();
    while let Some(inside) = rest.trim_start().strip_prefix('[') {
        let end = closing_bracket(inside);
        let condition = end.and_then(|end| PathCondition::parse(&inside[..end]));
        let (Some(end), Some(condition)) = (end, condition) else {
            return path_fault(
                format!("the path `{text}` has a condition that is none"),
                "conditions are `[2]`, `[last()]`, `[@name]`, `[name = 'text']` and their like \
                 with `and` and `or`",
            );
        };
        conditions.push(condition);
        rest = &inside[end + 1..];
    }
    match rest.trim() {
        "" => Ok(PathStep {
            name,
            is_deep,
            conditions,
        }),
        rest => Err(invalid_name(rest, text)),
    }
}

fn invalid_name(name: &str, text: &str) -> PathFault {
    let what = match name {
        "" => "a step without a name",
        ".." => "the step `..`",
        _ if name.contains("::") => "an axis",
        _ if name.contains('(') => "a function or a node test other than `text()`",
        _ => {
            return PathFault {
                message: format!("`{name}` in the path `{text}` is no name"),
                help: PATH_FORMS_HELP.to_owned(),
            };
        }
    };
    PathFault {
        message: format!("the path `{text}` has {what}"),
        help: PATH_FORMS_HELP.to_owned(),
    }
}

/// The tail of a path that must lead to a target.
fn tail_for(tail: PathTail, wanted: PathTarget, text: &str) -> Result<PathTail, PathFault> {
    let leads = |what: &str| format!("the path `{text}` leads to {what}");
    match (&tail, wanted) {
        (PathTail::Element, PathTarget::Trigger | PathTarget::Element)
        | (PathTail::Text | PathTail::Attribute(_), PathTarget::Text)
        | (PathTail::Attributes, PathTarget::Attributes) => Ok(tail),
        (PathTail::Element, PathTarget::Attributes) => Ok(PathTail::Attributes),
        (PathTail::Element, PathTarget::Text) => {
            let help = format!("`{text}/text()` is its text, `{text}/@name` an attribute");
            path_fault(leads("an element, not to text"), &help)
        }
        (PathTail::Attributes, PathTarget::Text) => path_fault(
            leads("all attributes, not to one"),
            "`@name` is one of them; XPathMap gives all as a map",
        ),
        (_, PathTarget::Attributes) => {
            path_fault(leads("text, not to attributes"), "all attributes are `@*`")
        }
        (_, PathTarget::Trigger | PathTarget::Element) => path_fault(
            leads("no element"),
            "leave out what is behind the last name",
        ),
    }
}

fn path_fault<T>(message: String, help: &str) -> Result<T, PathFault> {
    let help = help.to_owned();
    Err(PathFault { message, help })
}

/// Splits a path at each separator that is neither in brackets nor in quotes.
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let mut rest = text;
    while let Some(at) = find_unquoted(rest, separator) {
        let at = text.len() - rest.len() + at;
        parts.push(&text[start..at]);
        start = at + separator.len_utf8();
        rest = &text[start..];
    }
    parts.push(&text[start..]);
    parts
}

/// Byte offset of the bracket that closes the one before `text`.
fn closing_bracket(text: &str) -> Option<usize> {
    find_unquoted(text, ']')
}

/// Byte offset of the first such character that is neither in brackets nor in quotes.
fn find_unquoted(text: &str, wanted: char) -> Option<usize> {
    let (mut depth, mut quote) = (0u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, c) if depth == 0 && c == wanted => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}
