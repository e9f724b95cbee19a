//! Plans of the optimiser: rules that are never broken, and throughput beside other plans.
//!
//! The number of random programs is that of the variable `THALWEG_PLANS`, 16 without it.

mod support;

use std::collections::HashMap;
use std::env;

use graph::{ConfigEntry, OperatorId, Plan, Pos, Program};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::{chain, configure, media, profile, program};
use testkit::arbitrary::graphs;
use thalweg_planner::{
    CandidateKind, DisjointSets, FusionPolicy, OperatorProfile, Optimisation, PlanGoal,
    PlanOptions, Profile, StreamConsumers, StreamProfile, optimality_gap, optimise, plan, predict,
};

/// The plan of a program on so many cores.
fn cola(program: &Program, cores: u32, optimisation: Optimisation<'_>) -> Plan {
    let media = media();
    let options = PlanOptions {
        fusion: FusionPolicy::Cola(optimisation),
        cores,
        media: &media,
        ..PlanOptions::default()
    };
    plan(program, &options).expect("the program has a plan")
}

fn by_profile(profile: &Profile) -> Optimisation<'_> {
    Optimisation {
        profile: Some(profile),
        ..Optimisation::default()
    }
}

/// Operators of each process by number, and the number of queues.
fn shape(plan: &Plan) -> (Vec<Vec<u32>>, usize) {
    let numbers = |operators: &[OperatorId]| operators.iter().map(|id| id.0).collect();
    let pes = plan.pes.iter().map(|pe| numbers(&pe.operators));
    (
        pes.collect(),
        plan.pes.iter().map(|pe| pe.threaded_ports.len()).sum(),
    )
}

#[test]
fn a_chain_is_cut_in_the_middle_of_its_work() {
    let program = chain(4);
    let profile = profile(&[100, 100, 100, 100]);
    let (pes, queues) = shape(&cola(&program, 2, by_profile(&profile)));
    // Shared memory is a little cheaper than a ring, and both sides pay 4 ns.
    assert_eq!((pes, queues), (vec![vec![0, 1], vec![2, 3]], 0));
}

#[test]
fn what_costs_less_than_a_crossing_is_fused() {
    let program = chain(4);
    let profile = profile(&[1, 1, 1, 1]);
    let (pes, queues) = shape(&cola(&program, 4, by_profile(&profile)));
    assert_eq!((pes, queues), (vec![vec![0, 1, 2, 3]], 0));
}

#[test]
fn a_heavy_operator_gets_a_thread() {
    let program = chain(3);
    let profile = profile(&[50, 1000, 50]);
    let plan = cola(&program, 3, by_profile(&profile));
    let options = PlanOptions {
        cores: 3,
        ..PlanOptions::default()
    };
    let found = predict(&program, &options, Some(&profile), &plan);
    let heavy = found
        .threads
        .iter()
        .find(|thread| thread.operators.iter().any(|(id, _)| *id == OperatorId(1)));
    let heavy = heavy.expect("a thread runs the operator");
    assert_eq!(heavy.operators, [(OperatorId(1), 1.0)], "{plan:?}");
}

#[test]
fn placements_are_kept_where_they_cost_throughput() {
    let mut program = chain(4);
    configure(&mut program, 0, "placement", "partitionColocation(\"a\")");
    configure(&mut program, 3, "placement", "partitionColocation(\"a\")");
    configure(&mut program, 1, "placement", "partitionExlocation(\"b\")");
    configure(&mut program, 2, "placement", "partitionExlocation(\"b\")");
    let plan = cola(&program, 1, by_profile(&profile(&[1, 1, 1, 1])));
    let (pes, _) = shape(&plan);
    let pe_of = |id: u32| pes.iter().position(|pe| pe.contains(&id));
    assert_eq!(pe_of(0), pe_of(3));
    assert_ne!(pe_of(1), pe_of(2));
    assert_eq!(pes.len(), 2, "{pes:?}");
}

#[test]
fn the_given_plan_is_kept_if_nothing_is_better() {
    let program = chain(2);
    let profile = profile(&[10, 10]);
    let media = media();
    let options = PlanOptions {
        cores: 1,
        media: &media,
        ..PlanOptions::default()
    };
    let start = plan(&program, &options).expect("the fused plan");
    let optimisation = Optimisation {
        start: Some(&start),
        ..by_profile(&profile)
    };
    let found = optimise(&program, &options, &optimisation).expect("a plan");
    assert_eq!((found.kind, &found.plan), (CandidateKind::Fused, &start));
    assert!(
        found
            .scored
            .iter()
            .any(|(kind, _)| *kind == CandidateKind::Start)
    );
}

#[test]
fn a_given_plan_that_breaks_a_placement_is_refused() {
    let mut program = chain(2);
    configure(&mut program, 0, "placement", "partitionIsolation");
    let media = media();
    let options = PlanOptions {
        media: &media,
        ..PlanOptions::default()
    };
    let start = plan(&program, &options).expect("the fused plan");
    let optimisation = Optimisation {
        start: Some(&start),
        ..Optimisation::default()
    };
    let errors = optimise(&program, &options, &optimisation).expect_err("it is isolated");
    let why = "the plan to start from breaks a placement of the program";
    assert!(errors[0].message.starts_with(why), "{errors:?}");
}

#[test]
fn goals_differ_where_a_cut_costs_latency_or_cores() {
    let program = chain(4);
    let profile = profile(&[100, 100, 100, 100]);
    let with_goal = |goal| {
        let optimisation = Optimisation {
            goal,
            ..by_profile(&profile)
        };
        shape(&cola(&program, 4, optimisation)).0.len()
    };
    assert!(with_goal(PlanGoal::Throughput) > 1);
    // A thousand tuples a second are no load for one thread.
    assert_eq!(with_goal(PlanGoal::Latency), 1);
    assert_eq!(with_goal(PlanGoal::Cores), 1);
}

#[test]
fn few_cores_carry_the_rate_of_the_profile() {
    let program = chain(4);
    let mut profile = profile(&[100, 100, 100, 100]);
    // A million tuples in 0.28 s: one thread of 400 ns a tuple cannot carry that.
    profile.seconds = 0.28;
    let optimisation = Optimisation {
        goal: PlanGoal::Cores,
        ..by_profile(&profile)
    };
    let plan = cola(&program, 4, optimisation);
    let options = PlanOptions {
        cores: 4,
        ..PlanOptions::default()
    };
    let found = predict(&program, &options, Some(&profile), &plan);
    assert!(found.throughput * 0.8 >= found.rate, "{found:?}");
    assert_eq!(found.threads.len(), 2, "{plan:?}");
}

/// A random program with a profile and, in half of all cases, placements.
fn cases(operators_max: usize) -> impl Strategy<Value = (Program, Profile, u32)> {
    let numbers = proptest::collection::vec(any::<u32>(), 0..=operators_max * 8);
    let more = proptest::collection::vec(any::<u32>(), operators_max * 4);
    (numbers, more, 1_u32..=6, any::<bool>()).prop_map(
        move |(decisions, more, cores, is_placed)| {
            let mut program = graphs::program(&decisions, operators_max);
            if is_placed {
                place(&mut program, &more[operators_max * 2..]);
            }
            let profile = random_profile(&program, &more);
            (program, profile, cores)
        },
    )
}

/// Gives some operators a placement that contradicts no other.
fn place(program: &mut Program, decisions: &[u32]) {
    for (operator, decision) in program.operators.iter_mut().zip(decisions) {
        // Two operators of one id may stand in a loop, which is an error; a test skips those.
        let value = match decision % 12 {
            0 => "partitionColocation(\"a\")",
            1 => "partitionColocation(\"b\")",
            2 => "partitionExlocation(\"c\")",
            3 => "hostExlocation(\"d\")",
            4 => "partitionIsolation",
            5 => "hostColocation(\"e\")",
            _ => continue,
        };
        operator.config.push(ConfigEntry {
            name: "placement".into(),
            values: vec![value.into()],
            pos: Pos::default(),
        });
    }
}

fn random_profile(program: &Program, decisions: &[u32]) -> Profile {
    let mut profile = Profile {
        program: program.name.to_string(),
        processor: "P".to_owned(),
        cores: 4,
        runs: 1,
        seconds: 10.0,
        ..Profile::default()
    };
    for (at, operator) in program.operators.iter().enumerate() {
        let decision = u64::from(decisions[at % decisions.len()]);
        let tuples = [1000, 500, 100, 2000][(decision % 4) as usize];
        let tuple_ns = [2, 20, 50, 200, 1000][(decision / 4 % 5) as usize];
        profile.operators.push(OperatorProfile {
            operator: operator.name.to_string(),
            kind: "Node".to_owned(),
            tuples,
            cpu_ns: tuples * tuple_ns,
            state_bytes: 0,
        });
        for port in 0..operator.outputs.len() as u32 {
            profile.streams.push(StreamProfile {
                operator: operator.name.to_string(),
                port,
                tuples: tuples / (1 + decision / 20 % 3),
                bytes: tuples * 64,
                peak_per_second: 100,
            });
        }
    }
    profile
}

/// The values of config `placement` that a plan breaks, by what `docs/plans.md` says and nothing
/// else.
fn broken_placements(program: &Program, plan: &Plan) -> Vec<String> {
    let mut broken = Vec::new();
    let mut of_id: HashMap<&str, Vec<usize>> = HashMap::new();
    for (pe, part) in plan.pes.iter().enumerate() {
        for id in &part.operators {
            for value in program.operators[id.0 as usize]
                .config
                .iter()
                .flat_map(|c| &c.values)
            {
                of_id.entry(value).or_default().push(pe);
                if &**value == "partitionIsolation" && part.operators.len() > 1 {
                    broken.push(format!("{value} of {id:?}"));
                }
            }
        }
    }
    for (value, pes) in of_id {
        let mut distinct = pes.clone();
        distinct.dedup();
        let is_kept = match value.split('(').next().unwrap_or_default() {
            "partitionColocation" => distinct.len() == 1,
            "partitionExlocation" | "hostExlocation" => distinct.len() == pes.len(),
            _ => true,
        };
        if !is_kept {
            broken.push(format!("{value} in {pes:?}"));
        }
    }
    broken.extend(mixed_ids(program, plan));
    broken
}

/// Processes with operators of several ids of `partitionColocation` that no loop joins.
fn mixed_ids(program: &Program, plan: &Plan) -> Vec<String> {
    let id = |at: usize| -> Option<&str> {
        let config = program.operators[at].config.iter();
        let mut values = config.flat_map(|entry| &entry.values);
        let value = values.find(|value| value.starts_with("partitionColocation"));
        value.map(|value| &**value)
    };
    let mut joined = DisjointSets::new(program.operators.len());
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, number) in (0..).zip(StreamConsumers::new(program).loops()) {
        let of_loop = number.map(|number| format!("loop {number}"));
        for set in of_loop.into_iter().chain(id(at).map(str::to_owned)) {
            joined.join(*first.entry(set).or_insert(at), at);
        }
    }
    let mut mixed = Vec::new();
    for pe in &plan.pes {
        let with_ids = pe.operators.iter().map(|operator| operator.0 as usize);
        let mut with_ids = with_ids.filter(|&at| id(at).is_some());
        let Some(one) = with_ids.next() else { continue };
        for other in with_ids.filter(|&other| joined.find(other) != joined.find(one)) {
            mixed.push(format!("{:?} and {:?} in one process", id(one), id(other)));
        }
    }
    mixed
}

/// Runs a property on random cases whose placements contradict nothing.
fn for_each_case(
    operators_max: usize,
    property: impl Fn(&Program, &Profile, &PlanOptions<'_>) -> Result<(), TestCaseError>,
) {
    let cases_count = env::var("THALWEG_PLANS")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut runner = TestRunner::new(Config {
        cases: cases_count.unwrap_or(16),
        failure_persistence: None,
        ..Config::default()
    });
    let media = media();
    let run = |(program, profile, cores): (Program, Profile, u32)| {
        let options = PlanOptions {
            cores,
            media: &media,
            ..PlanOptions::default()
        };
        let spl = PlanOptions {
            fusion: FusionPolicy::Spl,
            ..options
        };
        prop_assume!(plan(&program, &spl).is_ok());
        property(&program, &profile, &options)
    };
    if let Err(failure) = runner.run(&cases(operators_max), run) {
        panic!("{failure}");
    }
}

#[test]
fn placements_are_never_broken_and_baselines_never_missed() {
    for_each_case(14, |program, profile, options| {
        let again = optimise(program, options, &by_profile(profile))
            .expect("a plan")
            .plan;
        prop_assert_eq!(
            again,
            optimise(program, options, &by_profile(profile))
                .expect("a plan")
                .plan
        );
        for goal in [PlanGoal::Throughput, PlanGoal::Latency, PlanGoal::Cores] {
            let optimisation = Optimisation {
                goal,
                ..by_profile(profile)
            };
            let found = optimise(program, options, &optimisation).expect("the program has a plan");
            prop_assert_eq!(
                broken_placements(program, &found.plan),
                Vec::<String>::new()
            );
            let own = predict(program, options, Some(profile), &found.plan);
            for fusion in [FusionPolicy::All, FusionPolicy::None, FusionPolicy::Spl] {
                let other = PlanOptions { fusion, ..*options };
                let Ok(other) = plan(program, &other) else {
                    continue;
                };
                if !broken_placements(program, &other).is_empty() {
                    continue;
                }
                let other = predict(program, options, Some(profile), &other);
                let slack = 1.0 + 1e-6;
                match goal {
                    PlanGoal::Throughput => {
                        prop_assert!(own.throughput * slack >= other.throughput);
                    }
                    PlanGoal::Latency => prop_assert!(own.latency_ns <= other.latency_ns * slack),
                    PlanGoal::Cores => {
                        let carries = other.throughput * 0.8 >= other.rate;
                        prop_assert!(!carries || own.total_ns <= other.total_ns * slack);
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn throughput_is_within_5_percent_of_the_best() {
    for_each_case(20, |program, profile, options| {
        let found = optimise(program, options, &by_profile(profile)).expect("a plan");
        let gap = optimality_gap(program, options, Some(profile), &found.plan, (1.05, 30_000));
        if let Some(gap) = gap {
            prop_assert!(gap.best <= 1.0, "{} times better is possible", gap.best);
        }
        Ok(())
    });
}

#[test]
fn one_core_has_one_process() {
    for_each_case(16, |program, profile, options| {
        let one = PlanOptions {
            cores: 1,
            ..*options
        };
        let mut free = program.clone();
        free.operators
            .iter_mut()
            .for_each(|operator| operator.config.clear());
        let found = optimise(&free, &one, &by_profile(profile)).expect("a plan");
        prop_assert_eq!(found.kind, CandidateKind::Fused);
        Ok(())
    });
}

/// A program of one source and layers, whose operators are fed by one or two of the layer before.
fn layers(depth: u32, width: u32) -> Program {
    let mut inputs: Vec<Vec<Vec<u32>>> = Vec::new();
    for layer in 0..depth {
        for at in 0..width {
            let before = |at: u32| (layer - 1) * width + at % width;
            inputs.push(match (layer, (at + layer) % 16) {
                (0, _) if at == 0 => Vec::new(),
                (0, _) => vec![vec![0]],
                (_, 0) => vec![vec![before(at), before(at + 1)]],
                _ => vec![vec![before(at)]],
            });
        }
    }
    program(&inputs)
}

#[test]
fn the_work_of_the_search_is_bounded() {
    let program = layers(50, 20);
    let tuple_ns: Vec<u64> = (0..1000).map(|at| 10 + at % 7 * 20).collect();
    let profile = profile(&tuple_ns);
    let media = media();
    let options = PlanOptions {
        cores: 8,
        media: &media,
        ..PlanOptions::default()
    };
    let found = optimise(&program, &options, &by_profile(&profile)).expect("a plan");
    assert!(found.edges_visited <= 60_000_000, "{}", found.edges_visited);
    let own = predict(&program, &options, Some(&profile), &found.plan).throughput;
    let fused = found
        .scored
        .iter()
        .find(|(kind, _)| *kind == CandidateKind::Fused);
    let (_, fused) = fused.expect("all-fused is scored");
    assert!(own > fused.throughput, "{own} {}", fused.throughput);
}
