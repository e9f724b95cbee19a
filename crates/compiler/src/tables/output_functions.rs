//! Output functions of an operator model, by name.

use std::collections::HashMap;
use std::rc::Rc;

use super::signature::Signature;

/// The output functions of an operator model.
#[derive(Debug)]
pub struct OutputFunctions {
    /// Whether the functions may stand inside each other's arguments and inside expressions.
    pub nested: bool,
    /// Signatures by name, several for overloads.
    pub(crate) by_name: HashMap<Rc<str>, Vec<Rc<Signature>>>,
}

impl OutputFunctions {
    pub(crate) fn find(&self, name: &str) -> Option<&[Rc<Signature>]> {
        self.by_name.get(name).map(|list| &list[..])
    }

    /// The names, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|name| &**name)
    }
}
