//! What fused operators are measured against: a loop that puts a message together in memory and
//! hands it to a function.

use std::hint::black_box;

use crate::payload::Payload;
use crate::sink::ControlSink;

/// Messages from a loop to a function.
pub fn run_call_loop(payload: Payload, messages: u64) -> ControlSink {
    let mut sink = ControlSink::default();
    let mut message = vec![0; payload.bytes()];
    for number in 0..messages {
        payload.fill(number, &mut message);
        add_message(payload, black_box(&message), &mut sink);
    }
    sink
}

/// An operator by hand; a call, as between functions of different files.
#[inline(never)]
fn add_message(payload: Payload, message: &[u8], sink: &mut ControlSink) {
    sink.add(payload.sum(message));
}
