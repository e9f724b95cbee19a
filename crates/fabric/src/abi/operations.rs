//! The tables of calls that objects of libfabric have. A call that this crate does not make is an
//! untyped pointer, which keeps the place of those behind it.

use std::ffi::{c_char, c_int, c_void};

use super::info::FiInfo;
use super::objects::{
    FiAvAttr, FiCqAttr, FiCqErrEntry, FiEqAttr, FiEqErrEntry, FiMsg, FiMsgRma, Fid, FidAv, FidCq,
    FidDomain, FidEp, FidEq, FidFabric, FidMr, FidPep,
};

/// A call that is not made.
type Unused = *const c_void;

/// `struct fi_ops`: what every object can do.
#[repr(C)]
pub(crate) struct FiOps {
    pub(crate) size: usize,
    pub(crate) close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub(crate) bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub(crate) control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
}

/// `struct fi_ops_fabric`: calls of an open provider.
#[repr(C)]
pub(crate) struct FiOpsFabric {
    pub(crate) size: usize,
    pub(crate) domain: unsafe extern "C" fn(
        *mut FidFabric,
        *mut FiInfo,
        *mut *mut FidDomain,
        *mut c_void,
    ) -> c_int,
    pub(crate) passive_ep:
        unsafe extern "C" fn(*mut FidFabric, *mut FiInfo, *mut *mut FidPep, *mut c_void) -> c_int,
    pub(crate) eq_open:
        unsafe extern "C" fn(*mut FidFabric, *mut FiEqAttr, *mut *mut FidEq, *mut c_void) -> c_int,
    pub(crate) wait_open: Unused,
    pub(crate) trywait: unsafe extern "C" fn(*mut FidFabric, *mut *mut Fid, c_int) -> c_int,
}

/// `struct fi_ops_domain`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsDomain {
    pub(crate) size: usize,
    pub(crate) av_open:
        unsafe extern "C" fn(*mut FidDomain, *mut FiAvAttr, *mut *mut FidAv, *mut c_void) -> c_int,
    pub(crate) cq_open:
        unsafe extern "C" fn(*mut FidDomain, *mut FiCqAttr, *mut *mut FidCq, *mut c_void) -> c_int,
    pub(crate) endpoint:
        unsafe extern "C" fn(*mut FidDomain, *mut FiInfo, *mut *mut FidEp, *mut c_void) -> c_int,
}

/// `struct fi_ops_av`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsAv {
    pub(crate) size: usize,
    pub(crate) insert:
        unsafe extern "C" fn(*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
}

/// `struct fi_ops_mr`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsMr {
    pub(crate) size: usize,
    pub(crate) reg: unsafe extern "C" fn(
        fid: *mut Fid,
        buf: *const c_void,
        len: usize,
        access: u64,
        offset: u64,
        requested_key: u64,
        flags: u64,
        mr: *mut *mut FidMr,
        context: *mut c_void,
    ) -> c_int,
}

/// `struct fi_ops_ep`: its options are not used.
#[repr(C)]
pub(crate) struct FiOpsEp {
    pub(crate) size: usize,
}

/// `struct fi_ops_cm`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsCm {
    pub(crate) size: usize,
    pub(crate) setname: Unused,
    pub(crate) getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
    pub(crate) getpeer: Unused,
    pub(crate) connect:
        unsafe extern "C" fn(*mut FidEp, *const c_void, *const c_void, usize) -> c_int,
    pub(crate) listen: unsafe extern "C" fn(*mut FidPep) -> c_int,
    pub(crate) accept: unsafe extern "C" fn(*mut FidEp, *const c_void, usize) -> c_int,
    pub(crate) reject: unsafe extern "C" fn(*mut FidPep, *mut Fid, *const c_void, usize) -> c_int,
    pub(crate) shutdown: unsafe extern "C" fn(*mut FidEp, u64) -> c_int,
}

/// `struct fi_ops_msg`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsMsg {
    pub(crate) size: usize,
    pub(crate) recv: unsafe extern "C" fn(
        *mut FidEp,
        *mut c_void,
        usize,
        *mut c_void,
        u64,
        *mut c_void,
    ) -> isize,
    pub(crate) recvv: Unused,
    pub(crate) recvmsg: Unused,
    pub(crate) send: Unused,
    pub(crate) sendv: Unused,
    pub(crate) sendmsg: unsafe extern "C" fn(*mut FidEp, *const FiMsg, u64) -> isize,
}

/// `struct fi_ops_rma`, up to the last call that is made.
#[repr(C)]
pub(crate) struct FiOpsRma {
    pub(crate) size: usize,
    pub(crate) read: Unused,
    pub(crate) readv: Unused,
    pub(crate) readmsg: unsafe extern "C" fn(*mut FidEp, *const FiMsgRma, u64) -> isize,
    pub(crate) write: Unused,
    pub(crate) writev: Unused,
    pub(crate) writemsg: unsafe extern "C" fn(*mut FidEp, *const FiMsgRma, u64) -> isize,
}

/// `struct fi_ops_eq`: calls of an event queue, up to the last that is made.
#[repr(C)]
pub(crate) struct FiOpsEq {
    pub(crate) size: usize,
    pub(crate) read: unsafe extern "C" fn(*mut FidEq, *mut u32, *mut c_void, usize, u64) -> isize,
    pub(crate) readerr: unsafe extern "C" fn(*mut FidEq, *mut FiEqErrEntry, u64) -> isize,
}

/// `struct fi_ops_cq`: calls of a completion queue.
#[repr(C)]
pub(crate) struct FiOpsCq {
    pub(crate) size: usize,
    pub(crate) read: unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize,
    pub(crate) readfrom: Unused,
    pub(crate) readerr: unsafe extern "C" fn(*mut FidCq, *mut FiCqErrEntry, u64) -> isize,
    pub(crate) sread: Unused,
    pub(crate) sreadfrom: Unused,
    pub(crate) signal: Unused,
    pub(crate) strerror:
        unsafe extern "C" fn(*mut FidCq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
}
