//! The threads of a running job are those that the planner works out, one for one: their names and
//! cores, and the operators that each enters.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, thread};

use engine::{CompileRequest, LaunchOptions, PlanOptions, Program};
use graph::{PeId, ThreadStartPoint};
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

/// Plans: everything on the threads of the sources; every port with a thread; some ports with one;
/// a port that a pool runs, which has no more threads than pooled ports.
const PLANS: &[(ThreadingPolicy, &str)] = &[
    (ThreadingPolicy::Manual, "pe 0\noperators *\n"),
    (ThreadingPolicy::Dedicated, "pe 0\noperators *\n"),
    (
        ThreadingPolicy::Manual,
        "pe 0\noperators *\nqueue Even wait 10\nqueue Sink dropLast 10\n",
    ),
    (
        ThreadingPolicy::Manual,
        "pe 0\noperators *\nqueue Even wait 10 core CORE\nsource Second core CORE\n",
    ),
    (
        ThreadingPolicy::Manual,
        "pe 0\noperators *\npool 3\nqueue Even wait 10 pooled\n",
    ),
];

/// Name of the thread that waits for the end of a job. The thread that starts the job has this name
/// too: a new thread has the name of the one that made it until it runs.
const WAITING_THREAD: &str = "job";

/// Bytes of a thread's name that Linux keeps at most.
const NAME_BYTES: usize = 15;

/// A thread: its name, and the cores that it may run on as Linux lists them: `0-3`.
type NameAndCores = (String, String);

/// The cores that a thread may run on, by its folder in `/proc`; `None` if it has ended.
fn usable_cores(folder: &Path) -> Option<String> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let mut lines = status.lines();
    let cores = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.map(|cores| cores.trim().to_owned())
}

/// The threads of the test's process, by their ids.
fn live_threads() -> BTreeMap<u64, NameAndCores> {
    let tasks = fs::read_dir("/proc/self/task").expect("the system is Linux");
    let thread = |task: fs::DirEntry| {
        let id = task.file_name().to_str()?.parse().ok()?;
        // A thread that has ended meanwhile has no name.
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        let cores = usable_cores(&task.path())?;
        Some((id, (name.trim_end_matches('\n').to_owned(), cores)))
    };
    tasks.flatten().filter_map(thread).collect()
}

/// The threads that the planner works out, with their names as Linux keeps them. Without a core of
/// its own a thread may run on `all_cores`.
fn planned_threads(program: &Program, plan: &engine::Plan, all_cores: &str) -> Vec<NameAndCores> {
    let part = cut(program, plan, PeId(0));
    let pe_threads = pe_threads(&part.program, &part.pins);
    let (pooled, own): (Vec<_>, Vec<_>) = pe_threads
        .threads
        .into_iter()
        .partition(|thread| thread.is_pooled);
    let pool = pe_threads.pool.map_or(0, |pool| pool.threads as usize);
    let pool = (0..pool.min(pooled.len())).map(|number| format!("pool {number}"));
    let pool = pool.map(|name| (name, all_cores.to_owned()));
    let threads = own.into_iter().map(|thread| {
        let name = thread_name(&part.program, &thread.start);
        let cores = thread
            .core
            .map_or(all_cores.to_owned(), |core| core.to_string());
        (name.chars().take(NAME_BYTES).collect(), cores)
    });
    let mut threads: Vec<NameAndCores> = threads.chain(pool).collect();
    threads.sort();
    threads
}

/// The name of a thread, before Linux shortens it.
fn thread_name(program: &Program, start: &ThreadStartPoint) -> String {
    match start {
        ThreadStartPoint::Timers(_) => "timers".to_owned(),
        ThreadStartPoint::Source(id)
        | ThreadStartPoint::Receiver(id)
        | ThreadStartPoint::Queue(id)
        | ThreadStartPoint::Operator(id) => program.operators[id.0 as usize].name.to_string(),
    }
}

fn assert_live(folder: &Path) {
    let file = folder.join("Main.spl");
    fs::write(&file, PROGRAM).expect("a temporary file");
    let request = CompileRequest {
        file,
        submission_values: Some(Vec::new()),
        ..CompileRequest::default()
    };
    let compilation = engine::compile(&request).expect("a readable file");
    let program = compilation.program.as_ref().expect("a right program");
    let all_cores = usable_cores(Path::new("/proc/self")).expect("the system is Linux");
    let first_core = all_cores.split([',', '-']).next().expect("one at least");
    for (threading, text) in PLANS {
        let text = text.replace("CORE", first_core);
        let written = engine::parse_plan(&text, program).expect("a right text");
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
        let planned = planned_threads(program, &plan, &all_cores);
        let started = live_threads().into_iter();
        let started = started.filter(|(id, _)| !before.contains_key(id));
        let mut live: Vec<NameAndCores> = started.map(|(_, thread)| thread).collect();
        live.retain(|(name, _)| name != WAITING_THREAD);
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
