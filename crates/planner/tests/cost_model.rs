//! Predictions of the cost model, worked out by hand.

mod support;

use graph::{Plan, Program};
use support::{chain, configure, media, profile, program};
use thalweg_planner::{
    Bottleneck, Calibration, FusionPolicy, LoadBasis, PlanOptions, Profile, ProgramLoads,
    StreamConsumers, parse_plan, plan, predict,
};

/// Shared memory and rings at 10 ns of each side, and a hundredth of that for calls.
const COSTS: &str = "thalweg calibration 1
time 2026-11-24T15:04:05Z
processor P
cores 4
within fused tuple_ns 0 byte_ns 0 latency_ns 10 error_percent 0
within ring tuple_ns 10 byte_ns 0 latency_ns 1000 error_percent 0
within shm tuple_ns 10 byte_ns 0 latency_ns 2000 error_percent 0
within rum tuple_ns 30 byte_ns 1 latency_ns 3000 error_percent 0
between rum tuple_ns 40 byte_ns 1 latency_ns 4000 error_percent 0
";

struct Case {
    program: Program,
    profile: Profile,
    calibration: Calibration,
    cores: u32,
}

impl Case {
    fn new(program: Program, tuple_ns: &[u64], cores: u32) -> Case {
        Case {
            program,
            profile: profile(tuple_ns),
            calibration: Calibration::parse(COSTS).expect("the text is that of a calibration"),
            cores,
        }
    }

    /// Tuples a second of a plan's text, and its bottleneck in words.
    fn predict(&self, text: &str) -> (f64, String) {
        let media = media();
        let written = parse_plan(text, &self.program).expect("the text is that of a plan");
        let options = PlanOptions {
            fusion: FusionPolicy::Text(&written),
            cores: self.cores,
            media: &media,
            calibration: Some(&self.calibration),
            ..PlanOptions::default()
        };
        let plan: Plan = plan(&self.program, &options).expect("the plan is complete");
        let found = predict(&self.program, &options, Some(&self.profile), &plan);
        let bottleneck = match found.bottleneck {
            Bottleneck::Thread(at) => found.threads[at].name.clone(),
            Bottleneck::Host(pe) => format!("host of pe {pe}"),
        };
        (found.throughput, bottleneck)
    }
}

/// Whether a rate is a second over so many nanoseconds.
fn is_rate_of(rate: f64, ns: f64) -> bool {
    (rate * ns / 1e9 - 1.0).abs() < 1e-9
}

#[test]
fn a_fused_chain_takes_the_sum_of_its_operators() {
    let case = Case::new(chain(3), &[10, 30, 60], 4);
    let (rate, bottleneck) = case.predict("pe 0\n operators *\n");
    assert!(is_rate_of(rate, 100.0), "{rate}");
    assert_eq!(bottleneck, "source O0");
}

#[test]
fn a_crossing_costs_both_sides() {
    let case = Case::new(chain(3), &[10, 30, 60], 4);
    let text = "pe 0\n operators O0 O1\npe 1\n operators O2\n";
    let (rate, bottleneck) = case.predict(text);
    // 60 of the operator and 10 of receiving; the other side has 10 + 30 + 10.
    assert!(is_rate_of(rate, 70.0), "{rate}");
    assert_eq!(bottleneck, "receiver of O1");
    // One core has the work of both sides.
    let one = Case::new(chain(3), &[10, 30, 60], 1);
    let (rate, bottleneck) = one.predict(text);
    assert!(is_rate_of(rate, 120.0), "{rate}");
    assert_eq!(bottleneck, "host of pe 0");
}

#[test]
fn a_queue_is_a_thread_with_the_operators_behind_it() {
    let case = Case::new(chain(4), &[10, 30, 50, 50], 4);
    let (rate, bottleneck) = case.predict("pe 0\n operators *\n queue O2.0\n");
    assert!(is_rate_of(rate, 110.0), "{rate}");
    assert_eq!(bottleneck, "queue of O2.0");
}

#[test]
fn a_medium_and_a_host_have_their_own_costs() {
    let case = Case::new(chain(2), &[10, 60], 4);
    let near = "pe 0\n operators O0\npe 1\n operators O1\ncrossing O0.0 -> pe 1 on rum\n";
    // 30 ns and 8 bytes at 1 ns.
    assert!(is_rate_of(case.predict(near).0, 98.0));
    let far = "pe 0\n operators O0\n host a\npe 1\n operators O1\n host b\n";
    assert!(is_rate_of(case.predict(far).0, 108.0));
}

#[test]
fn one_write_of_shared_memory_serves_several_receivers() {
    let fan_out = program(&[vec![], vec![vec![0]], vec![vec![0]], vec![vec![0]]]);
    let case = Case::new(fan_out, &[70, 5, 5, 5], 4);
    let text =
        "pe 0\n operators O0\npe 1\n operators O1\npe 2\n operators O2\npe 3\n operators O3\n";
    assert!(is_rate_of(case.predict(text).0, 80.0));
    let (rate, bottleneck) = case.predict(&format!("{text}crossing O0.0 -> pe 1 2 3 on rum\n"));
    assert!(is_rate_of(rate, 70.0 + 3.0 * 38.0), "{rate}");
    assert_eq!(bottleneck, "source O0");
}

#[test]
fn streams_into_one_port_share_a_receiver_and_others_do_not() {
    let one_port = program(&[vec![], vec![], vec![vec![0, 1]]]);
    let text = "pe 0\n operators O0\npe 1\n operators O1\npe 2\n operators O2\n";
    let case = Case::new(one_port, &[5, 5, 0], 4);
    // Each stream has half of the sources' tuples.
    assert!(is_rate_of(case.predict(text).0, 10.0));
    let two_ports = program(&[vec![], vec![], vec![vec![0], vec![1]]]);
    let case = Case::new(two_ports, &[0, 0, 0], 4);
    assert!(is_rate_of(case.predict(text).0, 5.0));
}

#[test]
fn paths_of_one_source_that_meet_again_are_merged_by_a_thread() {
    let diamond = program(&[vec![], vec![vec![0]], vec![vec![0]], vec![vec![1], vec![2]]]);
    let case = Case::new(diamond, &[10, 10, 10, 100], 4);
    let (rate, bottleneck) = case.predict("pe 0\n operators *\n queue O1.0\n");
    // The merge takes two streams by rings, with 180 ns for each tuple's position, and runs O3.
    assert!(is_rate_of(rate, 120.0 + 2.0 * 180.0), "{rate}");
    assert_eq!(bottleneck, "merge of O3");
    // Fused there is no second way.
    let (rate, _) = case.predict("pe 0\n operators *\n");
    assert!(is_rate_of(rate, 130.0), "{rate}");
}

#[test]
fn an_operator_of_two_sources_divides_its_work() {
    let union = program(&[vec![], vec![], vec![vec![0, 1]]]);
    let case = Case::new(union, &[20, 20, 40], 4);
    // Of half a tuple: 10 of the source, and half of the 20 that the operator takes for it.
    let (rate, bottleneck) = case.predict("pe 0\n operators *\n");
    assert!(is_rate_of(rate, 20.0), "{rate}");
    assert_eq!(bottleneck, "source O0");
}

#[test]
fn latency_is_that_of_the_longest_way_and_of_its_waits() {
    let case = Case::new(chain(2), &[100, 300], 4);
    let media = media();
    let text = "pe 0\n operators O0\npe 1\n operators O1\n";
    let written = parse_plan(text, &case.program).expect("a plan");
    let options = PlanOptions {
        fusion: FusionPolicy::Text(&written),
        cores: 4,
        media: &media,
        calibration: Some(&case.calibration),
        ..PlanOptions::default()
    };
    let plan = plan(&case.program, &options).expect("the plan is complete");
    let found = predict(&case.program, &options, Some(&case.profile), &plan);
    // A million tuples in 1,000 s.
    assert_eq!(found.rate, 1000.0);
    let load = 310.0 * 1000.0 / 1e9;
    let wait = 310.0 * load / (2.0 * (1.0 - load));
    let expected = 100.0 + 2000.0 + wait + 300.0;
    assert!(
        (found.latency_ns - expected).abs() < 1e-6,
        "{}",
        found.latency_ns
    );
}

#[test]
fn operators_without_a_line_are_estimated_from_their_kind() {
    let program = chain(3);
    let consumers = StreamConsumers::new(&program);
    let loads = ProgramLoads::new(&program, &consumers, Some(&profile(&[10, 30])));
    let bases: Vec<_> = loads.operators.iter().map(|load| load.basis).collect();
    assert_eq!(
        bases,
        [
            LoadBasis::Profile,
            LoadBasis::Profile,
            LoadBasis::KindInProfile
        ]
    );
    assert_eq!(loads.operators[2].tuple_ns, 20.0);
    assert_eq!(loads.operators[2].tuples, 1.0);
    let note = "the profile has no line for `O2`: estimated from operators of their kinds";
    assert_eq!(loads.notes, [note]);
    let loads = ProgramLoads::new(&program, &consumers, None);
    assert!(
        loads
            .operators
            .iter()
            .all(|load| load.basis == LoadBasis::Static)
    );
    assert_eq!(loads.source_rate, None);
    assert!(
        loads.notes[0].starts_with("without a profile"),
        "{:?}",
        loads.notes
    );
}

#[test]
fn a_profile_of_another_program_is_told_from_its_own() {
    let mut program = chain(2);
    program.name = "Other".into();
    let consumers = StreamConsumers::new(&program);
    let loads = ProgramLoads::new(&program, &consumers, Some(&profile(&[10, 30, 50])));
    assert_eq!(loads.notes.len(), 2);
    assert!(loads.notes[0].starts_with("the profile is of the program `Main`, not of `Other`"));
    assert!(loads.notes[1].starts_with("the program has no operator `O2`"));
}

#[test]
fn a_queue_that_config_asks_for_is_an_origin() {
    let mut diamond = program(&[vec![], vec![vec![0]], vec![vec![0]], vec![vec![1], vec![2]]]);
    configure(
        &mut diamond,
        3,
        "threadedPort",
        "queue(In0, Sys.Wait, 1000)",
    );
    let case = Case::new(diamond, &[10, 10, 10, 100], 4);
    // No merge: O3 is entered by the queue's thread and by the source's, half of the tuples each.
    let (rate, bottleneck) = case.predict("pe 0\n operators *\n");
    assert!(is_rate_of(rate, 90.0), "{rate}");
    assert_eq!(bottleneck, "source O0");
}
