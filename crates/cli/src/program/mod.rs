//! The program of `run`, `check` and `dump`: its arguments, its plan, and the plan's cores.

mod cores;
mod plan;
mod plan_args;
mod program_args;
mod shell_words;

pub use cores::check_cores;
pub use plan::{PlanInputs, plan, read as read_plan, take_drawn_profile};
pub use plan_args::{FuseChoice, PlanArgs};
pub use program_args::{CompilationArgs, MediaPathArgs, ProgramArgs, name_value, toolkit_folders};
pub use shell_words::shell_words;
