//! One PE's part of a program in this process: machine code, crossings, wiring, and how it ended.

mod code_listing;
mod codegen;
mod crossings;
mod pe_ending;
mod unfired_windows;
mod wiring;

pub use code_listing::{ListingFormat, code_listing};
pub use crossings::{CrossingFailure, CrossingTicket, Crossings};
pub use pe_ending::{PeEnding, PeFailure, job_error, pe_ending};
pub use unfired_windows::{UnfiredWindows, unfired_sentences};
pub use wiring::{PartOptions, cut_only_pe, default_plan, source_counts, source_names, wire};
