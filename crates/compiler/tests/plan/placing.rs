//! Placements on random graphs: kept if they can be, refused if they cannot.

use graph::{ConfigEntry, Plan, Pos, Program};
use planner::{DisjointSets, FusionPolicy, StreamConsumers};
use proptest::prelude::*;
use testkit::arbitrary::graphs;

use crate::choice;

/// Placements of one operator, as config has them.
fn placements() -> impl Strategy<Value = Vec<String>> {
    let id = || prop_oneof![Just("a"), Just("b")];
    let some = |strategy: BoxedStrategy<String>| prop::option::weighted(0.25, strategy);
    let of = |word: &'static str| id().prop_map(move |id| format!("{word}(\"{id}\")")).boxed();
    let parts = (
        prop::option::weighted(0.1, of("partitionColocation")),
        some(of("partitionExlocation")),
        prop::option::weighted(0.05, Just("partitionIsolation".to_owned())),
        prop::option::weighted(0.1, of("hostColocation")),
        some(of("hostExlocation")),
        some(of("host")),
    );
    parts.prop_map(|(a, b, c, d, e, f)| [a, b, c, d, e, f].into_iter().flatten().collect())
}

fn placed() -> impl Strategy<Value = Program> {
    let flags = prop::collection::vec(prop::option::weighted(0.2, any::<bool>()), 12);
    let rows = (
        graphs::programs_with_plans(12),
        prop::collection::vec(placements(), 12),
        flags,
    );
    rows.prop_map(|((mut program, _), placements, flags)| {
        let wishes = placements.into_iter().zip(flags);
        for (operator, (placement, flag)) in program.operators.iter_mut().zip(wishes) {
            let entry = |name: &str, values: Vec<String>| ConfigEntry {
                name: name.into(),
                values: values.into_iter().map(Into::into).collect(),
                pos: Pos::default(),
            };
            operator.config.push(entry("placement", placement));
            let flag = flag.map(|yes| entry("restartable", vec![yes.to_string()]));
            operator.config.extend(flag);
        }
        program
    })
}

fn values<'p>(program: &'p Program, at: usize, name: &str) -> Vec<&'p str> {
    let entries = program.operators[at].config.iter();
    let entries = entries.filter(|entry| &*entry.name == name);
    entries
        .flat_map(|e| e.values.iter().map(|v| &**v))
        .collect()
}

/// Whether two operators say the same by one word of placement.
fn agree(program: &Program, a: usize, b: usize, word: &str) -> bool {
    let said = |at: usize| {
        let mut values = values(program, at, "placement").into_iter();
        values.find(|value| value.starts_with(&format!("{word}(")))
    };
    said(a).is_some() && said(a) == said(b)
}

fn says(program: &Program, at: usize, word: &str) -> bool {
    let mut values = values(program, at, "placement").into_iter();
    values.any(|value| value.split('(').next() == Some(word))
}

/// Why two operators cannot be on one host.
fn hosts_differ(program: &Program, a: usize, b: usize) -> bool {
    let both = says(program, a, "host") && says(program, b, "host");
    agree(program, a, b, "hostExlocation") || (both && !agree(program, a, b, "host"))
}

/// Why two operators cannot share a process, but for their hosts.
fn are_apart(program: &Program, a: usize, b: usize) -> bool {
    let flags = [a, b].map(|at| values(program, at, "restartable"));
    let is_mixed = !flags[0].is_empty() && !flags[1].is_empty() && flags[0] != flags[1];
    let is_alone = [a, b]
        .iter()
        .any(|&at| says(program, at, "partitionIsolation"));
    is_alone || is_mixed || agree(program, a, b, "partitionExlocation")
}

/// Whether both have a `partitionColocation`, and not the same.
fn are_differently_colocated(program: &Program, a: usize, b: usize) -> bool {
    let word = "partitionColocation";
    says(program, a, word) && says(program, b, word) && !agree(program, a, b, word)
}

/// Operators joined by a relation.
fn joined(count: usize, mut sets: DisjointSets, of: impl Fn(usize, usize) -> bool) -> DisjointSets {
    for a in 0..count {
        for b in 0..a {
            if of(a, b) {
                sets.join(a, b);
            }
        }
    }
    sets
}

/// Whether sets hold two operators that a relation keeps apart.
fn clash(sets: &DisjointSets, apart: impl Fn(usize, usize) -> bool) -> bool {
    sets.clone().sets().iter().any(|set| {
        let mut pairs = set.iter().flat_map(|&a| set.iter().map(move |&b| (a, b)));
        pairs.any(|(a, b)| a != b && apart(a, b))
    })
}

/// The operators that have to share a process.
fn together(program: &Program) -> DisjointSets {
    let loops = StreamConsumers::new(program).loops();
    let count = program.operators.len();
    joined(count, DisjointSets::new(count), |a, b| {
        let is_loop = loops[a].is_some() && loops[a] == loops[b];
        is_loop || agree(program, a, b, "partitionColocation")
    })
}

fn is_kept(program: &Program, plan: &Plan) -> Result<(), TestCaseError> {
    let count = program.operators.len();
    let homes = graph::PeAssignment::new(plan, count);
    let home = |at: usize| homes.pe_of(graph::OperatorId(at as u32));
    let processes = joined(count, together(program), |a, b| home(a) == home(b));
    prop_assert!(!clash(&processes, |a, b| home(a) != home(b)), "torn apart");
    prop_assert!(
        !clash(&processes, |a, b| are_apart(program, a, b)),
        "not apart"
    );
    let apart = |a, b| are_differently_colocated(program, a, b);
    let mut bonds = together(program);
    for a in 0..count {
        for b in 0..a {
            let is_free = bonds.find(a) != bonds.find(b);
            prop_assert!(!(is_free && apart(a, b) && home(a) == home(b)), "two ids");
        }
    }
    let hosts = joined(count, processes, |a, b| {
        agree(program, a, b, "hostColocation")
    });
    prop_assert!(
        !clash(&hosts, |a, b| hosts_differ(program, a, b)),
        "one host"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn placements_are_kept_or_contradict_each_other(program in placed()) {
        let count = program.operators.len();
        let processes = together(&program);
        let hosts = joined(count, processes.clone(), |a, b| {
            agree(&program, a, b, "hostColocation")
        });
        let has_clash = clash(&processes, |a, b| are_apart(&program, a, b))
            || clash(&hosts, |a, b| hosts_differ(&program, a, b));
        match planner::plan(&program, &choice(FusionPolicy::Spl)) {
            Ok(plan) => {
                prop_assert!(!has_clash);
                is_kept(&program, &plan)?;
                prop_assert_eq!(planner::notes(&program, &choice(FusionPolicy::All), &plan), []);
            }
            Err(errors) => prop_assert!(has_clash, "{:?}", errors),
        }
    }

    #[test]
    fn a_program_that_places_nothing_is_one_process((program, _) in graphs::programs_with_plans(12)) {
        let plan = planner::plan(&program, &choice(FusionPolicy::Spl));
        prop_assert_eq!(plan.map(|plan| plan.pes.len()), Ok(1));
    }
}
