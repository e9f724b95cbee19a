//! Media that users write: shared libraries behind the table of functions of `thalweg_medium.h`.
//!
//! ```text
//!   transport::media::plugin            frames: headers, tickets, the transport contract
//!            |
//!   MediumLibrary::load(file)           this crate: bytes of blocks, descriptors, statuses
//!            |
//!   thalweg_medium_table                the library's functions, in C
//! ```
//! A library is code in this process, so it can crash it; everything that it says is input all the
//! same. Table, capabilities, pointers, lengths, descriptors and statuses are checked before they
//! are used, and what is wrong is an error with the library's file and function in its sentence.

#![warn(missing_docs)]
#![expect(
    unsafe_code,
    reason = "functions of a library are called by way of a table of pointers"
)]

mod abi;
mod calls;
mod error;
mod library;
mod ranks;
mod receiver;
mod runs;
mod sender;
mod table;
mod waits;

pub use calls::{LibraryCall, calls_under_way};
pub use error::PluginError;
pub use library::{BLOCK_BYTES_MIN, LibraryEdge, LibraryTicket, MediumLibrary};
pub use ranks::{LibraryRanks, MemberRank, SHARE_BYTES_MAX};
pub use receiver::{LibraryReceiver, ShownBytes};
pub use runs::CommittedBytes;
pub use sender::LibrarySender;
pub use table::LibraryCaps;
