//! A query on all engines: results first, then turns.

use std::process::Command;

use control::median;

use super::engine::QueryEngine;
use super::event_files::EventFiles;
use super::process_run::{ProcessUsage, run_process};
use super::query::PeerQuery;
use super::query_task::QueryTask;
use super::result_lines::{compare_results, final_lines};
use crate::BoxError;

/// A query as it is compared.
#[derive(Clone, Copy, Debug)]
pub struct QueryCase {
    /// The query that engines run.
    pub query: PeerQuery,
    /// Number of cores of each engine.
    pub cores: usize,
    /// Number of events in the file that the query reads.
    pub events: u64,
    /// Number of runs of each engine.
    pub turns: usize,
}

/// Figures of an engine on a query: medians over the turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EngineFigures {
    /// Events a second over the whole run.
    pub events_per_s: f64,
    /// Events a second without the time of a run on an empty input; `None` if that took more than
    /// half of a run, so that the rest is mostly its noise.
    pub started_events_per_s: Option<f64>,
    /// Events for each second of the processor, of all cores together, without those of a run on
    /// an empty input.
    pub events_per_processor_s: f64,
    /// Most bytes of physical memory of the largest process.
    pub memory_bytes: u64,
    /// Seconds from the start of the process until a result was in its file.
    pub first_result_s: Option<f64>,
    /// Rate of Thalweg over that of the engine, whole runs; above 1 Thalweg is faster.
    pub ratio: f64,
    /// Like `ratio`, without the time of a run on an empty input.
    pub started_ratio: Option<f64>,
    /// Like `ratio`, of events for each second of the processor.
    pub processor_ratio: f64,
}

/// An engine's name, and its figures or why there are none.
pub type EngineResult = (&'static str, Result<EngineFigures, String>);

/// Seconds of the clock and of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RunTime {
    wall_s: f64,
    processor_s: f64,
}

/// Events a second of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RunRates {
    whole: f64,
    started: Option<f64>,
    processor: f64,
}

/// An engine whose results are right.
struct RightEngine {
    name: &'static str,
    command: Command,
    task: QueryTask,
    /// Time of a run on an empty input.
    start: RunTime,
    usages: Vec<ProcessUsage>,
    /// Why a run has failed, after which there are no others.
    failure: Option<String>,
}

/// Runs a query on Thalweg and on its peers. Each result is that of an engine, Thalweg's first.
///
/// # Errors
/// Thalweg fails, or files cannot be written.
pub fn compare_engines(
    files: &EventFiles,
    case: &QueryCase,
    own: &QueryEngine,
    peers: &[QueryEngine],
) -> Result<Vec<EngineResult>, BoxError> {
    let expected = lines_of(files, case, own)?;
    let mut results: Vec<EngineResult> = Vec::new();
    let mut right = vec![start_engine(files, case, own)?];
    for peer in peers {
        let found = check_results(files, case, peer, &expected)
            .and_then(|()| start_engine(files, case, peer));
        match found {
            Ok(engine) => right.push(engine),
            Err(failure) => results.push((peer.name, Err(failure.to_string()))),
        }
    }
    // Lines of results take as much memory as the results themselves.
    drop(expected);
    for _ in 0..case.turns {
        for engine in right.iter_mut().filter(|engine| engine.failure.is_none()) {
            files.remove_results()?;
            match run_process(&engine.command, &engine.task) {
                Ok(usage) => engine.usages.push(usage),
                Err(failure) => engine.failure = Some(failure.to_string()),
            }
        }
        if let Some(failure) = &right[0].failure {
            return Err(failure.clone().into());
        }
    }
    files.remove_results()?;
    let own_rates = right[0].rates(case.events);
    let figures = right.iter().map(|engine| {
        let figures = match &engine.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(engine.figures(case.events, &own_rates)),
        };
        (engine.name, figures)
    });
    results.splice(0..0, figures);
    Ok(results)
}

/// The final results of an engine.
fn lines_of(
    files: &EventFiles,
    case: &QueryCase,
    engine: &QueryEngine,
) -> Result<Vec<Box<[u8]>>, BoxError> {
    let task = QueryTask {
        query: case.query.number,
        cores: case.cores,
        events: files.full(),
        results: files.new_results(engine.name)?,
    };
    run_process(&(engine.command)(&task)?, &task)?;
    Ok(final_lines(&case.query, &task.results, files.last_ms())?)
}

/// Runs an engine, and compares its results with those expected.
fn check_results(
    files: &EventFiles,
    case: &QueryCase,
    engine: &QueryEngine,
    expected: &[Box<[u8]>],
) -> Result<(), BoxError> {
    Ok(compare_results(expected, &lines_of(files, case, engine)?)?)
}

/// Measures the start of an engine, on an empty input.
fn start_engine(
    files: &EventFiles,
    case: &QueryCase,
    engine: &QueryEngine,
) -> Result<RightEngine, BoxError> {
    let task = |events| -> Result<QueryTask, BoxError> {
        Ok(QueryTask {
            query: case.query.number,
            cores: case.cores,
            events,
            results: files.new_results(engine.name)?,
        })
    };
    let empty = task(files.empty())?;
    let command = (engine.command)(&empty)?;
    let starts: Result<Vec<_>, _> = (0..3).map(|_| run_process(&command, &empty)).collect();
    let starts = starts?;
    let task = task(files.full())?;
    Ok(RightEngine {
        name: engine.name,
        command: (engine.command)(&task)?,
        task,
        start: RunTime {
            wall_s: median(starts.iter().map(|usage| usage.wall_s)),
            processor_s: median(starts.iter().map(|usage| usage.processor_s)),
        },
        usages: Vec::new(),
        failure: None,
    })
}

impl RightEngine {
    /// The rates of each turn.
    fn rates(&self, events: u64) -> Vec<RunRates> {
        let rates = self.usages.iter().map(|usage| {
            // A run that is as short as a start counts as a millisecond.
            let rate = |seconds: f64| events as f64 / seconds.max(1e-3);
            RunRates {
                whole: rate(usage.wall_s),
                started: (2.0 * self.start.wall_s <= usage.wall_s)
                    .then(|| rate(usage.wall_s - self.start.wall_s)),
                processor: rate(usage.processor_s - self.start.processor_s),
            }
        });
        rates.collect()
    }

    fn figures(&self, events: u64, own_rates: &[RunRates]) -> EngineFigures {
        let rates = self.rates(events);
        let rate = |of: fn(&RunRates) -> f64| median(rates.iter().map(of));
        let ratio = |of: fn(&RunRates) -> f64| {
            let pairs = own_rates.iter().zip(&rates);
            median(pairs.map(|(own, peer)| of(own) / of(peer)))
        };
        let usages = self.usages.iter();
        let first_results: Vec<f64> = usages.filter_map(|usage| usage.first_result_s).collect();
        let memory = self.usages.iter().map(|usage| usage.memory_bytes as f64);
        EngineFigures {
            events_per_s: rate(|rates| rates.whole),
            started_events_per_s: all(rates.iter().map(|rates| rates.started)),
            events_per_processor_s: rate(|rates| rates.processor),
            memory_bytes: median(memory) as u64,
            first_result_s: (!first_results.is_empty())
                .then(|| median(first_results.iter().copied())),
            ratio: ratio(|rates| rates.whole),
            started_ratio: all(own_rates
                .iter()
                .zip(&rates)
                .map(|(own, peer)| Some(own.started? / peer.started?))),
            processor_ratio: ratio(|rates| rates.processor),
        }
    }
}

/// The median of values that are all there.
fn all(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(median(values.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine with one processor that is busy all the time.
    fn engine(start_s: f64, walls: &[f64]) -> RightEngine {
        let usages = walls.iter().map(|wall| ProcessUsage {
            wall_s: *wall,
            processor_s: *wall,
            memory_bytes: (*wall * 10.0) as u64,
            ..ProcessUsage::default()
        });
        RightEngine {
            name: "x",
            command: Command::new("x"),
            task: QueryTask::from_args(&["0", "1", "a", "b"].map(str::to_owned)).unwrap(),
            start: RunTime {
                wall_s: start_s,
                processor_s: start_s,
            },
            usages: usages.collect(),
            failure: None,
        }
    }

    #[test]
    fn ratios_are_those_of_turns() {
        let (own, peer) = (
            engine(1.0, &[2.0, 3.0, 2.0]),
            engine(2.0, &[6.0, 12.0, 4.0]),
        );
        let own_rates = own.rates(12);
        assert_eq!(
            (own_rates[0].whole, own_rates[0].started),
            (6.0, Some(12.0))
        );
        let figures = peer.figures(12, &own_rates);
        assert_eq!((figures.ratio, figures.started_ratio), (3.0, Some(4.0)));
        assert_eq!(figures.processor_ratio, 4.0);
        assert_eq!(figures.events_per_s, 2.0);
        assert_eq!(figures.memory_bytes, 60);
        assert_eq!(figures.first_result_s, None);
    }

    #[test]
    fn a_run_without_work_has_a_rate() {
        let short = engine(1.0, &[1.0]);
        let rates = short.rates(10);
        assert_eq!((rates[0].whole, rates[0].processor), (10.0, 10_000.0));
        // A start that takes more than half of a run says too little about the rest.
        assert_eq!(short.figures(10, &rates).started_ratio, None);
    }
}
