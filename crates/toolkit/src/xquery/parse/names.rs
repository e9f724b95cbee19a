//! What prefixes stand for where the parser is.

use std::rc::Rc;

use super::super::Outcome;
use super::super::item::Name;
use super::super::tree::{Namespace, XML};
use super::wrong;

/// The namespace of types.
pub const TYPES: &str = "http://www.w3.org/2001/XMLSchema";
/// The namespace of functions.
pub const FUNCTIONS: &str = "http://www.w3.org/2005/xpath-functions";

/// Known without a declaration.
const KNOWN: [(&str, &str); 3] = [("xml", XML), ("xs", TYPES), ("fn", FUNCTIONS)];

/// Declared namespaces, outermost first. The empty prefix is that of elements without one.
#[derive(Debug, Default)]
pub struct Names {
    declared: Vec<Namespace>,
}

impl Names {
    pub fn declare(&mut self, prefix: &str, uri: &str) {
        self.declared.push((prefix.into(), uri.into()));
    }

    /// How many are declared, for [`Names::forget`].
    pub fn count(&self) -> usize {
        self.declared.len()
    }

    /// Forgets what was declared since.
    pub fn forget(&mut self, count: usize) {
        self.declared.truncate(count);
    }

    /// What a prefix stands for.
    pub fn uri(&self, prefix: &str) -> Outcome<Rc<str>> {
        let mut declared = self.declared.iter().rev();
        let found = declared.find(|(known, _)| **known == *prefix);
        if let Some((_, uri)) = found {
            return Ok(Rc::clone(uri));
        }
        match KNOWN.iter().find(|(known, _)| *known == prefix) {
            Some((_, uri)) => Ok((*uri).into()),
            None if prefix.is_empty() => Ok("".into()),
            None => Err(wrong(format!(
                "`{prefix}:` stands for nothing; say `declare namespace {prefix} = \"...\";` first"
            ))),
        }
    }

    /// The name of an element.
    pub fn element(&self, (prefix, local): (&str, &str)) -> Outcome<Name> {
        Ok(Name {
            prefix: prefix.into(),
            uri: self.uri(prefix)?,
            local: local.into(),
        })
    }

    /// The name of an attribute: without a prefix it is in no namespace.
    pub fn attribute(&self, (prefix, local): (&str, &str)) -> Outcome<Name> {
        match prefix {
            "" => Ok(super::super::tree::plain(local)),
            _ => self.element((prefix, local)),
        }
    }
}
