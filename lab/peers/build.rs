//! Bakes in the compiler's version, which is that of the standard library's channel, and builds the
//! programs in C of peers whose features are on and whose headers are installed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c");
    println!("cargo:rerun-if-env-changed=PATH");
    println!("cargo:rerun-if-env-changed=CC");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // `rustc 1.95.0 (...)`
    let said = said.unwrap_or_default();
    let version = said.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo:rustc-env=PEERS_RUST={version}");
    let cc = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let openmpi = "libopenmpi-dev and openmpi-bin";
    build_program("OPENMPI", "mpicc", "mpi_peer", &[], openmpi);
    build_program("UCX", &cc, "ucx_peer", &["-lucp", "-lucs"], "libucx-dev");
}

/// Builds `c/NAME.c`, if the feature is on. The code finds the path of the program, or the reason
/// why there is none, in variables named after the feature.
fn build_program(feature: &str, compiler: &str, name: &str, libraries: &[&str], packages: &str) {
    if env::var_os(format!("CARGO_FEATURE_{feature}")).is_none() {
        return;
    }
    let program = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    let built = Command::new(compiler)
        .args(["-std=gnu11", "-O3", "-Wall", "-Wextra", "-I", "c", "-o"])
        .arg(&program)
        .arg(Path::new("c").join(name).with_extension("c"))
        .args(libraries)
        .output();
    let missing = match built {
        Ok(output) if output.status.success() => String::new(),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().find(|line| line.contains("error"));
            let first = first
                .unwrap_or("the compiler has failed")
                .replace('\n', " ");
            format!("its program in C was not built ({first}): install {packages} and build again")
        }
        Err(error) => {
            format!("`{compiler}` cannot be started ({error}): install {packages} and build again")
        }
    };
    println!("cargo:rustc-env=PEERS_{feature}={}", program.display());
    println!("cargo:rustc-env=PEERS_{feature}_MISSING={missing}");
}
