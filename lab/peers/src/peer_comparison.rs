//! A peer beside Thalweg: by turns, medians, the median of neighbours' ratios.
//!
//! ```text
//!   turn 1   peer, program, medium
//!   turn 2   peer, program, medium         each as long as the others, not as many messages
//!   ...
//! ```
//! On a machine that is busy with other things all are slow or all are fast; so each of ours is
//! compared with the peer's turn beside it, and of these ratios the median is the result.

use measure::{Host, LatencyHistogram, Outcome};
use suite::{StreamPath, median};

use crate::contender::{Contender, RunTurn};
use crate::own_contenders::OwnContender;
use crate::peer::BuiltInPeer;
use crate::{BoxError, PeerQuestion, turn_output};

/// How it is measured.
#[derive(Clone, Debug)]
pub struct ComparisonSettings {
    /// How often each contender runs.
    pub turns: u32,
    /// How long a turn of throughput takes, about.
    pub seconds: f64,
    /// Bytes of a message.
    pub sizes: Vec<usize>,
    /// Messages of a turn of latency.
    pub trips: u64,
}

/// Bytes of a message whose latency is measured.
pub const LATENCY_BYTES: usize = 64;

/// What all records of a sitting have in common.
#[derive(Clone, Debug, Default)]
pub struct RecordContext {
    /// The machine.
    pub host: Host,
    /// What was built.
    pub commit: Option<String>,
    /// The user's options.
    pub options: Option<String>,
}

/// Bench of a record whose contender is an SPL program, and of one whose contender is its medium
/// alone.
pub const PROGRAM_BENCH: &str = "peers";
/// See [`PROGRAM_BENCH`].
pub const MEDIUM_BENCH: &str = "peers-medium";

/// Compares a peer with both of ours at a size; a record each, and if it fails one that says why.
pub fn compare_peer(
    peer: &BuiltInPeer,
    question: PeerQuestion,
    bytes: usize,
    settings: &ComparisonSettings,
    sitting: &RecordContext,
    runner: &dyn RunTurn,
) -> Vec<Outcome> {
    let contest = PeerComparison {
        peer,
        question,
        bytes,
        settings,
        runner,
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
        ..with_context(outcome, sitting)
    };
    results.into_iter().map(finish).collect()
}

/// A record of a peer that cannot run here.
pub fn unavailable_record(
    name: &str,
    path: StreamPath,
    why: &str,
    sitting: &RecordContext,
) -> Outcome {
    let outcome = Outcome {
        bench: PROGRAM_BENCH.to_owned(),
        path: path.to_string(),
        peer: Some(name.to_owned()),
        unavailable: Some(why.to_owned()),
        ..Outcome::default()
    };
    with_context(outcome, sitting)
}

fn with_context(outcome: Outcome, sitting: &RecordContext) -> Outcome {
    Outcome {
        host: sitting.host.clone(),
        commit: sitting.commit.clone(),
        options: sitting.options.clone(),
        ..outcome
    }
}

/// Tuples have a codec where they leave their process; a medium's frames have none.
fn record_codec(outcome: &Outcome, path: StreamPath) -> Option<String> {
    let crosses = outcome.bench == PROGRAM_BENCH && path != StreamPath::Threaded;
    crosses.then(|| "facade".to_owned())
}

/// One question about one peer.
struct PeerComparison<'a> {
    peer: &'a BuiltInPeer,
    question: PeerQuestion,
    bytes: usize,
    settings: &'a ComparisonSettings,
    runner: &'a dyn RunTurn,
}

impl PeerComparison<'_> {
    /// The peer, then ours.
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
        self.runner
            .run_turn(contender, self.question, self.bytes, messages)
    }

    /// Messages a second of one turn.
    fn messages_per_s(&self, contender: &Contender, messages: u64) -> Result<f64, BoxError> {
        let printed = self.run_turn(contender, messages)?;
        let words = self.bytes as u64 / 8;
        turn_output::parse_rate(&printed, messages, words)
            .map_err(|failure| format!("{contender}: {failure}").into())
    }

    /// How many messages take about as long as a turn is to take.
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

/// Messages of the first run, and of any at least.
const FIRST_TURN_MESSAGES: u64 = 10_000;
const MESSAGES_MIN: u64 = 1000;

/// The next run is at most so much longer, while the pace is being found out.
const TURN_GROWTH_MAX: f64 = 100.0;

/// A run that is shorter than it should be by less than this says enough about the pace.
const CALIBRATED_GROWTH_MAX: f64 = 5.0;

/// So many runs find the pace of anything.
const CALIBRATION_TURNS_MAX: u32 = 4;

fn merge_histograms(turns: &[LatencyHistogram]) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    turns.iter().for_each(|turn| all.merge(turn));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contenders of known paces and latencies, which are where the pairs below are told apart.
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

    fn records(question: PeerQuestion, runner: &dyn RunTurn) -> Vec<Outcome> {
        compare_peer(
            &peer(),
            question,
            64,
            &settings(),
            &RecordContext::default(),
            runner,
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

    /// Messages of which the last one is lost.
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
