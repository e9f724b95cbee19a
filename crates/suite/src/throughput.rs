//! One source, one sink, as fast as it goes: tables 1, 3 and 5 of the Streams 2.0 report.
//!
//! ```text
//!   Beacon ==path==> Custom that reads every attribute
//! ```

use crate::arrivals::Run;
use crate::bench::{Bench, Question, run_control};
use crate::control::Control;
use crate::schema::Schema;
use crate::{Codec, Error, Path, cores};

const PROGRAM: &str = include_str!("../programs/throughput.spl");

/// What is measured.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// On which paths.
    pub paths: Vec<Path>,
    /// How tuples are written on paths that leave the process.
    pub codecs: Vec<Codec>,
    /// Bytes of a tuple's attributes.
    pub sizes: Vec<u64>,
}

impl Throughput {
    /// Sizes of the report: powers of 2 from 4 B to 16 KB.
    pub fn report_sizes() -> Vec<u64> {
        (2..=14).map(|power| 1 << power).collect()
    }
}

/// Measures it.
///
/// # Errors
/// A run fails.
pub fn throughput(bench: &mut Bench<'_>, what: &Throughput) -> Result<(), Error> {
    for &path in &what.paths {
        for codec in codecs(path, &what.codecs) {
            for &size in &what.sizes {
                one(bench, path, codec, size)?;
            }
        }
    }
    Ok(())
}

/// Those that a path has; one, which is none, where tuples stay in their process.
pub(crate) fn codecs(path: Path, wanted: &[Codec]) -> Vec<Option<Codec>> {
    match path.is_crossing() {
        true => wanted.iter().copied().map(Some).collect(),
        false => vec![None],
    }
}

fn one(bench: &mut Bench<'_>, path: Path, codec: Option<Codec>, size: u64) -> Result<(), Error> {
    let control = Control::of(path);
    let question = Question {
        bench: "throughput",
        path: path.to_string(),
        codec,
        size_bytes: Some(size),
        receivers: Some(1),
        control: control.what(),
        seconds_min: control.seconds_min(),
        ..Question::default()
    };
    if let Some(why) = cores::lack().filter(|_| path != Path::Fused) {
        bench.unavailable(question, why);
        return Ok(());
    }
    let job = bench.job(&program(size), &plan(path, codec))?;
    let binary = bench.settings.binary.clone();
    let mut ours = |tuples: u64| {
        let output = job.run(&binary, &[("tuples", tuples.to_string())])?;
        Run::read(&output, 1)
    };
    let mut bare = |tuples| run_control(control.throughput(&binary, size, tuples, 1), 1);
    bench.contest(question, &mut ours, &mut bare)
}

/// The program whose source sends tuples of so many bytes, as many as submission-time value `tuples`
/// says, and whose sink prints its [`crate::Arrivals`].
pub fn program(size: u64) -> String {
    let schema = Schema::of(size);
    PROGRAM
        .replace("%schema%", &schema.types())
        .replace("%values%", &schema.values("IterationCount()"))
        .replace("%sum%", &schema.sum("Data", "sum"))
}

/// The text of its plan: source on the first core, sink on the second.
pub fn plan(path: Path, codec: Option<Codec>) -> String {
    let (source, sink) = cores::pair();
    let codec = codec.unwrap_or(Codec::Facade).name();
    match path {
        Path::Fused => format!("pe 0\n operators *\n cores {source}\n"),
        Path::Threaded => {
            format!("pe 0\n operators *\n source Data core {source}\n queue Sink.0 core {sink}\n")
        }
        Path::Shm | Path::Rum | Path::Tcp => format!(
            "pe 0\n operators Data\n cores {source}\npe 1\n operators Sink\n cores {sink}\n\
             crossing Data.0 -> pe 1 on {path} codec {codec}\n"
        ),
    }
}
