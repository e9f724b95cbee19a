//! The summary of `thalweg bench plans`: how far predictions are off, and what choices are worth.

use std::collections::BTreeMap;

use measure::Outcome;
use suite::{OPTIMISED_PLAN, PLANS_BENCH, PREDICTIONS_BENCH, median};

/// Lines below the table of a benchmark of plans; of any other benchmark there are none.
pub fn plans_summary(outcomes: &[Outcome]) -> String {
    match outcomes.first().map(|one| &*one.bench) {
        Some(PREDICTIONS_BENCH) => prediction_errors(outcomes),
        Some(PLANS_BENCH) => choices(outcomes),
        _ => String::new(),
    }
}

/// Shares of the predictions, in percent, whose largest error is told.
const SHARES: [usize; 2] = [50, 90];

fn prediction_errors(outcomes: &[Outcome]) -> String {
    let errors = outcomes.iter().filter_map(|one| {
        let measured = one.tuples_per_s?;
        Some((one.control_tuples_per_s? / measured - 1.0).abs())
    });
    let mut errors: Vec<f64> = errors.collect();
    if errors.is_empty() {
        return String::new();
    }
    errors.sort_unstable_by(f64::total_cmp);
    let shares = SHARES.map(|share| {
        let at = (errors.len() * share / 100).min(errors.len() - 1);
        format!("{share} % are off by at most {:.1} %", errors[at] * 100.0)
    });
    format!("  of {} predictions {}\n", errors.len(), shares.join(", "))
}

/// The rates of a program's plans, beside that of all operators in one process.
#[derive(Default)]
struct ProgramRates {
    optimised: Option<f64>,
    best_other: f64,
}

fn choices(outcomes: &[Outcome]) -> String {
    let mut programs: BTreeMap<&str, ProgramRates> = BTreeMap::new();
    for one in outcomes {
        let (Some((program, plan)), Some(ratio)) = (one.path.rsplit_once(": "), one.ratio) else {
            continue;
        };
        let rates = programs.entry(program).or_default();
        match plan == OPTIMISED_PLAN {
            true => rates.optimised = Some(ratio),
            false => rates.best_other = rates.best_other.max(ratio),
        }
    }
    let values = programs.values();
    let gains = values.filter_map(|rates| Some(rates.optimised? / rates.best_other));
    let gains: Vec<f64> = gains.collect();
    if gains.is_empty() {
        return String::new();
    }
    format!(
        "  {OPTIMISED_PLAN} to the best of the other plans, in {} programs: median {:.2}, least \
         {:.2}\n",
        gains.len(),
        median(gains.iter().copied()),
        gains.iter().copied().fold(f64::INFINITY, f64::min)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(bench: &str, path: &str, rate: f64, control: f64) -> Outcome {
        Outcome {
            bench: bench.to_owned(),
            path: path.to_owned(),
            tuples_per_s: Some(rate),
            control_tuples_per_s: Some(control),
            ratio: Some(rate / control),
            ..Outcome::default()
        }
    }

    #[test]
    fn errors_are_shares_of_what_was_measured() {
        let rates = [(100.0, 101.0), (100.0, 80.0), (100.0, 150.0)];
        let all = rates.map(|(rate, predicted)| outcome("predictions", "1: a", rate, predicted));
        assert_eq!(
            plans_summary(&all),
            "  of 3 predictions 50 % are off by at most 20.0 %, 90 % are off by at most 50.0 %\n"
        );
    }

    #[test]
    fn choices_are_compared_within_their_program() {
        let all = [
            outcome("plans", "1: fused", 1.0, 1.0),
            outcome("plans", "1: cola", 1.5, 1.0),
            outcome("plans", "1: unfused", 0.2, 1.0),
            outcome("plans", "2: fused", 1.0, 1.0),
            outcome("plans", "2: cola", 0.9, 1.0),
        ];
        assert_eq!(
            plans_summary(&all),
            "  cola to the best of the other plans, in 2 programs: median 1.20, least 0.90\n"
        );
    }

    #[test]
    fn other_benchmarks_have_no_summary() {
        assert_eq!(plans_summary(&[outcome("vwap", "a: b", 1.0, 1.0)]), "");
        assert_eq!(plans_summary(&[]), "");
    }
}
