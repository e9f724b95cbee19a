//! The runs of the smx_perf document, in its order, with its command lines but for the counts: what
//! is printed has the same names in the same order, and the numbers that follow from the options
//! are those.

use super::{LAST, Live, config, cpus, names, number, publish, subscribe, topic, values};
use crate::scratch::Scratch;

/// Messages before those that are measured: the document has 10,000, which take a second.
const WARMUP: &str = "20";

/// A publisher's options beside those that all runs share.
struct Task {
    flags: &'static str,
    msg_len: u64,
    rate: u64,
    num_msgs: u64,
}

/// How many messages a subscriber gets, with time stamps, and with a time at which they were due.
struct Expected {
    num_msgs: u64,
    stamped: u64,
    corrected: u64,
}

/// A run with some subscribers.
struct Scenario {
    config: String,
    topic: String,
    cpus: [String; 2],
    subs: Vec<Live>,
    scratch: Scratch,
}

impl Scenario {
    /// Starts so many subscribers; their line of options is checked.
    fn new(subs: usize, sub_args: &[&str]) -> Scenario {
        let scratch = Scratch::new();
        let (config, topic, cpus) = (config(&scratch), topic(), cpus());
        let spins = match sub_args {
            ["-s", spins] => spins,
            _ => "0",
        };
        let fast = u8::from(sub_args == ["-f"]);
        let start = |_| {
            let common = ["-c", &config, "-a", &cpus[0], "-t", &topic];
            let (live, options) = subscribe(&[&common, sub_args].concat());
            let cpu = &cpus[0];
            assert_eq!(
                options,
                format!(
                    "o_affinity_cpu={cpu}, o_config={config}, o_fast={fast}, o_spin_cnt={spins}, \
                     o_topic='{topic}', "
                )
            );
            live
        };
        let subs = (0..subs).map(start).collect();
        Scenario {
            config,
            topic,
            cpus,
            subs,
            scratch,
        }
    }

    /// Publishes and checks all lines of both sides; gives the lines of the first subscriber.
    fn run(&self, task: &Task) -> Vec<String> {
        let Task {
            flags,
            msg_len,
            rate,
            num_msgs,
        } = task;
        let (msg_len, rate, count) = (msg_len.to_string(), rate.to_string(), num_msgs.to_string());
        let (config, topic, cpu) = (&self.config, &self.topic, &self.cpus[1]);
        let common = [
            "-a", cpu, "-c", config, "-l", "10", "-t", topic, "-w", WARMUP,
        ];
        let own = ["-f", flags, "-m", &msg_len, "-r", &rate, "-n", &count];
        let out = publish(&[&common[..], &own].concat()).ok();
        let lines: Vec<_> = out.lines().collect();
        let flags = flags.trim_start_matches("0x");
        assert_eq!(
            lines[0],
            format!(
                "o_affinity_cpu={cpu}, o_config={config}, o_flags=0x0{flags}, o_jitter_loops=0, \
                 o_linger_ms=10, o_msg_len={msg_len}, o_num_msgs={count}, o_rate={rate}, \
                 o_topic='{topic}', o_warmup_loops={WARMUP}, "
            )
        );
        check_rate(lines[1], *num_msgs, task.rate);
        assert_eq!(
            number(lines[2], "+ sender: receivers"),
            self.subs.len() as u64
        );
        let non_blocking = flags == "2" || flags == "3";
        let (waits, refused) = (
            number(lines[2], "full_ring_sends"),
            number(lines[2], "would_block"),
        );
        assert!(
            if non_blocking {
                waits == 0
            } else {
                refused == 0
            },
            "{}",
            lines[2]
        );
        let all: Vec<_> = self.subs.iter().map(|sub| sub.until(LAST)).collect();
        let stamped = flags == "1" || flags == "3";
        // As `docs/perf.md` says when there is a correction.
        let is_kept = 1_000_000_000 / task.rate >= 2 * number(lines[2], "clock_ns");
        let expected = Expected {
            num_msgs: *num_msgs,
            stamped: u64::from(stamped) * num_msgs,
            corrected: u64::from(stamped && is_kept) * num_msgs,
        };
        all.iter().for_each(|lines| self.check(lines, &expected));
        all.into_iter().next().expect("a subscriber")
    }

    /// A subscriber's lines of one publisher.
    fn check(&self, lines: &[String], expected: &Expected) {
        let topic = &self.topic;
        let start = format!("rcv event BOS, topic_name='{topic}', source=");
        let source = lines[0]
            .strip_prefix(&start)
            .and_then(|rest| rest.strip_suffix(", "));
        let source = source.unwrap_or_else(|| panic!("{}", lines[0]));
        assert!(source.starts_with("SHM:"), "{source}");
        let end = &lines[1];
        let received = expected.num_msgs + WARMUP.parse::<u64>().expect("a number");
        let start = format!("rcv event EOS, '{topic}', {source}, num_rcv_msgs={received}, ");
        assert!(end.starts_with(&start), "{end}");
        let rest = names(end).split_off(3);
        let latencies = [
            "num_rcv_msgs",
            "min_latency",
            "max_latency",
            "average latency",
        ];
        assert_eq!(
            rest,
            if expected.stamped > 0 {
                &latencies[..]
            } else {
                &latencies[..1]
            }
        );
        let (waited, found) = (
            number_of(lines, "waited_msgs"),
            number_of(lines, "found_msgs"),
        );
        assert_eq!(waited + found, received);
        let has_latencies = lines.iter().any(|line| line.starts_with("+ latency_ns"));
        assert_eq!(has_latencies, expected.stamped > 0);
        if expected.stamped > 0 {
            check_latencies(lines, expected);
        }
    }
}

/// The line that tells the rate.
fn check_rate(line: &str, num_msgs: u64, rate: u64) {
    assert_eq!(names(line), ["actual_sends", "duration_ns", "result_rate"]);
    assert_eq!(number(line, "actual_sends"), num_msgs);
    let duration_ns = number(line, "duration_ns");
    let result = num_msgs as f64 / (duration_ns as f64 / 1e9);
    assert_eq!(values(line)[2].1, format!("{result:.6}"));
    // The last message is not sent before it is due.
    let least_ns = u128::from(num_msgs - 1) * 1_000_000_000 / u128::from(rate);
    assert!(u128::from(duration_ns) >= least_ns, "{line}");
}

fn check_latencies(lines: &[String], expected: &Expected) {
    let end = &lines[1];
    let [min, max, average] =
        ["min_latency", "max_latency", "average latency"].map(|name| number(end, name));
    assert!(min <= average && average <= max, "{end}");
    let line = |about: &str| {
        lines
            .iter()
            .find(|line| line.starts_with(&format!("+ {about}: ")))
    };
    let all = line("latency_ns").expect("percentiles");
    assert_eq!(
        names(all),
        [
            "+ latency_ns: count",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "p99.99",
            "max"
        ]
    );
    let percentiles = values(all).split_off(1);
    let percentiles: Vec<u64> = percentiles
        .iter()
        .map(|(_, ns)| ns.parse().expect("ns"))
        .collect();
    assert!(percentiles.is_sorted(), "{all}");
    let count =
        |about: &str| line(about).map_or(0, |line| number(line, &format!("+ {about}: count")));
    assert_eq!(
        count("latency_ns"),
        expected.stamped,
        "the warm-up does not count"
    );
    let apart = count("latency_waited_ns") + count("latency_found_ns");
    assert_eq!(apart, expected.stamped);
    assert_eq!(
        count("latency_corrected_ns"),
        expected.corrected,
        "each was due at a time"
    );
}

#[track_caller]
fn number_of(lines: &[String], name: &str) -> u64 {
    number(lines.last().expect("a line"), name)
}

#[test]
fn measure_system_interruptions() {
    let scratch = Scratch::new();
    let (config, topic, [_, cpu]) = (config(&scratch), topic(), cpus());
    let args = [
        "-a", &cpu, "-c", &config, "-f", "0x0", "-r", "100000", "-n", "1000000", "-l", "2000",
    ];
    let out = publish(&[&args[..], &["-t", &topic, "-j", "100000"]].concat()).ok();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(
        lines[0],
        format!(
            "o_affinity_cpu={cpu}, o_config={config}, o_flags=0x00, o_jitter_loops=100000, \
             o_linger_ms=2000, o_msg_len=25, o_num_msgs=1000000, o_rate=100000, o_topic='{topic}', \
             o_warmup_loops=10000, "
        )
    );
    let check = |line: &str, gaps: &str| {
        assert_eq!(names(line), ["ts_min_ns", "ts_max_ns"]);
        assert!(
            number(line, "ts_min_ns") <= number(line, "ts_max_ns"),
            "{line}"
        );
        assert_eq!(number(gaps, "+ gaps_ns: count"), 100_000);
    };
    check(lines[1], lines[2]);
    let own = crate::scratch::thalweg(&["perf", "jitter", "-a", &cpu, "-j", "0x186a0"]).ok();
    let own: Vec<_> = own.lines().collect();
    check(own[0], own[1]);
}

#[test]
fn measure_maximum_sustainable_message_rate() {
    let scenario = Scenario::new(1, &["-f"]);
    // The table's sizes, one after the other to one subscriber.
    for msg_len in [25, 64, 65, 100, 112, 113, 128, 129, 200, 500, 1500] {
        scenario.run(&Task {
            flags: "0x0",
            msg_len,
            rate: 999_999_999,
            num_msgs: 20_000,
        });
    }
}

#[test]
fn receiver_workload_and_slow_receiver() {
    for (spins, msg_len, num_msgs) in [("4", 64, 50_000), ("10000", 128, 2000)] {
        let scenario = Scenario::new(1, &["-s", spins]);
        scenario.run(&Task {
            flags: "0x0",
            msg_len,
            rate: 999_999_999,
            num_msgs,
        });
    }
}

#[test]
fn measure_latency() {
    let scenario = Scenario::new(1, &[]);
    for msg_len in [100, 500, 1500] {
        for rate in [250_000, 1_000_000, 5_000_000, 10_000_000] {
            scenario.run(&Task {
                flags: "0x3",
                msg_len,
                rate,
                num_msgs: 5000,
            });
        }
    }
}

#[test]
fn a_stamp_without_a_pace_that_can_be_kept_has_no_correction() {
    let scenario = Scenario::new(1, &[]);
    let (topic, cpu) = (&scenario.topic, &scenario.cpus[1]);
    let args = [
        "-a",
        cpu,
        "-t",
        topic,
        "-f",
        "1",
        "-r",
        "999999999",
        "-n",
        "100",
        "-w",
        "0",
    ];
    publish(&[&args[..], &["-l", "0"]].concat()).ok();
    let lines = scenario.subs[0].until(LAST);
    let has = |about: &str| lines.iter().any(|line| line.starts_with(about));
    assert!(
        has("+ latency_ns: count=100, ") && !has("+ latency_corrected_ns"),
        "{lines:?}"
    );
}

#[test]
fn other_interesting_measurements() {
    let task = |flags| Task {
        flags,
        msg_len: 100,
        rate: 1_000_000,
        num_msgs: 10_000,
    };
    // The generic API, blocking, with stamps and without, and two and three subscribers.
    let scenario = Scenario::new(1, &["-f"]);
    scenario.run(&task("0x4"));
    for subs in [2, 3] {
        let fast = Scenario::new(subs, &["-f"]);
        fast.run(&task("0x0"));
        let slow = Scenario::new(subs, &[]);
        slow.run(&task("0x1"));
    }
}

#[test]
fn a_full_ring_is_counted_by_whoever_does_not_wait() {
    let scenario = Scenario::new(1, &["-s", "2000"]);
    let small = scenario.scratch.write("small.cfg", "ring_bytes = 4096");
    let small = small.to_str().expect("a plain path");
    let (topic, cpu) = (&scenario.topic, &scenario.cpus[1]);
    for (flags, counts) in [
        ("2", "would_block"),
        ("6", "would_block"),
        ("0", "full_ring_sends"),
    ] {
        // The last file counts.
        let files = ["-c", &scenario.config, "-c", small];
        let args = [
            "-a",
            cpu,
            "-t",
            topic,
            "-f",
            flags,
            "-r",
            "999999999",
            "-n",
            "2000",
            "-w",
            "5",
        ];
        let out = publish(&[&files[..], &args, &["-l", "0"]].concat()).ok();
        let lines: Vec<_> = out.lines().collect();
        assert!(
            lines[0].contains(&format!("o_config={small}, ")),
            "{}",
            lines[0]
        );
        check_rate(lines[1], 2000, 999_999_999);
        assert!(number(lines[2], counts) > 0, "{}", lines[2]);
        let lines = scenario.subs[0].until(LAST);
        assert!(lines[1].contains("num_rcv_msgs=2005, "), "{}", lines[1]);
    }
}
