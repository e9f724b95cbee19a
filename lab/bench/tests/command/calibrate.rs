//! `thalweg calibrate`: what it writes, and that plans are made with it.

use planner::{Calibration, MediumReach};

use crate::scratch::{Scratch, thalweg};

/// The names of the media that were measured over a reach, with their settings.
fn names(calibration: &Calibration, reach: MediumReach) -> Vec<String> {
    let costs = calibration.costs(reach);
    let names = costs.map(|cost| [&*cost.medium, &*cost.settings].join(" "));
    names.map(|name| name.trim_end().to_owned()).collect()
}

/// A pair of hosts that are both this machine, by addresses of its loopback.
#[test]
fn what_is_measured_is_written_and_used() {
    let scratch = Scratch::new();
    let file = scratch.path("cache/costs");
    let file = file.to_str().unwrap();
    let hosts = ["--host", "a=127.0.0.2", "--host", "b=127.0.0.3,env"];
    let run = thalweg(&[&["calibrate", "--quick", "--out", file][..], &hosts].concat());
    let is_possible = !run.stdout.contains("one core");
    let printed = run.ok();
    let text = scratch.read("cache/costs");
    let calibration = Calibration::parse(&text).unwrap();
    assert_eq!(calibration.to_text(), text);
    assert!(calibration.time.ends_with('Z'), "{text}");
    let entries = std::fs::read_dir(scratch.path("cache")).unwrap();
    assert_eq!(entries.count(), 1, "the draft is gone");
    if !is_possible {
        return println!("PASSED OVER: {printed}");
    }
    let within = names(&calibration, MediumReach::WithinHost);
    assert_eq!(within[..5], ["fused", "ring", "shm", "rum", "tcp"]);
    let between = names(&calibration, MediumReach::BetweenHosts);
    assert_eq!(between[..2], ["rum", "tcp"]);
    let modes = ["write", "channel"].map(|mode| format!("rdma provider=tcp mode={mode}"));
    match printed.contains("passed over: rdma") {
        true => assert!(printed.contains("libfabric1"), "{printed}"),
        false => {
            assert!(modes.iter().all(|mode| within.contains(mode)), "{within:?}");
            assert!(
                modes.iter().all(|mode| between.contains(mode)),
                "{between:?}"
            );
        }
    }
    for cost in &calibration.media {
        assert!(cost.tuple_ns(64) > 0.0 && cost.latency_ns > 0.0, "{cost:?}");
        assert!(printed.contains(&cost.medium), "{printed}");
        assert_eq!(cost.noise_percent, None, "one turn has no noise");
    }
    let is_twice = |name: &String| name == "rum-rdma";
    assert!(
        !within.iter().any(is_twice) && !printed.contains("rum-rdma"),
        "{printed}"
    );
    let dump = [
        "dump",
        "--stage",
        "plan",
        "--fuse",
        "none",
        "--calibration",
        file,
    ];
    let dumped = thalweg(&[&dump[..], &["examples/hello/Hello.spl"]].concat());
    // It is of this machine.
    assert_eq!(dumped.stderr, "");
    let plan = dumped.ok();
    assert!(plan.contains(": same host, calibrated: "), "{plan}");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_measured() {
    for (args, status, says) in [
        (
            &["--host", "a=127.0.0.1"][..],
            2,
            "--host is given twice or not at all, not 1 times",
        ),
        (
            &["--host", "a", "--host", "b=127.0.0.1"],
            2,
            "the form NAME=ADDRESS",
        ),
        (&["--turns", "0"], 2, "0 is not in 1..=100"),
        (
            &["--out", "/proc/nothing/costs"],
            1,
            "cannot make the folder /proc/nothing",
        ),
    ] {
        let said = thalweg(&[&["calibrate"], args].concat()).fails(status);
        assert!(said.contains(says), "{args:?}: {said}");
    }
}
