//! Comparisons of made-up runs: changes that are there are found, noise is not taken for one.

use proptest::prelude::*;
use thalweg_measure::compare::{ComparedFigure, ComparisonLine, Verdict, compare};
use thalweg_measure::{LatencyPercentiles, Outcome};

/// Pseudo-random numbers from 0 to 1 (xorshift64*, Vigna 2016), the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal: the sum of twelve less six (Irwin and Hall).
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }

    /// Runs around a rate; each is off by a factor with this deviation.
    fn runs(&mut self, rate: f64, deviation: f64, count: usize) -> Vec<f64> {
        let run = |_| rate * (self.normal() * deviation).exp();
        (0..count).map(run).collect()
    }
}

fn outcome(samples: Vec<f64>) -> Outcome {
    let mut sorted = samples.clone();
    sorted.sort_by(f64::total_cmp);
    Outcome {
        bench: "throughput".to_owned(),
        path: "shm".to_owned(),
        codec: Some("facade".to_owned()),
        size_bytes: Some(64),
        tuples_per_s: sorted.get(sorted.len() / 2).copied(),
        runs: samples.len() as u32,
        samples,
        ..Outcome::default()
    }
}

fn one(a: Outcome, b: Outcome) -> ComparisonLine {
    let mut rows = compare(&[a], &[b]);
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

/// How many of a thousand comparisons come to a verdict.
fn share(verdict: Verdict, change: f64, deviation: f64, count: usize) -> f64 {
    let mut random = Random(0x5eed_0001);
    let hits = (0..1000).filter(|_| {
        let a = random.runs(1e6, deviation, count);
        let b = random.runs(1e6 * change, deviation, count);
        one(outcome(a), outcome(b)).verdict == verdict
    });
    hits.count() as f64 / 1000.0
}

#[test]
fn known_changes_are_found() {
    assert!(share(Verdict::Faster, 1.2, 0.02, 3) > 0.95);
    assert!(share(Verdict::Slower, 1.0 / 1.2, 0.02, 3) > 0.95);
    assert!(share(Verdict::Faster, 1.1, 0.02, 5) > 0.95);
    assert!(share(Verdict::Slower, 0.97, 0.005, 5) > 0.95);
}

#[test]
fn pure_noise_is_no_change() {
    for (deviation, count) in [(0.001, 3), (0.02, 3), (0.02, 5), (0.3, 5), (0.1, 10)] {
        let quiet = share(Verdict::NoChange, 1.0, deviation, count);
        assert!(quiet >= 0.98, "{deviation} {count}: {quiet}");
    }
}

#[test]
fn a_disturbed_run_hides_a_change_but_makes_none() {
    let steady = vec![100.0, 101.0, 99.0, 100.5];
    let disturbed = vec![100.2, 99.5, 100.9, 31.0];
    let row = one(outcome(steady), outcome(disturbed));
    assert_eq!(row.verdict, Verdict::NoChange);
}

#[test]
fn hosts_that_differ_are_compared_by_ratios() {
    let mut a = outcome(vec![100.0, 102.0, 98.0]);
    a.control_samples = vec![200.0, 204.0, 196.0];
    a.ratio = Some(0.5);
    let mut b = outcome(vec![300.0, 306.0, 294.0]);
    b.control_samples = vec![400.0, 408.0, 392.0];
    b.ratio = Some(0.75);
    let same = one(a.clone(), b.clone());
    assert_eq!(same.by, Some(ComparedFigure::TuplesPerS));
    assert!((same.change.unwrap() - 3.0).abs() < 0.01);
    b.host.cores = 64;
    let other = one(a.clone(), b.clone());
    assert_eq!(other.by, Some(ComparedFigure::Ratio));
    assert!((other.a.unwrap() - 0.5).abs() < 1e-9 && (other.b.unwrap() - 0.75).abs() < 1e-9);
    assert!((other.change.unwrap() - 1.5).abs() < 1e-9);
    assert_eq!(other.verdict, Verdict::Faster);
    b.control = Some("a ring of another make".to_owned());
    let apart = one(a, b);
    assert_eq!((apart.by, apart.change), (None, None));
    assert_eq!(apart.verdict, Verdict::OtherControl);
}

#[test]
fn shorter_latencies_are_faster() {
    let timed = |p50: u64| {
        let runs = [0.99, 1.0, 1.01].map(|share| p50 as f64 * share);
        Outcome {
            latency_ns: Some(LatencyPercentiles {
                p50,
                ..LatencyPercentiles::default()
            }),
            rate_offered: Some(1000.0),
            ..outcome(runs.to_vec())
        }
    };
    let row = one(timed(20_000), timed(10_000));
    assert_eq!(row.by, Some(ComparedFigure::LatencyNs));
    assert_eq!(row.verdict, Verdict::Faster);
    assert!((row.change.unwrap() - 2.0).abs() < 1e-9);
    assert!(row.change_low.unwrap() < 2.0 && row.change_high.unwrap() > 2.0);
    assert_eq!(one(timed(10_000), timed(20_000)).verdict, Verdict::Slower);
}

#[test]
fn rows_are_matched_by_what_was_asked() {
    let sized = |size: u64| Outcome {
        size_bytes: Some(size),
        ..outcome(vec![1.0, 1.0])
    };
    let mut refused = sized(16);
    refused.unavailable = Some("not here".to_owned());
    let rows = compare(
        &[sized(4), sized(8), sized(16)],
        &[sized(8), refused.clone(), sized(32)],
    );
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.size_bytes, row.verdict))
        .collect();
    let expected = [
        (Some(4), Verdict::OnlyInA),
        (Some(8), Verdict::NoChange),
        (Some(16), Verdict::OnlyInA),
        (Some(32), Verdict::OnlyInB),
    ];
    assert_eq!(found, expected);
    assert!(compare(&[refused.clone()], &[refused]).is_empty());
    let twice = compare(&[sized(4), sized(4)], &[sized(4)]);
    assert_eq!(twice.len(), 2);
    assert_eq!(twice[1].verdict, Verdict::OnlyInA);
}

#[test]
fn one_run_a_side_says_nothing_of_noise() {
    let row = one(outcome(vec![100.0]), outcome(vec![300.0]));
    assert_eq!(row.verdict, Verdict::NoiseUnknown);
    assert_eq!(row.change, Some(3.0));
    assert_eq!(row.change_low, None);
    assert!(!row.is_slower_by(0.0));
}

#[test]
fn slower_by_more_than_counts_the_whole_interval() {
    let row = one(outcome(vec![100.0; 3]), outcome(vec![79.9, 80.0, 80.1]));
    assert_eq!(row.verdict, Verdict::Slower);
    assert!(row.is_slower_by(0.15));
    assert!(!row.is_slower_by(0.199), "the interval reaches beyond");
    assert!(!row.is_slower_by(0.25));
}

proptest! {
    /// B against A is A against B turned round.
    #[test]
    fn comparisons_are_symmetrical(
        a in proptest::collection::vec(1.0f64..1e9, 2..8),
        b in proptest::collection::vec(1.0f64..1e9, 2..8),
    ) {
        let there = one(outcome(a.clone()), outcome(b.clone()));
        let back = one(outcome(b), outcome(a));
        let near = |x: Option<f64>, y: Option<f64>| (x.unwrap() * y.unwrap() - 1.0).abs() < 1e-9;
        prop_assert!(near(there.change, back.change));
        prop_assert!(near(there.change_low, back.change_high));
        let turned = match there.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(back.verdict, turned);
    }

    /// A faster machine changes both sides alike, and so no verdict.
    #[test]
    fn the_unit_does_not_matter(
        seed in 1u64..u64::MAX,
        scale in 1e-3f64..1e3,
        change in 0.5f64..2.0,
    ) {
        let mut random = Random(seed);
        let a = random.runs(1e6, 0.05, 4);
        let b = random.runs(1e6 * change, 0.05, 4);
        let scaled = |runs: &[f64]| outcome(runs.iter().map(|run| run * scale).collect());
        let plain = one(outcome(a.clone()), outcome(b.clone()));
        let other = one(scaled(&a), scaled(&b));
        prop_assert_eq!(plain.verdict, other.verdict);
        let ratio = plain.change.unwrap() / other.change.unwrap();
        prop_assert!((ratio - 1.0).abs() < 1e-9);
    }

    /// The change lies in its interval and every number is finite, for any runs.
    #[test]
    fn an_interval_holds_its_change(
        a in proptest::collection::vec(proptest::num::f64::ANY, 0..6),
        b in proptest::collection::vec(proptest::num::f64::ANY, 0..6),
    ) {
        let row = one(outcome(a), outcome(b));
        if let (Some(low), Some(high)) = (row.change_low, row.change_high) {
            let change = row.change.unwrap();
            prop_assert!(low <= change * (1.0 + 1e-9) && change <= high * (1.0 + 1e-9));
        }
    }
}
