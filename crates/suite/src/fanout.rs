//! One source to several receivers, each a process: table 6 of the Streams 2.0 report.
//!
//! ```text
//!             ,==> Receiver 0
//!   Beacon ==<===> Receiver 1
//!             `==> ...
//! ```
//! With several receivers nobody is pinned: there are more processes than cores, and the system deals
//! them out, those of the control too.

use crate::arrivals::Run;
use crate::bench::{Bench, Question, run_control};
use crate::control::Control;
use crate::schema::Schema;
use crate::{Codec, Error, Path, cores};

const PROGRAM: &str = include_str!("../programs/fanout.spl");

/// What is measured.
#[derive(Clone, Debug)]
pub struct Fanout {
    /// On which of the paths that leave a process.
    pub paths: Vec<Path>,
    /// To how many receivers.
    pub receivers: Vec<u32>,
    /// Bytes of a tuple's attributes.
    pub sizes: Vec<u64>,
}

impl Fanout {
    /// Sizes of the report.
    pub const SIZES: [u64; 3] = [22, 108, 1004];

    /// How many receivers the report has.
    pub const RECEIVERS: [u32; 6] = [1, 2, 3, 4, 5, 6];

    /// Paths of the report, and ours.
    pub const PATHS: [Path; 3] = [Path::Tcp, Path::Rum, Path::Shm];
}

/// Measures it.
///
/// # Errors
/// A run fails, or a path does not leave its process.
pub fn fanout(bench: &mut Bench<'_>, what: &Fanout) -> Result<(), Error> {
    for &path in &what.paths {
        if !path.is_crossing() {
            let sentence = format!("receivers are processes, to which {path} does not lead");
            return Err(Error::new(sentence));
        }
        for &size in &what.sizes {
            for &receivers in &what.receivers {
                one(bench, path, size, receivers)?;
            }
        }
    }
    Ok(())
}

fn one(bench: &mut Bench<'_>, path: Path, size: u64, receivers: u32) -> Result<(), Error> {
    let control = Control::of(path);
    let question = Question {
        bench: "fanout",
        path: path.to_string(),
        codec: Some(Codec::Facade),
        size_bytes: Some(size),
        receivers: Some(receivers),
        control: control.what(),
        seconds_min: control.seconds_min(),
        ..Question::default()
    };
    if let Some(why) = cores::lack() {
        bench.unavailable(question, why);
        return Ok(());
    }
    let job = bench.job(&program(size, receivers), &plan(path, receivers))?;
    let binary = bench.settings.binary.clone();
    let mut ours = |tuples: u64| {
        let output = job.run(&binary, &[("tuples", tuples.to_string())])?;
        Run::read(&output, receivers)
    };
    let mut bare = |tuples| {
        let command = control.throughput(&binary, size, tuples, receivers);
        run_control(command, receivers)
    };
    bench.contest(question, &mut ours, &mut bare)
}

fn program(size: u64, receivers: u32) -> String {
    let schema = Schema::of(size);
    let sinks = (0..receivers).map(|at| format!("() as Sink{at} = Receiver(Data) {{}}\n"));
    PROGRAM
        .replace("%schema%", &schema.types())
        .replace("%values%", &schema.values("IterationCount()"))
        .replace("%sinks%", &sinks.collect::<String>())
        .replace("%sum%", &schema.sum("Data", "sum"))
}

fn plan(path: Path, receivers: u32) -> String {
    let (source, sink) = cores::pair();
    let cores = |core: u32| match receivers {
        1 => format!(" cores {core}\n"),
        _ => String::new(),
    };
    let receiver = |at| format!("pe {}\n operators Sink{at}.*\n{}", at + 1, cores(sink));
    let to: Vec<_> = (1..=receivers).map(|pe| pe.to_string()).collect();
    format!(
        "pe 0\n operators Data\n{}{}crossing Data.0 -> pe {} on {path} codec facade\n",
        cores(source),
        (0..receivers).map(receiver).collect::<String>(),
        to.join(" ")
    )
}
