//! The two contenders of a query: the program under `thalweg run`, and the loop by hand.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use control::Error;
use measure::LatencyPercentiles;
use nexmark::loops::{Input, LoopSource};

use super::folder::files_of;
use super::roles::{DELAYS, LOOP, REPLAYED, USAGE};
use crate::bench::BenchSettings;
use crate::job::run_to_end;

/// A query on some events.
#[derive(Clone, Debug)]
pub struct QueryRun {
    /// Number of the query.
    pub query: u32,
    /// Where the events are when the clock starts.
    pub source: LoopSource,
    /// Folder of the events.
    pub events: PathBuf,
    /// Folder of the programs.
    pub programs: PathBuf,
}

impl QueryRun {
    /// Number of events that the query can read.
    ///
    /// # Errors
    /// The file of events cannot be read.
    pub fn events_in_file(&self) -> Result<u64, Error> {
        let path = self.events.join(Input::of_query(self.query).file_name());
        let bytes = fs::read(path).map_err(|error| Error::system("count events", error))?;
        Ok(bytes.iter().filter(|byte| **byte == b'\n').count() as u64)
    }
}

/// A program or a loop.
pub struct QueryContender {
    /// The command that measures another one.
    bench: PathBuf,
    /// The command that runs programs; `None`: the loop.
    thalweg: Option<PathBuf>,
}

/// Time and memory of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Events that were read.
    pub events: u64,
    /// Seconds of the processor, of user and system, in all threads and processes.
    pub processor_s: f64,
    /// Most bytes of physical memory of the largest process.
    pub memory_bytes: u64,
    /// Seconds of the clock from the first event in memory to the last.
    pub replay_s: Option<f64>,
    /// Delays of paced events.
    pub delays: Option<LatencyPercentiles>,
}

impl Usage {
    /// Events a second, without the time of a start.
    pub fn events_per_s(&self, start_s: f64) -> f64 {
        let own = self.replay_s.unwrap_or(self.processor_s - start_s);
        // Too few events for the resolution of the system's accounts count as a microsecond.
        self.events as f64 / own.max(1e-6)
    }
}

/// File that swallows results.
const NOWHERE: &str = "/dev/null";

/// The query that writes files of its own.
const LOG: u32 = 10;

impl QueryContender {
    /// The SPL program of a query.
    pub fn program(settings: &BenchSettings) -> QueryContender {
        let (thalweg, bench) = settings.commands();
        QueryContender {
            bench,
            thalweg: Some(thalweg),
        }
    }

    /// The loop by hand of a query.
    pub fn by_hand(settings: &BenchSettings) -> QueryContender {
        let (_, bench) = settings.commands();
        QueryContender {
            bench,
            thalweg: None,
        }
    }

    /// Runs the query; its results are written to files whose names begin with `results`.
    ///
    /// # Errors
    /// The run fails.
    pub fn write_results(&self, run: &QueryRun, results: &Path) -> Result<(), Error> {
        let failed = |error| Error::system("remove old results", error);
        for old in files_of(results)? {
            fs::remove_file(old).map_err(failed)?;
        }
        run_to_end(self.command(run, results)).map(drop)
    }

    /// Runs the query, whose results go nowhere but for files of query 10.
    ///
    /// # Errors
    /// The run fails.
    pub fn measure(&self, run: &QueryRun) -> Result<Usage, Error> {
        let failed = |error| Error::system("remove old files", error);
        let results = run.events.with_file_name("results").join("measured");
        let results = if run.query == LOG {
            &results
        } else {
            Path::new(NOWHERE)
        };
        if run.query == LOG {
            for old in files_of(results)? {
                fs::remove_file(old).map_err(failed)?;
            }
        }
        let said = run_to_end(self.command(run, results))?;
        parse_usage(&said, run.events_in_file()?)
    }

    /// The command that runs the query and says what that took.
    fn command(&self, run: &QueryRun, results: &Path) -> Command {
        let mut command = Command::new(&self.bench);
        // What follows are no options of the benchmark.
        command.args(["control", "--", USAGE]);
        command.args(self.words(run, results));
        command
    }

    fn words(&self, run: &QueryRun, results: &Path) -> Vec<OsString> {
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let value = |name: &str, value: &Path| {
            let mut word = OsString::from(name);
            word.push(value);
            word
        };
        let (rate, events) = match run.source {
            LoopSource::Paced { rate, events } => (rate, events),
            LoopSource::Csv | LoopSource::Memory => (0.0, 0),
        };
        let Some(thalweg) = &self.thalweg else {
            let place = if run.source == LoopSource::Csv {
                "csv"
            } else {
                "memory"
            };
            let mut words = vec![self.bench.clone().into_os_string()];
            words.extend(text(&["control", LOOP, &run.query.to_string(), place]));
            words.extend(text(&[&rate.to_string(), &events.to_string()]));
            words.extend([run.events.clone().into(), results.into()]);
            return words;
        };
        let mut words = vec![thalweg.clone().into_os_string()];
        words.extend(text(&["run", "--kill-after", "120", "--data-dir"]));
        words.push(run.events.clone().into());
        let program = format!("Q{}.spl", run.query);
        words.push(run.programs.join(program).into());
        words.push(match run.query {
            LOG => value("prefix=", results),
            _ => value("output=", results),
        });
        if rate > 0.0 {
            words.extend(text(&[&format!("rate={rate}"), &format!("limit={events}")]));
        }
        words
    }
}

/// Reads what a measured run has printed.
fn parse_usage(said: &str, events: u64) -> Result<Usage, Error> {
    let words_of = |first: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(first))?;
        Some(
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    };
    let usage = words_of(USAGE).and_then(|words| {
        let [micros, kilobytes] = &words[..] else {
            return None;
        };
        Some((micros.parse::<f64>().ok()?, kilobytes.parse::<u64>().ok()?))
    });
    let (micros, kilobytes) =
        usage.ok_or_else(|| Error::new(format!("a run did not say what it took: {said}")))?;
    let replayed = words_of(REPLAYED).and_then(|words| words.first()?.parse::<f64>().ok());
    Ok(Usage {
        events,
        processor_s: micros / 1e6,
        memory_bytes: kilobytes * 1024,
        replay_s: replayed.map(|nanos| nanos / 1e9),
        delays: words_of(DELAYS).and_then(|words| parse_delays(&words)),
    })
}

fn parse_delays(words: &[String]) -> Option<LatencyPercentiles> {
    let numbers = words.iter().map(|word| word.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    let [p50, p90, p99, p999, p9999, max] = numbers[..] else {
        return None;
    };
    Some(LatencyPercentiles {
        p50,
        p90,
        p99,
        p999,
        p9999,
        max,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_as_it_is_printed() {
        let usage =
            parse_usage("nexmark-replayed 2000000000\nnexmark-usage 1500000 2\n", 6).unwrap();
        assert_eq!(usage.processor_s, 1.5);
        assert_eq!(usage.memory_bytes, 2048);
        assert_eq!(usage.events_per_s(0.5), 3.0);
        let usage = parse_usage("nexmark-usage 1500000 2\n", 6).unwrap();
        assert_eq!(usage.events_per_s(0.5), 6.0);
        assert!(parse_usage("nexmark-usage 1\n", 6).is_err());
        let said = "nexmark-delays 1 2 3 4 5 6\nnexmark-usage 1 2\n";
        let delays = parse_usage(said, 6).unwrap().delays.unwrap();
        assert_eq!((delays.p50, delays.max), (1, 6));
    }
}
