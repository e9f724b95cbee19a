//! Order of tuples where streams of one origin meet again: order positions, how they are sent, and
//! the merge that takes tuples by them.

pub(crate) mod order_position;
pub(crate) mod ordered_input;
pub(crate) mod ordered_merge;
pub(crate) mod reorder_buffer;
pub(crate) mod sender_positions;
pub(crate) mod thread_order;
