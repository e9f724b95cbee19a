//! A library that is a medium: loaded, and asked for the ends of edges.

use std::ffi::CString;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::path::Path;
use std::ptr::{self, NonNull};

use libloading::Library;
use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::abi::{
    EdgeFields, RECEIVERS_MAX, RanksFields, SENTENCE_BYTES, STATUS_OK, TICKET_BYTES_MAX,
    TICKET_FDS_MAX, TableFields, TicketFields,
};
use crate::error::PluginError;
use crate::ranks::LibraryRanks;
use crate::receiver::LibraryReceiver;
use crate::sender::{BLOCK_ALIGN, LibrarySender};
use crate::table::{LibraryCaps, Table};

/// Name of the symbol that every library exports.
const TABLE_SYMBOL: &[u8] = b"thalweg_medium_table\0";

/// Name of the symbol that a library with ranks exports besides.
const RANKS_SYMBOL: &[u8] = b"thalweg_medium_ranks_table\0";

/// Fewest bytes that the largest block of an edge may have.
pub const BLOCK_BYTES_MIN: u64 = 64;

/// Most bytes that the largest block of an edge may have, as a frame says its length in 32 bits.
const BLOCK_BYTES_MAX: u64 = 1 << 31;

/// A loaded library. It stays loaded until the process ends, as it may have threads of its own.
#[derive(Clone, Copy, Debug)]
pub struct MediumLibrary(&'static Table, Option<LibraryRanks>);

/// Description of an edge, which both of its sides have.
#[derive(Clone, Copy, Debug)]
pub struct LibraryEdge<'a> {
    /// Name of the edge in sentences.
    pub name: &'a str,
    /// Address to listen on, as text.
    pub listen: &'a str,
    /// Most bytes that may be committed and not released.
    pub ring_bytes: u64,
    /// Number of the edge in its job.
    pub number: u32,
    /// Number of receivers, at least 1.
    pub receivers: u32,
    /// Secret of the job.
    pub token: [u8; 16],
}

/// How a receiver reaches the sender: the library's own bytes and descriptors.
#[derive(Debug)]
pub struct LibraryTicket {
    /// Bytes, at most 512.
    pub bytes: Vec<u8>,
    /// Descriptors, at most 4.
    pub fds: Vec<OwnedFd>,
}

impl MediumLibrary {
    /// Loads a library and checks its table. Its initialisers run in this process.
    ///
    /// # Errors
    /// [`PluginError::Unusable`], with the file: no library, without a table, or with a wrong one.
    pub fn load(file: &Path) -> Result<MediumLibrary, PluginError> {
        let unusable = |why: String| PluginError::unusable(file, why);
        // A name without a slash would be looked for in the system's folders.
        let path = std::path::absolute(file).map_err(|error| unusable(error.to_string()))?;
        // A function that the library lacks is an error now, and not at its first call.
        // SAFETY: the user asks for this library to be loaded; by the header its initialisers do
        // nothing to the process but their own work.
        let library = unsafe { unix::Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| unusable(format!("cannot be loaded: {error}")))?;
        // A library stays, also one that is no medium: its initialisers may have started threads.
        let library: &Library = Box::leak(Box::new(library.into()));
        // SAFETY: by the header, the symbol of this name is a `thalweg_medium`; only its address is
        // taken here.
        let table = unsafe { library.get::<*const TableFields>(TABLE_SYMBOL) };
        let table = match table {
            // SAFETY: the library is never unloaded, so the address stays valid.
            Ok(symbol) => unsafe { symbol.into_raw() }
                .as_raw_ptr()
                .cast::<TableFields>(),
            Err(_) => {
                let why = "exports no thalweg_medium_table, so it is no medium";
                return Err(unusable(why.to_owned()));
            }
        };
        // SAFETY: the address is that of the symbol, and the library is never unloaded.
        let table = unsafe { Table::read(file, table) }?;
        let table: &'static Table = Box::leak(Box::new(table));
        // SAFETY: by the header, the symbol of this name is a `thalweg_medium_ranks`; only its
        // address is taken here.
        let ranks = unsafe { library.get::<*const RanksFields>(RANKS_SYMBOL) };
        let ranks = ranks.ok().map(|symbol| {
            // SAFETY: the library is never unloaded, so the address stays valid.
            let ranks = unsafe { symbol.into_raw() };
            // SAFETY: the address is that of the symbol.
            unsafe { LibraryRanks::read(table, ranks.as_raw_ptr().cast::<RanksFields>()) }
        });
        Ok(MediumLibrary(table, ranks.transpose()?))
    }

    /// The ranks that the processes of a job have to be, if the medium joins ranks.
    pub fn ranks(&self) -> Option<LibraryRanks> {
        self.1
    }

    /// File of the library, as it was given.
    pub fn file(&self) -> &'static Path {
        &self.0.file
    }

    /// The line in which the library describes itself.
    pub fn about(&self) -> &'static str {
        &self.0.about
    }

    /// Capabilities that the library states.
    pub fn caps(&self) -> LibraryCaps {
        self.0.caps
    }

    /// Makes the sending end of an edge, and a ticket for each receiver.
    ///
    /// # Errors
    /// The library's, or that it broke a rule.
    ///
    /// # Panics
    /// If the edge has no receivers or more than [`LibraryCaps::receivers_max`].
    pub fn open(
        &self,
        edge: LibraryEdge<'_>,
    ) -> Result<(LibrarySender, Vec<LibraryTicket>), PluginError> {
        let most = self.0.caps.receivers_max.min(RECEIVERS_MAX);
        assert!(
            (1..=most).contains(&edge.receivers),
            "{} receivers",
            edge.receivers
        );
        let mut tickets = vec![empty_ticket(); edge.receivers as usize];
        let (mut object, mut block_bytes_max) = (ptr::null_mut(), 0);
        let mut sentence = [0; SENTENCE_BYTES];
        let texts = EdgeTexts::new(edge);
        let fields = texts.fields(edge);
        let (bytes, tickets_start) = (&mut block_bytes_max, tickets.as_mut_ptr());
        // SAFETY: the pointers are valid for the call: the edge for reads, the others for writes,
        // that of the tickets for as many as the edge has receivers.
        let status = unsafe {
            (self.0.functions.open)(&fields, &mut object, bytes, tickets_start, &mut sentence)
        };
        if status != STATUS_OK {
            return Err(self.0.error("open", status, &sentence));
        }
        let Some(object) = NonNull::new(object) else {
            return Err(self.0.broken("open", "gives a null sender"));
        };
        let mut sender = LibrarySender::new(self.0, object, block_bytes_max, edge.name);
        let is_size = (BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&block_bytes_max);
        if !is_size || !block_bytes_max.is_multiple_of(BLOCK_ALIGN) {
            let what = format!(
                "says that the largest block has {block_bytes_max} bytes, and it must be a multiple \
                 of 8 from {BLOCK_BYTES_MIN} to {BLOCK_BYTES_MAX}"
            );
            return Err(self.0.broken("open", what));
        }
        for (number, ticket) in tickets.iter().enumerate() {
            self.check_ticket(ticket, &tickets[..number])?;
        }
        let tickets = tickets.iter().map(take_ticket).collect();
        sender.begin_runs()?;
        Ok((sender, tickets))
    }

    /// Checks a ticket that the library has filled in, behind those before it. A descriptor that
    /// it has twice would be closed twice.
    fn check_ticket(
        &self,
        ticket: &TicketFields,
        before: &[TicketFields],
    ) -> Result<(), PluginError> {
        let broken = |what: String| self.0.broken("open", what);
        let (bytes, fds) = (ticket.byte_count as usize, ticket.fd_count as usize);
        if bytes > TICKET_BYTES_MAX || fds > TICKET_FDS_MAX {
            let most = format!("{TICKET_BYTES_MAX} and {TICKET_FDS_MAX} are the most");
            let what = format!("makes a ticket of {bytes} bytes and {fds} descriptors, and {most}");
            return Err(broken(what));
        }
        if fds > 0 && self.0.caps.crosses_hosts {
            let what = "puts descriptors into a ticket, which cannot travel between hosts";
            return Err(broken(what.to_owned()));
        }
        let fds = &ticket.fds[..fds];
        for (at, &fd) in fds.iter().enumerate() {
            let others = before.iter().flat_map(descriptors);
            if fds[..at].iter().chain(others).any(|other| *other == fd) {
                return Err(broken(format!(
                    "puts the descriptor {fd} into tickets twice"
                )));
            }
            // The first three are the standard input, output and error of the process.
            // SAFETY: the descriptor is not -1 and gets a flag; whether it is open is the question.
            let is_open = fd > 2
                && fcntl_setfd(unsafe { BorrowedFd::borrow_raw(fd) }, FdFlags::CLOEXEC).is_ok();
            if !is_open {
                return Err(broken(format!(
                    "puts {fd} into a ticket, no open descriptor of its own"
                )));
            }
        }
        Ok(())
    }

    /// Makes the receiving end with this number from its ticket.
    ///
    /// # Errors
    /// The library's, or that it broke a rule; or the ticket is larger than any.
    pub fn accept(
        &self,
        edge: LibraryEdge<'_>,
        receiver: u32,
        ticket: LibraryTicket,
    ) -> Result<LibraryReceiver, PluginError> {
        if ticket.bytes.len() > TICKET_BYTES_MAX || ticket.fds.len() > TICKET_FDS_MAX {
            let why = "a ticket with more than a ticket holds";
            return Err(PluginError::Refused(why.to_owned()));
        }
        let fds: Vec<i32> = ticket.fds.into_iter().map(IntoRawFd::into_raw_fd).collect();
        let mut fields = empty_ticket();
        fields.byte_count = ticket.bytes.len() as u32;
        fields.bytes[..ticket.bytes.len()].copy_from_slice(&ticket.bytes);
        fields.fd_count = fds.len() as u32;
        fields.fds[..fds.len()].copy_from_slice(&fds);
        let mut object = ptr::null_mut();
        let mut sentence = [0; SENTENCE_BYTES];
        let texts = EdgeTexts::new(edge);
        let fields_of_edge = texts.fields(edge);
        // SAFETY: the pointers are valid for the call, edge and ticket for reads, the others for
        // writes.
        let status = unsafe {
            (self.0.functions.accept)(
                &fields_of_edge,
                receiver,
                &fields,
                &mut object,
                &mut sentence,
            )
        };
        if status != STATUS_OK {
            for fd in fds {
                // SAFETY: the descriptor was owned above, and the library has not taken it.
                drop(unsafe { OwnedFd::from_raw_fd(fd) });
            }
            return Err(self.0.error("accept", status, &sentence));
        }
        match NonNull::new(object) {
            Some(object) => Ok(LibraryReceiver::new(self.0, object, edge.name)),
            None => Err(self.0.broken("accept", "gives a null receiver")),
        }
    }
}

/// The descriptors of a ticket whose counts were checked.
fn descriptors(ticket: &TicketFields) -> &[i32] {
    &ticket.fds[..ticket.fd_count as usize]
}

/// Takes a ticket that was checked, and owns its descriptors from then on.
fn take_ticket(ticket: &TicketFields) -> LibraryTicket {
    // SAFETY: each descriptor is open, is in no other ticket, and is by the header this process's
    // to close.
    let own = |fd: &i32| unsafe { OwnedFd::from_raw_fd(*fd) };
    LibraryTicket {
        bytes: ticket.bytes[..ticket.byte_count as usize].to_vec(),
        fds: descriptors(ticket).iter().map(own).collect(),
    }
}

/// Texts of an edge's description as C reads them.
struct EdgeTexts {
    name: CString,
    listen: CString,
}

impl EdgeTexts {
    fn new(edge: LibraryEdge<'_>) -> EdgeTexts {
        // No name of an operator and no address has a zero in it.
        let text = |text: &str| CString::new(text).unwrap_or_default();
        EdgeTexts {
            name: text(edge.name),
            listen: text(edge.listen),
        }
    }

    /// The description for a call, valid as long as these texts.
    fn fields(&self, edge: LibraryEdge<'_>) -> EdgeFields {
        EdgeFields {
            name: self.name.as_ptr(),
            listen: self.listen.as_ptr(),
            ring_bytes: edge.ring_bytes / BLOCK_ALIGN * BLOCK_ALIGN,
            number: edge.number,
            receivers: edge.receivers,
            token: edge.token,
        }
    }
}

fn empty_ticket() -> TicketFields {
    TicketFields {
        byte_count: 0,
        fd_count: 0,
        bytes: [0; TICKET_BYTES_MAX],
        fds: [-1; TICKET_FDS_MAX],
    }
}
