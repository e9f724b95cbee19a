//! Media of shared libraries that users write: frames over the blocks that a library moves.
//!
//! ```text
//!   SendingEnd                                     ReceivingEnd
//!     claim, commit                                  poll: headers checked, whole frames
//!       | header and payload                             ^ bytes
//!     claim, commit of the library ==== its way ====> poll of the library
//! ```
//! A library may give room for runs of frames, which are then written and committed without a call
//! for each: `plugin` tells receivers of them by a word in the library's memory.
//!
//! The library's functions are called by the crate `plugin`. Here a block is a frame: this side
//! writes its header and checks what comes out, so a library that garbles headers is found out
//! before a tuple is read. The sealed ticket has the size of the largest frame, the library's bytes
//! and descriptors, and one descriptor more, by which a ticket works once.
//!
//! [`media::search`](super::search) loads the libraries of folders: `libthalweg_medium_NAME.so` is
//! the medium NAME. They are media of the whole process from then on, found by their names.

mod medium;
mod plugin_ticket;
mod ranks;
mod receiver;
mod registry;
mod sender;

pub use ::plugin::{LibraryCall, calls_under_way};
pub use ranks::{MemberRank, Ranks, SHARE_BYTES_MAX, ranks_of};
pub use registry::{UnusableMedium, describe_search, load, unusable};
pub(in crate::media) use registry::{media, search};
