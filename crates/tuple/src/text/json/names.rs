//! Names of attributes in JSON objects.

use crate::{TupleType, same_bytes};

/// How attributes are named in JSON: as in SPL, but for a prefix that is left out. SPL programs put
/// one before names that are keywords of SPL: with the prefix `__`, `__graph` is `graph` in JSON.
///
/// # Example
/// ```
/// use thalweg_tuple::text::json::JsonNames;
///
/// let names = JsonNames::without_prefix("__");
/// assert_eq!(names.key("__graph"), "graph");
/// assert_eq!(names.key("price"), "price");
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonNames {
    prefix: String,
}

impl JsonNames {
    /// Names with this prefix lose it.
    pub fn without_prefix(prefix: impl Into<String>) -> JsonNames {
        JsonNames {
            prefix: prefix.into(),
        }
    }

    /// The key of an attribute.
    pub fn key<'n>(&self, attribute: &'n str) -> &'n str {
        if self.prefix.is_empty() {
            return attribute;
        }
        match attribute.strip_prefix(&*self.prefix) {
            // A name that is nothing but the prefix stays.
            Some("") | None => attribute,
            Some(rest) => rest,
        }
    }

    /// The index of the attribute with a key. The search begins at an index: objects mostly have
    /// their entries in the order of the attributes.
    pub(super) fn find(&self, t: &TupleType, key: &str, begin: usize) -> Option<usize> {
        let is_it =
            |at: &usize| same_bytes(self.key(&t.attributes[*at].name).as_bytes(), key.as_bytes());
        let begin = begin.min(t.attributes.len());
        (begin..t.attributes.len())
            .find(is_it)
            .or_else(|| (0..begin).find(is_it))
    }
}
