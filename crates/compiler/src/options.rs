//! Options of a compilation, as the user gives them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::name_index::NameRecorder;

/// Values and options that the user gives a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Submission-time values by external name (`name` or `composite.name`).
    pub submission_values: HashMap<String, String>,
    /// Compile-time values by name; several values of one name make a list.
    pub compile_time_values: HashMap<String, Vec<String>>,
    /// Absolute paths of the toolkits by name, for `getToolkitDirectory(name)`.
    pub toolkit_dirs: HashMap<String, String>,
    /// Report on output clauses whose expressions disturb each other.
    pub output_side_effects: SideEffectRule,
    /// An attribute wins over a state variable of the same name (the old rule).
    pub attributes_hide_state: bool,
    /// Media that config `inputTransport` and `outputTransport` may name besides TCP.
    pub media: Vec<String>,
    /// Where further media were looked for: a help for a name that no medium has.
    pub media_search: String,
    /// How many operators a program may expand to; `None` for 262,144.
    pub operators_max: Option<usize>,
    /// Collects the names of the program with their meanings.
    pub names: Option<Rc<NameRecorder>>,
}

/// Values of `--output-side-effects-behavior`: how output clauses with side effects are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideEffectRule {
    /// Accept the clause without a report.
    Ignore,
    /// Accept the clause with a warning.
    #[default]
    Warn,
    /// Refuse the clause with an error.
    Error,
}
