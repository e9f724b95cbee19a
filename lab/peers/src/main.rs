//! `thalweg-peers`: Thalweg beside its peers, in one table.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use measure::{Host, Outcome};
use thalweg_peers::contender::{self, Contender, ProcessTurns};
use thalweg_peers::nexmark::{self, NexmarkPeersArgs, QueryTask, run_nexmark};
use thalweg_peers::peer::PeerEntry;
use thalweg_peers::peer_comparison::{
    ComparisonSettings, LATENCY_BYTES, RecordContext, compare_peer, unavailable_record,
};
use thalweg_peers::{BoxError, PARTNER, PE, PeerQuestion, PeerTask, TURN, cores, peers, table};

/// Thalweg beside other projects that hand messages on: throughput by size, latency at 64 bytes.
///
/// Most peers are built in by features: rtrb, crossbeam and timely by default, iceoryx2, zeromq,
/// aeron, openmpi, ucx, or all of them by `--features all`. docs/peers.md says what each needs.
#[derive(Parser)]
#[command(
    name = "thalweg-peers",
    version,
    args_conflicts_with_subcommands = true
)]
struct PeersArgs {
    /// Another comparison than that of messages.
    #[command(subcommand)]
    comparison: Option<OtherComparison>,

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

/// A comparison of something else than messages.
#[derive(Subcommand)]
enum OtherComparison {
    Nexmark(NexmarkPeersArgs),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match &args[..] {
        [role, contender, task @ ..] if role == TURN => run_turn(contender, task),
        [role, peer, task @ ..] if role == PARTNER => run_partner(peer, task),
        // The process that compares decides when a PE ends; no signal is waited for.
        [role, engine, task @ ..] if role == nexmark::QUERY => run_query(engine, task),
        [role, run @ ..] if role == nexmark::PROCESS => nexmark::account_process(run),
        [role, ..] if role == PE => engine::serve(Ok(std::iter::empty())).map_err(BoxError::from),
        _ => run_request(&PeersArgs::parse(), &args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one turn of a contender and prints its output.
fn run_turn(contender: &str, task: &[String]) -> Result<(), BoxError> {
    contender::start_watchdog();
    let contender: Contender = contender.parse()?;
    println!("{}", contender.run(&PeerTask::from_args(task)?)?);
    Ok(())
}

/// Runs a query of NEXMark on an engine that is built in.
fn run_query(engine: &str, task: &[String]) -> Result<(), BoxError> {
    nexmark::run_query(engine, &QueryTask::from_args(task)?)
}

/// Runs the other process of a peer's turn.
fn run_partner(peer: &str, task: &[String]) -> Result<(), BoxError> {
    let entry = peers::all_peers()
        .into_iter()
        .find(|entry| entry.name == peer);
    let peer = entry.ok_or("there is no such peer")?.peer?;
    let serve = peer.serve_partner.ok_or("this peer has one process")?;
    serve(&PeerTask::from_args(task)?)
}

/// Lists the peers, or measures those that were asked for.
fn run_request(args: &PeersArgs, words: &[String]) -> Result<(), BoxError> {
    if let Some(OtherComparison::Nexmark(nexmark)) = &args.comparison {
        return run_nexmark(nexmark, &words.join(" "));
    }
    let entries = peers::all_peers().into_iter();
    let is_asked =
        |entry: &PeerEntry| args.only.is_empty() || args.only.iter().any(|name| name == entry.name);
    let entries: Vec<PeerEntry> = entries.filter(is_asked).collect();
    if args.list {
        entries.iter().for_each(print_entry);
        return Ok(());
    }
    let begun = Instant::now();
    let context = RecordContext {
        host: Host::detect(),
        commit: suite::commit(),
        options: Some(words.join(" ")),
    };
    if !args.json {
        print!("{}", table::table_head());
    }
    let mut outcomes = Vec::new();
    for entry in &entries {
        measure_one(entry, &settings(args), &context, &mut |found| {
            if !args.json {
                print!("{}", table::table_line(&found));
            }
            outcomes.extend(found);
        });
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&outcomes)?),
        false => print!("{}", table::table_foot(&context, begun.elapsed())),
    }
    Ok(())
}

/// Measures all cases of one peer; passes each result to `found` at once.
fn measure_one(
    entry: &PeerEntry,
    settings: &ComparisonSettings,
    context: &RecordContext,
    found: &mut dyn FnMut(Vec<Outcome>),
) {
    let lack = cores::missing_reason().map_or(Ok(()), Err);
    let peer = match lack.and(entry.peer.clone()) {
        Ok(peer) => peer,
        Err(why) => {
            return found(vec![unavailable_record(
                entry.name, entry.path, &why, context,
            )]);
        }
    };
    let throughput = settings
        .sizes
        .iter()
        .map(|&size| (PeerQuestion::Throughput, size));
    let latency = [(PeerQuestion::Latency, LATENCY_BYTES)];
    for (question, bytes) in throughput.chain(latency) {
        if peer.supports(question) {
            found(compare_peer(
                &peer,
                question,
                bytes,
                settings,
                context,
                &ProcessTurns,
            ));
        }
    }
}

fn settings(args: &PeersArgs) -> ComparisonSettings {
    let sizes = match &args.size[..] {
        [] => vec![64, 256, 1024, 16 * 1024],
        some => some.to_vec(),
    };
    match args.quick {
        true => ComparisonSettings {
            turns: 3,
            seconds: 0.03,
            sizes,
            trips: 2000,
        },
        false => ComparisonSettings {
            turns: 7,
            seconds: 0.2,
            sizes,
            trips: 20_000,
        },
    }
}

fn print_entry(entry: &PeerEntry) {
    match &entry.peer {
        Ok(peer) => {
            let (name, path, version) = (peer.name, peer.path, (peer.version)());
            println!("{name:<18} {path:<9} {version}: {}", peer.settings);
        }
        Err(why) => println!("{:<18} {:<9} cannot run: {why}", entry.name, entry.path),
    }
}

/// Parses the bytes of a message.
fn size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes) if (8..=BYTES_MAX).contains(&bytes) && bytes % 8 == 0 => Ok(bytes),
        _ => Err(format!("a multiple of 8, from 8 to {BYTES_MAX}")),
    }
}

/// Bytes of the largest message: what all peers accept with their default settings.
const BYTES_MAX: usize = 16 * 1024;

fn known_name(text: &str) -> Result<String, String> {
    let names: Vec<_> = peers::all_peers().iter().map(|entry| entry.name).collect();
    match names.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}
