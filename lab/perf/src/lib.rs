//! Rates and latencies of a topic: a publisher, a subscriber and a loop that measures
//! interruptions, with the options, the semantics and the output lines of smx_perf.
//!
//! [`publish()`] sends warm-up messages, then messages at an even pace; [`subscribe()`] counts them
//! and measures how long they took; [`jitter()`] measures interruptions of the processor. After the
//! lines that smx_perf prints come further lines, which begin with `+ `. `docs/perf.md` shows all
//! of them.
//!
//! Chance is told apart from what can be relied on: a message that its receiver was waiting for is
//! *waited*, one that was there before the receiver looked is *found* ([`stream_counts`]).

mod affinity;
mod clock;
mod error;
mod jitter;
mod message;
mod number;
mod options;
mod publish;
mod rate_windows;
mod result_line;
mod send_loop;
mod send_schedule;
mod stream_counts;
mod subscribe;

pub use error::Error;
pub use jitter::jitter;
pub use message::MESSAGE_BYTES_MIN;
pub use number::parse_number;
pub use options::{
    CpuAffinity, DEFAULT_TOPIC, JitterOptions, PublishFlags, PublishOptions, SubscribeOptions,
};
pub use publish::publish;
pub use subscribe::{SubscribeLimit, subscribe};
