//! Arguments of `thalweg perf`: the options of smx_perf, letter by letter.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use perf::{
    CpuAffinity, DEFAULT_TOPIC, JitterOptions, PublishFlags, PublishOptions, SubscribeOptions,
};

/// Arguments of `thalweg perf`.
#[derive(Debug, ClapArgs)]
pub struct PerfArgs {
    /// The program to run
    #[command(subcommand)]
    pub command: PerfCommand,
}

/// The programs of smx_perf.
#[derive(Debug, Subcommand)]
pub enum PerfCommand {
    /// Publish messages at an even pace
    Pub(PerfPubArgs),
    /// Receive messages, until it is killed
    Sub(PerfSubArgs),
    /// Measure how the system interrupts a thread
    Jitter(PerfJitterArgs),
}

/// Arguments of `thalweg perf pub`.
#[derive(Debug, ClapArgs)]
pub struct PerfPubArgs {
    /// Processor of the sending thread [default: 1, if there is one]
    #[arg(short = 'a', value_name = "AFFINITY_CPU", value_parser = cpu)]
    #[arg(allow_negative_numbers = true)]
    affinity_cpu: Option<u32>,

    /// Configuration file, a TOML; can be repeated, and later files override earlier ones
    #[arg(short = 'c', value_name = "CONFIG")]
    config: Vec<PathBuf>,

    /// Sum of flags; 1: time stamps, to measure latency; 2: non-blocking; 4: sends copies
    #[arg(short = 'f', value_name = "FLAGS", default_value = "0x0", value_parser = flags)]
    #[arg(allow_negative_numbers = true)]
    flags: u32,

    /// Measure jitter in this many loops, and nothing else
    #[arg(short = 'j', value_name = "JITTER_LOOPS", default_value = "0", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    jitter_loops: u64,

    /// Stay this many milliseconds after the last message
    #[arg(short = 'l', value_name = "LINGER_MS", default_value = "1000", value_parser = milliseconds)]
    #[arg(allow_negative_numbers = true)]
    linger_ms: u64,

    /// Bytes of a message
    #[arg(short = 'm', value_name = "MSG_LEN", default_value = "25", value_parser = bytes)]
    #[arg(allow_negative_numbers = true)]
    msg_len: u64,

    /// Number of messages to send
    #[arg(short = 'n', value_name = "NUM_MSGS", default_value = "10000000", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    num_msgs: u64,

    /// Number of messages a second
    #[arg(short = 'r', value_name = "RATE", default_value = "1000000", value_parser = rate)]
    #[arg(allow_negative_numbers = true)]
    rate: u64,

    /// Topic to send messages to
    #[arg(short = 't', value_name = "TOPIC", default_value = DEFAULT_TOPIC)]
    topic: String,

    /// Messages to send before those that are measured, at 10,000 a second
    #[arg(short = 'w', value_name = "WARMUP_LOOPS", default_value = "10000", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    warmup_loops: u64,
}

/// Arguments of `thalweg perf sub`.
#[derive(Debug, ClapArgs)]
pub struct PerfSubArgs {
    /// Processor of the receiving thread [default: 0, if there is one]
    #[arg(short = 'a', value_name = "AFFINITY_CPU", value_parser = cpu)]
    #[arg(allow_negative_numbers = true)]
    affinity_cpu: Option<u32>,

    /// Configuration file, a TOML; can be repeated, and later files override earlier ones
    #[arg(short = 'c', value_name = "CONFIG")]
    config: Vec<PathBuf>,

    /// Fast: only count messages
    #[arg(short = 'f')]
    fast: bool,

    /// Turns of an empty loop for each message
    #[arg(short = 's', value_name = "SPIN_CNT", default_value = "0", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    spin_cnt: u64,

    /// Topic to receive messages from
    #[arg(short = 't', value_name = "TOPIC", default_value = DEFAULT_TOPIC)]
    topic: String,
}

/// Arguments of `thalweg perf jitter`.
#[derive(Debug, ClapArgs)]
pub struct PerfJitterArgs {
    /// Processor of the thread [default: 1, if there is one]
    #[arg(short = 'a', value_name = "AFFINITY_CPU", value_parser = cpu)]
    #[arg(allow_negative_numbers = true)]
    affinity_cpu: Option<u32>,

    /// Pairs of readings of the clock
    #[arg(short = 'j', value_name = "JITTER_LOOPS", default_value = "100000000", value_parser = count)]
    #[arg(allow_negative_numbers = true)]
    jitter_loops: u64,
}

impl From<PerfPubArgs> for PublishOptions {
    fn from(args: PerfPubArgs) -> PublishOptions {
        let usual = PublishOptions::default();
        PublishOptions {
            affinity_cpu: args
                .affinity_cpu
                .map_or(usual.affinity_cpu, CpuAffinity::Requested),
            config: args.config,
            flags: PublishFlags(args.flags),
            jitter_loops: args.jitter_loops,
            linger_ms: args.linger_ms,
            msg_len: args.msg_len,
            num_msgs: args.num_msgs,
            rate: args.rate,
            topic: args.topic,
            warmup_loops: args.warmup_loops,
        }
    }
}

impl From<PerfSubArgs> for SubscribeOptions {
    fn from(args: PerfSubArgs) -> SubscribeOptions {
        let usual = SubscribeOptions::default();
        SubscribeOptions {
            affinity_cpu: args
                .affinity_cpu
                .map_or(usual.affinity_cpu, CpuAffinity::Requested),
            config: args.config,
            fast: args.fast,
            spin_cnt: args.spin_cnt,
            topic: args.topic,
        }
    }
}

impl From<PerfJitterArgs> for JitterOptions {
    fn from(args: PerfJitterArgs) -> JitterOptions {
        let usual = JitterOptions::default();
        JitterOptions {
            affinity_cpu: args
                .affinity_cpu
                .map_or(usual.affinity_cpu, CpuAffinity::Requested),
            jitter_loops: args.jitter_loops,
        }
    }
}

fn cpu(text: &str) -> Result<u32, String> {
    perf::parse_number(text, 0..=1023).map(|cpu| cpu as u32)
}

fn flags(text: &str) -> Result<u32, String> {
    perf::parse_number(text, 0..=u64::from(PublishFlags::ALL)).map(|flags| flags as u32)
}

/// Parses a number of messages or of turns; the bound is a day at full speed.
fn count(text: &str) -> Result<u64, String> {
    perf::parse_number(text, 0..=1_000_000_000_000)
}

fn milliseconds(text: &str) -> Result<u64, String> {
    perf::parse_number(text, 0..=86_400_000)
}

/// Parses the bytes of a message, at most half of the largest ring.
fn bytes(text: &str) -> Result<u64, String> {
    perf::parse_number(text, 0..=1 << 30)
}

fn rate(text: &str) -> Result<u64, String> {
    perf::parse_number(text, 1..=1_000_000_000)
}
