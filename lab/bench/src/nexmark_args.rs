//! The command line of `thalweg bench nexmark` and `thalweg bench nexmark-events` as data.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use suite::{GeneratorOptions, NEXMARK_QUERIES, NexmarkFigure, NexmarkOptions};

use crate::args::CommonArgs;
use crate::cases::or_default;

/// Events of a measured run: about a second of the slower contender.
const EVENTS: u64 = 1_000_000;

/// Events of a quick run.
const QUICK_EVENTS: u64 = 50_000;

/// Arguments of `thalweg bench nexmark`
#[derive(Debug, ClapArgs)]
pub struct NexmarkArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// Which queries, 0 to 22 [default: all]
    #[arg(long, value_name = "NUMBER", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(..i64::from(NEXMARK_QUERIES)))]
    pub query: Vec<u32>,

    /// From memory: all events are read into a list first
    #[arg(long)]
    pub memory: bool,

    /// Latencies, from memory, at half the highest rate of the program, instead of rates
    #[arg(long, conflicts_with = "memory")]
    pub latency: bool,

    /// Settings of the events.
    #[command(flatten)]
    pub events: EventArgs,
}

/// Arguments of `thalweg bench nexmark-events`
#[derive(Debug, ClapArgs)]
pub struct NexmarkEventsArgs {
    /// A folder that gets bids.csv, events.csv and side_input.csv [default: standard output gets
    /// the lines of events.csv]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Only bids, as in bids.csv, on standard output
    #[arg(long, conflicts_with = "out")]
    pub bids: bool,

    /// At the pace of event time, on standard output, instead of as fast as it goes
    #[arg(long, conflicts_with = "out")]
    pub paced: bool,

    /// Settings of the events.
    #[command(flatten)]
    pub events: EventArgs,
}

/// Settings of the events that are generated.
#[derive(Debug, ClapArgs)]
pub struct EventArgs {
    /// How many events [default: 1000000; of quick runs 50000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub events: Option<u64>,

    /// Equal seeds give equal events
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Events in a second of event time
    #[arg(long, value_name = "N", default_value_t = GeneratorOptions::RATE,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub rate: u64,

    /// Milliseconds by which an event may come after later ones
    #[arg(long, value_name = "MS", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=86_400_000))]
    pub disorder: u64,

    /// Event time of the first event, in milliseconds since 1970
    #[arg(long, value_name = "MS", default_value_t = GeneratorOptions::START_MS,
          value_parser = clap::value_parser!(i64).range(0..=4_000_000_000_000))]
    pub start: i64,
}

impl NexmarkArgs {
    /// The cases that these arguments ask for.
    pub fn to_options(&self) -> NexmarkOptions {
        let usual = if self.common.quick {
            QUICK_EVENTS
        } else {
            EVENTS
        };
        let all: Vec<u32> = (0..NEXMARK_QUERIES).collect();
        NexmarkOptions {
            queries: or_default(&self.query, &all),
            events: self.events.to_options(usual),
            figure: match (self.memory, self.latency) {
                (_, true) => NexmarkFigure::Latency,
                (true, false) => NexmarkFigure::Memory,
                (false, false) => NexmarkFigure::Csv,
            },
        }
    }
}

impl EventArgs {
    fn to_options(&self, usual_events: u64) -> GeneratorOptions {
        GeneratorOptions {
            events: self.events.unwrap_or(usual_events),
            seed: self.seed,
            rate: self.rate,
            start_ms: self.start,
            disorder_ms: self.disorder,
        }
    }
}

impl NexmarkEventsArgs {
    /// The events that these arguments ask for.
    pub fn to_options(&self) -> GeneratorOptions {
        self.events.to_options(EVENTS)
    }
}
