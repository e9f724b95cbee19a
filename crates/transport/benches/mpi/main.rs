//! The medium `mpi` between two ranks, beside bare MPI in C.
//!
//! ```text
//!   mpirun -n 2 control trip     MPI_Send, MPI_Recv           there and back
//!   mpirun -n 2 this rank trip   try_write, poll, release     there and back
//!   mpirun -n 2 control rate     MPI_Send, MPI_Recv           one way
//!   mpirun -n 2 this rank rate   try_write, poll, release     one way, in batches
//!   mpirun -n 2 control rate     messages of a batch's bytes  one way
//!   mpirun -n 2 pair             MPI and the library in C     both, in the same processes
//! ```
//! The six run by turns; the ratio of each pair is taken, and the median of the ratios printed.
//! Each trip, and each group of messages, is timed by itself and the median counts, so that times
//! without a processor do not decide. The last one is the most that batches of frames can reach:
//! MPI copies as many bytes, and nothing else happens to them.
//! Bare MPI is initialised for several threads, as the library needs it: with OpenMPI, a message
//! takes longer then. How much longer is printed too. `cargo bench -p thalweg-transport
//! --bench mpi [-- TURNS] [sockets]` needs an mpicc and mpirun for two ranks on two cores. With
//! `sockets` OpenMPI sends over loopback's sockets, as between hosts, and not over shared memory.

mod ranks;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Bytes of a message and of a frame's payload.
pub const BYTES: usize = 64;

/// Trips, and messages one way, of a turn: a tenth of a second or so each.
const TRIPS: u64 = 100_000;
const MESSAGES: u64 = 200_000;

/// Frames one way of a turn, and messages of a batch's bytes.
const FRAMES: u64 = 4_000_000;
const BATCHES: u64 = 80_000;

/// Turns of milliseconds within a run of both ways in the same processes.
const PAIR_TURNS: usize = 9;

/// Frames of a batch for the control of bytes, and bytes of a frame with its header.
const BATCH_FRAMES: usize = 55;
const FRAME_BYTES: usize = BYTES + 8;

/// File of the library.
const LIBRARY: &str = "libthalweg_medium_mpi.so";

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
    threads: Vec<f64>,
    pair_trips: Vec<f64>,
    pair_rates: Vec<f64>,
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
    let include = plugin.join("include");
    for (name, after) in [("control", ""), ("pair", "-ldl")] {
        let source = here.join(format!("benches/mpi/{name}.c"));
        compile(
            &["-std=c11", "-O2", "-o"],
            &folder.join(name),
            &source,
            &include,
            after,
        )?;
    }
    let library = folder.join(LIBRARY);
    let shared = ["-std=c11", "-O2", "-fPIC", "-shared", "-o"];
    compile(&shared, &library, &plugin.join("media/mpi.c"), &include, "")?;
    let mut ratios = Ratios::default();
    for turn in 0..scope.turns {
        take_turn(folder, scope, turn, &mut ratios)?;
    }
    print_rows(ratios);
    Ok(())
}

fn print_rows(ratios: Ratios) {
    let mpi = "MPI_Send and MPI_Recv";
    println!("one way, {BYTES} B, to {mpi} (at most 1.15):");
    println!(
        "  the library, in the same processes: {:.2}",
        median(ratios.pair_trips)
    );
    println!("  the medium: {:.2}", median(ratios.trips));
    println!(
        "  {mpi} for several threads, to those for one: {:.2}",
        median(ratios.threads)
    );
    println!("rate, {BYTES} B, to their message rate (at least 10):");
    println!(
        "  the library, in the same processes: {:.1}",
        median(ratios.pair_rates)
    );
    println!("  the medium: {:.1}", median(ratios.rates));
    println!(
        "  the bytes of {BATCH_FRAMES} frames in one message: {:.1}",
        median(ratios.limits)
    );
}

fn take_turn(folder: &Path, scope: &Scope, turn: usize, ratios: &mut Ratios) -> Outcome<()> {
    let divisor = if scope.is_by_sockets {
        SOCKETS_DIVISOR
    } else {
        1
    };
    let control_of = |threads: &str, kind: &str, count: u64, bytes: usize| {
        let words = [kind, &count.to_string(), &bytes.to_string(), threads];
        one_value(scope, &folder.join("control"), &words)
    };
    let control = |kind, count, bytes| control_of("serialized", kind, count, bytes);
    let bare_trip = control("trip", TRIPS / divisor, BYTES)?;
    let trip = own_ns(scope, folder, "trip", TRIPS / divisor, turn)?;
    let bare = control("rate", MESSAGES / divisor, BYTES)?;
    let ours = own_ns(scope, folder, "rate", FRAMES / divisor, turn)?;
    let batch = control("rate", BATCHES / divisor, BATCH_FRAMES * FRAME_BYTES)?;
    let (trip, rate) = (trip / bare_trip, bare / ours);
    let limit = bare / (batch / BATCH_FRAMES as f64);
    let threads = bare_trip / control_of("single", "trip", TRIPS / divisor, BYTES)?;
    let (pair_trip, pair_rate) = pair_ratios(scope, folder)?;
    println!(
        "turn {turn}: one way {pair_trip:.2}, {trip:.2} of MPI, rate {pair_rate:.1}, {rate:.1} of \
         MPI, bytes {limit:.1}, threads {threads:.2}"
    );
    ratios.trips.push(trip);
    ratios.rates.push(rate);
    ratios.limits.push(limit);
    ratios.threads.push(threads);
    ratios.pair_trips.push(pair_trip);
    ratios.pair_rates.push(pair_rate);
    Ok(())
}

/// Ratios of time one way and of rate: the library's functions to bare MPI in the same processes.
fn pair_ratios(scope: &Scope, folder: &Path) -> Outcome<(f64, f64)> {
    let library = folder.join(LIBRARY);
    let library = library.to_str().ok_or("the temporary folder is no UTF-8")?;
    let words = [library, &PAIR_TURNS.to_string()];
    let printed = ranks_print(scope, &folder.join("pair"), &words)?;
    let mut values = printed.split_whitespace().map(str::parse);
    match (values.next(), values.next()) {
        (Some(Ok(trip)), Some(Ok(rate))) => Ok((trip, rate)),
        _ => Err(format!("the pair has printed {printed:?}").into()),
    }
}

/// The median of some values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn compile(
    options: &[&str],
    into: &Path,
    source: &Path,
    include: &Path,
    after: &str,
) -> Outcome<()> {
    let mut command = Command::new("mpicc");
    command.args(options).arg(into).arg(source);
    command.arg("-I").arg(include);
    command.args((!after.is_empty()).then_some(after));
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
    fs::copy(folder.join(LIBRARY), tickets.join(LIBRARY))?;
    let tickets = tickets.to_str().ok_or("the temporary folder is no UTF-8")?;
    let own = std::env::current_exe()?;
    one_value(scope, &own, &["rank", kind, tickets, &count.to_string()])
}

/// The one number that two ranks of a program print.
fn one_value(scope: &Scope, program: &Path, words: &[&str]) -> Outcome<f64> {
    let printed = ranks_print(scope, program, words)?;
    let value = printed.trim().parse();
    Ok(value.map_err(|_| format!("{words:?} has printed {printed:?}"))?)
}

/// Runs two ranks of a program, each on a core of its own, and gives what they print.
fn ranks_print(scope: &Scope, program: &Path, words: &[&str]) -> Outcome<String> {
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
    match done.status.success() {
        true => Ok(String::from_utf8(done.stdout)?),
        false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&done.stderr)).into()),
    }
}
