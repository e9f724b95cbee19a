//! Plans of `--fuse cola`: the options, what is said of estimates and of wrong profiles, and the
//! sentences of `thalweg plan`.

use crate::scratch::{Run, Scratch, thalweg};

const HELLO: &str = "examples/hello/Hello.spl";

/// A profile of the program Hello in which both operators take so many nanoseconds.
fn profile(tuple_ns: u64) -> String {
    let operator = |name: &str, kind: &str| {
        let cpu_ns = tuple_ns * 1000;
        format!("operator {name} kind {kind} tuples 1000 cpu_ns {cpu_ns} state_bytes 0\n")
    };
    format!(
        "thalweg profile 1\nprogram Hello\nprocessor Slide Rule\ncores 3\nruns 1\nseconds 10\n{}{}\
         stream Greetings.0 tuples 1000 bytes 32000 peak_per_second 400\n",
        operator("Greetings", "Beacon"),
        operator("Printer", "Custom")
    )
}

/// A calibration with a queue and shared memory of so many nanoseconds.
const COSTS: &str = "thalweg calibration 1\ntime 2026-11-24T15:04:05Z\nprocessor Slide Rule\n\
                     cores 3\n\
                     within fused tuple_ns 0 byte_ns 0 latency_ns 9 error_percent 1\n\
                     within ring tuple_ns 50 byte_ns 0 latency_ns 9000 error_percent 1\n\
                     within shm tuple_ns 20 byte_ns 0 latency_ns 9000 error_percent 1\n";

fn dump(options: &[&str]) -> Run {
    thalweg(
        &[
            &["dump", "--stage", "plan", "--fuse", "cola", HELLO],
            options,
        ]
        .concat(),
    )
}

/// The processes of a plan: the names of each one's operators.
fn processes(plan: &str) -> Vec<&str> {
    let lines = plan.lines().map(str::trim);
    lines
        .filter_map(|line| line.strip_prefix("operators "))
        .collect()
}

#[test]
fn a_plan_without_a_profile_is_an_estimate_and_says_so() {
    let run = dump(&["--pin", "0"]);
    let note = "note: without a profile the costs of operators are estimated from their kinds and \
                expressions; `--use-profile` takes those that a run has shown\n";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert_eq!(processes(&run.ok()), ["Greetings Printer"]);
}

#[test]
fn the_profile_and_the_calibration_decide() {
    let scratch = Scratch::new();
    let costs = scratch.write("costs", COSTS);
    let plan_at = |tuple_ns, more: &[&str]| {
        let file = scratch.write("profile", profile(tuple_ns));
        let own = ["--use-profile", file.to_str().unwrap(), "--calibration"];
        let run = dump(&[&own[..], &[costs.to_str().unwrap()], more].concat());
        let note = ": the profile is of another machine (Slide Rule, 3 cores), and this one has ";
        assert!(run.stderr.contains(note), "{}", run.stderr);
        run.ok()
    };
    // On two cores an operator that takes more than its crossing is worth a process.
    let plan = plan_at(1000, &["--pin", "0,1"]);
    assert_eq!(processes(&plan), ["Greetings", "Printer"], "{plan}");
    let plan = plan_at(10, &["--pin", "0,1"]);
    assert_eq!(processes(&plan), ["Greetings Printer"], "{plan}");
    let plan = plan_at(1000, &["--pin", "0"]);
    assert_eq!(processes(&plan), ["Greetings Printer"], "{plan}");
    let plan = plan_at(1000, &["--pin", "0,1", "--goal", "cores"]);
    assert_eq!(processes(&plan), ["Greetings Printer"], "{plan}");
}

#[test]
fn a_plan_of_the_optimiser_runs() {
    let scratch = Scratch::new();
    let file = scratch.write("profile", profile(100_000));
    let plan = dump(&["--use-profile", file.to_str().unwrap(), "--pin", "0,1"]).ok();
    assert_eq!(processes(&plan).len(), 2, "{plan}");
    let file = scratch.write(
        "plan",
        plan.replace("  cores 0\n", "").replace("  cores 1\n", ""),
    );
    let said = thalweg(&["run", "--fuse", file.to_str().unwrap(), HELLO]).ok();
    assert_eq!(said, thalweg(&["run", "--fuse", "cola", HELLO]).ok());
    assert!(said.contains("hello, world 4"), "{said}");
}

#[test]
fn options_of_the_optimiser_are_for_it_alone() {
    let run = thalweg(&["dump", "--stage", "plan", "--goal", "latency", HELLO]);
    let said = run.fails(2);
    assert_eq!(
        said,
        "thalweg: --goal has an effect with `--fuse cola` only\n"
    );
    let said = thalweg(&["plan", "explain", "--fuse", "all", HELLO]).fails(2);
    let why = "`thalweg plan` is about plans of `--fuse cola`; leave --fuse out";
    assert!(said.contains(why), "{said}");
}

#[test]
fn wrong_profiles_are_told_with_their_place() {
    let scratch = Scratch::new();
    let missing = scratch.path("missing");
    let missing = missing.to_str().unwrap();
    let said = dump(&["--use-profile", missing]).fails(2);
    assert!(said.contains(&format!("cannot read {missing}: ")), "{said}");
    let garbled = profile(10).replace("tuples 1000 bytes", "tuples many bytes");
    let file = scratch.write("garbled", garbled);
    let file = file.to_str().unwrap();
    let said = dump(&["--use-profile", file]).fails(1);
    let place = format!("{file}:9:27: `many` is no whole number of 0 or more\n");
    assert!(said.ends_with(&place), "{said}");
    let file = scratch.write("calibration", COSTS);
    let said = dump(&["--use-profile", file.to_str().unwrap()]).fails(1);
    let why = "this is no profile: it does not begin with `thalweg profile`";
    assert!(said.contains(why), "{said}");
    let other = profile(10)
        .replace("program Hello", "program Vwap")
        .replace("Printer", "Sums");
    let file = scratch.write("other", other);
    let run = dump(&["--use-profile", file.to_str().unwrap()]);
    for note in [
        "note: the profile is of the program `Vwap`, not of `Hello`; ",
        "note: the profile has no line for `Printer`: estimated from operators of their kinds\n",
        "note: the program has no operator `Sums`, which the profile has (1 such lines)\n",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
}

#[test]
fn a_plan_is_explained_in_sentences() {
    let scratch = Scratch::new();
    let (costs, file) = (
        scratch.write("costs", COSTS),
        scratch.write("profile", profile(1000)),
    );
    let files = [
        "--calibration",
        costs.to_str().unwrap(),
        "--use-profile",
        file.to_str().unwrap(),
    ];
    let explain = ["plan", "explain", HELLO, "--pin", "0,1"];
    let said = thalweg(&[&explain[..], &files].concat()).ok();
    for sentence in [
        "The plan has 2 processes, 0 queues and 2 threads; it is predicted to carry 980392 source \
         tuples a second, with 2040.0 ns of processor time for each, and ",
        "All operators in one process would carry 500000 source tuples a second.\n",
        "The bottleneck is the thread `source Greetings` of pe 0: 1020.0 ns for each source tuple, \
         of which 20.0 ns are queues and crossings; its operators are led by `Greetings` 1000.0 \
         ns.\n",
        "With 3 cores a host the best plan found would carry 980392 source tuples a second (no \
         change).\n",
        "An exact search has found no plan with more throughput.\n",
        "`Printer` is in pe 1 (1000.0 ns for each source tuple, by the profile): in pe 0 the plan \
         would carry 500000 source tuples a second (-49.0 %).\n",
    ] {
        assert!(said.contains(sentence), "{sentence}\n{said}");
    }
}

#[test]
fn two_plans_are_compared_by_their_predictions() {
    let scratch = Scratch::new();
    let one = scratch.write("one", "pe 0\n  operators *\n");
    let two = scratch.write(
        "two",
        "pe 0\n  operators Greetings\npe 1\n  operators Printer\n",
    );
    let (costs, file) = (
        scratch.write("costs", COSTS),
        scratch.write("profile", profile(1000)),
    );
    let files = [one.to_str().unwrap(), two.to_str().unwrap(), HELLO];
    let options = [
        "--pin",
        "0,1",
        "--calibration",
        costs.to_str().unwrap(),
        "--use-profile",
        file.to_str().unwrap(),
    ];
    let said = thalweg(&[&["plan", "compare"], &files[..], &options].concat()).ok();
    let [one, two, _] = files;
    let expected = format!(
        "{one}: 500000 source tuples a second, 2000.0 ns of processor time for each, 1 threads\n\
         {two}: 980392 source tuples a second, 2040.0 ns of processor time for each, 2 threads\n\
         {two} is predicted to carry 1.96 times as much.\n"
    );
    assert_eq!(said, expected);
}
