//! The threads of a running job are those that the planner works out, one for one.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, thread};

use engine::{CompileRequest, LaunchOptions, PlanOptions, Program};
use graph::ThreadStartPoint;
use thalweg_planner::{FusionPolicy, ThreadingPolicy, cut, pe_threads};

/// Sources, two of which meet; an operator with a thread of its own; one with a timer.
const PROGRAM: &str = "composite Main {
  graph
    stream<uint64 n> First = Beacon() { param period : 0.01; output First : n = IterationCount(); }
    stream<uint64 n> Second = Beacon() { param period : 0.01; output Second : n = IterationCount(); }
    stream<uint64 n> Both = Functor(First, Second) {}
    stream<uint64 n> Late = Delay(Both) { param delay : 0.001; }
    stream<uint64 n> Even = Filter(Both) { param filter : n % 2ul == 0ul; }
    stream<uint64 n> Often = Aggregate(Even) { window Even : tumbling, time(60.0); }
    () as Sink = Custom(Late, Even, Often) {}
}
";

/// Plans: everything on the threads of the sources; every port with a thread; some ports with one.
const PLANS: &[(ThreadingPolicy, &str)] = &[
    (ThreadingPolicy::Manual, "pe 0\noperators *\n"),
    (ThreadingPolicy::Dedicated, "pe 0\noperators *\n"),
    (
        ThreadingPolicy::Manual,
        "pe 0\noperators *\nqueue Even wait 10\nqueue Sink dropLast 10\n",
    ),
];

/// Name of the thread that waits for the end of a job. The thread that starts the job has this name
/// too: a new thread has the name of the one that made it until it runs.
const WAITING_THREAD: &str = "job";

/// Bytes of a thread's name that Linux keeps at most.
const NAME_BYTES: usize = 15;

/// The names of this process's threads, by their ids.
fn live_threads() -> BTreeMap<u64, String> {
    let tasks = fs::read_dir("/proc/self/task").expect("the system is Linux");
    let name = |task: fs::DirEntry| {
        let id = task.file_name().to_str()?.parse().ok()?;
        // A thread that has ended meanwhile has no name.
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        Some((id, name.trim_end_matches('\n').to_owned()))
    };
    tasks.flatten().filter_map(name).collect()
}

/// The names of the threads that the planner works out, as Linux keeps them.
fn planned_threads(program: &Program, plan: &engine::Plan) -> Vec<String> {
    let part = cut(program, plan, 0);
    let threads = pe_threads(&part.program, &part.pins).threads.into_iter();
    let names = threads.map(|thread| match thread.start {
        ThreadStartPoint::Timers(_) => "timers".to_owned(),
        ThreadStartPoint::Source(id)
        | ThreadStartPoint::Receiver(id)
        | ThreadStartPoint::Queue(id)
        | ThreadStartPoint::Operator(id) => part.program.operators[id.0 as usize].name.to_string(),
    });
    let mut names: Vec<String> = names
        .map(|name| name.chars().take(NAME_BYTES).collect())
        .collect();
    names.sort();
    names
}

fn assert_live(folder: &Path) {
    let file = folder.join("Main.spl");
    fs::write(&file, PROGRAM).expect("a temporary file");
    let request = CompileRequest {
        file,
        main: None,
        toolkit_path: Vec::new(),
        compile_values: Vec::new(),
        mixed_args: Vec::new(),
        submission_values: Some(Vec::new()),
    };
    let compilation = engine::compile(&request).expect("a readable file");
    let program = compilation.program.as_ref().expect("a right program");
    for (threading, text) in PLANS {
        let written = engine::parse_plan(text, program).expect("a right text");
        let media = engine::media();
        let options = PlanOptions {
            fusion: FusionPolicy::Text(&written),
            threading: *threading,
            media: &media,
            ..PlanOptions::default()
        };
        let plan = engine::plan(program, &options).expect("a plan");
        let before = live_threads();
        let job = engine::run(&compilation, program, &plan, &LaunchOptions::default());
        let job = job.expect("a running job");
        let planned = planned_threads(program, &plan);
        let started = live_threads().into_iter();
        let started = started.filter(|(id, _)| !before.contains_key(id));
        let mut live: Vec<String> = started.map(|(_, name)| name).collect();
        live.retain(|name| name != WAITING_THREAD);
        live.sort();
        job.stop_handle().stop();
        job.join().expect("an orderly end");
        assert_eq!(live, planned, "{}", plan.display(program));
    }
}

#[test]
fn a_job_has_the_threads_of_its_plan() {
    let folder = std::env::temp_dir().join(format!("thalweg-threads-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let run = {
        let folder = folder.clone();
        let named = thread::Builder::new().name(WAITING_THREAD.to_owned());
        named.spawn(move || assert_live(&folder))
    };
    let result = run.expect("a thread").join();
    let _ = fs::remove_dir_all(&folder);
    assert!(result.is_ok(), "see above");
}
