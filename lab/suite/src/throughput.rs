//! Throughput from one source to one sink: tables 1, 3 and 5 of the Streams 2.0 report.
//!
//! ```text
//!   Beacon ==path==> Custom that reads every attribute
//! ```

use control::{Error, RunArrivals, cores};

use crate::bench::{BenchCase, BenchSession, run_control};
use crate::control_process::Control;
use crate::schema::PayloadSchema;
use crate::{CodecKind, StreamPath};

const PROGRAM: &str = include_str!("../programs/throughput.spl");

/// The cases of the throughput benchmark.
#[derive(Clone, Debug)]
pub struct ThroughputOptions {
    /// Paths from the source to the sink.
    pub paths: Vec<StreamPath>,
    /// Codecs to measure on paths that leave the process.
    pub codecs: Vec<CodecKind>,
    /// Bytes of a tuple's attributes.
    pub sizes: Vec<u64>,
}

impl ThroughputOptions {
    /// Tuple sizes of the report: powers of 2 from 4 B to 16 KB.
    pub fn report_sizes() -> Vec<u64> {
        (2..=14).map(|power| 1 << power).collect()
    }
}

/// Measures every combination of path, codec and size.
///
/// # Errors
/// A run fails.
pub fn throughput(bench: &mut BenchSession<'_>, what: &ThroughputOptions) -> Result<(), Error> {
    for &path in &what.paths {
        for codec in path_codecs(path, &what.codecs) {
            for &size in &what.sizes {
                measure_one(bench, path, codec, size)?;
            }
        }
    }
    Ok(())
}

/// The codecs to measure on a path: `None` alone if tuples stay in their process.
pub(crate) fn path_codecs(path: StreamPath, wanted: &[CodecKind]) -> Vec<Option<CodecKind>> {
    match path.is_crossing() {
        true => wanted.iter().copied().map(Some).collect(),
        false => vec![None],
    }
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    path: StreamPath,
    codec: Option<CodecKind>,
    size: u64,
) -> Result<(), Error> {
    let control = Control::for_path(path);
    let case = BenchCase {
        bench: "throughput",
        path: path.to_string(),
        codec,
        size_bytes: Some(size),
        receivers: Some(1),
        control: control.description(),
        seconds_min: control.seconds_min(),
        ..BenchCase::default()
    };
    if let Some(why) = path.missing_reason() {
        bench.add_unavailable(case, why);
        return Ok(());
    }
    let job = bench.job(&throughput_program(size), &throughput_plan(path, codec))?;
    let (thalweg, binary) = bench.settings.commands();
    let mut ours = |tuples: u64| {
        let output = job.run(&thalweg, &[("tuples", tuples.to_string())])?;
        RunArrivals::parse_output(&output, 1)
    };
    let mut bare = |tuples| run_control(control.throughput_command(&binary, size, tuples, 1), 1);
    bench.measure_case(case, &mut ours, &mut bare)
}

/// The program whose source sends tuples of `size` bytes, as many as the submission-time value
/// `tuples` says. Its sink prints its [`control::Arrivals`].
pub fn throughput_program(size: u64) -> String {
    let schema = PayloadSchema::with_bytes(size);
    PROGRAM
        .replace("%schema%", &schema.types())
        .replace("%values%", &schema.values("IterationCount()"))
        .replace("%sum%", &schema.sum("Data", "sum"))
}

/// The plan of that program: source on the first core, sink on the second.
pub fn throughput_plan(path: StreamPath, codec: Option<CodecKind>) -> String {
    let (source, sink) = cores::pair();
    let codec = codec.unwrap_or(CodecKind::Facade).name();
    match path {
        StreamPath::Fused => format!("pe 0\n operators *\n cores {source}\n"),
        StreamPath::Threaded => {
            format!("pe 0\n operators *\n source Data core {source}\n queue Sink.0 core {sink}\n")
        }
        _ => format!(
            "pe 0\n operators Data\n cores {source}\npe 1\n operators Sink\n cores {sink}\n\
             crossing Data.0 -> pe 1 on {} codec {codec}\n",
            path.medium_words()
        ),
    }
}
