//! Bakes in the compiler's version, which is that of the standard library's channel.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // `rustc 1.95.0 (...)`
    let said = said.unwrap_or_default();
    let version = said.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo:rustc-env=PEERS_RUST={version}");
}
