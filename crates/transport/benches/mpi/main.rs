//! The medium `mpi` between two ranks, beside bare MPI in C.
//!
//! ```text
//!   mpirun -n 2 control trip     MPI_Send, MPI_Recv           there and back
//!   mpirun -n 2 this rank trip   try_write, poll, release     there and back
//!   mpirun -n 2 control rate     MPI_Send, MPI_Recv           one way
//!   mpirun -n 2 this rank rate   try_write, poll, release     one way, in batches
//! ```
//! The four run by turns; the ratio of each pair is taken, and the median of the ratios printed.
//! Each trip, and each group of messages, is timed by itself and the median counts, so that times
//! without a processor do not decide.
//! Bare MPI is initialised for one thread, as a program in C is. `cargo bench -p thalweg-transport
//! --bench mpi [-- TURNS]` needs an mpicc and mpirun for two ranks on two cores.

mod ranks;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Bytes of a message and of a frame's payload.
pub const BYTES: usize = 64;

/// Trips, and messages one way, of a turn: a tenth of a second or so each.
const TRIPS: u64 = 100_000;
const MESSAGES: u64 = 200_000;

/// Frames one way of a turn; they are faster than messages.
const FRAMES: u64 = 4_000_000;

/// Turns, of whose ratios the median counts.
const TURNS: usize = 9;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match &words[..] {
        ["rank", kind, folder, count] => ranks::run(kind, Path::new(folder), count),
        words => report(
            words
                .iter()
                .find_map(|word| word.parse().ok())
                .unwrap_or(TURNS),
        ),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report(turns: usize) -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("thalweg-mpi-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let done = compare(&folder, turns);
    fs::remove_dir_all(&folder)?;
    done
}

fn compare(folder: &Path, turns: usize) -> Outcome<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plugin = here.join("../plugin");
    let control = folder.join("control");
    compile(
        &["-O2", "-o"],
        &control,
        &here.join("benches/mpi/control.c"),
        None,
    )?;
    let library = folder.join("libthalweg_medium_mpi.so");
    let shared = ["-std=c11", "-O2", "-fPIC", "-shared", "-o"];
    let include = plugin.join("include");
    compile(
        &shared,
        &library,
        &plugin.join("media/mpi.c"),
        Some(&include),
    )?;
    let own = std::env::current_exe()?;
    let (mut trips, mut rates) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        let bare_trip = ranks_ns(&control, &["trip", &TRIPS.to_string(), &BYTES.to_string()])?;
        let trip = own_ns(&own, folder, "trip", TRIPS, turn)?;
        let bare = ranks_ns(
            &control,
            &["rate", &MESSAGES.to_string(), &BYTES.to_string()],
        )?;
        let ours = own_ns(&own, folder, "rate", FRAMES, turn)?;
        println!(
            "turn {turn}: one way {:.2} of MPI, rate {:.1} of MPI",
            trip / bare_trip,
            bare / ours
        );
        trips.push(trip / bare_trip);
        rates.push(bare / ours);
    }
    println!(
        "one way, {BYTES} B: {:.2} of MPI_Send and MPI_Recv (at most 1.15)",
        median(trips)
    );
    println!(
        "rate, {BYTES} B: {:.1} of MPI's message rate (at least 10)",
        median(rates)
    );
    Ok(())
}

/// The median of some values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn compile(options: &[&str], into: &Path, source: &Path, include: Option<&PathBuf>) -> Outcome<()> {
    let mut command = Command::new("mpicc");
    command.args(options).arg(into).arg(source);
    if let Some(include) = include {
        command.arg("-I").arg(include);
    }
    let status = command.status();
    let status = status.map_err(|error| format!("there is no `mpicc`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("mpicc cannot compile {}", source.display()).into()),
    }
}

/// Nanoseconds that the ranks of this program print.
fn own_ns(own: &Path, folder: &Path, kind: &str, count: u64, turn: usize) -> Outcome<f64> {
    let tickets = folder.join(format!("{kind}{turn}"));
    fs::create_dir_all(&tickets)?;
    fs::copy(
        folder.join("libthalweg_medium_mpi.so"),
        tickets.join("libthalweg_medium_mpi.so"),
    )?;
    let tickets = tickets.to_str().ok_or("the temporary folder is no UTF-8")?;
    ranks_ns(own, &["rank", kind, tickets, &count.to_string()])
}

/// Nanoseconds that two ranks of a program print, each on a core of its own.
fn ranks_ns(program: &Path, words: &[&str]) -> Outcome<f64> {
    let done = Command::new("mpirun")
        .args(["-n", "2", "--bind-to", "core"])
        .arg(program)
        .args(words)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output();
    let done = done.map_err(|error| format!("there is no `mpirun`: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let ns = text.trim().parse();
    Ok(ns.map_err(|_| format!("{words:?}: {text}{}", String::from_utf8_lossy(&done.stderr)))?)
}
