//! NEXMark: the queries of `examples/nexmark`, each beside its loop by hand.
//!
//! ```text
//!   bench ──starts──> usage ──starts──> thalweg run Q7.spl      from csv: its processor time and
//!                                       the loop of query 7     memory; from memory: its clock
//! ```
//! First both write their results to files, and the files have to agree line by line. Then they run
//! by turns, and write to nowhere. A run on an empty input tells the time of a start, which is
//! subtracted: the rate is that of a query that has run for long. Latencies are measured where the
//! events are in memory: from the time at which an event is due until all its results are written.

mod contender;
mod folder;
mod programs;
mod roles;

use std::path::Path;

use contender::{QueryContender, QueryRun};
use control::{Error, median};
use folder::EventFolder;
use measure::{LatencyPercentiles, Outcome};
use nexmark::GeneratorOptions;
use nexmark::loops::LoopSource;
pub use programs::{PROGRAMS, ProgramFiles};
pub use roles::serve;

use crate::bench::{BenchCase, BenchSession};

/// The cases of the benchmark.
#[derive(Clone, Debug)]
pub struct NexmarkOptions {
    /// Numbers of the queries.
    pub queries: Vec<u32>,
    /// The events that are generated.
    pub events: GeneratorOptions,
    /// Question that is asked of each query.
    pub figure: NexmarkFigure,
}

/// A figure of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NexmarkFigure {
    /// Rate of events that are read from csv, and memory.
    Csv,
    /// Rate of events that are in memory when the clock starts.
    Memory,
    /// Latencies of events from memory at half the highest rate of the program.
    Latency,
}

/// Number of queries; they are numbered from 0.
pub const NEXMARK_QUERIES: u32 = nexmark::loops::QUERIES;

/// Queries whose results of one interval or second have no order.
const UNORDERED: [u32; 4] = [5, 7, 8, 11];

/// The query by the clock, whose windows differ from run to run.
const CLOCK: u32 = 12;

/// Events a second at which all are due at once. The highest rate is measured so, because a source
/// that looks at the clock for each event is slower than one that does not.
const RATE_OF_ALL_AT_ONCE: f64 = 1e12;

/// Seconds of a run at a pace at most.
const PACED_SECONDS: f64 = 2.0;

/// Measures queries, one by one.
///
/// # Errors
/// A run fails, or a program and its loop do not give the same.
pub fn nexmark(bench: &mut BenchSession<'_>, what: &NexmarkOptions) -> Result<(), Error> {
    let folder = EventFolder::new(&what.events, what.figure != NexmarkFigure::Csv)?;
    for query in &what.queries {
        let measured = measure_query(bench, what, &folder, *query);
        measured.map_err(|error| Error::new(format!("query {query}: {error}")))?;
    }
    Ok(())
}

fn measure_query(
    bench: &mut BenchSession<'_>,
    what: &NexmarkOptions,
    folder: &EventFolder,
    query: u32,
) -> Result<(), Error> {
    let run = QueryRun {
        query,
        source: match what.figure {
            NexmarkFigure::Csv => LoopSource::Csv,
            NexmarkFigure::Memory | NexmarkFigure::Latency => LoopSource::Memory,
        },
        events: folder.full(),
        programs: folder.programs(),
    };
    let both = [
        QueryContender::program(&bench.settings),
        QueryContender::by_hand(&bench.settings),
    ];
    compare_results(folder, &run, &both)?;
    let mut outcome = bench.empty_outcome(BenchCase {
        bench: match what.figure {
            NexmarkFigure::Csv => "nexmark",
            NexmarkFigure::Memory => "nexmark-memory",
            NexmarkFigure::Latency => "nexmark-latency",
        },
        path: format!("q{query}"),
        control: "hand-written loop",
        ..BenchCase::default()
    });
    outcome.runs = bench.settings.runs;
    match what.figure {
        NexmarkFigure::Latency => measure_delays(&mut outcome, &run, &both)?,
        NexmarkFigure::Csv | NexmarkFigure::Memory => {
            let empty = QueryRun {
                events: folder.empty(),
                ..run.clone()
            };
            measure_rates(&mut outcome, &run, &empty, &both)?;
        }
    }
    bench.add_outcome(outcome);
    Ok(())
}

/// Measures rates, and with csv the memory.
fn measure_rates(
    outcome: &mut Outcome,
    run: &QueryRun,
    empty: &QueryRun,
    [program, by_hand]: &[QueryContender; 2],
) -> Result<(), Error> {
    let start = |contender: &QueryContender| -> Result<f64, Error> {
        let runs: Result<Vec<_>, _> = (0..3).map(|_| contender.measure(empty)).collect();
        Ok(median(runs?.iter().map(|usage| usage.processor_s)))
    };
    let (start, control_start) = (start(program)?, start(by_hand)?);
    for _ in 0..outcome.runs {
        let (bare, own) = (by_hand.measure(run)?, program.measure(run)?);
        outcome
            .control_samples
            .push(bare.events_per_s(control_start));
        outcome.samples.push(own.events_per_s(start));
        if run.source == LoopSource::Csv {
            outcome.memory_bytes = outcome.memory_bytes.max(Some(own.memory_bytes));
            outcome.control_memory_bytes =
                outcome.control_memory_bytes.max(Some(bare.memory_bytes));
        }
    }
    let pairs = outcome.samples.iter().zip(&outcome.control_samples);
    outcome.ratio = Some(median(pairs.map(|(own, bare)| own / bare)));
    outcome.tuples_per_s = Some(median(outcome.samples.iter().copied()));
    outcome.control_tuples_per_s = Some(median(outcome.control_samples.iter().copied()));
    Ok(())
}

/// Measures delays of events at half the highest rate of the program; percentiles are medians of
/// the runs.
fn measure_delays(
    outcome: &mut Outcome,
    run: &QueryRun,
    [program, by_hand]: &[QueryContender; 2],
) -> Result<(), Error> {
    let all = run.events_in_file()?;
    let at = |rate, events| QueryRun {
        source: LoopSource::Paced { rate, events },
        ..run.clone()
    };
    let rate = program
        .measure(&at(RATE_OF_ALL_AT_ONCE, all))?
        .events_per_s(0.0)
        / 2.0;
    let paced = at(rate, all.min((rate * PACED_SECONDS) as u64).max(1));
    let delays = |contender: &QueryContender| {
        let delays = contender.measure(&paced)?.delays;
        delays.ok_or_else(|| Error::new("a run did not tell delays"))
    };
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..outcome.runs {
        bare.push(delays(by_hand)?);
        own.push(delays(program)?);
    }
    let medians = |all: &[LatencyPercentiles]| {
        let of = |part: fn(&LatencyPercentiles) -> u64| {
            median(all.iter().map(|one| part(one) as f64)) as u64
        };
        LatencyPercentiles {
            p50: of(|one| one.p50),
            p90: of(|one| one.p90),
            p99: of(|one| one.p99),
            p999: of(|one| one.p999),
            p9999: of(|one| one.p9999),
            max: of(|one| one.max),
        }
    };
    let of_turns = |all: &[LatencyPercentiles]| all.iter().map(|one| one.p50 as f64).collect();
    outcome.samples = of_turns(&own);
    outcome.control_samples = of_turns(&bare);
    let pairs = outcome.samples.iter().zip(&outcome.control_samples);
    outcome.ratio = Some(median(pairs.map(|(own, bare)| bare / own)));
    outcome.rate_offered = Some(rate.round());
    outcome.latency_ns = Some(medians(&own));
    outcome.control_latency_ns = Some(medians(&bare));
    Ok(())
}

/// Runs both, and compares what they write: in order where the query has one.
fn compare_results(
    folder: &EventFolder,
    run: &QueryRun,
    [program, by_hand]: &[QueryContender; 2],
) -> Result<(), Error> {
    let [own, bare] = [folder.results("program"), folder.results("loop")];
    program.write_results(run, &own)?;
    by_hand.write_results(run, &bare)?;
    let [own, bare] = [&own, &bare].map(|results| read_results(results));
    let (mut own, mut bare) = (own?, bare?);
    if UNORDERED.contains(&run.query) {
        own.sort_unstable();
        bare.sort_unstable();
    }
    match own == bare || run.query == CLOCK {
        true => Ok(()),
        false => Err(Error::new(format!(
            "the program writes {} lines and the loop {}, and they differ",
            own.len(),
            bare.len()
        ))),
    }
}

/// Lines of all files whose names begin with a path, in the order of the names.
fn read_results(prefix: &Path) -> Result<Vec<Box<[u8]>>, Error> {
    let failed = |error| Error::system("read results", error);
    let mut lines = Vec::new();
    for file in folder::files_of(prefix)? {
        let text = std::fs::read(file).map_err(failed)?;
        lines.extend(text.split(|byte| *byte == b'\n').map(Box::from));
    }
    Ok(lines)
}
