//! The program of `run`, `check` and `dump`: its arguments, its plan, and the plan's cores.

mod cores;
mod plan;
mod plan_args;
mod program_args;
mod shell_words;

pub use cores::check_cores;
pub use plan::plan;
pub use plan_args::PlanArgs;
pub use program_args::{ProgramArgs, mixed_args, name_value, toolkit_path};
pub use shell_words::{ShellWords, shell_words};
