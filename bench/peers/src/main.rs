//! `thalweg-peers`: Thalweg beside its peers, in one table.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use measure::{Host, Outcome};
use thalweg_peers::compare::{LATENCY_BYTES, Settings, Sitting, compare, unavailable};
use thalweg_peers::contender::{self, Contender, Processes};
use thalweg_peers::peer::Entry;
use thalweg_peers::{Failure, OTHER, PE, Question, TURN, Task, cores, peers, table};

/// Thalweg beside other projects that hand messages on: throughput by size, latency at 64 bytes.
///
/// Peers that need more than Rust and a C compiler are built in by features: rtrb, crossbeam, timely,
/// iceoryx2, zeromq, aeron, or all of them by `--features all`. docs/peers.md says what each needs.
#[derive(Parser)]
#[command(name = "thalweg-peers", version)]
struct Args {
    /// Only this peer; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = known_name)]
    only: Vec<String>,
    /// Only messages of so many bytes, a multiple of 8; may be given several times.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Vec<usize>,
    /// Fewer and shorter turns: a look, not a result.
    #[arg(long)]
    quick: bool,
    /// The records of all results as one JSON array, and no table.
    #[arg(long)]
    json: bool,
    /// All peers: version, settings, or why one cannot run here.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match &args[..] {
        [role, contender, task @ ..] if role == TURN => turn(contender, task),
        [role, peer, task @ ..] if role == OTHER => other(peer, task),
        // Whoever asks for an end asks the process that compares.
        [role, ..] if role == PE => engine::serve(Ok(std::iter::empty())).map_err(Failure::from),
        _ => ask(&Args::parse(), &args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Does one turn of a contender.
fn turn(contender: &str, task: &[String]) -> Result<(), Failure> {
    contender::watch();
    let contender: Contender = contender.parse()?;
    println!("{}", contender.run(&Task::from_args(task)?)?);
    Ok(())
}

/// Is the other process of a peer's turn.
fn other(peer: &str, task: &[String]) -> Result<(), Failure> {
    let entry = peers::all().into_iter().find(|entry| entry.name == peer);
    let peer = entry.ok_or("there is no such peer")?.peer?;
    let serve = peer.serve.ok_or("this peer has one process")?;
    serve(&Task::from_args(task)?)
}

/// What the user asks for.
fn ask(args: &Args, words: &[String]) -> Result<(), Failure> {
    let entries = peers::all().into_iter();
    let is_asked =
        |entry: &Entry| args.only.is_empty() || args.only.iter().any(|name| name == entry.name);
    let entries: Vec<Entry> = entries.filter(is_asked).collect();
    if args.list {
        entries.iter().for_each(list);
        return Ok(());
    }
    let begun = Instant::now();
    let sitting = Sitting {
        host: Host::here(),
        commit: suite::commit(),
        options: Some(words.join(" ")),
    };
    if !args.json {
        print!("{}", table::head());
    }
    let mut outcomes = Vec::new();
    for entry in &entries {
        measure_one(entry, &settings(args), &sitting, &mut |found| {
            if !args.json {
                print!("{}", table::line(&found));
            }
            outcomes.extend(found);
        });
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&outcomes)?),
        false => print!("{}", table::foot(&sitting, begun.elapsed())),
    }
    Ok(())
}

/// All questions about one peer; each answer goes to `found` at once.
fn measure_one(
    entry: &Entry,
    settings: &Settings,
    sitting: &Sitting,
    found: &mut dyn FnMut(Vec<Outcome>),
) {
    let lack = cores::lack().map_or(Ok(()), Err);
    let peer = match lack.and(entry.peer.clone()) {
        Ok(peer) => peer,
        Err(why) => return found(vec![unavailable(entry.name, entry.path, &why, sitting)]),
    };
    let throughput = settings
        .sizes
        .iter()
        .map(|&size| (Question::Throughput, size));
    let latency = [(Question::Latency, LATENCY_BYTES)];
    for (question, bytes) in throughput.chain(latency) {
        if peer.answers(question) {
            found(compare(
                &peer, question, bytes, settings, sitting, &Processes,
            ));
        }
    }
}

fn settings(args: &Args) -> Settings {
    let sizes = match &args.size[..] {
        [] => vec![64, 256, 1024, 16 * 1024],
        some => some.to_vec(),
    };
    match args.quick {
        true => Settings {
            turns: 3,
            seconds: 0.03,
            sizes,
            trips: 2000,
        },
        false => Settings {
            turns: 7,
            seconds: 0.2,
            sizes,
            trips: 20_000,
        },
    }
}

fn list(entry: &Entry) {
    match &entry.peer {
        Ok(peer) => {
            let (name, path, version) = (peer.name, peer.path, (peer.version)());
            println!("{name:<18} {path:<9} {version}: {}", peer.settings);
        }
        Err(why) => println!("{:<18} {:<9} cannot run: {why}", entry.name, entry.path),
    }
}

/// Bytes of a message.
fn size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if (8..=BYTES_MAX).contains(&bytes) && bytes % 8 == 0 => Ok(bytes),
        _ => Err(format!("a multiple of 8, from 8 to {BYTES_MAX}")),
    }
}

/// The largest message: what all peers take without settings of their own.
const BYTES_MAX: usize = 16 * 1024;

fn known_name(text: &str) -> Result<String, String> {
    let names: Vec<_> = peers::all().iter().map(|entry| entry.name).collect();
    match names.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}
