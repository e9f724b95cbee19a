//! The table: Thalweg beside each peer, a line per size.

use std::time::Duration;

use measure::{LatencyPercentiles, Outcome};

use crate::peer_comparison::{MEDIUM_BENCH, PROGRAM_BENCH, RecordContext};

/// The lines above the table: conventions and column heads.
pub fn table_head() -> String {
    format!(
        "throughput in million messages a second, latency one way in nanoseconds (median, 99th); a \
         ratio above 1: Thalweg is faster\n\
         {:<18} {:<9} {:>8} {:>16} {:>16} {:>7} {:>16} {:>7}\n",
        "peer", "path", "bytes", "peer", "Thalweg program", "ratio", "its medium", "ratio"
    )
}

/// The line of one peer at one size, from the records of both of Thalweg's contenders; or the
/// reason why there is none.
pub fn table_line(outcomes: &[Outcome]) -> String {
    let of = |bench: &str| outcomes.iter().find(|outcome| outcome.bench == bench);
    let Some(program) = of(PROGRAM_BENCH) else {
        return String::new();
    };
    let name = program.peer.as_deref().unwrap_or("?");
    let start = format!("{name:<18} {:<9}", program.path);
    if let Some(why) = &program.unavailable {
        return format!("{start} not measured: {why}\n");
    }
    let medium = of(MEDIUM_BENCH);
    let bytes = program.size_bytes.unwrap_or_default();
    let own = |outcome: Option<&Outcome>| {
        let outcome = outcome?;
        figure(outcome.tuples_per_s, outcome.latency_ns)
    };
    let peer = figure(program.control_tuples_per_s, program.control_latency_ns);
    format!(
        "{start} {bytes:>8} {:>16} {:>16} {:>7} {:>16} {:>7}\n",
        or_dash(peer),
        or_dash(own(Some(program))),
        or_dash(program.ratio.map(ratio)),
        or_dash(own(medium)),
        or_dash(medium.and_then(|medium| medium.ratio).map(ratio)),
    )
}

/// The lines below the table: machine, commit, and how long measuring took.
pub fn table_foot(context: &RecordContext, took: Duration) -> String {
    let host = &context.host;
    let gaps = host
        .jitter_ns
        .map(|ns| format!(", gaps of up to {} µs", ns / 1000));
    format!(
        "{}, {} cores, Linux {}, huge pages {}{}; commit {}; measured in {} min {} s\n",
        host.processor,
        host.cores,
        host.kernel,
        host.huge_pages,
        gaps.unwrap_or_default(),
        context.commit.as_deref().unwrap_or("unknown"),
        took.as_secs() / 60,
        took.as_secs() % 60,
    )
}

fn figure(rate: Option<f64>, latency: Option<LatencyPercentiles>) -> Option<String> {
    let rate = rate.map(|rate| format!("{:.2} M/s", rate / 1e6));
    rate.or_else(|| latency.map(|times| format!("{} / {} ns", times.p50, times.p99)))
}

fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(bench: &str) -> Outcome {
        Outcome {
            bench: bench.to_owned(),
            path: "shm".to_owned(),
            peer: Some("pigeon".to_owned()),
            size_bytes: Some(64),
            ..Outcome::default()
        }
    }

    #[test]
    fn lines_stand_below_their_heads() {
        let program = Outcome {
            tuples_per_s: Some(141e6),
            control_tuples_per_s: Some(47e6),
            ratio: Some(3.0),
            ..outcome(PROGRAM_BENCH)
        };
        let medium = Outcome {
            tuples_per_s: Some(94e6),
            ratio: Some(2.0),
            ..outcome(MEDIUM_BENCH)
        };
        let line = table_line(&[program, medium]);
        let words: Vec<&str> = line.split_whitespace().collect();
        let expected = [
            "pigeon", "shm", "64", "47.00", "M/s", "141.00", "M/s", "3.00", "94.00", "M/s", "2.00",
        ];
        assert_eq!(words, expected);
        let head = table_head();
        let columns = head.lines().last().unwrap();
        assert_eq!(columns.len(), line.trim_end().len());
    }

    #[test]
    fn the_foot_says_where_and_how_long() {
        let mut context = RecordContext::default();
        context.host.cores = 2;
        let foot = table_foot(&context, Duration::from_secs(125));
        assert!(foot.contains("2 cores"), "{foot}");
        assert!(foot.contains("commit unknown"), "{foot}");
        assert!(foot.ends_with("measured in 2 min 5 s\n"), "{foot}");
    }

    #[test]
    fn latencies_and_reasons_have_lines_too() {
        let times = |p50| LatencyPercentiles {
            p50,
            p99: 2 * p50,
            ..LatencyPercentiles::default()
        };
        let timed = Outcome {
            latency_ns: Some(times(300)),
            control_latency_ns: Some(times(600)),
            ratio: Some(2.0),
            ..outcome(PROGRAM_BENCH)
        };
        let line_of_times = table_line(&[timed]);
        assert!(line_of_times.contains("600 / 1200 ns"), "{line_of_times}");
        assert!(line_of_times.contains("300 / 600 ns"), "{line_of_times}");
        let missing = Outcome {
            unavailable: Some("it has flown".to_owned()),
            ..outcome(PROGRAM_BENCH)
        };
        assert!(table_line(&[missing]).contains("not measured: it has flown"));
    }
}
