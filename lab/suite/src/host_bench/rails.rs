//! Throughput between two hosts over two paths, beside a bare socket over one of them: the question
//! of the channel bonding document.
//!
//! ```text
//!   near                                far
//!     Beacon ══1 Gbit/s══ rum, rails ══>  Custom that reads every attribute
//!            ══1 Gbit/s══
//!
//!     control ─1 Gbit/s─ a bare socket ─>
//! ```
//! The ratio is what the second path gives: 2 would be all of it.

use control::{Error, RunArrivals, cores};

use super::host_pair::HostPair;
use super::{command_on_near, host_options};
use crate::CodecKind;
use crate::bench::{BenchCase, BenchSession, run_control};
use crate::control_process::Control;
use crate::throughput::throughput_program;

/// Tuple sizes that are measured unless others are named, in bytes.
pub const RAILS_SIZES: [u64; 3] = [64, 1024, 16384];

/// Measures a stream by `rum` over two paths at each size.
///
/// # Errors
/// A run fails.
pub fn rails(bench: &mut BenchSession<'_>, sizes: &[u64]) -> Result<(), Error> {
    let pair = match cores::missing_reason() {
        Some(why) => Err(why),
        None => HostPair::with_links(2),
    };
    sizes
        .iter()
        .try_for_each(|&size| measure_one(bench, &pair, size))
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    pair: &Result<HostPair, String>,
    size: u64,
) -> Result<(), Error> {
    let control = Control::Blocks;
    let case = BenchCase {
        bench: "rails",
        path: "rum".to_owned(),
        codec: Some(CodecKind::Facade),
        size_bytes: Some(size),
        receivers: Some(1),
        control: "bare socket over one of the two paths, 64 KB writes",
        seconds_min: control.seconds_min(),
        ..BenchCase::default()
    };
    let pair = match pair {
        Ok(pair) => pair,
        Err(why) => {
            bench.add_unavailable(case, why.clone());
            return Ok(());
        }
    };
    let job = bench.job(&throughput_program(size), &plan())?;
    let job = job.with_hosts(&host_options(pair));
    let (thalweg, binary) = bench.settings.commands();
    let mut ours = |tuples: u64| {
        let output = job.run(&thalweg, &[("tuples", tuples.to_string())])?;
        RunArrivals::parse_output(&output, 1)
    };
    let mut bare = |tuples| {
        let command = control.throughput_command(&binary, size, tuples, 1);
        run_control(command_on_near(pair, &binary, &command), 1)
    };
    bench.measure_case(case, &mut ours, &mut bare)
}

fn plan() -> String {
    let (source, sink) = cores::pair();
    format!(
        "pe 0\n operators Data\n host near\n cores {source}\n\
         pe 1\n operators Sink\n host far\n cores {sink}\n\
         crossing Data.0 -> pe 1 on rum codec facade rails {}\n",
        HostPair::near_addresses().join(" ")
    )
}
