//! The queries as loops by hand: each reads a file of events and writes the lines that the SPL
//! program of its number writes.
//!
//! ```text
//!   lines ──> fields ──> EventLine ──> QueryLoop of one query ──> ResultLines
//! ```
//! A loop is one thread over standard collections. Its state, like that of the programs, holds what
//! later events may need and nothing else.

mod auction_state;
mod bid_queries;
mod clock_query;
mod fields;
mod interval_queries;
mod join_queries;
mod lines;
mod log_query;
mod query_loop;
mod result_lines;
mod session_query;
mod statistics;
mod time;
mod top_queries;
mod winning_bids;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bid_queries::EachBid;
use clock_query::ClockWindows;
pub use fields::{AuctionLine, BidLine, EventLine, PersonLine};
use interval_queries::{HighestBids, HotItems, NewSellers};
use join_queries::{ExpandedBids, LocalItems, SideInput};
use lines::Lines;
use log_query::LogFiles;
use query_loop::QueryLoop;
pub use result_lines::ResultLines;
use session_query::Sessions;
use statistics::{AuctionStatistics, ChannelStatistics, DayStatistics};
use top_queries::{LastBids, TopBids};
use winning_bids::{Auctions, CategoryAverages, SellerAverages, Winners};

/// Number of queries; they are numbered from 0.
pub const QUERIES: u32 = 23;

/// The file that a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The file that has bids alone.
    Bids,
    /// The file that has persons, auctions and bids.
    Events,
}

impl Input {
    /// The file of a query.
    pub fn of_query(query: u32) -> Input {
        match query {
            3 | 4 | 6 | 8 | 9 | 20 => Input::Events,
            _ => Input::Bids,
        }
    }

    /// Name of the file in the folder of events.
    pub fn file_name(self) -> &'static str {
        match self {
            Input::Bids => "bids.csv",
            Input::Events => "events.csv",
        }
    }

    fn parse(self, line: &[u8]) -> io::Result<EventLine<'_>> {
        let event = match self {
            Input::Bids => BidLine::parse(line).map(EventLine::Bid),
            Input::Events => EventLine::parse(line),
        };
        event.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a line is no event"))
    }
}

/// A run of a loop: the query, where its events lie, and where query 10 writes.
#[derive(Clone, Debug)]
pub struct LoopRun {
    /// Number of the query.
    pub query: u32,
    /// Folder with the files of events.
    pub folder: PathBuf,
    /// Beginning of the names of files that query 10 writes.
    pub log_prefix: String,
    /// Where the events are when the work begins.
    pub source: LoopSource,
}

/// Where events are when a loop begins its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopSource {
    /// In the file, which is read meanwhile.
    Csv,
    /// In memory: they were read before.
    Memory,
    /// In memory, the first `events` of them, of which `rate` are due in a second.
    Paced {
        /// Events that are due in a second.
        rate: f64,
        /// Number of events that are due.
        events: u64,
    },
}

/// The work that a loop has done.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopDone {
    /// Number of events that were read.
    pub events: u64,
    /// Seconds from the first event, or from the first look at the file, to the last result.
    pub seconds: f64,
    /// Nanoseconds from when each paced event was due until its work was done.
    pub delays_ns: Vec<u64>,
}

/// Runs a query to the end of its events.
///
/// # Errors
/// A file cannot be read or written, a line is no event, or no query has the number.
pub fn run(run: &LoopRun, out: ResultLines) -> io::Result<LoopDone> {
    match run.query {
        0 => drive(EachBid(bid_queries::pass_through), run, out),
        1 => drive(EachBid(bid_queries::in_euros), run, out),
        2 => drive(EachBid(bid_queries::selection), run, out),
        3 => drive(LocalItems::default(), run, out),
        4 => drive(Auctions::new(CategoryAverages::default()), run, out),
        5 => drive(HotItems::default(), run, out),
        6 => drive(Auctions::new(SellerAverages::default()), run, out),
        7 => drive(HighestBids::default(), run, out),
        8 => drive(NewSellers::default(), run, out),
        9 => drive(Auctions::new(Winners), run, out),
        10 => drive(LogFiles::new(run.log_prefix.clone()), run, out),
        11 => drive(Sessions::default(), run, out),
        12 => drive(ClockWindows::new(), run, out),
        13 => drive(
            SideInput::read(&run.folder.join("side_input.csv"))?,
            run,
            out,
        ),
        14 => drive(EachBid(bid_queries::calculation), run, out),
        15 => drive(DayStatistics::default(), run, out),
        16 => drive(ChannelStatistics::default(), run, out),
        17 => drive(AuctionStatistics::default(), run, out),
        18 => drive(LastBids::default(), run, out),
        19 => drive(TopBids::default(), run, out),
        20 => drive(ExpandedBids::default(), run, out),
        21 => drive(EachBid(bid_queries::with_channel_id), run, out),
        22 => drive(EachBid(bid_queries::folders), run, out),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no query has this number",
        )),
    }
}

fn drive(mut query: impl QueryLoop, run: &LoopRun, mut out: ResultLines) -> io::Result<LoopDone> {
    let input = Input::of_query(run.query);
    let path = run.folder.join(input.file_name());
    let mut done = match run.source {
        LoopSource::Csv => work_from_file(&mut query, input, &path, &mut out)?,
        LoopSource::Memory => work_in_memory(&mut query, input, &path, None, &mut out)?,
        LoopSource::Paced { rate, events } => {
            work_in_memory(&mut query, input, &path, Some((rate, events)), &mut out)?
        }
    };
    let start = Instant::now();
    query.finish()?;
    out.flush()?;
    done.seconds += start.elapsed().as_secs_f64();
    Ok(done)
}

/// Works line by line.
fn work_from_file(
    query: &mut impl QueryLoop,
    input: Input,
    path: &Path,
    out: &mut ResultLines,
) -> io::Result<LoopDone> {
    let start = Instant::now();
    let mut lines = Lines::new(File::open(path)?);
    let mut events = 0;
    while let Some(line) = lines.next_line()? {
        query.event(&input.parse(line)?, out)?;
        events += 1;
    }
    Ok(LoopDone {
        events,
        seconds: start.elapsed().as_secs_f64(),
        delays_ns: Vec::new(),
    })
}

/// Reads all events, then works on them: as fast as it goes, or on a number of them at a rate.
fn work_in_memory(
    query: &mut impl QueryLoop,
    input: Input,
    path: &Path,
    pace: Option<(f64, u64)>,
    out: &mut ResultLines,
) -> io::Result<LoopDone> {
    let text = fs::read(path)?;
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    let events = lines.map(|line| input.parse(line));
    let events: Vec<EventLine<'_>> = events.collect::<Result<_, _>>()?;
    let start = Instant::now();
    let mut delays_ns = Vec::new();
    match pace {
        None => events
            .iter()
            .try_for_each(|event| query.event(event, out))?,
        Some((rate, count)) => {
            for (number, event) in events.iter().take(count as usize).enumerate() {
                let after = Duration::from_nanos((number as f64 * 1e9 / rate) as u64);
                while start.elapsed() < after {}
                query.event(event, out)?;
                delays_ns.push((start.elapsed() - after).as_nanos() as u64);
            }
        }
    }
    Ok(LoopDone {
        events: events.len() as u64,
        seconds: start.elapsed().as_secs_f64(),
        delays_ns,
    })
}
