//! Tests of nodes: `name`, `node()`, `element(name)` and their like.

use super::super::query::NodeTest;
use crate::tree::{XmlNodeKind, XmlNodeRef};

/// Whether a node passes a test; a test by name passes nodes of the axis' principal kind alone.
pub(super) fn test_matches(test: &NodeTest, node: XmlNodeRef<'_>, principal: XmlNodeKind) -> bool {
    let record = node.record();
    match test {
        NodeTest::Any => true,
        NodeTest::Kind(kind, name) => {
            record.kind == *kind && (name.is_none() || record.name.as_ref() == name.as_ref())
        }
        NodeTest::Name { uri, local } => {
            record.kind == principal
                && record.name.as_ref().is_some_and(|name| {
                    uri.as_ref().is_none_or(|uri| **uri == *name.uri())
                        && local.as_ref().is_none_or(|local| **local == *name.local())
                })
        }
    }
}
