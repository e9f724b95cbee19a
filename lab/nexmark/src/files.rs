//! Files of events that the programs and the loops read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::csv;
use crate::disorder::Disordered;
use crate::event::Event;
use crate::options::GeneratorOptions;

/// Keys of the side input: those that the last four digits of an auction can be.
const SIDE_KEYS: u64 = 10_000;

/// Pause after which paced events go out, so that a system call carries several.
const PACE_STEP: Duration = Duration::from_millis(1);

/// Writes `bids.csv`, `events.csv` and `side_input.csv` into a folder that exists. Both files of
/// events have the same bids.
///
/// # Errors
/// The system cannot write a file.
pub fn write_folder(folder: &Path, options: &GeneratorOptions) -> io::Result<()> {
    let create = |name| Ok::<_, io::Error>(BufWriter::new(File::create(folder.join(name))?));
    let (mut bids, mut events) = (create("bids.csv")?, create("events.csv")?);
    for event in Disordered::new(options.clone()) {
        csv::write_event(&mut events, &event)?;
        if let Event::Bid(bid) = &event {
            csv::write_bid(&mut bids, bid)?;
        }
    }
    bids.flush()?;
    events.flush()?;
    let mut side_input = create("side_input.csv")?;
    write_side_input(&mut side_input)?;
    side_input.flush()
}

/// Writes the side input: a line `KEY,value KEY` for each key.
///
/// # Errors
/// The writer refuses.
pub fn write_side_input(out: &mut impl Write) -> io::Result<()> {
    (0..SIDE_KEYS).try_for_each(|key| writeln!(out, "{key},value {key}"))
}

/// Writes events as lines: bids alone as in `bids.csv`, or all as in `events.csv`. With `is_paced`
/// an event goes out when as much time has passed since the start as its event time says, else as
/// soon as the writer takes it.
///
/// # Errors
/// The writer refuses.
pub fn write_events(
    out: &mut impl Write,
    options: &GeneratorOptions,
    has_bids_alone: bool,
    is_paced: bool,
) -> io::Result<()> {
    let start = Instant::now();
    let mut latest = options.start_ms;
    for event in Disordered::new(options.clone()) {
        if is_paced && event.date_time() > latest {
            latest = event.date_time();
            let due = Duration::from_millis((latest - options.start_ms) as u64);
            let early = due.saturating_sub(start.elapsed());
            if early >= PACE_STEP {
                out.flush()?;
                thread::sleep(early);
            }
        }
        match &event {
            Event::Bid(bid) if has_bids_alone => csv::write_bid(out, bid)?,
            _ if has_bids_alone => {}
            event => csv::write_event(out, event)?,
        }
    }
    out.flush()
}
