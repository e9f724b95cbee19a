//! Names of elements and attributes, and namespaces.

use std::sync::Arc;

/// Namespace that the prefix `xml` is bound to in every document.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// A prefix, empty for elements without one, and the namespace that it is bound to.
pub type NamespaceBinding = (Arc<str>, Arc<str>);

/// Name of a node: prefix, local part and namespace. Two names are equal if their local parts and
/// namespaces are; prefixes only matter in print.
#[derive(Clone, Debug)]
pub struct XmlName {
    /// The name as it is written: `local` or `prefix:local`.
    written: String,
    /// Bytes of the prefix and its colon; 0 without a prefix.
    local_at: usize,
    /// `None`: in no namespace, or not resolved.
    uri: Option<Arc<str>>,
}

impl PartialEq for XmlName {
    fn eq(&self, other: &XmlName) -> bool {
        self.local() == other.local() && self.uri() == other.uri()
    }
}

impl XmlName {
    /// A name in no namespace; colons are a part of it.
    pub fn without_namespace(written: String) -> XmlName {
        XmlName {
            written,
            local_at: 0,
            uri: None,
        }
    }

    /// A name in a namespace, which is none if `uri` is empty.
    pub fn new(prefix: &str, local: &str, uri: Arc<str>) -> XmlName {
        let (written, local_at) = match prefix {
            "" => (local.to_owned(), 0),
            _ => (format!("{prefix}:{local}"), prefix.len() + 1),
        };
        XmlName {
            written,
            local_at,
            uri: Some(uri),
        }
    }

    /// The name as it is written, with its prefix.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The prefix; empty if the name has none.
    pub fn prefix(&self) -> &str {
        &self.written[..self.local_at.saturating_sub(1)]
    }

    /// The name without its prefix.
    pub fn local(&self) -> &str {
        &self.written[self.local_at..]
    }

    /// The namespace; empty if the name is in none.
    pub fn uri(&self) -> &str {
        self.uri.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_do_not_tell_names_apart() {
        let name = |prefix, uri: &str| XmlName::new(prefix, "a", uri.into());
        assert_eq!(name("n", "u"), name("m", "u"));
        assert_ne!(name("n", "u"), name("n", "v"));
        assert_eq!(name("", ""), XmlName::without_namespace("a".to_owned()));
        let prefixed = name("n", "u");
        assert_eq!(
            (prefixed.prefix(), prefixed.local(), prefixed.written()),
            ("n", "a", "n:a")
        );
    }
}
