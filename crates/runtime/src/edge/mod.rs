//! What a crossing edge is made of, besides its operators: the ends of media, frame kinds, the codecs
//! of payloads, and how the threads behind it idle and linger.

pub(crate) mod codec;
pub(crate) mod crossing_ends;
pub(crate) mod crossing_resources;
pub(crate) mod frame_kind;
pub(crate) mod idle_policy;
pub(crate) mod linger;
