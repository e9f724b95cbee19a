//! The text of profiles, mistakes in it, and merging.

use thalweg_planner::{MeasurementError, Profile};

const TEXT: &str = "thalweg profile 1
# Written by `thalweg run --profile`; docs/profiles.md says what the numbers mean.
program Vwap
processor Some CPU @ 3.60GHz
cores 2
runs 1
seconds 2.5
operator Trades kind Filter tuples 1000 cpu_ns 4200 state_bytes 16
operator Sums kind Aggregate tuples 700 cpu_ns 70000 state_bytes 4096
stream Trades.0 tuples 700 bytes 33600 peak_per_second 560
crossing Trades.0 medium shm frames 700 bytes 39200 send_ns 2400 receive_ns 3100
queue Sums.0 tuples 700 full_ns 10 empty_ns 120000
thread 0.1 busy_ns 4000000 polling_ns 300000
";

fn profile() -> Profile {
    Profile::parse(TEXT).unwrap()
}

/// The mistake in the text with one piece of it replaced.
fn mistake(piece: &str, by: &str) -> String {
    assert!(TEXT.contains(piece), "{piece}");
    let result: Result<Profile, MeasurementError> = Profile::parse(&TEXT.replacen(piece, by, 1));
    result.unwrap_err().to_string()
}

#[test]
fn text_is_read_back_as_it_was_written() {
    assert_eq!(profile().to_text(), TEXT);
    assert_eq!(Profile::parse(&profile().to_text()).unwrap(), profile());
}

#[test]
fn numbers_are_those_of_a_tuple() {
    let profile = profile();
    let trades = profile.operator("Trades").unwrap();
    assert_eq!(trades.tuple_ns(), Some(4.2));
    let stream = profile.stream("Trades", 0).unwrap();
    assert_eq!(stream.tuple_bytes(), Some(48.0));
    assert_eq!(stream.burstiness(profile.seconds), Some(2.0));
    assert_eq!(stream.burstiness(0.0), None);
    assert!(profile.operator("Nobody").is_none());
    assert!(profile.stream("Trades", 1).is_none());
}

/// A piece of the text, another one in its place, and the mistake.
const MISTAKES: [(&str, &str, &str); 13] = [
    (
        "thalweg profile",
        "hello",
        "1:1: this is no profile: it does not begin with `thalweg profile`",
    ),
    (
        "profile 1",
        "profile 2",
        "1:17: this is version `2` of the format, and version 1 is read; `thalweg run \
             --profile` writes the file anew",
    ),
    (
        "operator Trades",
        "operater Trades",
        "8:1: `operater` is no first word of a line; did you mean `operator`?",
    ),
    (
        "cpu_ns 4200",
        "cpu_ns -4200",
        "8:48: `-4200` is no whole number of 0 or more",
    ),
    (
        "cpu_ns 4200",
        "cpu_ms 4200",
        "8:41: `cpu_ms` is no number of an operator; did you mean `cpu_ns`?",
    ),
    (
        "cpu_ns 4200",
        "cpu_ns 6250000001",
        "8:10: `Trades` cannot have taken 6250000001 ns of processor time: 2 cores have no \
             more than that in 2.5 s",
    ),
    (
        " state_bytes 16",
        "",
        "8:52: `state_bytes` of Trades is missing here",
    ),
    (
        "operator Sums",
        "operator Trades",
        "9:1: there is a line `operator Trades` already",
    ),
    (
        "stream Trades.0",
        "stream Trades",
        "10:8: `Trades` is no port; right would be the operator's name, a dot and the port's \
             number, as in `Trades.0`",
    ),
    (
        "medium shm",
        "shm",
        "11:19: `shm` stands where `medium` was expected",
    ),
    ("runs 1", "runs 0", "6:6: `0` is no number of runs"),
    (
        "seconds 2.5",
        "seconds inf",
        "7:9: `inf` is no number of 0 or more",
    ),
    (
        "seconds 2.5\n",
        "",
        "13:1: the file ends without a line `seconds`",
    ),
];

#[test]
fn a_mistake_is_said_with_its_place() {
    for (piece, by, expected) in MISTAKES {
        assert_eq!(mistake(piece, by), expected);
    }
}

#[test]
fn merging_adds_and_keeps_what_one_has() {
    let mut sum = profile();
    let mut other = profile();
    other.operators.remove(0);
    other.operators[0].state_bytes = 8192;
    other.streams[0].operator = "Quotes".to_owned();
    sum.merge(&other).unwrap();
    assert_eq!((sum.runs, sum.seconds), (2, 5.0));
    assert_eq!(sum.operator("Trades").unwrap().cpu_ns, 4200);
    let sums = sum.operator("Sums").unwrap();
    assert_eq!(
        (sums.tuples, sums.cpu_ns, sums.state_bytes),
        (1400, 140_000, 8192)
    );
    assert_eq!(sum.stream("Quotes", 0).unwrap().tuples, 700);
    assert_eq!(sum.crossings[0].receive_ns, 6200);
    assert_eq!(sum.queues[0].empty_ns, 240_000);
    assert_eq!(sum.threads[0].busy_ns, 8_000_000);
}

#[test]
fn profiles_that_do_not_add_up_are_refused() {
    let mut other = profile();
    other.program = "Hello".to_owned();
    let error = profile().merge(&other).unwrap_err();
    assert_eq!(
        error.message,
        "the profiles are of two programs, `Vwap` and `Hello`"
    );
    let mut other = profile();
    other.cores = 8;
    let error = profile().merge(&other).unwrap_err().to_string();
    assert_eq!(
        error,
        "the profiles are of two machines (Some CPU @ 3.60GHz, 2 cores; Some CPU @ 3.60GHz, 8 \
         cores), whose times do not add up"
    );
}
