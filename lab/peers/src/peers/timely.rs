//! timely dataflow: one worker's input, exchanged to another worker that adds up.
//!
//! ```text
//!   worker 0: input of batches  ==exchange==>  worker 1: unary that reads every word
//! ```
//! # Settings
//! Two workers in one process, which hand buffers over as they are, without serialising. The input
//! is fed and the worker stepped by turns, a batch of 512 KB each, and each batch has a timestamp
//! of its own, as in timely's own `exchange` example: that is what gets it out. Smaller batches
//! cost more progress messages between the workers, each of them a send and a wake. Messages of 8,
//! 16, 32, 64, 128 and 256 bytes are arrays, others boxed slices, as one would write it. Worker 0
//! waits now and then until what it has sent has come (at most 8 batches are under way), because
//! timely's channels have no bound; it does so by an atomic, which costs less than timely's own
//! probes. There is no latency of a single message: a dataflow is not asked that way.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Serialize, de::DeserializeOwned};
use timely::communication::Config as Communication;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::InputHandle;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Input;
use timely::dataflow::operators::generic::operator::Operator;
use timely::worker::{Config as WorkerConfig, Worker};

use crate::peer::{BuiltInPeer, locked_version};
use crate::peer_ends::sum_words;
use crate::{BoxError, ControlSink, PeerTask, cores};

/// timely between two workers, with the settings of the module doc.
pub const PEER: BuiltInPeer = BuiltInPeer {
    name: "timely",
    path: suite::StreamPath::Threaded,
    version: || locked_version("timely"),
    settings: "two workers, exchange, batches of 512 KB",
    has_latency: false,
    run,
    serve_partner: None,
};

/// Bytes of a batch.
const BATCH_BYTES: usize = 512 * 1024;

/// Batches under way at most.
const BATCHES_IN_FLIGHT_MAX: u64 = 8;

/// A message in the form that timely hands over.
trait TimelyMessage: Clone + Send + Serialize + DeserializeOwned + 'static {
    fn new(number: u64, words: usize) -> Self;
    fn words(&self) -> &[u64];
}

impl<const WORDS: usize> TimelyMessage for [u64; WORDS]
where
    [u64; WORDS]: Serialize + DeserializeOwned,
{
    fn new(number: u64, _: usize) -> Self {
        [number; WORDS]
    }

    fn words(&self) -> &[u64] {
        self
    }
}

impl TimelyMessage for Box<[u64]> {
    fn new(number: u64, words: usize) -> Self {
        vec![number; words].into()
    }

    fn words(&self) -> &[u64] {
        self
    }
}

fn run(task: &PeerTask) -> Result<String, BoxError> {
    match task.words() {
        1 => dataflow::<[u64; 1]>(task),
        2 => dataflow::<[u64; 2]>(task),
        4 => dataflow::<[u64; 4]>(task),
        8 => dataflow::<[u64; 8]>(task),
        16 => dataflow::<[u64; 16]>(task),
        32 => dataflow::<[u64; 32]>(task),
        _ => dataflow::<Box<[u64]>>(task),
    }
}

fn dataflow<M: TimelyMessage>(task: &PeerTask) -> Result<String, BoxError> {
    let config = timely::Config {
        communication: Communication::Process(2),
        worker: WorkerConfig::default(),
    };
    let (task, come) = (task.clone(), Arc::new(AtomicU64::new(0)));
    let workers = timely::execute(config, move |worker| run_worker::<M>(worker, &task, &come))?;
    let lines: Result<Vec<_>, String> = workers.join().into_iter().map(|end| end?).collect();
    Ok(lines?.concat())
}

/// Runs one of the two workers; the output of the receiving one.
fn run_worker<M: TimelyMessage>(
    worker: &mut Worker,
    task: &PeerTask,
    come: &Arc<AtomicU64>,
) -> Result<String, String> {
    let is_sender = worker.index() == 0;
    let (source_core, sink_core) = cores::pair();
    let core = if is_sender { source_core } else { sink_core };
    cores::pin(core).map_err(|failure| failure.to_string())?;
    let received = Rc::new(Cell::new(ControlSink::default()));
    let mut input = InputHandle::new();
    worker.dataflow::<u64, _, _>(|scope| {
        let (tally, come) = (received.clone(), come.clone());
        scope
            .input_from(&mut input)
            .unary::<CapacityContainerBuilder<Vec<M>>, _, _, _>(
                Exchange::new(|_: &M| 1),
                "AddUp",
                |_, _| {
                    move |input, _| {
                        let mut sink = tally.get();
                        input.for_each(|_, batch| {
                            for message in batch.iter() {
                                sink.add(sum_words(message.words()));
                            }
                        });
                        tally.set(sink);
                        // Worker 0 has this operator too: no message reaches it, but it is
                        // scheduled, and would report that none arrived.
                        if !is_sender {
                            come.store(sink.count, Ordering::Release);
                        }
                    }
                },
            );
    });
    if is_sender {
        feed_input(worker, input, task, come);
        return Ok(String::new());
    }
    input.close();
    while received.get().count < task.messages {
        worker.step();
    }
    Ok(received.get().to_arrivals().to_line())
}

/// Sends all messages: a batch, then a step of the worker, and so on.
fn feed_input<M: TimelyMessage>(
    worker: &mut Worker,
    mut input: InputHandle<u64, CapacityContainerBuilder<Vec<M>>>,
    task: &PeerTask,
    come: &AtomicU64,
) {
    let batch = (BATCH_BYTES / task.bytes) as u64;
    let mut next = 0;
    while next < task.messages {
        let end = task.messages.min(next + batch);
        (next..end).for_each(|number| input.send(M::new(number, task.words())));
        next = end;
        input.advance_to(end);
        worker.step();
        while next > come.load(Ordering::Acquire) + BATCHES_IN_FLIGHT_MAX * batch {
            worker.step();
        }
    }
    input.close();
}
