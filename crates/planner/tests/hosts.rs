//! Hosts of plans of the optimiser: placements are kept, and where no hosts are found there are
//! none, by trying all.
//!
//! The number of random cases is that of the variable `THALWEG_PLANS`, 200 without it.

mod support;

use std::collections::BTreeSet;
use std::env;

use graph::{ConfigEntry, Plan, Pos, Program};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};
use support::{chain, configure, media, profile, program};
use thalweg_planner::{
    FusionPolicy, Optimisation, PlanError, PlanHost, PlanOptions, Profile, optimise, plan, predict,
};

const NAMES: [&str; 4] = ["h0", "h1", "h2", "h3"];

/// Hosts of two cores, with these tags.
fn hosts(tags: &[Vec<String>]) -> Vec<PlanHost<'_>> {
    NAMES
        .iter()
        .zip(tags)
        .map(|(name, tags)| PlanHost {
            name,
            tags,
            cores: 2,
        })
        .collect()
}

/// Hosts without tags, of this number.
fn plain(count: usize) -> Vec<Vec<String>> {
    vec![Vec::new(); count]
}

/// The plan of the optimiser on these hosts.
fn cola(
    program: &Program,
    tags: &[Vec<String>],
    profile: Option<&Profile>,
) -> Result<Plan, Vec<PlanError>> {
    let media = media();
    let hosts = hosts(tags);
    let optimisation = Optimisation {
        profile,
        ..Optimisation::default()
    };
    let options = PlanOptions {
        fusion: FusionPolicy::Cola(optimisation),
        cores: 2,
        media: &media,
        hosts: &hosts,
        ..PlanOptions::default()
    };
    plan(program, &options)
}

/// The host of each operator.
fn hosts_of(plan: &Plan, operators: usize) -> Vec<String> {
    let mut hosts = vec![String::new(); operators];
    for pe in &plan.pes {
        for id in &pe.operators {
            hosts[id.0 as usize] = pe.host.as_deref().unwrap_or_default().to_owned();
        }
    }
    hosts
}

fn pools(program: &mut Program, pools: &[&str]) {
    program.config.push(ConfigEntry {
        name: "hostPool".into(),
        values: pools.iter().map(|&pool| pool.into()).collect(),
        pos: Pos {
            line: 99,
            ..Pos::default()
        },
    });
}

/// Adds a placement at a line of the program.
fn place(program: &mut Program, operator: usize, value: &str, line: u32) {
    configure(program, operator, "placement", value);
    let entry = program.operators[operator].config.last_mut();
    entry.expect("it was added").pos.line = line;
}

#[test]
fn work_is_divided_over_the_hosts() {
    // Eight operators of equal work on two hosts of two cores.
    let mut inputs = vec![Vec::new(); 8];
    inputs.push(vec![(0..8).collect()]);
    let program = program(&inputs);
    let profile = profile(&[10_000; 9]);
    let tags = plain(2);
    let found = cola(&program, &tags, Some(&profile)).expect("a plan");
    let hosts = hosts(&tags);
    let media = media();
    let options = PlanOptions {
        cores: 2,
        media: &media,
        hosts: &hosts,
        ..PlanOptions::default()
    };
    let predicted = predict(&program, &options, Some(&profile), &found).throughput;
    let one = cola(&program, &plain(1), Some(&profile)).expect("a plan");
    let on_one = predict(&program, &options, Some(&profile), &one).throughput;
    assert!(
        predicted > 1.7 * on_one,
        "{predicted} and {on_one}: {found:?}"
    );
    let used: BTreeSet<_> = hosts_of(&found, 9).into_iter().collect();
    assert_eq!(used, BTreeSet::from(["h0".to_owned(), "h1".to_owned()]));
    // A stream between hosts crosses by a medium that gets there.
    for crossing in &found.crossings {
        let host = |pe: graph::PeId| found.pe(pe).host.clone();
        let from = found
            .pe_ids()
            .find(|&pe| found.pe(pe).operators.contains(&crossing.from.operator));
        let from = from.map(host);
        let is_far = crossing.to.iter().any(|&to| Some(host(to)) != from);
        assert!(!is_far || &*crossing.medium != "shm", "{crossing:?}");
    }
}

#[test]
fn what_costs_little_stays_on_one_host() {
    let program = chain(4);
    let found = cola(&program, &plain(3), Some(&profile(&[1, 1, 1, 1]))).expect("a plan");
    assert_eq!(found.pes.len(), 1, "{found:?}");
    assert_eq!(found.pes[0].host.as_deref(), Some("h0"));
}

#[test]
fn named_hosts_and_pools_are_kept() {
    let mut program = chain(5);
    place(&mut program, 0, "host(\"h2\")", 1);
    place(&mut program, 1, "host(Ingest[1])", 2);
    place(&mut program, 2, "host(Fast)", 3);
    place(&mut program, 3, "host(Fast[0])", 4);
    place(&mut program, 4, "host(Fast[1])", 5);
    pools(
        &mut program,
        &[
            "Ingest = [\"h0\", \"h3\"]",
            "Fast = createPool({size = 2, tags = [\"fast\"]}, Sys.Exclusive)",
        ],
    );
    let fast = vec!["fast".to_owned()];
    let tags = [fast.clone(), fast, Vec::new(), Vec::new()];
    let found = cola(&program, &tags, Some(&profile(&[1; 5]))).expect("a plan");
    let hosts = hosts_of(&found, 5);
    assert_eq!((&*hosts[0], &*hosts[1]), ("h2", "h3"));
    let of_pool: BTreeSet<&str> = hosts[3..].iter().map(|host| &**host).collect();
    assert_eq!(of_pool, BTreeSet::from(["h0", "h1"]));
    assert!(of_pool.contains(&*hosts[2]), "{hosts:?}");
}

/// The only error of a program on these hosts, as text.
fn error(program: &Program, tags: &[Vec<String>]) -> String {
    let errors = cola(program, tags, None).expect_err("there are no hosts");
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].text(program)
}

#[test]
fn too_few_hosts_are_told_with_all_places() {
    let mut program = chain(3);
    for (at, line) in [(0, 10), (1, 20), (2, 30)] {
        place(&mut program, at, "hostExlocation(\"x\")", line);
    }
    let text = error(&program, &plain(2));
    let said = "3 groups of operators need a host each, but may only be on 2: h0, h1";
    assert!(text.contains(said), "{text}");
    for place in ["Main.spl:10:", "Main.spl:20:", "Main.spl:30:"] {
        assert!(text.contains(place), "{text}");
    }
    assert!(
        text.contains("`O1` has hostExlocation(\"x\") here"),
        "{text}"
    );
    assert!(cola(&program, &plain(3), None).is_ok());
    // Only those that compete are named.
    place(&mut program, 0, "host(\"h0\")", 11);
    place(&mut program, 1, "host(\"h0\")", 21);
    let text = error(&program, &plain(3));
    let said = "2 groups of operators need a host each, but may only be on one: h0";
    assert!(
        text.contains(said) && !text.contains("Main.spl:30:"),
        "{text}"
    );
}

#[test]
fn isolated_hosts_are_kept_free() {
    let mut program = chain(3);
    place(&mut program, 1, "hostIsolation", 10);
    let found = cola(&program, &plain(2), Some(&profile(&[1, 1, 1]))).expect("a plan");
    let hosts = hosts_of(&found, 3);
    assert_eq!(hosts[0], hosts[2]);
    assert_ne!(hosts[0], hosts[1]);
    let text = error(&program, &plain(1));
    assert!(
        text.contains("operators without a placement need a host, too"),
        "{text}"
    );
    assert!(text.contains("`O1` has hostIsolation here"), "{text}");
}

#[test]
fn hosts_that_are_not_there_are_told() {
    let mut program = chain(2);
    place(&mut program, 1, "host(\"moon\")", 7);
    let text = error(&program, &plain(2));
    assert_eq!(
        text,
        "Main.spl:7:0: `O1` is placed on host(\"moon\"), but no host is called moon\n  the hosts \
         are h0, h1"
    );
    let mut program = chain(2);
    place(&mut program, 1, "host(Fast[1])", 7);
    pools(
        &mut program,
        &["Fast = createPool({size = 2, tags = [\"fast\"]}, Sys.Shared)"],
    );
    let tags = [vec!["fast".to_owned()], Vec::new()];
    let text = error(&program, &tags);
    assert!(text.contains("needs 2 hosts, and 1 belong to it"), "{text}");
    assert!(
        text.contains("Main.spl:99:0: the pool is defined here"),
        "{text}"
    );
    assert!(text.contains("the hosts are h0 (tags fast), h1"), "{text}");
}

#[test]
fn colours_that_do_not_suffice_are_told() {
    // Each two of five operators in a ring are apart if they are neighbours: two hosts are too few,
    // though each pair finds its own.
    let mut program = chain(5);
    for at in 0..5_u32 {
        place(
            &mut program,
            at as usize,
            &format!("hostExlocation(\"{at}\")"),
            at + 1,
        );
    }
    // An operator has one exlocation, so the other one comes by colocation.
    for at in 0..5 {
        let mut inputs = program.operators[at].clone();
        inputs.name = format!("Twin{at}").into();
        inputs.config.clear();
        program.operators.push(inputs);
    }
    for at in 0..5 {
        place(&mut program, at, &format!("hostColocation(\"c{at}\")"), 20);
        place(
            &mut program,
            5 + at,
            &format!("hostColocation(\"c{at}\")"),
            20,
        );
        let next = format!("hostExlocation(\"{}\")", (at + 1) % 5);
        place(&mut program, 5 + at, &next, 30);
    }
    let text = error(&program, &plain(2));
    assert!(
        text.contains("cannot all be kept on the hosts h0, h1"),
        "{text}"
    );
    assert!(cola(&program, &plain(3), None).is_ok());
}

#[test]
fn many_operators_of_one_pool_are_placed_at_once() {
    let mut program = chain(3000);
    for at in 0..3000 {
        place(&mut program, at, "host(Fast)", at as u32);
        // An id that no other operator has keeps nothing apart.
        place(
            &mut program,
            at,
            &format!("hostExlocation(\"{at}\")"),
            at as u32,
        );
    }
    pools(
        &mut program,
        &["Fast = createPool({size = 2, tags = [\"fast\"]}, Sys.Exclusive)"],
    );
    let fast = vec!["fast".to_owned()];
    let tags = [fast.clone(), Vec::new(), fast.clone(), fast];
    let hosts = hosts(&tags);
    let media = media();
    let options = PlanOptions {
        cores: 2,
        media: &media,
        hosts: &hosts,
        ..PlanOptions::default()
    };
    let found = optimise(&program, &options, &Optimisation::default()).expect("a plan");
    let used: BTreeSet<String> = hosts_of(&found.plan, 3000).into_iter().collect();
    assert!(used.len() <= 2 && !used.contains("h1"), "{used:?}");
}

/// A random choice of placements, of pools and of tags.
#[derive(Clone, Debug)]
struct HostCase {
    hosts: usize,
    /// Whether each host has the tag.
    tagged: Vec<bool>,
    is_exclusive: bool,
    size: usize,
    /// By operator: host, colocation, exlocation and isolation.
    placements: Vec<(u8, u8, u8, u8)>,
}

fn cases() -> impl Strategy<Value = HostCase> {
    let placement = (0..12_u8, 0..6_u8, 0..5_u8, 0..8_u8);
    (
        1..=4_usize,
        proptest::collection::vec(any::<bool>(), 4),
        any::<bool>(),
        1..=3_usize,
        proptest::collection::vec(placement, 2..=5),
    )
        .prop_map(|(hosts, tagged, is_exclusive, size, placements)| HostCase {
            hosts,
            tagged,
            is_exclusive,
            size,
            placements,
        })
}

impl HostCase {
    fn tags(&self) -> Vec<Vec<String>> {
        let tags = |is_tagged: &bool| match is_tagged {
            true => vec!["t".to_owned()],
            false => Vec::new(),
        };
        self.tagged[..self.hosts].iter().map(tags).collect()
    }

    /// The host that an operator names.
    fn named(&self, at: usize) -> Option<usize> {
        (self.placements[at].0 < 2).then(|| usize::from(self.placements[at].0) % self.hosts)
    }

    /// Whether an operator is placed in the pool, and at which place of it.
    fn in_pool(&self, at: usize) -> Option<Option<usize>> {
        match self.placements[at].0 {
            2 | 3 => Some(None),
            4 => Some(Some(0)),
            5 => Some(Some(self.size - 1)),
            _ => None,
        }
    }

    fn colocation(&self, at: usize) -> Option<u8> {
        Some(self.placements[at].1).filter(|id| *id < 2)
    }

    fn exlocation(&self, at: usize) -> Option<u8> {
        Some(self.placements[at].2).filter(|id| *id < 3)
    }

    fn is_isolated(&self, at: usize) -> bool {
        self.placements[at].3 == 0
    }

    fn program(&self) -> Program {
        let mut program = chain(self.placements.len() as u32);
        for at in 0..self.placements.len() {
            let mut values = Vec::new();
            values.extend(self.named(at).map(|host| format!("host(\"h{host}\")")));
            values.extend(self.in_pool(at).map(|place| match place {
                Some(place) => format!("host(Pool[{place}])"),
                None => "host(Pool)".to_owned(),
            }));
            values.extend(
                self.colocation(at)
                    .map(|id| format!("hostColocation(\"{id}\")")),
            );
            values.extend(
                self.exlocation(at)
                    .map(|id| format!("hostExlocation(\"{id}\")")),
            );
            values.extend(self.is_isolated(at).then(|| "hostIsolation".to_owned()));
            for value in values {
                configure(&mut program, at, "placement", &value);
            }
        }
        let sharing = if self.is_exclusive {
            "Exclusive"
        } else {
            "Shared"
        };
        let pool = format!(
            "Pool = createPool({{size = {}, tags = [\"t\"]}}, Sys.{sharing})",
            self.size
        );
        pools(&mut program, &[&pool]);
        program
    }

    /// Whether operators on these hosts keep all placements.
    fn is_kept(&self, host_of: &[usize]) -> bool {
        let count = self.placements.len();
        let members: Vec<usize> = (0..count)
            .filter(|&at| self.in_pool(at).is_some())
            .collect();
        let used: BTreeSet<usize> = members.iter().map(|&at| host_of[at]).collect();
        let pool_hosts = self.tagged[..self.hosts].iter().filter(|tag| **tag).count();
        if !members.is_empty() && (used.len() > self.size || pool_hosts < self.size) {
            return false;
        }
        // Operators of one host group: by colocation ids and places of the pool.
        let is_with = |a: usize, b: usize| {
            let by_id = self.colocation(a).is_some() && self.colocation(a) == self.colocation(b);
            let place = |at| self.in_pool(at).flatten();
            by_id || place(a).is_some() && place(a) == place(b)
        };
        let mut groups: Vec<usize> = (0..count).collect();
        for _ in 0..count {
            for a in 0..count {
                for b in 0..count {
                    if is_with(a, b) {
                        groups[a] = groups[a].min(groups[b]);
                    }
                }
            }
        }
        let in_pool = |group: usize| members.iter().any(|&at| groups[at] == group);
        (0..count).all(|a| {
            let own = self.named(a).is_none_or(|host| host == host_of[a])
                && (self.in_pool(a).is_none() || self.tagged[host_of[a]]);
            own && (0..count).filter(|&b| b != a).all(|b| {
                let is_one = host_of[a] == host_of[b];
                let is_group = groups[a] == groups[b];
                let places = self.in_pool(a).flatten().zip(self.in_pool(b).flatten());
                let is_ex =
                    self.exlocation(a).is_some() && self.exlocation(a) == self.exlocation(b);
                let keeps_off = self.is_exclusive && in_pool(groups[a]) && !in_pool(groups[b]);
                match is_one {
                    false => !is_group,
                    true => {
                        !is_ex
                            && places.is_none_or(|(a, b)| a == b)
                            && (is_group || !self.is_isolated(a))
                            && !keeps_off
                    }
                }
            })
        })
    }

    /// Whether any hosts keep all placements, by trying all.
    fn is_possible(&self) -> bool {
        let count = self.placements.len();
        (0..self.hosts.pow(count as u32)).any(|number| {
            let host = |at: usize| number / self.hosts.pow(at as u32) % self.hosts;
            self.is_kept(&(0..count).map(host).collect::<Vec<_>>())
        })
    }
}

/// Whether a plan is found where there is one, and keeps all placements.
fn check_case(case: &HostCase) -> TestCaseResult {
    let program = case.program();
    let planned = cola(&program, &case.tags(), None);
    let is_possible = case.is_possible();
    prop_assert_eq!(planned.is_ok(), is_possible, "{:?}", planned);
    if let Ok(plan) = planned {
        let hosts = hosts_of(&plan, program.operators.len());
        let numbers = hosts
            .iter()
            .map(|host| NAMES.iter().position(|name| name == host));
        let numbers: Option<Vec<usize>> = numbers.collect();
        let numbers = numbers.expect("every process has a host");
        prop_assert!(case.is_kept(&numbers), "{:?}", hosts);
    }
    Ok(())
}

/// A pool that no operator is in does not matter, and one host is enough for a group.
#[test]
fn a_group_of_operators_that_keep_off_others_stays_on_one_host() {
    let case = HostCase {
        hosts: 2,
        tagged: vec![false; 4],
        is_exclusive: false,
        size: 1,
        placements: vec![
            (6, 0, 1, 1),
            (6, 0, 2, 1),
            (6, 0, 0, 1),
            (6, 0, 3, 1),
            (6, 0, 3, 1),
        ],
    };
    for _ in 0..50 {
        check_case(&case).expect("hosts that keep all placements");
    }
}

#[test]
fn hosts_are_found_exactly_where_there_are_some() {
    let count = env::var("THALWEG_PLANS").ok();
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(200);
    let mut runner = TestRunner::new(Config {
        cases: count,
        failure_persistence: None,
        ..Config::default()
    });
    let mut found = [0, 0];
    let outcome = runner.run(&cases(), |case| check_case(&case));
    outcome.expect("hosts are found where there are some");
    // Both outcomes come up, or the cases say nothing.
    for case in std::iter::repeat_with(|| cases().new_tree(&mut runner)).take(100) {
        let case = case.expect("a case").current();
        found[usize::from(case.is_possible())] += 1;
    }
    assert!(found[0] > 10 && found[1] > 10, "{found:?}");
}

#[test]
fn moves_keep_hosts_and_gain_throughput() {
    // Two heavy operators that must be apart, and others that may be anywhere.
    let mut program = chain(6);
    place(&mut program, 0, "hostExlocation(\"x\")", 1);
    place(&mut program, 5, "hostExlocation(\"x\")", 2);
    let profile = profile(&[50_000, 10_000, 10_000, 10_000, 10_000, 50_000]);
    let (media, tags) = (media(), plain(2));
    let hosts = hosts(&tags);
    let options = PlanOptions {
        cores: 2,
        media: &media,
        hosts: &hosts,
        ..PlanOptions::default()
    };
    let optimisation = Optimisation {
        profile: Some(&profile),
        ..Optimisation::default()
    };
    let found = optimise(&program, &options, &optimisation).expect("a plan");
    let names = hosts_of(&found.plan, 6);
    assert_ne!(names[0], names[5]);
    let best = predict(&program, &options, Some(&profile), &found.plan).throughput;
    for (kind, other) in &found.scored {
        assert!(best >= other.throughput * (1.0 - 1e-9), "{kind:?}");
    }
    // No thread has more to do than one of the heavy operators and a crossing.
    assert!(best > 1e9 / 60_000.0, "{best}");
}
