//! NEXMark, the benchmark of an auction house: its events, and its queries as loops by hand.
//!
//! ```text
//!   Generator ──> Disordered ──> csv ──> bids.csv, events.csv ──> loops::run ──> results as csv
//!   by number     by arrival                                      one thread, no engine
//! ```
//! The generator follows the published one in proportions, hot keys, sizes and prices: of 50
//! events 1 is a person, 3 are auctions and 46 are bids. A seed gives the same events on every
//! machine and in every release. The loops know nothing of the engine: tests compare an SPL
//! program with its loop, tuple by tuple, and the benchmark measures both.

mod csv;
mod disorder;
mod event;
mod files;
mod generator;
pub mod loops;
mod options;
mod random;
mod texts;

pub use disorder::Disordered;
pub use event::{Auction, Bid, Event, Person};
pub use files::{write_events, write_folder, write_side_input};
pub use generator::Generator;
pub use options::GeneratorOptions;
pub use random::Random;
