//! `thalweg-peers nexmark`: which queries on which engines, and the table.

use std::fs;
use std::time::Instant;

use clap::Args as ClapArgs;
use measure::Host;

use super::comparison::{QueryCase, compare_engines};
use super::engine::{EngineEntry, QueryEngine};
use super::engines::{OWN, all_engines};
use super::event_files::EventFiles;
use super::query::{PeerQuery, QUERIES};
use super::results_table;
use crate::peer_comparison::RecordContext;
use crate::{BoxError, cores, table};

/// NEXMark beside other engines: events a second, memory, time to the first result.
///
/// Every engine reads the same files, and its results are compared with Thalweg's before it is
/// measured. docs/peers.md says what each needs.
#[derive(ClapArgs, Debug)]
pub struct NexmarkPeersArgs {
    /// Which queries, as in 1,5 [default: all that peers run]
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = query)]
    query: Vec<PeerQuery>,
    /// Only this engine beside Thalweg; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = engine_name)]
    only: Vec<String>,
    /// How many events are generated
    #[arg(long, value_name = "N", default_value_t = 4_000_000,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    events: u64,
    /// Runs of each engine
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u16).range(1..))]
    turns: u16,
    /// One core for each engine instead of two
    #[arg(long)]
    one_core: bool,
    /// All engines: version, settings, or why one cannot run here.
    #[arg(long)]
    list: bool,
}

/// Lists the engines, or measures those that were asked for.
///
/// # Errors
/// Thalweg fails, or files cannot be written.
pub fn run_nexmark(args: &NexmarkPeersArgs, words: &str) -> Result<(), BoxError> {
    let entries = all_engines();
    if args.list {
        entries.iter().for_each(print_entry);
        return Ok(());
    }
    if !args.one_core
        && let Some(lack) = cores::missing_reason()
    {
        return Err(format!("{lack}; measure with --one-core").into());
    }
    let begun = Instant::now();
    let context = RecordContext {
        host: Host::detect(),
        commit: suite::commit(),
        options: Some(words.to_owned()),
    };
    let asked = entries.into_iter().filter(|entry| {
        entry.name == OWN || args.only.is_empty() || args.only.iter().any(|one| one == entry.name)
    });
    let (available, missing): (Vec<EngineEntry>, Vec<EngineEntry>) =
        asked.partition(|entry| entry.engine.is_ok());
    let mut engines: Vec<QueryEngine> = available
        .into_iter()
        .filter_map(|entry| entry.engine.ok())
        .collect();
    let own = engines.iter().position(|engine| engine.name == OWN);
    let own = engines.remove(own.ok_or("Thalweg is missing")?);
    let files = EventFiles::new(args.events)?;
    print!("{}", results_table::table_head());
    missing.iter().for_each(print_entry);
    let queries = match &args.query[..] {
        [] => &QUERIES[..],
        some => some,
    };
    for query in queries {
        let peers = engines.iter();
        let peers = peers.filter(|engine| engine.queries.contains(&query.number));
        let peers: Vec<QueryEngine> = peers.cloned().collect();
        let text = fs::read(files.full().join(query.input()))?;
        let case = QueryCase {
            query: *query,
            cores: if args.one_core { 1 } else { 2 },
            events: text.iter().filter(|byte| **byte == b'\n').count() as u64,
            turns: usize::from(args.turns),
        };
        drop(text);
        let results = compare_engines(&files, &case, &own, &peers)
            .map_err(|failure| format!("query {}: {failure}", query.number))?;
        print!("{}", results_table::table_lines(&case, &results));
    }
    print!("{}", table::table_foot(&context, begun.elapsed()));
    Ok(())
}

fn print_entry(entry: &EngineEntry) {
    match &entry.engine {
        Ok(engine) => println!(
            "{:<12} {}: {}",
            engine.name, engine.version, engine.settings
        ),
        Err(why) => println!("{:<12} cannot run: {why}", entry.name),
    }
}

/// Parses the number of a query that peers run.
fn query(text: &str) -> Result<PeerQuery, String> {
    let query = text.parse().ok().and_then(PeerQuery::of_number);
    query.ok_or_else(|| {
        let numbers: Vec<_> = QUERIES.map(|query| query.number.to_string()).into();
        format!("peers run {}", numbers.join(", "))
    })
}

fn engine_name(text: &str) -> Result<String, String> {
    let names: Vec<_> = all_engines().iter().map(|entry| entry.name).collect();
    match names.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}
