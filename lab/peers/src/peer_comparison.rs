//! A peer beside Thalweg, by turns: medians, and the median of neighbours' ratios.
//!
//! ```text
//!   turn 1   peer, program, medium
//!   turn 2   peer, program, medium         each as long as the others, not as many messages
//!   ...
//! ```
//! On a busy machine neighbouring turns are slow together or fast together. So each turn of Thalweg
//! is compared with the peer's turn beside it, and the median of these ratios is the result.

use measure::{Host, LatencyHistogram, Outcome};
use suite::{StreamPath, median};

use crate::contender::{Contender, RunTurn};
use crate::own_contenders::OwnContender;
use crate::peer::BuiltInPeer;
use crate::{BoxError, PeerQuestion, turn_output};

/// Number, length and sizes of the turns.
#[derive(Clone, Debug)]
pub struct ComparisonSettings {
    /// Number of turns of each contender.
    pub turns: u32,
    /// Seconds that a turn of throughput takes, about.
    pub seconds: f64,
    /// Message sizes to measure, in bytes.
    pub sizes: Vec<usize>,
    /// Number of messages of a turn of latency.
    pub trips: u64,
}

/// Bytes of a message whose latency is measured.
pub const LATENCY_BYTES: usize = 64;

/// The fields that all records of a session have in common.
#[derive(Clone, Debug, Default)]
pub struct RecordContext {
    /// Machine that is measured on.
    pub host: Host,
    /// Commit of this build.
    pub commit: Option<String>,
    /// Options of the user's command.
    pub options: Option<String>,
}

/// The benchmark's name in records whose contender is an SPL program.
pub const PROGRAM_BENCH: &str = "peers";
/// The benchmark's name in records whose contender is a bare medium.
pub const MEDIUM_BENCH: &str = "peers-medium";

/// Compares a peer with both contenders of Thalweg at one size. Gives a record for each; if the
/// peer fails, one record that says why.
pub fn compare_peer(
    peer: &BuiltInPeer,
    question: PeerQuestion,
    bytes: usize,
    settings: &ComparisonSettings,
    context: &RecordContext,
    turn_runner: &dyn RunTurn,
) -> Vec<Outcome> {
    let contest = PeerComparison {
        peer,
        question,
        bytes,
        settings,
        turn_runner,
    };
    let results = match question {
        PeerQuestion::Throughput => contest.throughput(),
        PeerQuestion::Latency => contest.latency(),
    };
    let results = results.unwrap_or_else(|failure| {
        let unavailable = Some(failure.to_string());
        vec![Outcome {
            bench: PROGRAM_BENCH.to_owned(),
            unavailable,
            ..Outcome::default()
        }]
    });
    let finish = |outcome| Outcome {
        path: peer.path.to_string(),
        codec: record_codec(&outcome, peer.path),
        size_bytes: Some(bytes as u64),
        receivers: Some(1),
        control: Some(format!(
            "{} {}: {}",
            peer.name,
            (peer.version)(),
            peer.settings
        )),
        peer: Some(peer.name.to_owned()),
        runs: settings.turns,
        ..with_context(outcome, context)
    };
    results.into_iter().map(finish).collect()
}

/// The record of a peer that cannot run here.
pub fn unavailable_record(
    name: &str,
    path: StreamPath,
    why: &str,
    context: &RecordContext,
) -> Outcome {
    let outcome = Outcome {
        bench: PROGRAM_BENCH.to_owned(),
        path: path.to_string(),
        peer: Some(name.to_owned()),
        unavailable: Some(why.to_owned()),
        ..Outcome::default()
    };
    with_context(outcome, context)
}

fn with_context(outcome: Outcome, context: &RecordContext) -> Outcome {
    Outcome {
        host: context.host.clone(),
        commit: context.commit.clone(),
        options: context.options.clone(),
        ..outcome
    }
}

/// The codec of a record: programs have one on paths that leave a process, bare media have none.
fn record_codec(outcome: &Outcome, path: StreamPath) -> Option<String> {
    let crosses = outcome.bench == PROGRAM_BENCH && path != StreamPath::Threaded;
    crosses.then(|| "facade".to_owned())
}

/// One question about one peer at one size.
struct PeerComparison<'a> {
    peer: &'a BuiltInPeer,
    question: PeerQuestion,
    bytes: usize,
    settings: &'a ComparisonSettings,
    turn_runner: &'a dyn RunTurn,
}

impl PeerComparison<'_> {
    /// The peer, then Thalweg's contenders.
    fn contenders(&self) -> [Contender; 3] {
        let [program, medium] = OwnContender::ALL.map(|ours| Contender::Own(ours, self.peer.path));
        [Contender::Peer(*self.peer), program, medium]
    }

    fn throughput(&self) -> Result<Vec<Outcome>, BoxError> {
        let contenders = self.contenders();
        let mut messages = [0; 3];
        for (messages, contender) in messages.iter_mut().zip(&contenders) {
            *messages = self.calibrate_messages(contender)?;
        }
        let mut rates = [const { Vec::new() }; 3];
        for _ in 0..self.settings.turns {
            for ((rates, contender), &messages) in rates.iter_mut().zip(&contenders).zip(&messages)
            {
                rates.push(self.messages_per_s(contender, messages)?);
            }
        }
        let [peer, program, medium] = rates;
        let ours = [(PROGRAM_BENCH, program), (MEDIUM_BENCH, medium)];
        let outcome = |(bench, own): (&str, Vec<f64>)| {
            let rate = median(own.iter().copied());
            Outcome {
                bench: bench.to_owned(),
                tuples_per_s: Some(rate),
                gbit_per_s: Some(rate * self.bytes as f64 * 8.0 / 1e9),
                control_tuples_per_s: Some(median(peer.iter().copied())),
                ratio: Some(median(own.iter().zip(&peer).map(|(own, peer)| own / peer))),
                samples: own,
                control_samples: peer.clone(),
                ..Outcome::default()
            }
        };
        Ok(ours.map(outcome).into())
    }

    fn latency(&self) -> Result<Vec<Outcome>, BoxError> {
        let contenders = self.contenders();
        let mut turns = [const { Vec::new() }; 3];
        for _ in 0..self.settings.turns {
            for (turns, contender) in turns.iter_mut().zip(&contenders) {
                let printed = self.run_turn(contender, self.settings.trips)?;
                turns.push(turn_output::parse_latencies(&printed, self.settings.trips)?);
            }
        }
        let [peer, program, medium] = turns;
        let ours = [(PROGRAM_BENCH, program), (MEDIUM_BENCH, medium)];
        let p50 = |turn: &LatencyHistogram| turn.quantile_ns(0.5).max(1) as f64;
        let outcome = |(bench, own): (&str, Vec<LatencyHistogram>)| {
            let pairs = own.iter().zip(&peer);
            Outcome {
                bench: bench.to_owned(),
                latency_ns: merge_histograms(&own).percentiles(),
                control_latency_ns: merge_histograms(&peer).percentiles(),
                ratio: Some(median(pairs.map(|(own, peer)| p50(peer) / p50(own)))),
                ..Outcome::default()
            }
        };
        Ok(ours.map(outcome).into())
    }

    fn run_turn(&self, contender: &Contender, messages: u64) -> Result<String, BoxError> {
        self.turn_runner
            .run_turn(contender, self.question, self.bytes, messages)
    }

    /// Runs one turn; its messages a second.
    fn messages_per_s(&self, contender: &Contender, messages: u64) -> Result<f64, BoxError> {
        let printed = self.run_turn(contender, messages)?;
        let words = self.bytes as u64 / 8;
        turn_output::parse_rate(&printed, messages, words)
            .map_err(|failure| format!("{contender}: {failure}").into())
    }

    /// The number of messages that take about as long as a turn should.
    fn calibrate_messages(&self, contender: &Contender) -> Result<u64, BoxError> {
        let mut messages = FIRST_TURN_MESSAGES;
        for _ in 0..CALIBRATION_TURNS_MAX {
            let wanted = self.messages_per_s(contender, messages)? * self.settings.seconds;
            let growth = (wanted / messages as f64).min(TURN_GROWTH_MAX);
            messages = ((messages as f64 * growth) as u64).max(MESSAGES_MIN);
            if growth < CALIBRATED_GROWTH_MAX {
                break;
            }
        }
        Ok(messages)
    }
}

/// Messages of the first run, and of any run at least.
const FIRST_TURN_MESSAGES: u64 = 10_000;
const MESSAGES_MIN: u64 = 1000;

/// Factor by which a run may exceed the one before, while the number of messages is being found.
const TURN_GROWTH_MAX: f64 = 100.0;

/// Factor by which a run may be too short and still tell the rate well enough.
const CALIBRATED_GROWTH_MAX: f64 = 5.0;

/// Limit on the runs that find the number of messages: each may be many times longer than the one
/// before, so they reach any rate.
const CALIBRATION_TURNS_MAX: u32 = 4;

fn merge_histograms(turns: &[LatencyHistogram]) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    turns.iter().for_each(|turn| all.merge(turn));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulated turns of contenders with known rates and latencies.
    struct Known;

    const PEER_RATE: f64 = 2e6;
    const PROGRAM_RATE: f64 = 6e6;
    const MEDIUM_RATE: f64 = 9e6;

    fn peer() -> BuiltInPeer {
        BuiltInPeer {
            name: "pigeon",
            path: StreamPath::Shm,
            version: || "1.0".to_owned(),
            settings: "well fed",
            has_latency: true,
            run: |_| Err("only its name is used".into()),
            serve_partner: None,
        }
    }

    impl RunTurn for Known {
        fn run_turn(
            &self,
            contender: &Contender,
            question: PeerQuestion,
            bytes: usize,
            messages: u64,
        ) -> Result<String, BoxError> {
            let (rate, ns) = match contender {
                Contender::Peer(_) => (PEER_RATE, 600),
                Contender::Own(OwnContender::Program, StreamPath::Shm) => (PROGRAM_RATE, 300),
                Contender::Own(OwnContender::Medium, StreamPath::Shm) => (MEDIUM_RATE, 200),
                other => return Err(format!("{other} was not asked for").into()),
            };
            Ok(match question {
                PeerQuestion::Throughput => {
                    let last = (messages - 1) as f64 * 1e9 / rate;
                    let sum = messages * (messages - 1) / 2 * bytes as u64 / 8;
                    format!("arrived {messages} 0 {} {sum}", last as u64)
                }
                PeerQuestion::Latency => turn_output::latency_line(&vec![ns; messages as usize]),
            })
        }
    }

    fn settings() -> ComparisonSettings {
        ComparisonSettings {
            turns: 3,
            seconds: 0.5,
            sizes: vec![64],
            trips: 100,
        }
    }

    fn assert_close(is: Option<f64>, should: f64) {
        let is = is.expect("a figure");
        assert!((is / should - 1.0).abs() < 0.01, "{is} is not {should}");
    }

    fn records(question: PeerQuestion, turn_runner: &dyn RunTurn) -> Vec<Outcome> {
        compare_peer(
            &peer(),
            question,
            64,
            &settings(),
            &RecordContext::default(),
            turn_runner,
        )
    }

    #[test]
    fn known_rates_are_found() {
        let [program, medium] = &records(PeerQuestion::Throughput, &Known)[..] else {
            panic!("a record for each of ours");
        };
        assert_close(program.tuples_per_s, PROGRAM_RATE);
        assert_close(program.control_tuples_per_s, PEER_RATE);
        assert_close(program.ratio, 3.0);
        assert_close(program.gbit_per_s, PROGRAM_RATE * 64.0 * 8.0 / 1e9);
        assert_close(medium.tuples_per_s, MEDIUM_RATE);
        assert_close(medium.ratio, 4.5);
        assert_eq!(program.samples.len(), 3);
        assert_eq!(program.control_samples.len(), 3);
        assert_eq!(program.peer.as_deref(), Some("pigeon"));
        assert_eq!((&*program.path, &*program.bench), ("shm", PROGRAM_BENCH));
        assert_eq!(program.codec.as_deref(), Some("facade"));
        assert_eq!((&*medium.bench, &medium.codec), (MEDIUM_BENCH, &None));
    }

    #[test]
    fn known_latencies_are_found() {
        let found = records(PeerQuestion::Latency, &Known);
        let [program, medium] = &found[..] else {
            panic!("a record for each of ours");
        };
        assert_close(program.latency_ns.map(|times| times.p50 as f64), 300.0);
        assert_close(
            program.control_latency_ns.map(|times| times.p99 as f64),
            600.0,
        );
        assert_close(program.ratio, 2.0);
        assert_close(medium.ratio, 3.0);
        let text = serde_json::to_string(&found).unwrap();
        let read: Vec<Outcome> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, found);
    }

    /// Turns in which the last message is lost.
    struct Lossy;

    impl RunTurn for Lossy {
        fn run_turn(
            &self,
            contender: &Contender,
            question: PeerQuestion,
            bytes: usize,
            messages: u64,
        ) -> Result<String, BoxError> {
            Known.run_turn(contender, question, bytes, messages - 1)
        }
    }

    #[test]
    fn a_peer_that_loses_messages_has_no_figures() {
        for question in [PeerQuestion::Throughput, PeerQuestion::Latency] {
            let [record] = &records(question, &Lossy)[..] else {
                panic!("one record");
            };
            assert!(record.unavailable.is_some());
            assert_eq!((record.ratio, record.tuples_per_s), (None, None));
            assert_eq!(record.peer.as_deref(), Some("pigeon"));
        }
    }
}
