//! Order of tuples where streams of one origin meet again: order positions, the order that each
//! thread has, how positions are sent, and the buffer where tuples wait for theirs. The merge that
//! takes tuples by them is [`crate::crossing::ordered_merge`].

pub(crate) mod order_position;
pub(crate) mod position_frames;
pub(crate) mod reorder_buffer;
pub(crate) mod sender_positions;
pub(crate) mod thread_order;
