//! Bakes in the commit that is built, as far as git tells.
//!
//! `+` behind it means that the tree was changed when git was asked: at the first build after a
//! commit, a checkout or a change of the index.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(folder) = git(&["rev-parse", "--absolute-git-dir"]) else {
        return;
    };
    for file in ["HEAD", "logs/HEAD", "index"] {
        println!("cargo:rerun-if-changed={folder}/{file}");
    }
    if let Some(commit) = git(&["describe", "--always", "--exclude=*", "--dirty=+"]) {
        println!("cargo:rustc-env=THALWEG_COMMIT={commit}");
    }
}

/// The first line of what git answers.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
