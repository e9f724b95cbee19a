//! One PE's part of a program in this process: machine code, crossings, wiring, and how it ended.

mod codegen;
mod crossings;
mod pe_ending;
mod unfired_windows;
mod wiring;

pub use codegen::{ListingFormat, code_listing};
pub use crossings::{CrossingTicket, Crossings};
pub use pe_ending::{PeEnding, PeFailure, job_error, pe_ending};
pub use unfired_windows::{UnfiredWindows, unfired_sentences};
pub use wiring::{PartOptions, source_counts, source_names, wire};
