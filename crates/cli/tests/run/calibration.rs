//! Calibrations: which medium `auto` takes by one, and what is said of a file that is wrong.
//!
//! `thalweg-bench` writes them; its own tests run the measuring.

use crate::media::folder;
use crate::scratch::{Run, Scratch, command, thalweg};

const HELLO: &str = "examples/hello/Hello.spl";

/// A calibration of another machine with these lines of costs.
fn text(costs: &[(&str, f64)]) -> String {
    let cost = |(what, tuple_ns): &(&str, f64)| {
        format!(
            "{what} tuple_ns {tuple_ns} byte_ns 0 latency_ns 9 error_percent 1 noise_percent 1\n"
        )
    };
    let costs: String = costs.iter().map(cost).collect();
    format!(
        "thalweg calibration 1\ntime 2026-11-24T15:04:05Z\nprocessor Slide Rule\ncores 3\n{costs}"
    )
}

fn dump_with(file: &str, options: &[&str]) -> Run {
    let dump = [
        "dump",
        "--stage",
        "plan",
        "--fuse",
        "none",
        "--calibration",
        file,
        HELLO,
    ];
    thalweg(&[&dump, options].concat())
}

#[test]
fn auto_takes_the_medium_of_the_least_cost() {
    let scratch = Scratch::new();
    let costs = [
        ("within shm", 30.0),
        ("within tcp", 20.0),
        ("within fused", 1.0),
    ];
    let file = scratch.write("costs", text(&costs));
    let run = dump_with(file.to_str().unwrap(), &[]);
    let note = "the calibration is of another machine (Slide Rule, 3 cores, 2026-11-24T15:04:05Z)";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let plan = run.ok();
    let chosen = "crossing Greetings.0 -> pe 1 on tcp\n  # tcp: same host, calibrated: 20 ns a tuple \
                  of 32 bytes, shm 30 ns\n";
    assert!(plan.contains(chosen), "{plan}");
}

#[test]
fn media_of_adapters_are_not_taken_over_sockets_however_cheap() {
    let scratch = Scratch::new();
    let costs = [
        ("within shm", 30.0),
        ("within rdma", 1.0),
        ("within rum-rdma", 1.0),
    ];
    let file = scratch.write("costs", text(&costs));
    let plan = dump_with(file.to_str().unwrap(), &[]).ok();
    assert!(
        plan.contains("crossing Greetings.0 -> pe 1 on shm\n"),
        "{plan}"
    );
}

#[test]
fn a_measured_library_may_be_chosen() {
    let scratch = Scratch::new();
    let file = scratch.write(
        "costs",
        text(&[("within shm", 30.0), ("within pipe", 20.0)]),
    );
    let file = file.to_str().unwrap();
    let plan = dump_with(file, &["--media-path", folder()]).ok();
    assert!(
        plan.contains("crossing Greetings.0 -> pe 1 on pipe\n"),
        "{plan}"
    );
    // Without its folder there is no such medium.
    let run = dump_with(file, &[]);
    let note = ": the line `within pipe` has no effect: there is no medium `pipe`; --media-path names \
                folders with media of libraries\n";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let plan = run.ok();
    assert!(
        plan.contains("crossing Greetings.0 -> pe 1 on shm\n"),
        "{plan}"
    );
    let options = [
        "--fuse",
        "none",
        "--calibration",
        file,
        "--media-path",
        folder(),
        HELLO,
    ];
    let said = thalweg(&[&["run"], &options[..]].concat()).ok();
    assert!(said.contains("hello, world"), "{said}");
}

#[test]
fn the_file_of_the_cache_folder_is_used() {
    let scratch = Scratch::new();
    let dump = |cache: &str| {
        let mut command = command(&["dump", "--stage", "plan", "--fuse", "none", HELLO]);
        let output = command.env("XDG_CACHE_HOME", cache).output();
        Run::from(output.unwrap())
    };
    let cache = scratch.path("cache");
    let cache = cache.to_str().unwrap();
    let plan = dump(cache).ok();
    assert!(plan.contains("on shm\n  # shm: same host\n"), "{plan}");
    scratch.write("cache/thalweg/calibration", text(&[("within rum", 9.0)]));
    let plan = dump(cache).ok();
    assert!(
        plan.contains("on rum\n  # rum: same host, calibrated: 9.0 ns"),
        "{plan}"
    );
}

#[test]
fn a_garbled_file_is_one_sentence_with_its_place() {
    let scratch = Scratch::new();
    let file = scratch.write("costs", text(&[]) + "within shm tuple_ns many\n");
    let file = file.to_str().unwrap();
    let said = dump_with(file, &[]).fails(1);
    assert_eq!(
        said,
        format!("thalweg: {file}:5:21: `many` is no number of 0 or more\n")
    );
    // As with other files that options name.
    let said = dump_with("/nonexistent/costs", &[]).fails(2);
    assert!(
        said.starts_with("thalweg: cannot read /nonexistent/costs: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let garbage = scratch.write("garbage", [0xff, 0, 1, 2]);
    let said = dump_with(garbage.to_str().unwrap(), &[]).fails(2);
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn lines_of_media_that_there_are_not_are_noted_and_not_taken() {
    let scratch = Scratch::new();
    let costs = [
        ("within fused", 1.0),
        ("within ring", 1.0),
        ("within smh", 1.0),
        ("between rdma provider=tcp mode=chanel", 1.0),
        ("within tcp mode=write", 1.0),
        ("within rum", 30.0),
    ];
    let file = scratch.write("costs", text(&costs));
    let file = file.to_str().unwrap();
    let run = dump_with(file, &[]);
    let notes = run.stderr.lines().skip(1);
    let line = |line: &str| format!("note: {file}: the line `{line}` has no effect: ");
    let expected = [
        line("within smh") + "there is no medium `smh`; did you mean `shm`?",
        line("between rdma provider=tcp mode=chanel")
            + "settings of rdma: there is no mode `chanel`; there are write, channel and batch; did \
               you mean `mode=channel`?",
        line("within tcp mode=write") + "tcp has no settings, so `mode=write` means nothing there",
    ];
    assert_eq!(notes.collect::<Vec<_>>(), expected);
    let plan = run.ok();
    let chosen = "on rum\n  # rum: same host, calibrated: 30 ns a tuple of 32 bytes\n";
    assert!(plan.contains(chosen), "{plan}");
}

#[test]
fn between_hosts_rdma_over_sockets_is_never_taken() {
    let scratch = Scratch::new();
    let plan = "pe 0\noperators Greetings\nhost near\npe 1\noperators Printer\nhost far\n";
    let plan = scratch.write("hosts.plan", plan);
    let costs = [
        ("between rum", 90.0),
        ("between rdma provider=tcp mode=write", 1.0),
    ];
    let file = scratch.write("costs", text(&costs));
    let options = [
        "--calibration",
        file.to_str().unwrap(),
        "--fuse",
        plan.to_str().unwrap(),
    ];
    let hosts = ["--host", "near=127.0.0.1", "--host", "far=127.0.0.1", HELLO];
    let dump = ["dump", "--stage", "plan"];
    let plan = thalweg(&[&dump[..], &options, &hosts].concat()).ok();
    assert!(
        plan.contains("on rum\n  # rum: other host, calibrated: 90 ns"),
        "{plan}"
    );
}

/// No machine of the tests has an adapter, so hosts have no fabric, or no libfabric to ask.
#[test]
fn why_no_fabric_joins_hosts_is_said() {
    let scratch = Scratch::new();
    let plan = "pe 0\noperators Greetings\nhost near\npe 1\noperators Printer\nhost far\n";
    let plan = scratch.write("hosts.plan", plan);
    let hosts = [
        "--host",
        "near=127.0.0.1",
        "--host",
        "far=127.0.0.1,env",
        HELLO,
    ];
    let dump = ["dump", "--stage", "plan", "--fuse", plan.to_str().unwrap()];
    let plan = thalweg(&[&dump[..], &hosts].concat()).ok();
    let listed = thalweg(&["medium", "fabrics"]);
    let expected = match (listed.status, &*listed.stdout) {
        (0, "") => "  # rum: other host; no RDMA fabric joins near and far\n",
        (0, _) => "  # rdma: other host, on the fabric ",
        _ => {
            assert!(listed.stderr.contains("libfabric1"), "{}", listed.stderr);
            "  # rum: other host; no libfabric on near\n"
        }
    };
    assert!(plan.contains(expected), "{expected}\n{plan}");
}
