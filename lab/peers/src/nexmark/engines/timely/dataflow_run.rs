//! The run of one worker: the dataflow is built, fed with blocks, and its results are written.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::rc::Rc;

use memchr::memchr;
use nexmark::loops::{BidLine, EventLine, Input, ResultLines};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Input as _, Probe};
use timely::dataflow::{InputHandle, ProbeHandle, StreamVec};
use timely::worker::Worker;

use super::line_blocks::LineBlocks;
use crate::BoxError;
use crate::nexmark::query_task::QueryTask;

/// Milliseconds by which an event may come after later ones.
const LAG_MS: u64 = 4_000;

/// Blocks of a worker that are under way at most.
const BLOCKS_IN_FLIGHT_MAX: usize = 8;

/// The timestamp of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordTime {
    /// The watermark: four seconds before the latest event so far, in milliseconds.
    Watermark,
    /// The number of the block in the file.
    Block,
}

/// The way from an event to a record with a timestamp.
pub struct RecordSource<F> {
    /// The timestamp of records.
    pub time: RecordTime,
    /// Makes the record of an event that the query reads; `None` for others.
    pub to_record: F,
}

/// Records whose timestamps are watermarks.
pub fn by_watermark<F>(to_record: F) -> RecordSource<F> {
    RecordSource {
        time: RecordTime::Watermark,
        to_record,
    }
}

/// Runs a dataflow over the events of a task. `build` makes the dataflow from records to rows, and
/// `write` the line of a row.
///
/// # Errors
/// A file cannot be read or written, or a line is no event.
pub fn run_dataflow<D: Clone + 'static, R: Clone + 'static>(
    worker: &mut Worker,
    task: &QueryTask,
    source: RecordSource<impl Fn(&EventLine<'_>) -> Option<D>>,
    build: impl for<'s> FnOnce(StreamVec<'s, u64, D>) -> StreamVec<'s, u64, R>,
    write: impl Fn(&R, &mut ResultLines) -> io::Result<()> + 'static,
) -> Result<(), BoxError> {
    let file = File::create(task.results_of_worker(worker.index()))?;
    let results = Rc::new(RefCell::new(Results {
        lines: ResultLines::new(file),
        state: Ok(()),
    }));
    let mut input: DataflowInput<D> = InputHandle::new();
    let probe = ProbeHandle::new();
    let sink = results.clone();
    worker.dataflow::<u64, _, _>(|scope| {
        let rows = build(scope.input_from(&mut input));
        rows.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(Pipeline, "Results", |_, _| {
            move |rows, _| {
                rows.for_each(|_, batch| {
                    let mut sink = sink.borrow_mut();
                    batch.drain(..).for_each(|row| sink.write(&row, &write));
                });
            }
        })
        .probe_with(&probe);
    });
    feed_blocks(worker, task, source, &mut input, &probe)?;
    input.close();
    while !probe.done() {
        worker.step();
    }
    let mut results = results.borrow_mut();
    results.lines.flush()?;
    std::mem::replace(&mut results.state, Ok(()))?;
    Ok(())
}

/// Builder of the containers in which operators send results.
pub type ResultBuilder<R> = CapacityContainerBuilder<Vec<R>>;

type DataflowInput<D> = InputHandle<u64, CapacityContainerBuilder<Vec<D>>>;

/// Sends the records of this worker's blocks, and lets the worker step behind each block.
fn feed_blocks<D: Clone + 'static>(
    worker: &mut Worker,
    task: &QueryTask,
    source: RecordSource<impl Fn(&EventLine<'_>) -> Option<D>>,
    input: &mut DataflowInput<D>,
    probe: &ProbeHandle<u64>,
) -> Result<(), BoxError> {
    let file = Input::of_query(task.query);
    let path = task.events.join(file.file_name());
    let mut blocks = LineBlocks::open(&path, worker.index(), worker.peers())?;
    let mut latest = 0;
    let mut in_flight = VecDeque::new();
    while let Some((number, lines)) = blocks.next_block()? {
        if source.time == RecordTime::Block {
            input.advance_to(number);
        }
        let mut rest = lines;
        while let Some(end) = memchr(b'\n', rest) {
            let event = parse(file, &rest[..end])?;
            rest = &rest[end + 1..];
            latest = latest.max(event.date_time() as u64);
            if let Some(record) = (source.to_record)(&event) {
                input.send(record);
            }
        }
        input.advance_to(match source.time {
            RecordTime::Watermark => latest.saturating_sub(LAG_MS).max(*input.time()),
            RecordTime::Block => number + 1,
        });
        in_flight.push_back(*input.time());
        worker.step();
        if in_flight.len() > BLOCKS_IN_FLIGHT_MAX
            && let Some(oldest) = in_flight.pop_front()
        {
            while probe.less_than(&oldest) {
                worker.step();
            }
        }
    }
    Ok(())
}

/// The lines of a worker, and the failure of the system to write one.
struct Results {
    lines: ResultLines,
    state: io::Result<()>,
}

impl Results {
    fn write<R>(&mut self, row: &R, write: impl Fn(&R, &mut ResultLines) -> io::Result<()>) {
        if self.state.is_ok() {
            self.state = write(row, &mut self.lines);
        }
    }
}

fn parse(input: Input, line: &[u8]) -> io::Result<EventLine<'_>> {
    let event = match input {
        Input::Bids => BidLine::parse(line).map(EventLine::Bid),
        Input::Events => EventLine::parse(line),
    };
    event.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a line is no event"))
}
