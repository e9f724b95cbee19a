//! Definitions in files whose namespace does not fit their folder, so that they are not found.

use std::path::PathBuf;
use std::sync::Arc;

use syntax::Diagnostic;

/// A definition that was looked for in a folder, in a file of another namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MisplacedDefinition {
    pub name: Arc<str>,
    pub path: PathBuf,
    /// Namespace that its file says; empty for none.
    pub namespace: String,
    /// Namespace that the folder is of, empty for a root; `None` for a folder of no namespace.
    pub expected: Option<String>,
}

impl MisplacedDefinition {
    /// Has the report of an unknown name say where it is defined and what keeps it from being
    /// found. Nothing else helps then.
    pub fn explain(&self, finding: Diagnostic) -> Diagnostic {
        Diagnostic {
            help: vec![self.help()],
            ..finding
        }
    }

    fn help(&self) -> String {
        let (path, name, own) = (self.path.display(), &self.name, &self.namespace);
        let remedy = match (self.expected.as_deref(), &**own) {
            (Some(expected), "") => {
                return format!("`{path}` defines `{name}`, but lacks `namespace {expected};`");
            }
            (Some(""), _) => "move it there, or leave its `namespace` out".to_owned(),
            (Some(expected), _) => format!("move it there, or write `namespace {expected};` in it"),
            (None, _) => "move it there, with the other files of the namespace".to_owned(),
        };
        format!(
            "`{path}` defines `{name}` in namespace `{own}`, whose files lie in a folder `{own}`: \
             {remedy}"
        )
    }
}
