//! One source to several receivers, each a process: table 6 of the Streams 2.0 report.
//!
//! ```text
//!             ,==> Receiver 0
//!   Beacon ==<===> Receiver 1
//!             `==> ...
//! ```
//! With several receivers no process is pinned: there are more processes than cores, and the system
//! places them. The control's processes are not pinned either.

use control::{Error, RunArrivals, cores};

use crate::bench::{BenchCase, BenchSession, run_control};
use crate::control_process::Control;
use crate::schema::PayloadSchema;
use crate::{CodecKind, StreamPath};

const PROGRAM: &str = include_str!("../programs/fanout.spl");

/// The cases of the fan-out benchmark.
#[derive(Clone, Debug)]
pub struct FanoutOptions {
    /// Paths to measure, all of which leave the process.
    pub paths: Vec<StreamPath>,
    /// Numbers of receivers to measure.
    pub receivers: Vec<u32>,
    /// Bytes of a tuple's attributes.
    pub sizes: Vec<u64>,
}

impl FanoutOptions {
    /// Tuple sizes of the report, in bytes.
    pub const SIZES: [u64; 3] = [22, 108, 1004];

    /// Numbers of receivers of the report.
    pub const RECEIVERS: [u32; 6] = [1, 2, 3, 4, 5, 6];

    /// Paths of the report, and shared memory.
    pub const PATHS: [StreamPath; 3] = [StreamPath::Tcp, StreamPath::Rum, StreamPath::Shm];
}

/// Measures every combination of path, receivers and size.
///
/// # Errors
/// A run fails, or a path does not leave its process.
pub fn fanout(bench: &mut BenchSession<'_>, what: &FanoutOptions) -> Result<(), Error> {
    for &path in &what.paths {
        if !path.is_crossing() {
            let sentence = format!("receivers are processes, to which {path} does not lead");
            return Err(Error::new(sentence));
        }
        for &size in &what.sizes {
            for &receivers in &what.receivers {
                measure_one(bench, path, size, receivers)?;
            }
        }
    }
    Ok(())
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    path: StreamPath,
    size: u64,
    receivers: u32,
) -> Result<(), Error> {
    let control = Control::for_path(path);
    let case = BenchCase {
        bench: "fanout",
        path: path.to_string(),
        codec: Some(CodecKind::Facade),
        size_bytes: Some(size),
        receivers: Some(receivers),
        control: control.description(),
        seconds_min: control.seconds_min(),
        ..BenchCase::default()
    };
    if let Some(why) = path.missing_reason() {
        bench.add_unavailable(case, why);
        return Ok(());
    }
    let job = bench.job(&program(size, receivers), &plan(path, receivers))?;
    let (thalweg, binary) = bench.settings.commands();
    let mut ours = |tuples: u64| {
        let output = job.run(&thalweg, &[("tuples", tuples.to_string())])?;
        RunArrivals::parse_output(&output, receivers)
    };
    let mut bare = |tuples| {
        let command = control.throughput_command(&binary, size, tuples, receivers);
        run_control(command, receivers)
    };
    bench.measure_case(case, &mut ours, &mut bare)
}

fn program(size: u64, receivers: u32) -> String {
    let schema = PayloadSchema::with_bytes(size);
    let sinks = (0..receivers).map(|at| format!("() as Sink{at} = Receiver(Data) {{}}\n"));
    PROGRAM
        .replace("%schema%", &schema.types())
        .replace("%values%", &schema.values("IterationCount()"))
        .replace("%sinks%", &sinks.collect::<String>())
        .replace("%sum%", &schema.sum("Data", "sum"))
}

fn plan(path: StreamPath, receivers: u32) -> String {
    let (source, sink) = cores::pair();
    let cores = |core: u32| match receivers {
        1 => format!(" cores {core}\n"),
        _ => String::new(),
    };
    let receiver = |at| format!("pe {}\n operators Sink{at}.*\n{}", at + 1, cores(sink));
    let to: Vec<_> = (1..=receivers).map(|pe| pe.to_string()).collect();
    format!(
        "pe 0\n operators Data\n{}{}crossing Data.0 -> pe {} on {} codec facade\n",
        cores(source),
        (0..receivers).map(receiver).collect::<String>(),
        to.join(" "),
        path.medium_words()
    )
}
