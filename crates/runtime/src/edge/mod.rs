//! Parts of crossing edges below the operators: ends of media, kinds of frames, codecs of payloads,
//! and how the threads behind an edge idle and linger.
//!
//! This folder holds parts that are no operators; `crossing`, `queue` and `order` build on it, and
//! nothing here uses them. The operators that a plan inserts, with their registry entries and the
//! parts that only they use, belong to [`crossing`](crate::crossing), threaded ports to `queue`.

pub(crate) mod codec;
pub(crate) mod crossing_ends;
pub(crate) mod crossing_resources;
pub(crate) mod frame_kind;
pub(crate) mod idle_policy;
pub(crate) mod linger;
