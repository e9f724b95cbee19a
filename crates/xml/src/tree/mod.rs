//! Trees: the nodes of documents and of constructed elements, in one array each.

mod builder;
mod document;
mod name;
mod xml_tree;

pub use builder::XmlTreeBuilder;
pub use document::check_document;
pub use name::{NamespaceBinding, XML_NAMESPACE, XmlName};
pub use xml_tree::{XmlNodeKind, XmlNodeRef, XmlTree};
