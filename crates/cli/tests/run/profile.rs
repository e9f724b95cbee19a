//! Profiles that `thalweg run --profile` writes, and `thalweg profile merge`.

use std::path::Path;

use crate::scratch::{Scratch, thalweg};

/// A source, a cheap filter, an operator with almost all of the work, and a sink.
const PROGRAM: &str = r#"
composite Loads {
    param
        expression<uint32> $n : (uint32) getSubmissionTimeValue("n", "200000");
    graph
        stream<uint64 n, float64 x> Numbers = Beacon() {
            param iterations : $n;
            output Numbers : n = IterationCount(), x = (float64) IterationCount();
        }
        stream<Numbers> Most = Filter(Numbers) { param filter : n % 4ul != 0ul; }
        stream<uint64 n, float64 y> Waves = Custom(Most) {
            logic onTuple Most : {
                mutable float64 y = x;
                for (int32 i in range(20)) { y = sin(y + (float64) i); }
                submit({ n = n, y = y }, Waves);
            }
        }
        () as Sink = Custom(Waves) {
            logic
                state : mutable float64 sum = 0.0;
                onTuple Waves : sum += y;
                onPunct Waves : if (currentPunct() == Sys.FinalMarker) { println(sum); }
        }
}
"#;

/// Tuples of the source, enough for some hundred samples.
const TUPLES: u64 = 200_000;

/// Numbers behind their names in the line that begins with these words.
fn numbers(profile: &str, line: &str) -> Vec<(String, u64)> {
    let found = profile
        .lines()
        .find(|text| text.starts_with(&format!("{line} ")));
    let found = found.unwrap_or_else(|| panic!("no line `{line}` in\n{profile}"));
    let words: Vec<&str> = found.split_whitespace().collect();
    let pairs = words.windows(2);
    let pairs = pairs.filter_map(|pair| Some((pair[0].to_owned(), pair[1].parse().ok()?)));
    pairs.collect()
}

fn number(profile: &str, line: &str, name: &str) -> u64 {
    let numbers = numbers(profile, line);
    let found = numbers.iter().find(|(known, _)| known == name);
    found
        .unwrap_or_else(|| panic!("no `{name}` of `{line}` in\n{profile}"))
        .1
}

/// Runs the program with these options, and returns its profile; what it prints stays the same.
fn profiled(scratch: &Scratch, options: &[&str], tuples: u64) -> String {
    let file = scratch.write("Loads.spl", PROGRAM);
    let profile = scratch.path("profile");
    let (file, out) = (file.to_str().unwrap(), profile.to_str().unwrap());
    let count = format!("n={tuples}");
    let plain = thalweg(&["run", file, &count]).ok();
    let run = ["run", "--profile", out, "--profile-sample", "1"];
    let printed = thalweg(&[&run[..], options, &[file, &count]].concat()).ok();
    assert_eq!(printed, plain);
    std::fs::read_to_string(profile).unwrap()
}

fn assert_counts(profile: &str, tuples: u64) {
    let most = tuples / 4 * 3;
    assert_eq!(
        number(profile, "operator Numbers kind Beacon", "tuples"),
        tuples
    );
    assert_eq!(
        number(profile, "operator Most kind Filter", "tuples"),
        tuples
    );
    assert_eq!(
        number(profile, "operator Waves kind Custom", "tuples"),
        most
    );
    assert_eq!(number(profile, "stream Most.0", "tuples"), most);
    assert_eq!(number(profile, "stream Most.0", "bytes"), most * 16);
    let seconds = profile
        .lines()
        .find_map(|line| line.strip_prefix("seconds "));
    let seconds: f64 = seconds.unwrap().parse().unwrap();
    // The busiest interval has at least the mean, but for what rounding takes.
    let mean = (most as f64 / seconds) as u64;
    assert!(number(profile, "stream Most.0", "peak_per_second") >= mean * 9 / 10);
}

/// The operator with the work has by far the most processor time of all.
fn assert_work_is_found(profile: &str) {
    let operators = ["Numbers", "Most", "Waves", "Sink"];
    let time = |name: &str| number(profile, &format!("operator {name}"), "cpu_ns");
    let all: u64 = operators.iter().map(|name| time(name)).sum();
    assert!(time("Waves") * 10 > all * 8, "{profile}");
}

#[test]
fn a_fused_chain_is_taken_apart() {
    let profile = profiled(&Scratch::new(), &[], TUPLES);
    assert_counts(&profile, TUPLES);
    assert_work_is_found(&profile);
    assert!(number(&profile, "thread 0.0", "busy_ns") > 0);
}

#[test]
fn interpreted_operators_are_told_apart() {
    let profile = profiled(&Scratch::new(), &["--interpret"], 8_000);
    assert_counts(&profile, 8_000);
    let time = |name: &str| number(&profile, &format!("operator {name}"), "cpu_ns");
    assert!(time("Waves") > time("Most"), "{profile}");
}

#[test]
fn processes_have_crossings_and_threads_of_their_own() {
    let profile = profiled(&Scratch::new(), &["--fuse", "none", "-F", "shm"], TUPLES);
    assert_counts(&profile, TUPLES);
    assert_work_is_found(&profile);
    // The window marker and the final one are frames, too.
    let frames = number(&profile, "crossing Most.0 medium shm", "frames");
    assert_eq!(frames, TUPLES / 4 * 3 + 2);
    for pe in 0..4 {
        numbers(&profile, &format!("thread {pe}.0"));
    }
    assert!(profile.contains("\nruns 1\n"), "{profile}");
}

#[test]
fn queues_of_threaded_ports_have_their_waits() {
    let profile = profiled(&Scratch::new(), &["--threading", "dedicated"], TUPLES);
    assert_counts(&profile, TUPLES);
    assert_work_is_found(&profile);
    // The consumer is slower than the producer, but waits for the first tuple. How long each waits
    // depends on what else runs on the machine.
    let queue = "queue Waves.0";
    assert_eq!(number(&profile, queue, "tuples"), TUPLES / 4 * 3);
    for wait in ["full_ns", "empty_ns"] {
        assert!(number(&profile, queue, wait) > 0, "{profile}");
    }
}

#[test]
fn threads_of_a_pool_are_sampled_region_by_region() {
    let profile = profiled(&Scratch::new(), &["--threading", "dynamic"], TUPLES);
    assert_counts(&profile, TUPLES);
    assert_work_is_found(&profile);
}

fn merge(files: &[&Path]) -> crate::scratch::Run {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    thalweg(&[&["profile", "merge"], &files[..]].concat())
}

#[test]
fn profiles_merge_or_it_is_said_why_not() {
    let scratch = Scratch::new();
    let profile = profiled(&scratch, &[], 8_000);
    let [one, other, broken] = ["one", "other", "broken"].map(|name| scratch.path(name));
    std::fs::write(&one, &profile).unwrap();
    let sum = merge(&[&one, &one]).ok();
    assert_eq!(number(&sum, "operator Waves", "tuples"), 12_000);
    assert!(sum.contains("\nruns 2\n"), "{sum}");
    let out = scratch.path("sum");
    let files = [one.to_str().unwrap(), one.to_str().unwrap()];
    let to = ["--out", out.to_str().unwrap()];
    thalweg(&[&["profile", "merge"], &files[..], &to].concat()).ok();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), sum);

    std::fs::write(&other, profile.replace("program Loads", "program Other")).unwrap();
    let message = merge(&[&one, &other]).fails(1);
    assert!(
        message.contains("the profiles are of two programs, `Loads` and `Other`"),
        "{message}"
    );
    std::fs::write(&broken, profile.replace("cpu_ns ", "cpu_ns -")).unwrap();
    let message = merge(&[&broken]).fails(1);
    assert!(
        message.contains("is no whole number of 0 or more"),
        "{message}"
    );
    assert!(message.contains("broken:8:"), "{message}");
}

#[test]
fn a_profile_that_cannot_be_written_is_found_before_the_run() {
    let scratch = Scratch::new();
    let file = scratch.write("Loads.spl", PROGRAM);
    let out = scratch.path("no/such/folder");
    let args = [
        "run",
        "--profile",
        out.to_str().unwrap(),
        file.to_str().unwrap(),
    ];
    let run = thalweg(&args);
    assert_eq!(run.stdout, "");
    let message = run.fails(1);
    let expected = format!("cannot write {}: No such file or directory", out.display());
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn options_that_cannot_be_are_refused() {
    for rate in ["0", "1.5", "-1", "often", "nan"] {
        let rate = format!("--profile-sample={rate}");
        let message = thalweg(&["run", "--profile", "p", &rate, "examples/hello/Hello.spl"]);
        let message = message.fails(2);
        assert!(
            message.contains("right would be a number above 0 and at most 1"),
            "{message}"
        );
    }
    let alone = thalweg(&["run", "--profile-sample=0.1", "examples/hello/Hello.spl"]).fails(2);
    assert!(alone.contains("--profile <FILE>"), "{alone}");
}

#[test]
fn a_job_that_fails_writes_no_profile_and_leaves_nothing() {
    let scratch = Scratch::new();
    let program = PROGRAM.replace("sum += y", "assert(n < 10ul)");
    let file = scratch.write("Loads.spl", program);
    let out = scratch.path("profile");
    let args = [
        "run",
        "--profile",
        out.to_str().unwrap(),
        file.to_str().unwrap(),
    ];
    thalweg(&args).fails(1);
    let files = std::fs::read_dir(out.parent().unwrap()).unwrap().flatten();
    let files: Vec<_> = files.map(|entry| entry.file_name()).collect();
    assert_eq!(files, ["Loads.spl"]);
}
