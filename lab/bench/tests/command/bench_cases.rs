//! `thalweg bench`: what it prints. How fast things are is nobody's business here.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;

use crate::scratch::{command, thalweg};

/// The results that a benchmark prints.
fn results(args: &[&str]) -> Vec<Value> {
    let printed = thalweg(&[&["bench"], args, &["--json"]].concat()).ok();
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

/// The text of a field.
fn text<'a>(result: &'a Value, field: &str) -> &'a str {
    result[field].as_str().unwrap_or("")
}

/// Runs this on a thread with one core; the processes that it starts inherit that.
fn on_one_core<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(|| {
        let all = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core));
        let mut one = CpuSet::new();
        one.set(first.unwrap());
        sched_setaffinity(None, &one).unwrap();
        run()
    });
    thread.join().unwrap()
}

/// A result either has all of its figures, or says why not and has none.
fn assert_sound(result: &Value) {
    let is_measured = result["unavailable"].is_null();
    for field in ["tuples_per_s", "control_tuples_per_s", "ratio"] {
        match is_measured {
            true => assert!(result[field].as_f64().unwrap() > 0.0, "{field}: {result}"),
            false => assert!(result[field].is_null(), "{field}: {result}"),
        }
    }
    if is_measured {
        let runs = result["runs"].as_u64().unwrap() as usize;
        assert_eq!(result["samples"].as_array().unwrap().len(), runs);
        assert_eq!(result["control_samples"].as_array().unwrap().len(), runs);
    }
    assert!(!text(result, "control").is_empty(), "{result}");
    assert!(result["host"]["cores"].as_u64().unwrap() > 0);
    assert!(text(result, "options").contains("--json"));
}

#[test]
fn throughput_has_every_path() {
    let results = results(&["throughput", "--quick", "--tuples", "3000"]);
    results.iter().for_each(assert_sound);
    let paths = ["fused", "threaded", "shm", "rum", "tcp"];
    for path in paths {
        let own: Vec<_> = results
            .iter()
            .filter(|one| text(one, "path") == path)
            .collect();
        let sizes = |codec: &Value| {
            let own = own.iter().filter(|one| one["codec"] == *codec);
            own.map(|one| one["size_bytes"].as_u64())
                .collect::<Vec<_>>()
        };
        let expected = [64, 1024, 16384].map(Some);
        match path {
            "fused" | "threaded" => assert_eq!(sizes(&Value::Null), expected, "{path}"),
            _ => {
                assert_eq!(sizes(&"facade".into()), expected, "{path}");
                assert_eq!(sizes(&"normal".into()), expected, "{path}");
            }
        }
        for one in own {
            assert_eq!(text(one, "bench"), "throughput");
            assert!(one["latency_ns"].is_null() && one["rate_offered"].is_null());
        }
    }
}

#[test]
fn latencies_are_whole_and_in_order() {
    let args = [
        "latency",
        "--path",
        "fused,threaded,shm,tcp",
        "--rate",
        "2000",
    ];
    let rest = ["--size", "8,22", "--tuples", "100", "--runs", "2"];
    let results = results(&[&args[..], &rest].concat());
    assert_eq!(results.len(), 8);
    for one in &results {
        assert_eq!(
            (text(one, "bench"), &one["rate_offered"]),
            ("latency", &2000.0.into())
        );
        assert!(one["tuples_per_s"].is_null());
        if !one["unavailable"].is_null() {
            continue;
        }
        assert!(one["ratio"].as_f64().unwrap() > 0.0, "{one}");
        let is_called = text(one, "path") == "fused";
        assert_ne!(is_called, text(one, "control").contains("same"), "{one}");
        assert_eq!(one["samples"].as_array().unwrap().len(), 2);
        for field in ["latency_ns", "control_latency_ns"] {
            let marks = ["p50", "p90", "p99", "p999", "p9999", "max"];
            let marks = marks.map(|mark| one[field][mark].as_u64().unwrap());
            assert!(marks.is_sorted() && marks[0] > 0, "{one}");
        }
    }
}

#[test]
fn rails_are_measured_or_it_is_said_why_not() {
    let results = results(&["rails", "--size", "1024", "--tuples", "3000", "--runs", "1"]);
    assert_eq!(results.len(), 1);
    results.iter().for_each(assert_sound);
    assert_eq!(
        (text(&results[0], "bench"), text(&results[0], "path")),
        ("rails", "rum")
    );
    assert!(text(&results[0], "control").contains("one of the two paths"));
}

/// Paths by `rdma` are beside bare calls of libfabric, or passed over where it is not installed.
#[test]
fn rdma_is_measured_in_both_modes() {
    let args = ["throughput", "--path", "rdma", "--codec", "facade"];
    let rest = ["--size", "22,1024", "--tuples", "3000", "--runs", "1"];
    let rates = results(&[&args[..], &rest].concat());
    rates.iter().for_each(assert_sound);
    let args = ["latency", "--path", "rdma", "--rate", "1000"];
    let rest = ["--size", "22,128", "--tuples", "20", "--runs", "1"];
    let trips = results(&[&args[..], &rest].concat());
    for (results, call) in [(&rates, "one for each message"), (&trips, "relay by hand")] {
        let paths: Vec<_> = results.iter().map(|one| text(one, "path")).collect();
        assert_eq!(
            paths,
            ["rdma-write", "rdma-write", "rdma-channel", "rdma-channel"]
        );
        for one in results {
            let control = text(one, "control");
            let is_write = text(one, "path") == "rdma-write";
            assert!(control.contains(call), "{one}");
            assert_eq!(is_write, control.contains("fi_write"), "{one}");
            assert_eq!(!is_write, control.contains("fi_send"), "{one}");
            match one["unavailable"].as_str() {
                None => assert!(one["ratio"].as_f64().unwrap() > 0.0, "{one}"),
                Some(why) => assert!(why.contains("libfabric") || why.contains("core"), "{why}"),
            }
        }
    }
}

/// Programs and controls wait as they are told.
#[test]
fn latencies_are_measured_with_every_strategy() {
    for idle in ["spin", "yield", "park", "adaptive"] {
        let args = ["latency", "--path", "threaded,shm,rum", "--rate", "1000"];
        let rest = ["--size", "128", "--tuples", "20", "--runs", "1"];
        let results = results(&[&args[..], &rest, &["--idle", idle]].concat());
        assert_eq!(results.len(), 3);
        for one in results.iter().filter(|one| one["unavailable"].is_null()) {
            assert!(one["ratio"].as_f64().unwrap() > 0.0, "{idle}: {one}");
        }
    }
}

#[test]
fn hosts_are_measured_or_it_is_said_why_not() {
    let args = [
        "hosts", "--size", "256", "--codec", "normal", "--tuples", "3000",
    ];
    let results = results(&args);
    let found = results
        .iter()
        .map(|one| (text(one, "path"), text(one, "codec")));
    assert!(
        found.eq([("rum", "normal"), ("tcp", "normal")]),
        "{results:?}"
    );
    results.iter().for_each(assert_sound);
    assert!(results.iter().all(|one| text(one, "bench") == "hosts"));
}

#[test]
fn trips_between_hosts_are_measured_or_it_is_said_why_not() {
    let args = [
        "latency", "--hosts", "--rate", "1000", "--size", "128", "--tuples", "50",
    ];
    let found = results(&args);
    assert_eq!(found.len(), 2);
    for one in &found {
        assert_eq!(text(one, "bench"), "hosts-latency");
        let trip = one["latency_ns"]["p50"].as_u64();
        assert!(trip.is_some() != one["unavailable"].is_string(), "{one}");
    }
    let said = thalweg(&["bench", "latency", "--hosts", "--path", "shm"]).fails(1);
    assert!(said.contains("shm does not lead to other hosts"), "{said}");
}

#[test]
fn without_namespaces_it_is_said_why() {
    let args = ["bench", "hosts", "--size", "64", "--json"];
    let output = command(&args).env("PATH", "/nonexistent").output().unwrap();
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results.len(), 4);
    for one in &results {
        assert_sound(one);
        // Or there is but one core.
        let why = text(one, "unavailable");
        assert!(
            why.contains("cannot start `unshare`") || why.contains("one core"),
            "{why}"
        );
    }
}

#[test]
fn on_one_core_only_what_is_fused_is_measured() {
    let args = [
        "throughput",
        "--size",
        "64",
        "--codec",
        "facade",
        "--tuples",
        "3000",
    ];
    for one in &on_one_core(move || results(&args)) {
        assert_sound(one);
        let is_fused = text(one, "path") == "fused";
        assert_eq!(one["unavailable"].is_null(), is_fused, "{one}");
        assert!(
            is_fused || text(one, "unavailable").contains("one core"),
            "{one}"
        );
    }
    let args = [
        "bench",
        "fanout",
        "--receivers",
        "2",
        "--size",
        "22",
        "--path",
        "shm",
    ];
    let table = on_one_core(move || thalweg(&args).ok());
    assert!(table.contains("shm: not measured: one core"), "{table}");
}

#[test]
fn every_receiver_counts() {
    let args = [
        "fanout",
        "--receivers",
        "1,3",
        "--size",
        "22",
        "--tuples",
        "20000",
    ];
    let results = results(&args);
    let found = results
        .iter()
        .map(|one| (text(one, "path"), one["receivers"].as_u64()));
    let paths = ["tcp", "rum", "shm"].into_iter();
    let expected = paths.flat_map(|path| [(path, Some(1)), (path, Some(3))]);
    assert!(found.eq(expected), "{results:?}");
    results.iter().for_each(assert_sound);
}

#[test]
fn fused_code_does_what_is_done_by_hand() {
    let mut all = results(&["operators", "--tuples", "5000", "--runs", "1"]);
    all.extend(results(&["expressions", "--tuples", "5000", "--runs", "1"]));
    all.extend(results(&[
        "chain", "--tuples", "5000", "--runs", "1", "--size", "4,22",
    ]));
    all.iter().for_each(assert_sound);
    let paths: Vec<_> = all.iter().map(|one| text(one, "path")).collect();
    let operators = [
        "Filter",
        "Functor",
        "Split",
        "Aggregate",
        "Aggregate-punct",
        "Aggregate-delta",
        "Aggregate-collect",
        "Aggregate-partitions",
        "Aggregate-groups",
        "Aggregate-sliding",
        "Aggregate-functions",
        "Aggregate-panes",
        "Join",
        "Join-long",
        "Join-outer",
        "DeDuplicate",
    ];
    let rest = [
        "Sort",
        "Sort-sliding",
        "eventTime",
        "FileSource",
        "integer",
        "float",
        "decimal",
        "branch",
        "string",
        "list",
    ];
    assert_eq!(paths, [&operators[..], &rest, &["fused", "fused"]].concat());
}

/// The benchmark itself compares what both write; query 3 reads all kinds of events.
#[test]
fn queries_of_nexmark_do_what_is_done_by_hand() {
    let events = ["--events", "3000", "--rate", "50", "--runs", "2"];
    let from_csv = results(&[&["nexmark", "--query", "3,10,15"], &events[..]].concat());
    let from_memory = results(&[&["nexmark", "--memory", "--query", "3,5"], &events[..]].concat());
    let of = |results: &[Value]| -> Vec<String> {
        let names = results.iter().map(|one| text(one, "path").to_owned());
        names.collect()
    };
    assert_eq!(of(&from_csv), ["q3", "q10", "q15"]);
    assert_eq!(of(&from_memory), ["q3", "q5"]);
    from_csv.iter().chain(&from_memory).for_each(assert_sound);
    for one in &from_csv {
        let bytes = |field: &str| one[field].as_u64().unwrap();
        assert!(bytes("memory_bytes") > 1 << 20, "{one}");
        assert!(bytes("control_memory_bytes") > 1 << 18, "{one}");
    }
    let at_a_pace = results(&[&["nexmark", "--latency", "--query", "18"], &events[..]].concat());
    let one = &at_a_pace[0];
    assert!(one["rate_offered"].as_f64().unwrap() > 0.0, "{one}");
    for field in ["latency_ns", "control_latency_ns"] {
        let marks = ["p50", "p90", "p99", "p999", "p9999", "max"];
        let marks = marks.map(|mark| one[field][mark].as_u64().unwrap());
        assert!(marks.is_sorted() && marks[0] > 0, "{one}");
    }
}

#[test]
fn plans_of_vwap_are_measured_beside_all_fused() {
    let plans = [
        "vwap",
        "--quick",
        "--copies",
        "2",
        "--plan",
        "cola-2,manual,dynamic",
    ];
    let found = results(&plans);
    let names: Vec<_> = found.iter().map(|one| text(one, "path")).collect();
    assert_eq!(names, ["cola-2 shm", "manual shm", "dynamic"]);
    for one in &found {
        assert_eq!(text(one, "control"), "process with all operators");
        for field in ["tuples_per_s", "control_tuples_per_s", "ratio"] {
            assert!(one[field].as_f64().unwrap() > 0.0, "{one}");
        }
    }
    let temporary = std::env::temp_dir();
    let left = std::fs::read_dir(temporary).unwrap().flatten();
    let mut left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(!left.any(|name| name.starts_with("thalweg-vwap-")));
}

#[test]
fn events_of_nexmark_are_those_of_their_seed() {
    let events = |args: &[&str]| thalweg(&[&["bench", "nexmark-events"], args].concat()).ok();
    let few = ["--events", "500", "--seed", "3"];
    let all = events(&few);
    assert_eq!(all.lines().count(), 500);
    assert_eq!(events(&few), all);
    assert_ne!(events(&["--events", "500", "--seed", "4"]), all);
    let bids = events(&[&few[..], &["--bids", "--paced"]].concat());
    let in_all = all
        .lines()
        .filter_map(|line| line.strip_prefix("2,,,,,,,,,,,,,,,,,,,"));
    assert!(bids.lines().eq(in_all));
}

#[test]
fn odd_sizes_are_measured_and_shown() {
    let args = [
        "bench",
        "throughput",
        "--path",
        "fused,shm",
        "--codec",
        "normal",
    ];
    let rest = ["--size", "22,1004", "--tuples", "5000", "--runs", "2"];
    let printed = thalweg(&[&args[..], &rest].concat()).ok();
    assert!(printed.starts_with("throughput\nPATH "), "{printed}");
    for size in ["22", "1004"] {
        let rows = printed
            .lines()
            .filter(|line| line.split_whitespace().any(|word| word == size));
        assert_eq!(rows.count(), 2, "{printed}");
    }
    assert!(
        printed.contains("fused: beside a hand-written loop"),
        "{printed}"
    );
    assert!(printed.contains(" cores, Linux "), "{printed}");
}

#[test]
fn what_cannot_be_measured_is_refused_in_a_sentence() {
    for (args, says) in [
        (
            &["--path", "pigeon"][..],
            "there is no path `pigeon`; there are fused,",
        ),
        (&["--codec", "xml"], "there is no codec `xml`"),
        (&["--size", "0"], "a number of bytes, 1 to 16384"),
        (&["--size", "64,zwei"], "a number of bytes, 1 to 16384"),
        (&["--runs", "0"], "0 is not in 1..=1000"),
        (&["--seconds", "inf"], "a number of seconds"),
        (&["--tuples", "1"], "1 is not in 2.."),
        (&["--tuples", "5", "--seconds", "1"], "cannot be used with"),
    ] {
        let run = thalweg(&[&["bench", "throughput"], args].concat());
        let said = run.fails(2);
        assert!(said.contains(says), "{args:?}: {said}");
    }
    for (args, says) in [
        (
            ["plans", "--operators-min", "41"],
            "--operators-min 41 is above --operators-max 40",
        ),
        (["latency", "--rate", "0"], "tuples a second, 1 to 1000000"),
        (["latency", "--size", "7"], "a number of bytes, 8 to 16384"),
        (
            ["latency", "--path", "rdma-batches"],
            "there is no path `rdma-batches`",
        ),
        (
            ["hosts", "--path", "shm"],
            "shm does not lead to other hosts",
        ),
        (
            ["fanout", "--path", "fused"],
            "to which fused does not lead",
        ),
        (["fanout", "--receivers", "0"], "0 is not in 1..=16"),
        (["chain", "--size", "3"], "a number of bytes, 4 to 16384"),
    ] {
        let said = thalweg(&[&["bench"], &args[..]].concat()).fails(2);
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn a_control_is_for_benchmarks_alone() {
    for args in [
        &[][..],
        &["loop"],
        &["loop", "8", "x", "1"],
        &["dance", "8", "8", "1"],
        &["trip-threads", "128", "10", "1000"],
        &["trip-threads", "128", "10", "1000", "sleepily"],
    ] {
        let said = thalweg(&[&["bench", "control"], args].concat()).fails(1);
        assert!(
            said.contains("this command is for `thalweg bench`"),
            "{said}"
        );
    }
}

#[test]
fn a_pool_on_a_moving_load_is_measured_beside_the_best_fixed_plan() {
    let found = results(&["adapt", "--quick", "--seconds", "0.3"]);
    assert_eq!(found.len(), 3);
    for (phase, one) in found.iter().enumerate() {
        assert_eq!(text(one, "bench"), "adapt");
        let path = text(one, "path");
        assert!(
            path.starts_with(&format!("phase {phase}, dynamic to ")),
            "{path}"
        );
        for field in ["tuples_per_s", "control_tuples_per_s", "ratio"] {
            assert!(one[field].as_f64().unwrap() > 0.0, "{one}");
        }
    }
}

#[test]
fn plans_of_generated_programs_are_measured_beside_all_fused_and_predictions() {
    let asked = [
        "plans",
        "--quick",
        "--programs",
        "1",
        "--operators-max",
        "4",
    ];
    let found = results(&[&asked[..], &["--random-plans", "1", "--seconds", "0.2"]].concat());
    let plans = ["fused", "unfused", "spl", "dedicated", "cola", "random-0"];
    let (measured, predicted) = found.split_at(plans.len());
    for (bench, outcomes) in [("plans", measured), ("predictions", predicted)] {
        assert_eq!(outcomes.len(), plans.len(), "{outcomes:?}");
        for (one, plan) in outcomes.iter().zip(plans) {
            assert_eq!(text(one, "bench"), bench);
            let path = text(one, "path");
            assert!(path.ends_with(&format!(" operators: {plan}")), "{path}");
            for field in ["tuples_per_s", "control_tuples_per_s", "ratio"] {
                assert!(one[field].as_f64().unwrap() > 0.0, "{one}");
            }
        }
    }
    let temporary = std::env::temp_dir();
    let left = std::fs::read_dir(temporary).unwrap().flatten();
    let mut left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(!left.any(|name| name.starts_with("thalweg-plans-")));
}
