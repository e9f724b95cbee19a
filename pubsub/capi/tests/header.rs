//! The header declares what the library exports, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/thalweg.h");
    std::fs::read_to_string(path).unwrap()
}

/// Names of the library that stand before a parenthesis in a text.
fn declared(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = text.lines().filter(|line| !line.starts_with([' ', '/']));
    let calls = code.filter_map(|line| line.split_once('(').map(|(before, _)| before));
    let names = calls.map(|before| before.rsplit(|c| !is_name(c)).next().unwrap_or(""));
    names
        .filter(|name| name.starts_with("thalweg_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_header_and_the_library_have_the_same_functions() {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libthalweg.so");
    let listed = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(&library)
        .output()
        .expect("nm, which comes with a C compiler");
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let listed = String::from_utf8(listed.stdout).unwrap();
    let exported = listed.lines().filter_map(|line| line.split(' ').next());
    let exported: BTreeSet<_> = exported
        .filter(|name| name.starts_with("thalweg_"))
        .map(str::to_owned)
        .collect();
    let declared = declared(&header());
    assert!(declared.len() > 15, "{declared:?}");
    assert_eq!(exported, declared);
}

#[test]
fn every_status_has_its_number() {
    let header = header();
    for (name, number) in [
        ("OK", 0),
        ("WOULD_BLOCK", 1),
        ("ERR_ARGUMENT", -1),
        ("ERR_CONFIG", -2),
        ("ERR_PUBLISHED", -3),
        ("ERR_REFUSED", -4),
        ("ERR_FULL", -5),
        ("ERR_TOO_LONG", -6),
        ("ERR_STATE", -7),
        ("ERR_SYSTEM", -8),
        ("ERR_BUSY", -9),
        ("ERR_BUG", -10),
    ] {
        let line = format!("    THALWEG_{name} = {number}");
        assert!(header.contains(&line), "{line}");
    }
    assert!(header.contains("#define THALWEG_API_VERSION 1\n"));
}
