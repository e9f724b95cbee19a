//! The control of fused operators: a loop that fills a message in memory and calls a function with
//! it.

use std::hint::black_box;

use crate::payload::Payload;
use crate::sink::ControlSink;

/// Passes `messages` messages from a loop to a function.
pub fn run_call_loop(payload: Payload, messages: u64) -> ControlSink {
    let mut sink = ControlSink::default();
    let mut message = vec![0; payload.bytes()];
    for number in 0..messages {
        payload.fill(number, &mut message);
        add_message(payload, black_box(&message), &mut sink);
    }
    sink
}

/// Reads a message. Not inlined, so it costs a call, as between functions of different files.
#[inline(never)]
fn add_message(payload: Payload, message: &[u8], sink: &mut ControlSink) {
    sink.add(payload.sum(message));
}
