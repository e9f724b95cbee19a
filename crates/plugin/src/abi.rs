//! The types of `thalweg_medium.h` in Rust, field by field.

use std::ffi::{c_char, c_int, c_void};

/// Version of the table that this crate calls.
pub const VERSION: u32 = 1;

/// Bytes of the buffer for a sentence, with the zero at its end.
pub const SENTENCE_BYTES: usize = 256;

/// Most receivers of an edge: `lost` has a bit for each.
pub const RECEIVERS_MAX: u32 = 64;

/// Most bytes that a library puts into a ticket.
pub const TICKET_BYTES_MAX: usize = 512;

/// Most descriptors that a library puts into a ticket.
pub const TICKET_FDS_MAX: usize = 4;

/// Most bytes that rank 0 gives to all ranks.
pub const SHARE_BYTES_MAX: usize = 1024;

/// Most descriptors of each kind that an end sleeps on.
pub const WAITS_MAX: usize = 128;

pub const STATUS_OK: c_int = 0;
pub const STATUS_AGAIN: c_int = 1;
pub const STATUS_LOST: c_int = -1;
pub const STATUS_REFUSED: c_int = -2;
pub const STATUS_SYSTEM: c_int = -3;

/// Bytes in which a library writes a sentence.
pub type Sentence = [u8; SENTENCE_BYTES];

/// Capabilities in a table: `thalweg_medium_caps`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CapsFields {
    pub crosses_processes: u32,
    pub crosses_hosts: u32,
    pub is_untrusted: u32,
    pub is_one_to_many: u32,
    pub receivers_max: u32,
    pub frame_ns: u32,
    pub byte_ps: u32,
}

/// Description of an edge: `thalweg_medium_edge`.
#[repr(C)]
pub struct EdgeFields {
    pub name: *const c_char,
    pub listen: *const c_char,
    pub ring_bytes: u64,
    pub number: u32,
    pub receivers: u32,
    pub token: [u8; 16],
}

/// Ticket of a receiver: `thalweg_medium_ticket`.
#[repr(C)]
#[derive(Clone)]
pub struct TicketFields {
    pub byte_count: u32,
    pub fd_count: u32,
    pub bytes: [u8; TICKET_BYTES_MAX],
    pub fds: [i32; TICKET_FDS_MAX],
}

/// Descriptors of an armed end: `thalweg_medium_waits`.
#[repr(C)]
pub struct WaitsFields {
    pub readable_count: u32,
    pub writable_count: u32,
    pub readable: [i32; WAITS_MAX],
    pub writable: [i32; WAITS_MAX],
}

/// The library's own sending end.
#[repr(C)]
pub struct SenderObject {
    _opaque: [u8; 0],
}

/// The library's own receiving end.
#[repr(C)]
pub struct ReceiverObject {
    _opaque: [u8; 0],
}

/// Functions of a library, in the order of `thalweg_medium`. `Option`: a pointer that may be null.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FunctionFields {
    pub open: Option<Open>,
    pub accept: Option<Accept>,
    pub claim: Option<ClaimRoom>,
    pub commit: Option<SenderBytes>,
    pub flush: Option<Flush>,
    pub queued: Option<SenderNumber>,
    pub lost: Option<SenderNumber>,
    pub arm_sender: Option<ArmSender>,
    pub disarm_sender: Option<OnSender>,
    pub close_sender: Option<OnSender>,
    pub poll: Option<Poll>,
    pub release: Option<ReceiverBytes>,
    pub arm_receiver: Option<ArmReceiver>,
    pub disarm_receiver: Option<OnReceiver>,
    pub close_receiver: Option<OnReceiver>,
}

/// First fields of `thalweg_medium`, which every version has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MediumTableHead {
    pub version: u32,
    pub bytes: u32,
}

/// `thalweg_medium` as a library exports it, up to its part for runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TableFields {
    pub head: MediumTableHead,
    pub about: *const c_char,
    pub caps: CapsFields,
    pub functions: FunctionFields,
}

/// The part for runs of `thalweg_medium`, at its end. `Option`: a pointer that may be null.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RunFields {
    pub polls_whole_blocks: u64,
    pub run_words: Option<RunWords>,
    pub claim_run: Option<ClaimRun>,
    pub wake: Option<OnSender>,
}

/// `thalweg_medium` with its part for runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TableWithRuns {
    pub table: TableFields,
    pub runs: RunFields,
}

/// Words of a sender: `thalweg_medium_run_words`.
#[repr(C)]
pub struct RunWordsFields {
    pub committed: *mut u64,
    pub sleeps: *const u64,
}

/// `thalweg_medium_ranks` as a library exports it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RanksFields {
    pub head: MediumTableHead,
    pub join: Option<JoinRanks>,
    pub share: Option<ShareBytes>,
}

pub type JoinRanks = unsafe extern "C" fn(*mut u32, *mut u32, *mut Sentence) -> c_int;
pub type ShareBytes = unsafe extern "C" fn(*mut c_void, u32, *mut Sentence) -> c_int;
pub type Open = unsafe extern "C" fn(
    *const EdgeFields,
    *mut *mut SenderObject,
    *mut u64,
    *mut TicketFields,
    *mut Sentence,
) -> c_int;
pub type Accept = unsafe extern "C" fn(
    *const EdgeFields,
    u32,
    *const TicketFields,
    *mut *mut ReceiverObject,
    *mut Sentence,
) -> c_int;
pub type ClaimRoom =
    unsafe extern "C" fn(*mut SenderObject, u64, *mut *mut c_void, *mut Sentence) -> c_int;
pub type RunWords = unsafe extern "C" fn(*mut SenderObject, *mut RunWordsFields) -> c_int;
pub type ClaimRun = unsafe extern "C" fn(
    *mut SenderObject,
    u64,
    *mut *mut c_void,
    *mut u64,
    *mut Sentence,
) -> c_int;
pub type SenderBytes = unsafe extern "C" fn(*mut SenderObject, u64);
pub type Flush = unsafe extern "C" fn(*mut SenderObject, *mut Sentence) -> c_int;
pub type SenderNumber = unsafe extern "C" fn(*mut SenderObject) -> u64;
pub type ArmSender =
    unsafe extern "C" fn(*mut SenderObject, u64, *mut WaitsFields, *mut Sentence) -> c_int;
pub type OnSender = unsafe extern "C" fn(*mut SenderObject);
pub type Poll = unsafe extern "C" fn(
    *mut ReceiverObject,
    u64,
    *mut *const c_void,
    *mut u64,
    *mut Sentence,
) -> c_int;
pub type ReceiverBytes = unsafe extern "C" fn(*mut ReceiverObject, u64);
pub type ArmReceiver =
    unsafe extern "C" fn(*mut ReceiverObject, *mut WaitsFields, *mut Sentence) -> c_int;
pub type OnReceiver = unsafe extern "C" fn(*mut ReceiverObject);

// The sizes of the C types on a machine with pointers of 8 bytes.
const _: () = assert!(size_of::<CapsFields>() == 28 && size_of::<EdgeFields>() == 48);
const _: () = assert!(size_of::<TicketFields>() == 536 && size_of::<WaitsFields>() == 1032);
const _: () = assert!(size_of::<TableWithRuns>() == 200 && size_of::<RunWordsFields>() == 16);
const _: () = assert!(size_of::<TableFields>() == 168 && size_of::<RanksFields>() == 24);

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../include/thalweg_medium.h");

    #[test]
    fn the_header_has_the_same_numbers() {
        let defined = [
            ("VERSION", format!("{VERSION}u")),
            ("SENTENCE_BYTES", SENTENCE_BYTES.to_string()),
            ("RECEIVERS_MAX", RECEIVERS_MAX.to_string()),
            ("TICKET_BYTES_MAX", TICKET_BYTES_MAX.to_string()),
            ("TICKET_FDS_MAX", TICKET_FDS_MAX.to_string()),
            ("WAITS_MAX", WAITS_MAX.to_string()),
            ("SHARE_BYTES_MAX", SHARE_BYTES_MAX.to_string()),
        ];
        for (name, value) in defined {
            let line = format!("#define THALWEG_MEDIUM_{name} {value}\n");
            assert!(HEADER.contains(&line), "{line}");
        }
        let statuses = [
            ("OK", STATUS_OK),
            ("AGAIN", STATUS_AGAIN),
            ("LOST", STATUS_LOST),
            ("REFUSED", STATUS_REFUSED),
            ("SYSTEM", STATUS_SYSTEM),
        ];
        for (name, value) in statuses {
            let line = format!("    THALWEG_MEDIUM_{name} = {value}");
            assert!(HEADER.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_header_has_the_same_functions_in_the_same_order() {
        let own = include_str!("abi.rs");
        let fields = |table: &str| {
            let (_, fields) = own.split_once(table).unwrap();
            fields.split_once('}').unwrap().0
        };
        let medium = fields("pub struct FunctionFields {");
        let (_, ranks) = fields("pub struct RanksFields {")
            .split_once("head")
            .unwrap();
        let names = |text: &str, before: &str, behind: &str| -> Vec<String> {
            let parts = text.split(before).skip(1);
            parts
                .filter_map(|part| Some(part.split_once(behind)?.0.to_owned()))
                .collect()
        };
        let (_, runs) = fields("pub struct RunFields {")
            .split_once("polls_whole_blocks")
            .unwrap();
        let declared = names(HEADER, " (*", ")(");
        let fields = [medium, runs, ranks].concat();
        assert_eq!(declared.len(), 20);
        assert_eq!(declared, names(&fields, "pub ", ": "));
    }
}
