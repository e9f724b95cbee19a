//! The ring of `examples/media/shared_ring.c` in Rust, behind the same table of C functions: the
//! control of the benchmark `library`, which compiles these files with rustc as a library.
//!
//! Layout, memory orders and steps are those of the C file, function by function; its comments say
//! why. Types are those of the crate `plugin`.
//!
//! # Safety
//! The functions of the table are called as `thalweg_medium.h` says: with objects that `open` and
//! `accept` have made and nothing has closed, by one thread at a time, and with pointers that are
//! valid during the call. The mapping of an end stays until it is closed, and all that both
//! processes write there is atomic or a block that one of them owns.

#[path = "../../../../plugin/src/abi.rs"]
pub mod abi;
mod edge_end;
mod receiver;
mod sender;
mod system;

use abi::{
    CapsFields, FunctionFields, MediumTableHead, RunFields, TableFields, TableWithRuns, VERSION,
};

/// The table, whose texts do not change.
#[repr(transparent)]
pub struct SharedTable(TableWithRuns);

unsafe impl Sync for SharedTable {}

#[unsafe(export_name = "thalweg_medium_table")]
pub static TABLE: SharedTable = SharedTable(TableWithRuns {
    table: TableFields {
        head: MediumTableHead {
            version: VERSION,
            bytes: size_of::<TableWithRuns>() as u32,
        },
        about: c"a ring in shared memory, in Rust".as_ptr(),
        caps: CapsFields {
            crosses_processes: 1,
            crosses_hosts: 0,
            is_untrusted: 0,
            is_one_to_many: 0,
            receivers_max: 1,
            frame_ns: 20,
            byte_ps: 100,
        },
        functions: FunctionFields {
            open: Some(sender::open),
            accept: Some(receiver::accept),
            claim: Some(sender::claim),
            commit: Some(sender::commit),
            flush: Some(sender::flush),
            queued: Some(sender::queued),
            lost: Some(sender::lost),
            arm_sender: Some(sender::arm_sender),
            disarm_sender: Some(sender::disarm_sender),
            close_sender: Some(sender::close_sender),
            poll: Some(receiver::poll),
            release: Some(receiver::release),
            arm_receiver: Some(receiver::arm_receiver),
            disarm_receiver: Some(receiver::disarm_receiver),
            close_receiver: Some(receiver::close_receiver),
        },
    },
    runs: RunFields {
        polls_whole_blocks: 1,
        run_words: Some(sender::run_words),
        claim_run: Some(sender::claim_run),
        wake: Some(sender::wake),
    },
});
