//! The registry's entry of Queue: its model, and the sizes of its ring and batches.

use eval::{Fault, FaultKind};
use graph::{
    Cardinality, CongestionPolicy, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel,
    PortIndex,
};
use ring::frame::frame_bytes;
use ring::{RingShape, Writer};
use tuple::Layout;

use super::drop_first_producer::DropFirstProducer;
use super::queue_consumer::QueueConsumer;
use super::queue_producer::QueueProducer;
use super::queue_state::QueueState;
use crate::counters::queue_counters;
use crate::inserted::inserted_operator::InsertedOperator;
use crate::{BuildContext, OperatorEntry};

/// The registry's entry of Queue.
pub(crate) const ENTRY: OperatorEntry = OperatorEntry::inserted(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Queue",
    doc: "A threaded port: a queue with a thread of its own. Inserted before the port.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        count: Cardinality::Exactly(1),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "tuples",
            ty: "uint32",
            mode: ParamMode::Constant,
            mandatory: true,
            doc: "How many items it holds; at least 1.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "congestion",
            ty: "Congestion",
            mode: ParamMode::Literal,
            mandatory: true,
            doc: "What happens to a tuple when it is full.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "core",
            ty: "uint32",
            mode: ParamMode::Constant,
            doc: "The core of its thread, which the planner reads.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "pool",
            ty: "list<uint32>",
            mode: ParamMode::Constant,
            doc: "The threads of the pool that runs it, which the planner reads.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("Congestion", &["wait", "dropFirst", "dropLast"])],
    metrics: &queue_counters::METRICS,
    has_own_thread: true,
    ..OperatorModel::DEFAULT
};

/// Most bytes of a ring; items that do not fit are spilled. Of tuples of 16 KB it holds 4000.
const RING_BYTES_MAX: usize = 64 << 20;

/// Least bytes of a ring for a stream, even if few of them are ever in use at once: the size of a
/// huge page and of a processor's own cache. Round a small ring the writer comes upon each cache
/// line while the reader's processor has just had it, and takes it back line by line: with 128 KB a
/// queue of 64-byte tuples had half the rate.
const STREAM_BYTES_MIN: usize = 2 << 20;

/// Number of queues of a PE whose rings have at least [`STREAM_BYTES_MIN`]; if thousands had, they
/// would take gigabytes.
const STREAM_RINGS_MAX: usize = 64;

/// Bytes that tuples of varying length are assumed to have besides their fixed part.
const TAIL_BYTES: usize = 128;

/// Least size of a queue whose items are submitted and counted in batches. In smaller ones a batch
/// would be a large part of the queue.
const BATCHED_ITEMS_MIN: u64 = 64;

/// Least number of batches in a full queue, so that producers get room before all of it is
/// processed.
const BATCHES_PER_QUEUE: u64 = 4;

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault> {
    let items = build.integer("tuples")?.unwrap_or(1);
    let items = u64::try_from(items).unwrap_or(1).max(1);
    let congestion = parse_congestion(build.literal("congestion"));
    let interrupt = build.use_queue_thread();
    let queue_state = QueueState::new(build, items, interrupt);
    build.set_accepts_owned();
    build
        .crossing_resources
        .queue_counters
        .push(queue_state.counters.clone());
    let counters = queue_state.counters.clone();
    build.set_gauges(Box::new(move || counters.metrics()));
    if congestion == CongestionPolicy::DropFirst {
        let consumer = QueueConsumer::new(queue_state.clone(), None);
        return Ok(Box::new(DropFirstProducer::new(queue_state, consumer)));
    }
    let is_batched = congestion == CongestionPolicy::Wait && items >= BATCHED_ITEMS_MIN;
    let layout = &build.inputs[0];
    let (bytes, batch_bytes) = ring_bytes(
        items,
        layout,
        is_batched,
        build.crossing_resources.queue_counters.len(),
    );
    let (writer, reader) = private_ring(bytes)?;
    let consumer = QueueConsumer::new(queue_state.clone(), Some(reader));
    let consumer = match is_batched {
        true => consumer.with_batches(usize::try_from(batch_bytes).unwrap_or(usize::MAX)),
        false => consumer,
    };
    let producer = QueueProducer::new(queue_state, writer, consumer).with_fixed_frames(layout);
    Ok(Box::new(match congestion {
        CongestionPolicy::DropLast => producer.with_drop_newest(),
        _ => producer,
    }))
}

/// Bytes of the ring of a PE's queue with this number, from 1, and most bytes of its batches.
fn ring_bytes(items: u64, layout: &Layout, is_batched: bool, number: usize) -> (usize, u64) {
    let tail = if layout.is_fixed { 0 } else { TAIL_BYTES };
    let item_bytes = frame_bytes(layout.size as usize + tail) as u64;
    // Frames that are being processed, at most an eighth of the ring, are taken but not released
    // yet; and the ring's end may be too short for an item.
    let bytes = (items + items / 4 + 4).saturating_mul(item_bytes);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let is_one_of_few = number <= STREAM_RINGS_MAX;
    let bytes_min = if is_one_of_few { STREAM_BYTES_MIN } else { 0 };
    let (bytes, batch_bytes) = match layout.is_fixed {
        true if is_batched => (
            bytes.max(bytes_min),
            (items / BATCHES_PER_QUEUE).saturating_mul(item_bytes),
        ),
        _ => (bytes, u64::MAX),
    };
    (bytes.min(RING_BYTES_MAX), batch_bytes)
}

fn parse_congestion(word: Option<&str>) -> CongestionPolicy {
    match word {
        Some("dropFirst") => CongestionPolicy::DropFirst,
        Some("dropLast") => CongestionPolicy::DropLast,
        _ => CongestionPolicy::Wait,
    }
}

fn private_ring(bytes: usize) -> Result<(Writer, ring::Reader), Fault> {
    let (writer, mut readers) =
        ring::private_ring(RingShape { bytes, readers: 1 }).map_err(|error| {
            let message = format!("cannot make a queue of {bytes} bytes: {error}");
            Fault::new(FaultKind::System, message)
        })?;
    let reader = readers.pop();
    let reader = reader.ok_or_else(|| Fault::new(FaultKind::Limit, "a ring without a reader"))?;
    Ok((writer, reader))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tuple::{TupleType, Type};

    use super::*;

    /// Bytes of the rings of `queues` queues of numbers together.
    fn bytes(items: u64, queues: usize) -> usize {
        let schema = TupleType::new([("n".to_owned(), Type::Int64)]);
        let layout = Layout::new(&Arc::new(schema));
        let ring = |number| ring_bytes(items, &layout, items >= BATCHED_ITEMS_MIN, number).0;
        (1..=queues).map(ring).sum()
    }

    #[test]
    fn thousands_of_queues_take_megabytes() {
        // While there are few, each has what a stream needs for its pace.
        assert_eq!(bytes(1000, 64), 64 * STREAM_BYTES_MIN);
        let more = bytes(1000, 5_000) - bytes(1000, 64);
        assert!(more < 4_936 * 64 * 1024, "{more}");
        assert!(bytes(1000, 5_000) < 512 << 20);
        // Small ones are never larger than their items.
        assert!(bytes(10, 5_000) < 4 << 20);
    }

    #[test]
    fn no_ring_is_without_bound() {
        assert_eq!(bytes(u64::MAX / 2, 1), RING_BYTES_MAX);
    }
}
