//! Fused, not fused, and by which medium.

use planner::{FusionPolicy, PlanOptions, TransportPolicy};

use crate::{choice, pes, planned, program, refused};

const DIAMOND: &str = "stream<int32 a> A = Beacon() {}\n\
    stream<int32 a> B = Filter(A) {}\n stream<int32 a> C = Filter(A) {}\n\
    () as D = Custom(B, C) {}";

const LOOP: &str = "stream<int32 a> A = Beacon() {}\n\
    stream<int32 a> B = Custom(A, C) { logic onTuple A : submit(A, B); }\n\
    stream<int32 a> C = Filter(B) {}\n () as D = Custom(C) {}";

fn crossings(graph: &str, choice: &PlanOptions<'_>) -> Vec<String> {
    let program = program(graph);
    let plan = planned(&program, choice);
    let crossings = plan.crossings.iter();
    crossings
        .map(|c| {
            let to: Vec<u32> = c.to.iter().map(|pe| pe.0).collect();
            format!("{} {to:?} {}", program.stream_name(c.from), c.medium)
        })
        .collect()
}

#[test]
fn all_is_one_process_and_needs_no_medium() {
    let program = program(DIAMOND);
    let plan = planned(&program, &PlanOptions::default());
    assert_eq!(pes(&program, &plan), ["A B C D"]);
    assert_eq!(plan.crossings, []);
}

#[test]
fn none_is_a_process_for_each_operator() {
    let program = program(DIAMOND);
    let plan = planned(&program, &choice(FusionPolicy::None));
    assert_eq!(pes(&program, &plan), ["A", "B", "C", "D"]);
    assert_eq!(
        crossings(DIAMOND, &choice(FusionPolicy::None)),
        ["A [1, 2] shm", "B [3] shm", "C [3] shm"]
    );
}

#[test]
fn a_loop_stays_in_one_process() {
    let program = program(LOOP);
    let plan = planned(&program, &choice(FusionPolicy::None));
    assert_eq!(pes(&program, &plan), ["A", "B C", "D"]);
}

#[test]
fn the_job_chooses_a_medium() {
    let tcp = PlanOptions {
        transport: TransportPolicy::Medium("TCP"),
        ..choice(FusionPolicy::None)
    };
    assert_eq!(
        crossings(DIAMOND, &tcp),
        ["A [1, 2] tcp", "B [3] tcp", "C [3] tcp"]
    );
}

#[test]
fn an_operator_chooses_the_medium_of_its_ends() {
    let graph = DIAMOND.replace(
        "C = Filter(A) {}",
        "C = Filter(A) { config inputTransport : TCP; outputTransport : TCP; }",
    );
    assert_eq!(
        crossings(&graph, &choice(FusionPolicy::None)),
        ["A [1] shm", "A [2] tcp", "B [3] shm", "C [3] tcp"]
    );
}

#[test]
fn the_ends_of_a_stream_agree_on_its_medium() {
    let program = program(
        "stream<int32 a> A = Beacon() { config outputTransport : rum; }\n\
         () as B = Custom(A) { config inputTransport : TCP; }\n\
         () as C = Custom(A) { config inputTransport : rum; }",
    );
    assert_eq!(
        refused(&program, &choice(FusionPolicy::None)),
        "plan.spl:3:30: stream `A` cannot cross by both rum and tcp\n  \
         plan.spl:2:39: rum is asked for here\n  ask for one medium, or only at one end"
    );
    let plan = planned(&program, &PlanOptions::default());
    assert_eq!(plan.crossings, [], "nothing crosses, nothing is asked");
}

#[test]
fn several_receivers_rather_have_a_medium_for_several() {
    let mut media = crate::MEDIA.to_vec();
    for medium in &mut media {
        medium.is_one_to_many = medium.name == "rum";
    }
    let choice = PlanOptions {
        media: &media,
        ..choice(FusionPolicy::None)
    };
    assert_eq!(
        crossings(DIAMOND, &choice),
        ["A [1, 2] rum", "B [3] shm", "C [3] shm"]
    );
}

#[test]
fn a_stream_has_several_crossings_if_one_does_not_serve_all() {
    let mut media = crate::MEDIA.to_vec();
    media.iter_mut().for_each(|medium| medium.receivers_max = 2);
    let choice = PlanOptions {
        media: &media,
        ..choice(FusionPolicy::None)
    };
    let graph = "stream<int32 a> A = Beacon() {}\n".to_owned()
        + &(0..5)
            .map(|at| format!("() as S{at} = Custom(A) {{}}\n"))
            .collect::<String>();
    let expected = ["A [1, 2] shm", "A [3, 4] shm", "A [5] shm"];
    assert_eq!(crossings(&graph, &choice), expected);
}

#[test]
fn a_medium_has_to_be_there_and_to_cross_processes() {
    let program = program(DIAMOND);
    let by = |name| PlanOptions {
        transport: TransportPolicy::Medium(name),
        ..choice(FusionPolicy::None)
    };
    assert_eq!(
        refused(&program, &by("smh")),
        "there is no medium `smh`\n  did you mean `shm`?"
    );
    assert_eq!(
        refused(&program, &by("pigeon")),
        "there is no medium `pigeon`\n  there are tcp, shm, rum, pipe"
    );
    assert_eq!(
        refused(&program, &by("ring")),
        "medium `ring` does not cross processes\n  those that do: tcp, shm, rum, pipe"
    );
    let nothing = PlanOptions {
        media: &[],
        ..choice(FusionPolicy::None)
    };
    let said = refused(&program, &nothing);
    assert_eq!(said, "there is no medium that crosses processes");
    let nothing_named = PlanOptions {
        transport: TransportPolicy::Medium("pigeon"),
        ..nothing
    };
    assert_eq!(
        refused(&program, &nothing_named),
        "there is no medium `pigeon`\n  no medium crosses processes here"
    );
}

#[test]
fn a_chain_of_twenty_thousand_operators_is_planned_at_once() {
    let mut text = "stream<int32 a> S0 = Beacon() {}\n".to_owned();
    for at in 1..20_000 {
        let before = at - 1;
        text += &format!("stream<int32 a> S{at} = Filter(S{before}) {{}}\n");
    }
    let program = program(&text);
    let plan = planned(&program, &choice(FusionPolicy::None));
    assert_eq!(plan.pes.len(), 20_000);
    let all = crate::threads(&program, &plan).into_iter();
    let counts: Vec<usize> = all.map(|threads| threads.threads.len()).collect();
    assert_eq!(counts, vec![1; 20_000]);
}
