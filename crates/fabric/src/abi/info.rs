//! Offers of providers: `fi_info` and the attributes below it.

use std::ffi::{c_char, c_int, c_void};

use super::objects::Fid;

/// `struct fi_info`: one offer of a provider, in a list.
#[repr(C)]
pub(crate) struct FiInfo {
    pub(crate) next: *mut FiInfo,
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) addr_format: u32,
    pub(crate) src_addrlen: usize,
    pub(crate) dest_addrlen: usize,
    pub(crate) src_addr: *mut c_void,
    pub(crate) dest_addr: *mut c_void,
    pub(crate) handle: *mut Fid,
    pub(crate) tx_attr: *mut FiTxAttr,
    pub(crate) rx_attr: *mut FiRxAttr,
    pub(crate) ep_attr: *mut FiEpAttr,
    pub(crate) domain_attr: *mut FiDomainAttr,
    pub(crate) fabric_attr: *mut FiFabricAttr,
    pub(crate) nic: *mut c_void,
}

/// `struct fi_tx_attr`: attributes of sending.
#[repr(C)]
pub(crate) struct FiTxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) inject_size: usize,
    pub(crate) size: usize,
    pub(crate) iov_limit: usize,
    pub(crate) rma_iov_limit: usize,
    pub(crate) tclass: u32,
}

/// `struct fi_rx_attr`: attributes of receiving.
#[repr(C)]
pub(crate) struct FiRxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) total_buffered_recv: usize,
    pub(crate) size: usize,
    pub(crate) iov_limit: usize,
}

/// `struct fi_ep_attr`, up to the last attribute that is used.
#[repr(C)]
pub(crate) struct FiEpAttr {
    pub(crate) kind: c_int,
    pub(crate) protocol: u32,
    pub(crate) protocol_version: u32,
    pub(crate) max_msg_size: usize,
}

/// `struct fi_domain_attr`, up to the last attribute that is used.
#[repr(C)]
pub(crate) struct FiDomainAttr {
    pub(crate) domain: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) threading: c_int,
    pub(crate) control_progress: c_int,
    pub(crate) data_progress: c_int,
    pub(crate) resource_mgmt: c_int,
    pub(crate) av_type: c_int,
    pub(crate) mr_mode: c_int,
    pub(crate) mr_key_size: usize,
    pub(crate) cq_data_size: usize,
}

/// `struct fi_fabric_attr`: names of the fabric and its provider.
#[repr(C)]
pub(crate) struct FiFabricAttr {
    pub(crate) fabric: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) prov_name: *mut c_char,
    pub(crate) prov_version: u32,
    pub(crate) api_version: u32,
}

// The offsets of libfabric 1.17 on 64-bit systems.
const _: () = {
    assert!(size_of::<FiInfo>() == 120);
    assert!(std::mem::offset_of!(FiInfo, handle) == 64);
    assert!(size_of::<FiTxAttr>() == 80);
    assert!(size_of::<FiRxAttr>() == 64);
    assert!(std::mem::offset_of!(FiEpAttr, max_msg_size) == 16);
    assert!(std::mem::offset_of!(FiDomainAttr, mr_mode) == 36);
    assert!(std::mem::offset_of!(FiDomainAttr, cq_data_size) == 48);
    assert!(std::mem::offset_of!(FiFabricAttr, prov_name) == 16);
};
