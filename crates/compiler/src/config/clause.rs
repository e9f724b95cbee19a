//! A config clause that is being checked, and the place where it stands.

use std::rc::Rc;

use crate::Session;
use crate::names::{OperatorScope, Scope};

/// Where a config clause stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfigOwner {
    /// In the definition of the main composite.
    Main,
    /// In the definition of another composite, or in the invocation of one.
    Composite,
    /// In the invocation of a primitive operator.
    Operator,
}

/// A config clause under check.
pub(super) struct ConfigCheck<'a, 'w> {
    pub session: &'a Session<'w>,
    pub scope: &'a Scope<'w>,
    pub owner: ConfigOwner,
    /// The ports that it may name.
    pub operator_scope: Option<&'a Rc<OperatorScope>>,
}
