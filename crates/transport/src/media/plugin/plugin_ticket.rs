//! Tickets of libraries: sealed, with the library's bytes and descriptors, and good for one use.
//!
//! ```text
//!   bytes in the seal    largest frame u64 | descriptors u32 | the library's bytes
//!   descriptors          [counter]  the library's descriptors
//! ```
//! The counter, an eventfd, stands in tickets that stay on their host. It is 1 until the ticket is
//! used; whoever takes that 1 may accept. Copies of a ticket have the same counter.

use std::os::fd::OwnedFd;

use ::plugin::{BLOCK_BYTES_MIN, LibraryTicket};
use ring::frame::ALIGN;
use rustix::event::{EventfdFlags, eventfd};

use crate::{EdgeSpec, EdgeTicket, Error};

/// A ticket that was unsealed and may be used.
pub(super) struct OpenedTicket {
    /// Number of the receiver.
    pub(super) receiver: u32,
    /// Most bytes of a frame with its header.
    pub(super) frame_bytes_max: u64,
    /// Bytes and descriptors of the library.
    pub(super) ticket: LibraryTicket,
}

/// Seals a library's ticket. `is_local`: it stays on its host.
///
/// # Errors
/// The system has no descriptor left.
pub(super) fn seal(
    medium: &str,
    spec: &EdgeSpec,
    receiver: u32,
    frame_bytes_max: u64,
    ticket: LibraryTicket,
    is_local: bool,
) -> Result<EdgeTicket, Error> {
    let mut fds = Vec::with_capacity(1 + ticket.fds.len());
    if is_local {
        let counter = eventfd(1, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        fds.push(counter.map_err(|error| Error::system("make an event descriptor", error))?);
    }
    fds.extend(ticket.fds);
    let counts = (fds.len() as u32).to_le_bytes();
    let own = [&frame_bytes_max.to_le_bytes()[..], &counts, &ticket.bytes].concat();
    Ok(EdgeTicket {
        fds,
        ..EdgeTicket::seal(medium, spec, receiver, &own)
    })
}

/// Unseals a ticket and uses it up.
///
/// # Errors
/// The ticket is garbled, of something else, lacks descriptors, or was used before.
pub(super) fn unseal(
    medium: &str,
    spec: &EdgeSpec,
    ticket: EdgeTicket,
) -> Result<OpenedTicket, Error> {
    let refused = |why: &str| Err(Error::Refused(format!("{}: {why}", spec.name)));
    let (receiver, own) = ticket.unseal(medium, spec)?;
    let parts = own.split_first_chunk::<8>();
    let parts = parts.and_then(|(size, rest)| Some((size, rest.split_first_chunk::<4>()?)));
    let Some((size, (count, bytes))) = parts else {
        return refused("the ticket is cut off");
    };
    let frame_bytes_max = u64::from_le_bytes(*size);
    let (bytes, count) = (bytes.to_vec(), u32::from_le_bytes(*count));
    if frame_bytes_max < BLOCK_BYTES_MIN || !frame_bytes_max.is_multiple_of(ALIGN as u64) {
        return refused("the ticket has no size of a frame");
    }
    if ticket.fds.len() != count as usize {
        return refused("the ticket has lost its descriptors");
    }
    let mut fds = ticket.fds.into_iter();
    // Tickets between hosts have no descriptors: there the library notices a second use.
    let counter = fds.next();
    if counter.is_some_and(|counter| !take(&counter)) {
        return refused("the ticket was used before");
    }
    Ok(OpenedTicket {
        receiver,
        frame_bytes_max,
        ticket: LibraryTicket {
            bytes,
            fds: fds.collect(),
        },
    })
}

/// Takes the counter's 1. `false`: another has.
fn take(counter: &OwnedFd) -> bool {
    rustix::io::read(counter, &mut [0_u8; 8]).is_ok()
}
