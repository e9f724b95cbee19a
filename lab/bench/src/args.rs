//! The command line of `thalweg bench` as data.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use suite::{CodecKind, RoundTripOptions};
use transport::IdleStrategy;

use crate::compare::CompareArgs;
use crate::nexmark_args::{NexmarkArgs, NexmarkEventsArgs};
use crate::plans_args::PlansArgs;
use crate::report::ReportArgs;
use crate::vwap_args::VwapArgs;

/// Measure how fast streams are on this machine, beside raw controls
#[derive(Debug, Parser)]
#[command(
    name = "thalweg-bench",
    bin_name = "thalweg bench",
    max_term_width = 100
)]
pub struct BenchCommandLine {
    /// The benchmark to run, or what to do with results.
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The benchmarks, and the commands on their results.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Tuples a second from a source to a sink, by size, on each path
    Throughput(ThroughputArgs),
    /// Tuples a second between two hosts: network namespaces joined by 1 Gbit/s
    Hosts(HostsArgs),
    /// Tuples a second over two paths between two hosts, beside a bare socket over one
    Rails(RailsArgs),
    /// How long tuples take there and back, at a pace
    Latency(LatencyArgs),
    /// Tuples a second from a source to 1 to 6 receivers
    Fanout(FanoutArgs),
    /// Tuples a second through four fused operators, by size
    Chain(ChainArgs),
    /// Tuples a second through operators of the toolkit
    Operators(CommonArgs),
    /// Tuples a second through compiled expressions
    Expressions(CommonArgs),
    /// All of these benchmarks, one by one
    All(CommonArgs),
    /// Events a second through the queries of NEXMark, from csv or from memory
    Nexmark(NexmarkArgs),
    /// Tuples a second through the VWAP application with 332 operators, by plan
    Vwap(VwapArgs),
    /// Source tuples a second of generated programs on many plans, and what is predicted of each
    Plans(PlansArgs),
    /// Tuples a second of a pool of threads while the hot key moves, beside the best fixed plan
    Adapt(CommonArgs),
    /// Write the events of NEXMark to files or standard output
    NexmarkEvents(NexmarkEventsArgs),
    /// Say what changed between two releases, with noise taken into account
    Compare(CompareArgs),
    /// Make a page of figures from files of results
    Report(ReportArgs),
    /// Be a control; started by the benchmarks
    #[command(hide = true)]
    Control(ControlArgs),
}

/// Arguments of `thalweg bench throughput`
#[derive(Debug, ClapArgs)]
pub struct ThroughputArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// On which paths: fused, threaded, shm, rum, tcp [default: all of these]; rdma, or the medium
    /// of a library
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub path: Vec<String>,

    /// Tuples whose rate is measured.
    #[command(flatten)]
    pub tuples: TuplesArgs,
}

/// Tuples whose rate is measured.
#[derive(Debug, Default, ClapArgs)]
pub struct TuplesArgs {
    /// How tuples are written between processes: facade or normal [default: both]
    #[arg(long, value_name = "CODEC", value_delimiter = ',')]
    pub codec: Vec<CodecKind>,

    /// Bytes of a tuple's attributes, 1 to 16384 [default: powers of 2 from 4]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size::<1>)]
    pub size: Vec<u64>,
}

/// Arguments of `thalweg bench hosts`
#[derive(Debug, ClapArgs)]
pub struct HostsArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// On which paths: rum, tcp [default: both]; rdma, or the medium of a library
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub path: Vec<String>,

    /// Tuples whose rate is measured.
    #[command(flatten)]
    pub tuples: TuplesArgs,
}

/// Arguments of `thalweg bench rails`
#[derive(Debug, ClapArgs)]
pub struct RailsArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// Bytes of a tuple's attributes, 1 to 16384 [default: 64,1024,16384]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size::<1>)]
    pub size: Vec<u64>,
}

/// Arguments of `thalweg bench latency`
#[derive(Debug, ClapArgs)]
pub struct LatencyArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// On which paths: fused, threaded, shm, rum, tcp [default: all of these]; rdma, or the medium
    /// of a library
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub path: Vec<String>,

    /// Between two hosts, as `bench hosts` has them: on rum and tcp
    #[arg(long)]
    pub hosts: bool,

    /// Tuples a second that the source offers [default: 1000,5000]
    #[arg(long, value_name = "RATE", value_delimiter = ',', value_parser = rate)]
    pub rate: Vec<f64>,

    /// Bytes of a tuple's attributes, 8 to 16384 [default: 128,256,512]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size::<{ RoundTripOptions::STAMP_BYTES }>)]
    pub size: Vec<u64>,
}

/// Arguments of `thalweg bench fanout`
#[derive(Debug, ClapArgs)]
pub struct FanoutArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// On which paths: shm, rum, tcp [default: all of these]; rdma, or the medium of a library
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub path: Vec<String>,

    /// How many receivers, 1 to 16 [default: 1 to 6]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub receivers: Vec<u32>,

    /// Bytes of a tuple's attributes, 1 to 16384 [default: 22,108,1004]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size::<1>)]
    pub size: Vec<u64>,
}

/// Arguments of `thalweg bench chain`
#[derive(Debug, ClapArgs)]
pub struct ChainArgs {
    /// Settings of all benchmarks.
    #[command(flatten)]
    pub common: CommonArgs,

    /// Bytes of a tuple's attributes, 4 to 16384 [default: 4,64,256,1024,4096,16384]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = size::<CHAIN_MIN>)]
    pub size: Vec<u64>,
}

/// Settings that all benchmarks have.
#[derive(Clone, Debug, ClapArgs)]
pub struct CommonArgs {
    /// How often each contender runs; the median counts [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,

    /// How long a run is [default: 0.2; of latencies 1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: Option<f64>,

    /// How many tuples a run has, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "seconds",
          value_parser = clap::value_parser!(u32).range(2..))]
    pub tuples: Option<u32>,

    /// How threads wait, of latencies the control's too: spin, yield, park or adaptive [default:
    /// adaptive]
    #[arg(long, value_name = "STRATEGY", value_parser = str::parse::<IdleStrategy>)]
    pub idle: Option<IdleStrategy>,

    /// Folders with libraries that are media, separated by colons; can be repeated
    #[arg(long, value_name = "DIRS", env = "THALWEG_MEDIA_PATH")]
    pub media_path: Vec<String>,

    /// Fewer sizes and shorter runs: less exact, done soon
    #[arg(long)]
    pub quick: bool,

    /// One JSON array of results instead of tables
    #[arg(long)]
    pub json: bool,

    /// A folder that gets the results as results.json, results.csv and, with charts, index.html
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `thalweg bench control`, which the benchmark chooses.
#[derive(Debug, ClapArgs)]
pub struct ControlArgs {
    /// The role and its numbers
    #[arg(hide = true)]
    pub what: Vec<String>,
}

/// Limit on the bytes of a tuple: the largest size of the report.
const SIZE_MAX: u64 = 16384;

/// Bytes of the smallest tuple whose first attribute can count the tuples of a chain.
const CHAIN_MIN: u64 = 4;

/// Parses the bytes of a tuple, at least `MIN`.
fn size<const MIN: u64>(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(size) if (MIN..=SIZE_MAX).contains(&size) => Ok(size),
        _ => Err(format!("must be a number of bytes, {MIN} to {SIZE_MAX}")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=60.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be a number of seconds, 0.001 to 60".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1.0..=1e6).contains(&rate) => Ok(rate),
        _ => Err("must be a number of tuples a second, 1 to 1000000".to_owned()),
    }
}
