//! The paths of XMLParse: triggers, paths to values, and the elements that they keep.

mod alternative;
mod condition;
mod name_matching;
mod open_elements;
mod parse;
mod path_fault;
mod select;
#[cfg(test)]
mod tests;
mod trigger;
mod xml_path;

pub use name_matching::NameMatching;
pub use open_elements::{OpenElements, TriggerElement};
pub use path_fault::PathFault;
pub use select::SelectedNode;
pub use xml_path::{PathTarget, XmlPath};
