//! Cores of the threads of a plan: which threads get cores that share a cache, and when none do.

mod support;

use graph::{PinnedThread, Plan, Program};
use support::{chain, configure, media, profile, program, stream};
use thalweg_planner::{FusionPolicy, PlanOptions, check, choose_cores, parse_plan, plan};

/// The plan that a text makes of a program.
fn complete(program: &Program, text: &str) -> Plan {
    let media = media();
    let written = parse_plan(text, program).expect("a right text");
    let options = PlanOptions {
        fusion: FusionPolicy::Text(&written),
        media: &media,
        ..PlanOptions::default()
    };
    plan(program, &options).expect("a plan")
}

/// Four threads in two processes: a source and a queue in one, a receiver and a queue in the other.
const TEXT: &str = "pe 0\noperators O0 O1\nqueue O1.0\npe 1\noperators O2 O3\nqueue O3.0\n";

/// Lines of a plan's text that name cores.
fn core_lines(program: &Program, plan: &Plan) -> Vec<String> {
    let text = plan.display(program).to_string();
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| line.contains("core") && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn threads_that_exchange_most_bytes_share_a_cache() {
    let program = chain(4);
    let domains = [vec![4, 6], vec![1, 3]];
    let pinned = |bytes: u64| {
        let mut profile = profile(&[10, 10, 10, 10]);
        profile.streams[1].bytes = bytes;
        let mut found = complete(&program, TEXT);
        assert!(choose_cores(&program, Some(&profile), &mut found, &domains));
        assert_eq!(check(&found, &program), Ok(()));
        found
    };
    // The stream between the processes carries least: each process has a cache.
    let found = pinned(1_000_000);
    let lines = core_lines(&program, &found);
    let expected = [
        "cores 4 6",
        "source O0 core 4",
        "queue O1.0 wait 1000 core 6",
        "cores 1 3",
        "receiver O1.0 core 1",
        "queue O3.0 wait 1000 core 3",
    ];
    let mut sorted = (lines.clone(), expected.map(str::to_owned).to_vec());
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);
    // The text means the same plan again.
    let text = found.display(&program).to_string();
    assert_eq!(complete(&program, &text), found);
    // It carries most: its two ends share a cache.
    let found = pinned(900_000_000);
    let queue = found.pes[0].threaded_ports[0].core.expect("a core");
    let receiver = found.pes[1].pins[0].core;
    let mut caches = domains.iter();
    let share = caches.any(|cores| cores.contains(&queue) && cores.contains(&receiver));
    assert!(share, "{:?}", core_lines(&program, &found));
}

#[test]
fn queues_of_config_and_merges_have_cores() {
    // A diamond: a queue on one way makes the last operator's input a merge, which has no line.
    let mut program = program(&[
        vec![],
        vec![vec![0]],
        vec![vec![0]],
        vec![vec![1, 2]],
        vec![vec![3]],
    ]);
    configure(
        &mut program,
        4,
        "threadedPort",
        "queue(In0, Sys.Wait, 1000)",
    );
    let mut found = complete(&program, "pe 0\noperators *\nqueue O1.0\n");
    assert_eq!(found.pes[0].merges.len(), 2);
    let domains = [vec![0, 1], vec![2, 3]];
    assert!(choose_cores(&program, None, &mut found, &domains));
    let pe = &found.pes[0];
    assert_eq!(pe.cores, [0, 1, 2, 3]);
    let queues = pe
        .threaded_ports
        .iter()
        .filter(|queue| queue.core.is_some());
    assert_eq!((queues.count(), pe.pins.len()), (2, 1));
    // The queue of the plan has become a merge, which has its core.
    assert_eq!(pe.merges[0].core, pe.threaded_ports[0].core);
    assert_eq!(pe.merges[1].core, None);
    // A merge of streams, one from another process, has the core of the receiver.
    let text = "pe 0\noperators O0 O1 O3 O4\npe 1\noperators O2\n";
    let mut found = complete(&program, text);
    assert_eq!(found.pes[0].merges.len(), 1);
    assert!(choose_cores(&program, None, &mut found, &domains));
    let pe = &found.pes[0];
    let receiver = pe
        .pins
        .iter()
        .find(|pin| pin.thread == PinnedThread::Receiver(stream(2)));
    let core = receiver.map(|pin| pin.core);
    assert_eq!((core.is_some(), pe.merges[0].core), (true, core));
}

#[test]
fn nothing_is_pinned_without_a_choice() {
    let program = chain(4);
    let stays = |text: &str, domains: &[Vec<u32>]| {
        let mut found = complete(&program, text);
        let before = found.clone();
        assert!(!choose_cores(&program, None, &mut found, domains), "{text}");
        assert_eq!(found, before);
    };
    // One cache, no cores, fewer cores than threads.
    stays(TEXT, &[vec![0, 1, 2, 3]]);
    stays(TEXT, &[]);
    stays(TEXT, &[vec![0, 1], vec![2]]);
    let domains = [vec![0, 1], vec![2, 3]];
    // A single thread, cores of the plan's own, hosts, a pool.
    stays("pe 0\noperators *\n", &domains);
    stays(&format!("{TEXT}cores 0\n"), &domains);
    let hosts = "pe 0\noperators O0 O1\nhost a\npe 1\noperators O2 O3\nhost b\n";
    stays(hosts, &domains);
    stays("pe 0\noperators *\nqueue O1.0 pooled\npool 1\n", &domains);
}
