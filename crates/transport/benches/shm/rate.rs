//! Frames a second, for each length, and with several receivers.

use conformance::child::{TestFailure, TestOutcome};

use crate::paths::{MeasuredPath, hear_windows, path_accept, ring_accept, sink, start};
use crate::windows::{rate, run_count, windows};
use crate::{bare, medians, pin};

/// Bytes of the payloads that are measured.
const LENGTHS: [usize; 6] = [64, 128, 256, 1024, 4096, 16384];

/// Prints the rates with one receiver.
pub fn one_to_one() -> TestOutcome {
    pin::to(1)?;
    println!("\none to one, 2 MB ring: million frames a second, and ratios");
    println!(
        "{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>8} {:>8} {:>8}",
        "bytes", "put", "claim", "ring", "words", "copy", "put/ring", "of words", "of copy"
    );
    for len in LENGTHS {
        let [put, claim, ring, words, copy] = medians(|| {
            Ok([
                between_processes(MeasuredPath::Put, len, 1)?,
                between_processes(MeasuredPath::Claim, len, 1)?,
                between_processes(MeasuredPath::Ring, len, 1)?,
                bare::words(len, 1)?,
                bare::copy(len)?,
            ])
        })?;
        println!(
            "{len:>6} {put:>8.2} {claim:>8.2} {ring:>8.2} {words:>8.2} {copy:>8.2} | \
             {:>8.2} {:>8.2} {:>8.2}",
            put / ring,
            put / words,
            put / copy
        );
    }
    Ok(())
}

/// Prints the rates with several receivers, all on one thread, as there may be no more processors.
/// The control is the bare ring of words with as many readers on one thread: its loss shows the
/// cost of reading every word once more for each reader.
pub fn one_to_many() -> TestOutcome {
    pin::to(1)?;
    println!("\none to many, receivers polled in turns by one thread: million frames a second");
    println!(
        "{:>6} {:>8} {:>8} {:>8} | {:>7} {:>7} | {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7}",
        "bytes",
        "1 -> 1",
        "1 -> 2",
        "1 -> 3",
        "2: sent",
        "3: sent",
        "bare 1",
        "2: sent",
        "3: sent",
        "1/bare",
        "2/bare",
        "3/bare"
    );
    for len in [64, 256, 1024] {
        let to = |receivers| between_processes(MeasuredPath::Put, len, receivers);
        let bare = |readers| bare::words(len, readers);
        let turn = || Ok([to(1)?, to(2)?, to(3)?, bare(1)?, bare(2)?, bare(3)?]);
        let [one, two, three, bare_one, bare_two, bare_three] = medians(turn)?;
        println!(
            "{len:>6} {one:>8.2} {two:>8.2} {three:>8.2} | {:>7.2} {:>7.2} | \
             {bare_one:>7.2} {:>7.2} {:>7.2} | {:>7.2} {:>7.2} {:>7.2}",
            two / one,
            three / one,
            bare_two / bare_one,
            bare_three / bare_one,
            one / bare_one,
            two / bare_two,
            three / bare_three
        );
    }
    Ok(())
}

/// Million frames a second that the sender sends.
pub fn between_processes(
    path: MeasuredPath,
    len: usize,
    receivers: u32,
) -> Result<f64, TestFailure> {
    let mut sender = start("flood", path, 0, [len as u64, u64::from(receivers)])?;
    let mut tickets = Vec::new();
    for _ in 0..receivers {
        tickets.push(sender.control.take()?);
        sender.control.say(b'n')?;
    }
    let (count, mut windows) = (run_count(len), windows(len));
    match path {
        MeasuredPath::Put
        | MeasuredPath::Claim
        | MeasuredPath::Library
        | MeasuredPath::RustLibrary => {
            let ends = tickets.into_iter();
            let ends = ends.map(|ticket| path_accept(path, receivers, ticket));
            let mut ends = ends.collect::<Result<Vec<_>, _>>()?;
            sender.control.say(b'g')?;
            sink(&mut ends, count, &mut windows)?;
        }
        MeasuredPath::Ring => {
            let mut ends = [ring_accept(tickets.remove(0))?];
            sender.control.say(b'g')?;
            sink(&mut ends, count, &mut windows)?;
        }
    }
    let sent = hear_windows(&mut sender.control, len)?;
    sender.ends_well()?;
    Ok(rate(&sent, &windows))
}
