//! The suite against libraries in C, compiled here: the media of `examples/media` show every
//! behaviour, and each broken variant of them is caught, with the behaviour and a sentence.
//!
//! A C compiler must be installed, as the README says: `cc`, or the one that `CC` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Behaviours that a medium is asked for at least: a suite that asks for none passes.
const BEHAVIOURS_MIN: usize = 50;

/// Longest time in seconds that a step, and a whole behaviour, of a library may take that works.
const LONG: [&str; 4] = ["--timeout", "300", "--deadline", "1800"];

/// Times in seconds for a library that does not come to an end.
const SHORT: [&str; 4] = ["--timeout", "2", "--deadline", "5"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a library; `fault` is the function of `broken.c` or `broken_ring.c` that breaks it.
fn compile(source: &Path, name: &str, fault: Option<&str>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join(format!("libthalweg_medium_{name}.so"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command
        .args([
            "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
        ])
        .arg("-I")
        .arg(root().join("crates/plugin/include"))
        .arg(source)
        .arg("-o")
        .arg(&library);
    if let Some(fault) = fault {
        command.args(["-Wno-unused-function", &format!("-DBREAK={fault}")]);
    }
    let done = command.output();
    let done = done.unwrap_or_else(|error| panic!("no C compiler, `{compiler}`: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name}: {said}");
    library
}

fn broken(fault: &str) -> PathBuf {
    let source = root().join("lab/conformance/tests/libraries/broken.c");
    compile(&source, fault, Some(fault))
}

fn broken_ring(fault: &str) -> PathBuf {
    let source = root().join("lab/conformance/tests/libraries/broken_ring.c");
    compile(&source, fault, Some(fault))
}

fn check(library: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thalweg-conformance"))
        .arg("check")
        .arg(library)
        .args(options)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Checks that a library of `examples/media` passes.
fn shows_every_behaviour(name: &str) {
    let source = root().join(format!("examples/media/{name}.c"));
    passes(&compile(&source, name, None));
}

/// Checks that a library shows every behaviour that its capabilities promise.
fn passes(library: &Path) {
    let done = check(library, &LONG);
    let report = text(&done.stdout);
    assert!(done.status.success(), "{report}{}", text(&done.stderr));
    let passed = report.lines().filter(|line| line.starts_with("passed   "));
    let passed = passed.count();
    assert!(passed >= BEHAVIOURS_MIN, "{report}");
    let last = format!("{passed} behaviours, all passed");
    assert_eq!(report.lines().last(), Some(&*last));
}

#[test]
fn the_pipe_shows_every_behaviour() {
    shows_every_behaviour("pipe");
}

#[test]
fn the_shared_ring_shows_every_behaviour() {
    shows_every_behaviour("shared_ring");
}

/// The benchmark's control is as good a medium as the example that it is a control of.
#[test]
fn the_shared_ring_in_rust_shows_every_behaviour() {
    let source = root().join("crates/transport/benches/shm/shared_ring/lib.rs");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join("libthalweg_medium_shared_ring_rust.so");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let options = [
        "--edition=2024",
        "--crate-type=cdylib",
        "-Cpanic=abort",
        "-Dwarnings",
    ];
    let mut command = Command::new(compiler);
    command.args(options).arg("-o").arg(&library).arg(source);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    passes(&library);
}

/// Checks that a behaviour of a broken pipe has this verdict, with these words.
fn is_caught(fault: &str, options: [&str; 4], behaviour: &str, verdict: &str, words: &str) {
    has_verdict(&broken(fault), options, behaviour, verdict, words);
}

/// Checks that a behaviour of a library has this verdict, with these words.
fn has_verdict(library: &Path, options: [&str; 4], behaviour: &str, verdict: &str, words: &str) {
    let fault = library.display();
    let done = check(library, &[&options[..], &["--only", behaviour]].concat());
    let report = text(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{fault}: {report}");
    let begin = format!("{verdict:<8} {behaviour}: ");
    let line = report.lines().find(|line| line.starts_with(&begin));
    let line = line.unwrap_or_else(|| panic!("{fault}: {report}{}", text(&done.stderr)));
    assert!(line.contains(words), "{fault}: {line}");
}

#[test]
fn crashes_are_named() {
    let order = "frames_arrive_once_and_in_order";
    is_caught("crashes", LONG, order, "CRASHED", "signal 11 (SIGSEGV)");
    is_caught("exits", LONG, order, "CRASHED", "by exit(3)");
}

#[test]
fn blocked_calls_are_named() {
    let name = "a_flush_makes_everything_visible";
    is_caught("blocks", SHORT, name, "BLOCKED", "not ended after 5 s");
}

#[test]
fn garbled_frames_are_named() {
    let order = "frames_arrive_once_and_in_order";
    let caught = |fault, words| is_caught(fault, LONG, order, "FAILED", words);
    caught("garbles", "poll shows 0x0 where a frame begins");
    caught(
        "is_crooked",
        "poll shows bytes at an address that is no multiple of 8",
    );
    caught("loses", "frame 99 has kind, flags and length");
    caught("returns_oddly", "claim returns -77, which is no status");
    caught("gives_nothing", "open gives a null sender");
    caught("doubles", "into tickets twice");
}

/// Libraries that were compiled before there were runs have a table without that part.
#[test]
fn a_table_without_the_part_for_runs_is_whole() {
    let options = [&LONG[..], &["--only", "frames_arrive_once_and_in_order"]].concat();
    let done = check(&broken("is_older"), &options);
    let report = text(&done.stdout);
    assert!(done.status.success(), "{report}{}", text(&done.stderr));
    assert_eq!(report.lines().last(), Some("1 behaviour, all passed"));
}

#[test]
fn runs_that_break_a_rule_are_named() {
    for (fault, behaviour, words) in [
        (
            "has_no_words",
            "frames_arrive_once_and_in_order",
            "run_words gives a word at a null",
        ),
        (
            "has_crooked_words",
            "frames_arrive_once_and_in_order",
            "run_words gives words that are not two",
        ),
        (
            "begins_late",
            "frames_arrive_once_and_in_order",
            "a word `committed` that is 8, not 0",
        ),
        (
            "refuses_words",
            "frames_arrive_once_and_in_order",
            "run_words returns -3",
        ),
        (
            "gives_too_little",
            "frames_arrive_once_and_in_order",
            "claim_run gives",
        ),
        (
            "gives_crooked_room",
            "frames_arrive_once_and_in_order",
            "claim_run gives room at an address",
        ),
        (
            "claims_oddly",
            "frames_arrive_once_and_in_order",
            "claim_run returns -77, which is no status",
        ),
        (
            "cuts_blocks",
            "frames_arrive_once_and_in_order",
            "poll shows",
        ),
        (
            "garbles_blocks",
            "frames_arrive_once_and_in_order",
            "poll shows 0x0 where a frame begins",
        ),
        (
            "gives_too_much",
            "a_grant_ends_where_the_room_ends",
            "bytes are under way",
        ),
        (
            "forgets_commits",
            "granted_frames_arrive_once_and_in_order",
            "poll shows",
        ),
    ] {
        has_verdict(&broken_ring(fault), LONG, behaviour, "FAILED", words);
    }
    let wakes = "a_granted_frame_wakes_the_receiver";
    has_verdict(
        &broken_ring("wakes_nobody"),
        SHORT,
        wakes,
        "FAILED",
        "nobody woke the receiver",
    );
}

#[test]
fn lies_about_capabilities_are_caught() {
    let several = "every_receiver_gets_every_frame";
    is_caught(
        "has_one",
        LONG,
        several,
        "FAILED",
        "that is no ticket of a pipe",
    );
    let words = "the sender is in another process";
    is_caught("stays", LONG, "a_child_sends", "FAILED", words);
}

#[test]
fn lost_wake_ups_are_caught() {
    let name = "a_frame_wakes_the_receiver";
    is_caught(
        "never_wakes",
        SHORT,
        name,
        "FAILED",
        "nobody woke the receiver",
    );
    let words = "arm_receiver arms without a descriptor to sleep on";
    is_caught("waits_for_nothing", LONG, name, "FAILED", words);
}

/// Checks that a library is refused before any behaviour, with these words and its file.
fn is_refused(library: &Path, options: &[&str], words: &str) {
    let done = check(library, options);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(words), "{said}");
    let file = library.file_name().unwrap().to_str().unwrap();
    assert!(said.contains(file), "{said}");
    assert_eq!(text(&done.stdout), "");
}

#[test]
fn tables_that_are_wrong_are_refused() {
    for (fault, words) in [
        (
            "contradicts_itself",
            "bytes from another host are untrusted",
        ),
        ("is_newer", "its table has version 2"),
        (
            "is_short",
            "its table has 192 bytes, and version 1 has 168 or 200",
        ),
        (
            "has_half",
            "`run_words`, `claim_run` and `wake` of its table",
        ),
        ("is_unsure", "`polls_whole_blocks` is 2, and must be 0 or 1"),
        ("has_no_poll", "the function `poll` of its table is null"),
        (
            "crashes_at_once",
            "by signal 6 (SIGABRT), while it was loaded",
        ),
    ] {
        is_refused(&broken(fault), &LONG, words);
    }
    is_refused(&broken("blocks_at_once"), &SHORT, "the library blocked");
}

#[test]
fn files_that_are_no_media_are_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, text_file) = (folder.join("other.c"), folder.join("text.so"));
    fs::write(&source, "int other;\n").unwrap();
    fs::write(&text_file, "no library\n").unwrap();
    let other = compile(&source, "other", None);
    is_refused(&other, &[], "exports no thalweg_medium_table");
    let source = folder.join("incomplete.c");
    fs::write(
        &source,
        "int missing(void);\nint other(void) { return missing(); }\n",
    )
    .unwrap();
    let incomplete = compile(&source, "incomplete", None);
    is_refused(&incomplete, &[], "undefined symbol: missing");
    is_refused(&text_file, &[], "cannot be loaded");
    is_refused(&folder.join("missing.so"), &[], "cannot be loaded");
}

#[test]
fn reports_can_be_read_by_programs() {
    let options = ["--json", "--only", "tables_or_not"];
    let pipe = compile(&root().join("examples/media/pipe.c"), "json", None);
    let nothing = check(&pipe, &options);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("no behaviour with tables_or_not"));
    let options = [&LONG[..], &["--json", "--only", "an_empty_frame_passes"]].concat();
    let report: serde_json::Value = serde_json::from_slice(&check(&pipe, &options).stdout).unwrap();
    let behaviours = &report["behaviours"];
    assert_eq!(behaviours.as_array().map(Vec::len), Some(1));
    assert_eq!(behaviours[0]["name"], "an_empty_frame_passes");
    assert_eq!(behaviours[0]["verdict"], "passed");
}
