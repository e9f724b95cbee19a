//! Everything that follows from a plan's choices, and whether the choices fit the program.
//!
//! ```text
//!   text -> draft (graph) -> check_partial -> derive -> plan -> check
//! ```

mod check;
mod checked_plan;
mod derive;
mod missing_crossings;
mod pin_check;
mod plan_fault;
mod plan_text;

pub use check::{check, check_partial};
pub use derive::{derive, receivers};
pub use missing_crossings::add_missing_crossings;
pub use plan_fault::PlanFault;
pub use plan_text::{parse_plan, parse_plan_with_media};
