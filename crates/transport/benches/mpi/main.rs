//! The medium `mpi` between two ranks, beside bare MPI in C.
//!
//! ```text
//!   mpirun -n 2 control trip     MPI_Send, MPI_Recv           there and back
//!   mpirun -n 2 this rank trip   try_write, poll, release     there and back
//!   mpirun -n 2 control rate     MPI_Send, MPI_Recv           one way
//!   mpirun -n 2 this rank rate   try_write, poll, release     one way, in batches
//!   mpirun -n 2 control rate     messages of a batch's bytes  one way
//! ```
//! The five run by turns; the ratio of each pair is taken, and the median of the ratios printed.
//! Each trip, and each group of messages, is timed by itself and the median counts, so that times
//! without a processor do not decide. The last one is the most that batches of frames can reach:
//! MPI copies as many bytes, and nothing else happens to them.
//! Bare MPI is initialised for one thread, as a program in C is. `cargo bench -p thalweg-transport
//! --bench mpi [-- TURNS] [sockets]` needs an mpicc and mpirun for two ranks on two cores. With
//! `sockets` OpenMPI sends over loopback's sockets, as between hosts, and not over shared memory.

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

/// Frames one way of a turn, and messages of a batch's bytes.
const FRAMES: u64 = 4_000_000;
const BATCHES: u64 = 80_000;

/// Frames of a batch for the control of bytes, and bytes of a frame with its header.
const BATCH_FRAMES: usize = 55;
const FRAME_BYTES: usize = BYTES + 8;

/// The word for a run over sockets, and by how much it has fewer trips and messages.
const SOCKETS: &str = "sockets";
const SOCKETS_DIVISOR: u64 = 8;

/// Turns, of whose ratios the median counts.
const TURNS: usize = 9;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match &words[..] {
        ["rank", kind, folder, count] => ranks::run(kind, Path::new(folder), count),
        words => report(&Scope {
            turns: words
                .iter()
                .find_map(|word| word.parse().ok())
                .unwrap_or(TURNS),
            is_by_sockets: words.contains(&SOCKETS),
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// How much is measured, and over what.
struct Scope {
    turns: usize,
    is_by_sockets: bool,
}

/// Ratios of all turns.
#[derive(Default)]
struct Ratios {
    trips: Vec<f64>,
    rates: Vec<f64>,
    limits: Vec<f64>,
}

fn report(scope: &Scope) -> Outcome<()> {
    let folder = std::env::temp_dir().join(format!("thalweg-mpi-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let done = compare(&folder, scope);
    fs::remove_dir_all(&folder)?;
    done
}

fn compare(folder: &Path, scope: &Scope) -> Outcome<()> {
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
    let mut ratios = Ratios::default();
    for turn in 0..scope.turns {
        take_turn(folder, scope, turn, &mut ratios)?;
    }
    println!(
        "one way, {BYTES} B: {:.2} of MPI_Send and MPI_Recv (at most 1.15)",
        median(ratios.trips)
    );
    println!(
        "rate, {BYTES} B: {:.1} of MPI's message rate (at least 10)",
        median(ratios.rates)
    );
    println!(
        "the bytes of {BATCH_FRAMES} frames in one MPI message: {:.1} of MPI's message rate",
        median(ratios.limits)
    );
    Ok(())
}

fn take_turn(folder: &Path, scope: &Scope, turn: usize, ratios: &mut Ratios) -> Outcome<()> {
    let divisor = if scope.is_by_sockets {
        SOCKETS_DIVISOR
    } else {
        1
    };
    let control = |kind: &str, count: u64, bytes: usize| {
        let words = [kind, &count.to_string(), &bytes.to_string()];
        ranks_ns(scope, &folder.join("control"), &words)
    };
    let bare_trip = control("trip", TRIPS / divisor, BYTES)?;
    let trip = own_ns(scope, folder, "trip", TRIPS / divisor, turn)?;
    let bare = control("rate", MESSAGES / divisor, BYTES)?;
    let ours = own_ns(scope, folder, "rate", FRAMES / divisor, turn)?;
    let batch = control("rate", BATCHES / divisor, BATCH_FRAMES * FRAME_BYTES)?;
    let (trip, rate) = (trip / bare_trip, bare / ours);
    let limit = bare / (batch / BATCH_FRAMES as f64);
    println!("turn {turn}: one way {trip:.2} of MPI, rate {rate:.1} of MPI, bytes {limit:.1}");
    ratios.trips.push(trip);
    ratios.rates.push(rate);
    ratios.limits.push(limit);
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
fn own_ns(scope: &Scope, folder: &Path, kind: &str, count: u64, turn: usize) -> Outcome<f64> {
    let tickets = folder.join(format!("{kind}{turn}"));
    fs::create_dir_all(&tickets)?;
    fs::copy(
        folder.join("libthalweg_medium_mpi.so"),
        tickets.join("libthalweg_medium_mpi.so"),
    )?;
    let tickets = tickets.to_str().ok_or("the temporary folder is no UTF-8")?;
    let own = std::env::current_exe()?;
    ranks_ns(scope, &own, &["rank", kind, tickets, &count.to_string()])
}

/// Nanoseconds that two ranks of a program print, each on a core of its own.
fn ranks_ns(scope: &Scope, program: &Path, words: &[&str]) -> Outcome<f64> {
    let sockets: &[&str] = match scope.is_by_sockets {
        true => &[
            "--mca",
            "btl",
            "tcp,self",
            "--mca",
            "btl_tcp_if_include",
            "lo",
        ],
        false => &[],
    };
    let done = Command::new("mpirun")
        .args(["-n", "2", "--bind-to", "core"])
        .args(sockets)
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
