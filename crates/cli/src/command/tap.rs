//! `thalweg tap`: tuples of a stream of a running job, as they pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use engine::{JobSample, PeSample, RecordFormat, StreamTap};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::top::named_job;
use crate::failure::CommandFailure;
use crate::output::{note, warn, write_or_closed};

/// Arguments of `thalweg tap`.
#[derive(Debug, ClapArgs)]
pub struct TapArgs {
    /// The job: the number of its process or the name of its main composite
    pub job: String,

    /// The stream, by its name in `thalweg top` or the end of that name
    pub stream: String,

    /// Most tuples in a second; a faster stream is sampled
    #[arg(long, value_name = "TUPLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub rate: u32,

    /// End after so many tuples
    #[arg(short = 'n', long, value_name = "TUPLES")]
    pub count: Option<u64>,

    /// Form of the tuples, a line each
    #[arg(long, value_name = "FORMAT", default_value = "txt")]
    pub format: TapFormat,
}

/// Form in which tuples are printed; the formats of a FileSink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TapFormat {
    /// A tuple literal a line
    Txt,
    /// Values with commas between them
    Csv,
    /// A JSON object a line
    Json,
}

/// Time between two looks at what has come.
const PERIOD: Duration = Duration::from_millis(10);

/// A stream of a running job.
struct TappedStream<'a> {
    name: &'a str,
    pe: &'a PeSample,
    operator: u32,
    port: u32,
}

/// Prints tuples until the count is reached, the job has ended, the command is interrupted, or the
/// reader of its output has gone.
pub fn run(args: TapArgs) -> Result<(), CommandFailure> {
    let job = named_job(&args.job)?;
    let stream = find_stream(&job, &args.stream).map_err(CommandFailure::Program)?;
    let format = match args.format {
        TapFormat::Txt => RecordFormat::Txt,
        TapFormat::Csv => RecordFormat::Csv,
        TapFormat::Json => RecordFormat::Json,
    };
    let place = (stream.operator, stream.port);
    let mut tap = StreamTap::open(stream.pe, place, args.rate, format).map_err(|error| {
        let what = format!("the stream {} cannot be tapped: {error}", stream.name);
        CommandFailure::Program(what)
    })?;
    let is_interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Without a handler the signal ends the command, and the job ends the tap.
        let _ = signal_hook::flag::register(signal, is_interrupted.clone());
    }
    let shown = print_tuples(&mut tap, args.count, &is_interrupted)?;
    let submitted = tap.submitted_count().max(shown);
    note(&format!(
        "{shown} of {submitted} tuples of {} were shown",
        stream.name
    ));
    Ok(())
}

/// Prints tuples as they come. Returns their number.
fn print_tuples(
    tap: &mut StreamTap,
    count: Option<u64>,
    is_interrupted: &AtomicBool,
) -> Result<u64, CommandFailure> {
    let mut shown = 0;
    loop {
        // What was written before the end is still there.
        let is_last = tap.has_ended() || is_interrupted.load(Ordering::Relaxed);
        let read = tap.read();
        for bytes in &read.large_texts {
            warn(&format!(
                "a tuple has {bytes} bytes of text, too many to be shown"
            ));
        }
        let wanted = count.map_or(read.tuples, |count| read.tuples.min(count - shown));
        let lines = read.text.split_inclusive(|byte| *byte == b'\n');
        let text: Vec<u8> = lines.take(wanted as usize).flatten().copied().collect();
        if !write_or_closed(&text)? {
            return Ok(shown);
        }
        shown += wanted;
        if is_last || Some(shown) == count {
            return Ok(shown);
        }
        if read.tuples == 0 {
            std::thread::sleep(PERIOD);
        }
    }
}

/// The stream of a name, or of the only name that ends with it.
fn find_stream<'a>(job: &'a JobSample, name: &str) -> Result<TappedStream<'a>, String> {
    let streams: Vec<TappedStream<'a>> = job.pes.iter().flat_map(streams_of_pe).collect();
    let is_end = |stream: &&TappedStream<'_>| {
        let rest = stream.name.strip_suffix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ':']))
    };
    let mut found: Vec<&TappedStream<'a>> = streams.iter().filter(is_end).collect();
    if let Some(exact) = found.iter().find(|stream| stream.name == name) {
        found = vec![exact];
    }
    match found[..] {
        [one] => Ok(TappedStream { ..*one }),
        [] => Err(unknown_stream(job, name, &streams)),
        _ => {
            let names: Vec<&str> = found.iter().map(|stream| stream.name).collect();
            let names = names.join(", ");
            Err(format!("several streams are called {name}: {names}"))
        }
    }
}

fn unknown_stream(job: &JobSample, name: &str, streams: &[TappedStream<'_>]) -> String {
    let names = || streams.iter().map(|stream| stream.name);
    let hint = match engine::nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let elsewhere = match job.pe_count as usize > job.pes.len() {
        true => "; PEs on other hosts are tapped there",
        false => "",
    };
    format!(
        "the job {} has no stream {name} here; {hint}{elsewhere}",
        job.job
    )
}

/// Streams that the program's own operators of a PE submit to.
fn streams_of_pe(pe: &PeSample) -> impl Iterator<Item = TappedStream<'_>> {
    let is_own = |kind: &str| !kind.starts_with("thalweg.transport::");
    let operators = (0..).zip(&pe.operators);
    let own = operators.filter(move |(_, operator)| is_own(&operator.kind));
    own.flat_map(move |(at, operator)| {
        let streams = (0..).zip(&operator.streams);
        streams.map(move |(port, name)| TappedStream {
            name,
            pe,
            operator: at,
            port,
        })
    })
}
