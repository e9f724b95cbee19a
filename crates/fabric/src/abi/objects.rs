//! Objects of libfabric: each begins with a `fid`, which has the table of calls that all have, and
//! goes on with tables of its own.

use std::ffi::{c_char, c_int, c_void};

use super::operations::{
    FiOps, FiOpsAv, FiOpsCm, FiOpsCq, FiOpsDomain, FiOpsEp, FiOpsEq, FiOpsFabric, FiOpsMr,
    FiOpsMsg, FiOpsRma,
};

/// `struct fid`: the head of every object.
#[repr(C)]
pub(crate) struct Fid {
    pub(crate) class: usize,
    pub(crate) context: *mut c_void,
    pub(crate) ops: *const FiOps,
}

/// `struct fid_fabric`: a provider that is open.
#[repr(C)]
pub(crate) struct FidFabric {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsFabric,
}

/// `struct fid_domain`: a device that is open.
#[repr(C)]
pub(crate) struct FidDomain {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsDomain,
    pub(crate) mr: *const FiOpsMr,
}

/// `struct fid_mr`: a registration of memory.
#[repr(C)]
pub(crate) struct FidMr {
    pub(crate) fid: Fid,
    pub(crate) mem_desc: *mut c_void,
    pub(crate) key: u64,
}

/// `struct fid_eq`: a queue of events of connections.
#[repr(C)]
pub(crate) struct FidEq {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsEq,
}

/// `struct fid_cq`: a queue of completions.
#[repr(C)]
pub(crate) struct FidCq {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsCq,
}

/// `struct fid_av`: addresses of peers.
#[repr(C)]
pub(crate) struct FidAv {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsAv,
}

/// `struct fid_pep`: an endpoint that listens.
#[repr(C)]
pub(crate) struct FidPep {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsEp,
    pub(crate) cm: *const FiOpsCm,
}

/// `struct fid_ep`, up to the last table that is used.
#[repr(C)]
pub(crate) struct FidEp {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FiOpsEp,
    pub(crate) cm: *const FiOpsCm,
    pub(crate) msg: *const FiOpsMsg,
    pub(crate) rma: *const FiOpsRma,
}

/// `struct fi_eq_attr`: how to open an event queue.
#[repr(C)]
pub(crate) struct FiEqAttr {
    pub(crate) size: usize,
    pub(crate) flags: u64,
    pub(crate) wait_obj: c_int,
    pub(crate) signaling_vector: c_int,
    pub(crate) wait_set: *mut c_void,
}

/// `struct fi_av_attr`: how to open an address vector.
#[repr(C)]
pub(crate) struct FiAvAttr {
    pub(crate) kind: c_int,
    pub(crate) rx_ctx_bits: c_int,
    pub(crate) count: usize,
    pub(crate) ep_per_node: usize,
    pub(crate) name: *const c_char,
    pub(crate) map_addr: *mut c_void,
    pub(crate) flags: u64,
}

/// `struct fi_cq_attr`: how to open a completion queue.
#[repr(C)]
pub(crate) struct FiCqAttr {
    pub(crate) size: usize,
    pub(crate) flags: u64,
    pub(crate) format: c_int,
    pub(crate) wait_obj: c_int,
    pub(crate) signaling_vector: c_int,
    pub(crate) wait_cond: c_int,
    pub(crate) wait_set: *mut c_void,
}

/// `struct fi_eq_cm_entry`, with room for the largest data that a peer sends with its request.
#[repr(C)]
pub(crate) struct FiEqCmEntry {
    pub(crate) fid: *mut Fid,
    pub(crate) info: *mut super::FiInfo,
    pub(crate) data: [u8; 256],
}

/// `struct fi_eq_err_entry`: an event that is an error.
#[repr(C)]
pub(crate) struct FiEqErrEntry {
    pub(crate) fid: *mut Fid,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
    pub(crate) err: c_int,
    pub(crate) prov_errno: c_int,
    pub(crate) err_data: *mut c_void,
    pub(crate) err_data_size: usize,
}

/// `struct fi_cq_data_entry`: a completion with its number.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct FiCqDataEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
}

/// `struct fi_cq_err_entry`: a completion that is an error, with the address that versions from
/// 1.20 on append.
#[repr(C)]
pub(crate) struct FiCqErrEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
    pub(crate) tag: u64,
    pub(crate) olen: usize,
    pub(crate) err: c_int,
    pub(crate) prov_errno: c_int,
    pub(crate) err_data: *mut c_void,
    pub(crate) err_data_size: usize,
    pub(crate) src_addr: u64,
}

/// `struct fi_msg`: a message to post.
#[repr(C)]
pub(crate) struct FiMsg {
    pub(crate) msg_iov: *const libc::iovec,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: u64,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}

/// `struct fi_rma_iov`: a part of remote memory.
#[repr(C)]
pub(crate) struct FiRmaIov {
    pub(crate) addr: u64,
    pub(crate) len: usize,
    pub(crate) key: u64,
}

/// `struct fi_msg_rma`: a write or read to post.
#[repr(C)]
pub(crate) struct FiMsgRma {
    pub(crate) msg_iov: *const libc::iovec,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: u64,
    pub(crate) rma_iov: *const FiRmaIov,
    pub(crate) rma_iov_count: usize,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}
