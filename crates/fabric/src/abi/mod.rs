//! The binary interface of libfabric 1.x, as far as this crate uses it.
//!
//! Names and layouts are those of libfabric's public headers (`rdma/fabric.h`, `fi_domain.h`,
//! `fi_endpoint.h`, `fi_eq.h`, `fi_cm.h`, `fi_rma.h`, version 1.17), in Rust's spelling. libfabric
//! keeps them: a structure or a table of functions grows only at its end, and a table tells its
//! size. A table that is cut off here is only ever reached by a pointer that the library has given,
//! and a structure that is cut off here is only ever allocated by the library. An entry that the
//! library fills has all fields that any version knows.
//!
//! # Safety
//! Everything here is plain data. Calls are made in the modules that own the objects.

mod flags;
mod info;
mod objects;
mod operations;

pub(crate) use flags::*;
pub(crate) use info::*;
pub(crate) use objects::*;
