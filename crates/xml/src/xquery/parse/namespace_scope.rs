//! Namespaces that prefixes are bound to at the parser's position.

use std::sync::Arc;

use super::super::failure::{QueryFailure, QueryResult};
use crate::tree::{NamespaceBinding, XML_NAMESPACE, XmlName};

/// Namespace of the types of XML Schema.
pub const TYPES: &str = "http://www.w3.org/2001/XMLSchema";
/// Namespace of the functions of XPath.
pub const FUNCTIONS: &str = "http://www.w3.org/2005/xpath-functions";

/// Prefixes that are bound without a declaration.
const PREDECLARED: [(&str, &str); 3] = [("xml", XML_NAMESPACE), ("xs", TYPES), ("fn", FUNCTIONS)];

/// Declared namespaces, outermost first. The empty prefix is that of elements without one.
#[derive(Debug, Default)]
pub struct NamespaceScope {
    declared: Vec<NamespaceBinding>,
}

impl NamespaceScope {
    pub fn declare(&mut self, prefix: &str, uri: &str) {
        self.declared.push((prefix.into(), uri.into()));
    }

    /// Number of declarations, for [`NamespaceScope::truncate`].
    pub fn len(&self) -> usize {
        self.declared.len()
    }

    /// Removes all declarations but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.declared.truncate(count);
    }

    /// Namespace that a prefix is bound to.
    pub fn uri(&self, prefix: &str) -> QueryResult<Arc<str>> {
        let mut declared = self.declared.iter().rev();
        let found = declared.find(|(known, _)| **known == *prefix);
        if let Some((_, uri)) = found {
            return Ok(Arc::clone(uri));
        }
        match PREDECLARED.iter().find(|(known, _)| *known == prefix) {
            Some((_, uri)) => Ok((*uri).into()),
            None if prefix.is_empty() => Ok("".into()),
            None => Err(QueryFailure::Query(format!(
                "`{prefix}:` stands for nothing; say `declare namespace {prefix} = \"...\";` first"
            ))),
        }
    }

    /// Resolves the name of an element.
    pub fn element(&self, (prefix, local): (&str, &str)) -> QueryResult<XmlName> {
        Ok(XmlName::new(prefix, local, self.uri(prefix)?))
    }

    /// Resolves the name of an attribute: without a prefix it is in no namespace.
    pub fn attribute(&self, (prefix, local): (&str, &str)) -> QueryResult<XmlName> {
        match prefix {
            "" => Ok(XmlName::without_namespace(local.to_owned())),
            _ => self.element((prefix, local)),
        }
    }
}
