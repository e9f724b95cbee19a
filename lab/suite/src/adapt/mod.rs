//! A load whose hot key moves: how soon a pool of threads carries what the best fixed plan does.
//!
//! ```text
//!   Keys -> Parts (Split by key) -> Work0 ... Work3      phase 0: most tuples go to Work0
//!                                                        phase 1: to Work1, and so on
//! ```
//! Each plan runs the program through all phases, which begin by the clock. Operators print how
//! many tuples they have taken and when. The rate of a phase is that of its second half, so a plan
//! has the first half to follow the load; the control is the fixed plan that is best in that half.

mod phase_rates;

use control::{Error, median};
use phase_rates::PhaseRates;

use crate::bench::{BenchCase, BenchSession, set_rates};

/// Phases of a run; in each another operator is hot.
const PHASES: u32 = 3;

/// Operators that the tuples are divided among.
const WORKERS: u32 = 4;

/// The load; its text says what it does.
const PROGRAM: &str = include_str!("../../programs/adapt.spl");

/// The plan whose threads adapt.
const ADAPTIVE: &str = "dynamic";

/// A plan by its name, as text.
struct AdaptPlan {
    name: String,
    text: String,
}

/// The plans: that with a pool first, then fixed ones.
fn plans() -> Vec<AdaptPlan> {
    let plan = |name: &str, queues: &str| AdaptPlan {
        name: name.to_owned(),
        text: format!("plan Adapt\npe 0\n  operators *\n{queues}"),
    };
    let workers = || (0..WORKERS).map(|at| format!("Work{at}.Count"));
    let queues = |of: &mut dyn Iterator<Item = String>, how: &str| {
        of.fold(String::new(), |text, name| {
            text + &format!("  queue {name}.0{how}\n")
        })
    };
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let pool = format!("  pool 1 elastic {cores}\n");
    let mut plans = vec![
        plan(ADAPTIVE, &(pool + &queues(&mut workers(), " pooled"))),
        plan("fused", ""),
        plan("dedicated", &queues(&mut workers(), "")),
    ];
    for name in workers().take(PHASES as usize) {
        let text = queues(&mut std::iter::once(name.clone()), "");
        plans.push(plan(&format!("queue {name}"), &text));
    }
    plans
}

/// Measures all plans on the moving load, with phases of so many seconds.
///
/// # Errors
/// A run fails, or a phase had no tuples.
pub fn adapt(bench: &mut BenchSession<'_>, phase_seconds: f64) -> Result<(), Error> {
    let phase_ns = (phase_seconds * 1e9) as u64;
    let plans = plans();
    // By phase and plan, the rates of all runs.
    let mut rates = vec![vec![Vec::new(); plans.len()]; PHASES as usize];
    for _ in 0..bench.settings.runs {
        for (at, plan) in plans.iter().enumerate() {
            let job = bench.settings.job(PROGRAM, &plan.text)?;
            let output = job.run(
                &bench.settings.thalweg,
                &[("phaseNs", phase_ns.to_string())],
            )?;
            let found = PhaseRates::read(&output, PHASES, phase_seconds / 2.0);
            let found = found.ok_or_else(|| {
                Error::new(format!("a phase of the plan {} has no tuples", plan.name))
            })?;
            for (by_plan, rate) in rates.iter_mut().zip(found.0) {
                by_plan[at].push(rate);
            }
        }
    }
    for (phase, rates) in rates.iter().enumerate() {
        let rate_of = |plan: usize| median(rates[plan].iter().copied());
        let fixed = 1..plans.len();
        let best = fixed.max_by(|one, other| rate_of(*one).total_cmp(&rate_of(*other)));
        let best = best.expect("there are fixed plans");
        let mut outcome = bench.empty_outcome(BenchCase {
            bench: "adapt",
            path: format!("phase {phase}, {ADAPTIVE} to {}", plans[best].name),
            control: "fixed plan, the best one of the phase",
            ..BenchCase::default()
        });
        set_rates(&mut outcome, &rates[0], &rates[best]);
        bench.add_outcome(outcome);
    }
    Ok(())
}
