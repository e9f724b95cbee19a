//! Parts of crossing edges below the operators: ends of media, kinds of frames, codecs of payloads,
//! and how the threads behind an edge idle and linger.

pub(crate) mod codec;
pub(crate) mod crossing_ends;
pub(crate) mod crossing_resources;
pub(crate) mod frame_kind;
pub(crate) mod idle_policy;
pub(crate) mod linger;
