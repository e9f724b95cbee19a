//! The roles of `thalweg-bench control` for NEXMark: a loop by hand, and the account of a command.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use control::{Error, cores};
use nexmark::loops::{self, LoopRun, LoopSource, ResultLines};
use nix::sys::resource::{UsageWho, getrusage};

/// Role of a loop by hand: QUERY, `csv` or `memory`, RATE, EVENTS, FOLDER, RESULTS. A rate of 0 is
/// as fast as it goes.
pub const LOOP: &str = "nexmark-loop";

/// Role that runs a command on one core and prints its processor time in microseconds and its
/// memory in kilobytes.
pub const USAGE: &str = "nexmark-usage";

/// First word of the line with which a contender says how long it took, in nanoseconds, from the
/// first event in memory.
pub const REPLAYED: &str = "nexmark-replayed";

/// First word of the line with which a contender tells percentiles of delays, in nanoseconds: 50,
/// 90, 99, 99.9, 99.99 and the most.
pub const DELAYS: &str = "nexmark-delays";

/// Shares of the delays in that line, in ten thousandths.
const SHARES: [usize; 6] = [5_000, 9_000, 9_900, 9_990, 9_999, 10_000];

/// Plays a role; `None` if it is none of NEXMark's.
pub fn serve(role: &str, args: &[String]) -> Option<Result<(), Error>> {
    match role {
        LOOP => Some(run_loop(args)),
        USAGE => Some(account(args)),
        _ => None,
    }
}

fn run_loop(args: &[String]) -> Result<(), Error> {
    let [query, place, rate, events, folder, results] = args else {
        return Err(Error::new(
            "a loop has a query, a source, a folder and results",
        ));
    };
    let failed = |error| Error::system("run a loop", error);
    let no_number = || Error::new("a number of a loop is none");
    let rate: f64 = rate.parse().map_err(|_| no_number())?;
    let events: u64 = events.parse().map_err(|_| no_number())?;
    let run = LoopRun {
        query: query.parse().map_err(|_| no_number())?,
        folder: PathBuf::from(folder),
        log_prefix: results.clone(),
        source: match place.as_str() {
            "memory" if rate > 0.0 => LoopSource::Paced { rate, events },
            "memory" => LoopSource::Memory,
            _ => LoopSource::Csv,
        },
    };
    let mut done = match run.query {
        // Only its files are results.
        10 => loops::run(&run, ResultLines::new(std::io::sink())),
        _ => loops::run(
            &run,
            ResultLines::new(File::create(results).map_err(failed)?),
        ),
    }
    .map_err(failed)?;
    if run.source != LoopSource::Csv {
        println!("{REPLAYED} {}", (done.seconds * 1e9) as u64);
    }
    done.delays_ns.sort_unstable();
    if let Some(last) = done.delays_ns.len().checked_sub(1) {
        let delays = SHARES.map(|share| done.delays_ns[last * share / 10_000].to_string());
        println!("{DELAYS} {}", delays.join(" "));
    }
    Ok(())
}

/// Runs a command to its end, on one core as its children are, and prints what it took.
fn account(args: &[String]) -> Result<(), Error> {
    let (program, rest) = args
        .split_first()
        .ok_or_else(|| Error::new("no command is named"))?;
    cores::pin(cores::pair().0)?;
    let status = Command::new(program).args(rest).status();
    let status = status.map_err(|error| Error::system("start a contender", error))?;
    if !status.success() {
        return Err(Error::new(format!("a contender failed ({status})")));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| Error::system("ask what a contender took", error))?;
    let micros = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
    println!("{USAGE} {} {}", micros.iter().sum::<i64>(), usage.max_rss());
    Ok(())
}
