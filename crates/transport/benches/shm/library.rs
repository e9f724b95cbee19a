//! The ring in C of `examples/media`, loaded as a library, beside the ring in Rust.
//!
//! ```text
//!   claim, commit  ==shared_ring.c==>  poll, release     headers by Thalweg, blocks by the library
//!   claim, commit  ======= shm =====>  poll, release     the same algorithm in Rust
//! ```
//! Both are driven by the same calls of the contract, in turns, so the ratio is the cost of the
//! table of C functions, of the checks of what a library returns, and of the code in C itself.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use conformance::child::{TestFailure, TestOutcome};
use control::median;
use thalweg_transport::media;

use crate::paths::MeasuredPath;
use crate::rate::{LENGTHS, between_processes};
use crate::{TURNS, pin};

/// Name of the medium in C.
pub const MEDIUM: &str = "shared_ring";

const SOURCE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/media/shared_ring.c"
);

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin/include");

/// Prints the rates of both rings, and the median of the ratios of neighbouring turns.
pub fn beside_rust() -> TestOutcome {
    compile()?;
    pin::to(1)?;
    println!("\na ring in C as a library, 2 MB: million frames a second, and the ratio");
    println!("{:>6} {:>8} {:>8} {:>8}", "bytes", "in C", "shm", "ratio");
    for len in LENGTHS {
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            let library = between_processes(MeasuredPath::Library, len, 1)?;
            let own = between_processes(MeasuredPath::Claim, len, 1)?;
            // A turn in which one side had no processor is no number.
            if library.is_finite() && own.is_finite() {
                turns.push((library, own));
            }
        }
        let library = median(turns.iter().map(|turn| turn.0));
        let own = median(turns.iter().map(|turn| turn.1));
        let ratio = median(turns.iter().map(|turn| turn.0 / turn.1));
        println!("{len:>6} {library:>8.2} {own:>8.2} {ratio:>8.2}");
    }
    Ok(())
}

/// Loads the library, once in a process.
///
/// # Errors
/// The system does not know this program's file.
pub fn load() -> TestOutcome {
    static LOADED: Once = Once::new();
    let folder = folder()?;
    LOADED.call_once(|| media::search(&[folder]));
    Ok(())
}

/// Folder of the library, beside this program: its children find it there too.
fn folder() -> Result<PathBuf, TestFailure> {
    Ok(env::current_exe()?.with_file_name("bench-media"))
}

fn compile() -> TestOutcome {
    let folder = folder()?;
    fs::create_dir_all(&folder)?;
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args(["-std=c11", "-O2", "-fPIC", "-shared", "-I", INCLUDE, "-o"])
        .arg(folder.join(format!("libthalweg_medium_{MEDIUM}.so")))
        .arg(Path::new(SOURCE))
        .status();
    let status = status.map_err(|error| format!("there is no `{compiler}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{compiler}` cannot compile {SOURCE}").into()),
    }
}
