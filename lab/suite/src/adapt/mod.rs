//! A load whose hot key moves: how soon a pool of threads carries what the best fixed plan does.
//!
//! ```text
//!   Keys -> Parts (Split by key) -> Work0 ... Work3      phase 0: most tuples go to Work0
//!                                                        phase 1: to Work1, and so on
//! ```
//! Each plan runs the program through all phases, which begin by the clock. Operators print how many
//! tuples they have taken and when. The rate of a phase is that of its second half, so a plan has the
//! first half to follow the load; the control is the fixed plan that is best in that half.

mod phase_rates;

use std::fmt::Write;

use control::{Error, median};

use crate::bench::{BenchCase, BenchSession, set_rates};
use phase_rates::PhaseRates;

/// Phases of a run; in each another operator is hot.
const PHASES: u32 = 3;

/// Operators that the tuples are divided among.
const WORKERS: u32 = 4;

/// Steps of the work on a tuple: some microseconds.
const STEPS: u32 = 1_000;

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
    let workers = || (0..WORKERS).map(|at| format!("Work{at}"));
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

/// The program. Nine of twelve tuples have the hot key, and each other key one.
fn program(phase_seconds: f64) -> String {
    let phase_ns = (phase_seconds * 1e9) as u64;
    let slice_ns = (phase_ns / 100).max(1);
    let parts = (0..WORKERS).map(|at| format!("stream<Item> Part{at}"));
    let parts = parts.collect::<Vec<_>>().join("; ");
    let mut workers = String::new();
    for at in 0..WORKERS {
        let _ = write!(
            workers,
            "        () as Work{at} = Custom(Part{at}) {{
            logic
                state : {{
                    mutable uint64 sum = 0ul;
                    mutable uint64 count = 0ul;
                    mutable int64 slice = 0l;
                }}
                onTuple Part{at} : {{
                    sum += work(value, {STEPS}u);
                    count++;
                    if (count % 16ul == 0ul) {{
                        int64 at = now();
                        if (at / {slice_ns}l != slice) {{
                            slice = at / {slice_ns}l;
                            printStringLn(\"count {at} \" + (rstring) at + \" \" + (rstring) count);
                        }}
                    }}
                }}
        }}
"
        );
    }
    let hot_share = 12 - (WORKERS - 1);
    format!(
        "uint64 work(uint64 seed, uint32 steps) {{
    mutable uint64 mixed = seed;
    mutable uint32 step = 0u;
    while (step < steps) {{
        mixed = mixed * 6364136223846793005ul + 1442695040888963407ul;
        step++;
    }}
    return mixed;
}}

stateful int64 now() {{
    timestamp time = getTimestamp();
    return getSeconds(time) * 1000000000l + (int64) getNanoseconds(time);
}}

composite Adapt {{
    type
        Item = uint32 key, uint64 value;
    graph
        stream<Item> Keys = Custom() {{
            logic
                onProcess : {{
                    int64 begin = now();
                    mutable uint64 number = 0ul;
                    mutable uint32 phase = 0u;
                    printStringLn(\"phase 0 \" + (rstring) begin);
                    while (!isShutdown() && phase < {PHASES}u) {{
                        uint32 place = (uint32) (number % 12ul);
                        uint32 key = place < {hot_share}u ? phase : phase + place - {hot_share}u + 1u;
                        submit({{ key = key % {WORKERS}u, value = number }}, Keys);
                        number++;
                        if (number % 16ul == 0ul) {{
                            int64 at = now();
                            if (at - begin > ((int64) phase + 1l) * {phase_ns}l) {{
                                phase++;
                                printStringLn(\"phase \" + (rstring) phase + \" \" + (rstring) at);
                            }}
                        }}
                    }}
                }}
        }}

        ({parts}) = Split(Keys) {{
            param
                index : key;
        }}

{workers}}}
"
    )
}

/// Measures all plans on the moving load, with phases of so many seconds.
///
/// # Errors
/// A run fails, or a phase had no tuples.
pub fn adapt(bench: &mut BenchSession<'_>, phase_seconds: f64) -> Result<(), Error> {
    let text = program(phase_seconds);
    let plans = plans();
    // By plan and phase, the rates of all runs.
    let mut rates = vec![vec![Vec::new(); PHASES as usize]; plans.len()];
    for _ in 0..bench.settings.runs {
        for (plan, rates) in plans.iter().zip(&mut rates) {
            let job = bench.settings.job(&text, &plan.text)?;
            let output = job.run(&bench.settings.thalweg, &[])?;
            let found = PhaseRates::read(&output, PHASES, phase_seconds / 2.0);
            let found = found.ok_or_else(|| {
                Error::new(format!("a phase of the plan {} has no tuples", plan.name))
            })?;
            for (all, rate) in rates.iter_mut().zip(found.0) {
                all.push(rate);
            }
        }
    }
    for phase in 0..PHASES as usize {
        let rate_of = |plan: usize| median(rates[plan][phase].iter().copied());
        let fixed = 1..plans.len();
        let best = fixed.max_by(|one, other| rate_of(*one).total_cmp(&rate_of(*other)));
        let best = best.expect("there are fixed plans");
        let mut outcome = bench.empty_outcome(BenchCase {
            bench: "adapt",
            path: format!("phase {phase}, {ADAPTIVE} to {}", plans[best].name),
            control: "the best fixed plan",
            ..BenchCase::default()
        });
        set_rates(&mut outcome, &rates[0][phase], &rates[best][phase]);
        bench.add_outcome(outcome);
    }
    Ok(())
}
