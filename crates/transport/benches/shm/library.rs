//! A ring behind the table of C functions: in C, in Rust, and the engine's own without the table.
//!
//! ```text
//!   claim, commit  ==shared_ring.c===>  poll, release    examples/media, loaded as a library
//!   claim, commit  == shared_ring ==>  poll, release    the same steps in Rust, loaded likewise
//!   claim, commit  ======= shm ======>  poll, release    the engine's ring, not loaded
//! ```
//! All are driven by the same calls of the contract, in turns. C beside Rust is what the language
//! costs; C beside `shm` is the cost of the table, of the checks of what a library returns, and of
//! what the example does more simply than the engine's ring.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

use conformance::child::{TestFailure, TestOutcome};
use control::median;
use thalweg_transport::media;

use crate::paths::MeasuredPath;
use crate::rate::between_processes;
use crate::{TURNS, pin};

/// Payload bytes that are measured.
const LENGTHS: [usize; 4] = [64, 256, 4096, 16384];

/// The ring in C, the same in Rust, and `shm`.
pub const PATHS: [MeasuredPath; 3] = [
    MeasuredPath::Library,
    MeasuredPath::RustLibrary,
    MeasuredPath::Claim,
];

/// Name of the medium in C.
pub const IN_C: &str = "shared_ring";

/// Name of the medium in Rust.
pub const IN_RUST: &str = "shared_ring_rust";

const C_SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/media/shared_ring.c"
);

const RUST_SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/shm/shared_ring/lib.rs"
);

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin/include");

/// Prints the rates of the three rings, and the medians of the ratios of neighbouring turns.
pub fn beside_rust() -> TestOutcome {
    compile_c()?;
    compile_rust()?;
    crate::calls::of_libraries()?;
    pin::to(1)?;
    println!("\na ring as a library, 2 MB: million frames a second, and ratios of C");
    println!(
        "{:>6} {:>8} {:>8} {:>8} | {:>8} {:>8}",
        "bytes", "C", "Rust", "shm", "of Rust", "of shm"
    );
    for len in LENGTHS {
        let mut turns = Vec::new();
        for turn in 0..TURNS {
            // What runs first after a pause may find another clock rate: each does in turn.
            let mut paths = PATHS;
            let first = turn % paths.len();
            paths.rotate_left(first);
            let mut rates = [0.0; 3];
            for (rate, path) in rates.iter_mut().zip(paths) {
                *rate = between_processes(path, len, 1)?;
            }
            rates.rotate_right(first);
            // A turn in which one side had no processor is no number.
            if rates.iter().all(|rate| rate.is_finite()) {
                turns.push(rates);
            }
        }
        let rate = |path: usize| median(turns.iter().map(|turn| turn[path]));
        let of = |path: usize| median(turns.iter().map(|turn| turn[0] / turn[path]));
        println!(
            "{len:>6} {:>8.2} {:>8.2} {:>8.2} | {:>8.2} {:>8.2}",
            rate(0),
            rate(1),
            rate(2),
            of(1),
            of(2)
        );
    }
    Ok(())
}

/// Loads the libraries, once in a process.
///
/// # Errors
/// The system does not know this program's file.
pub fn load() -> TestOutcome {
    static LOADED: Once = Once::new();
    let folder = folder()?;
    LOADED.call_once(|| media::search(&[folder]));
    Ok(())
}

/// Folder of the libraries, beside this program: its children find them there too.
fn folder() -> Result<PathBuf, TestFailure> {
    Ok(env::current_exe()?.with_file_name("bench-media"))
}

fn compile_c() -> TestOutcome {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let options = ["-std=c11", "-O2", "-fPIC", "-shared", "-I", INCLUDE];
    compile(&compiler, &options, C_SOURCE, IN_C)
}

fn compile_rust() -> TestOutcome {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let kind = ["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort"];
    // One unit, as the C file is.
    let code = ["-Copt-level=3", "-Ccodegen-units=1"];
    let options = [kind.as_slice(), &code].concat();
    compile(&compiler, &options, RUST_SOURCE, IN_RUST)
}

/// Compiles a source into the library of the medium with this name.
fn compile(compiler: &str, options: &[&str], source: &str, medium: &str) -> TestOutcome {
    let folder = folder()?;
    fs::create_dir_all(&folder)?;
    let library = folder.join(format!("libthalweg_medium_{medium}.so"));
    let mut command = Command::new(compiler);
    command.args(options).arg("-o").arg(library).arg(source);
    let status = command.status();
    let status = status.map_err(|error| format!("there is no `{compiler}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{compiler}` cannot compile {source}").into()),
    }
}
