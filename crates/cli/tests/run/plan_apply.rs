//! `thalweg plan apply`: a running job gets the cores, sizes of queues and pools of another plan,
//! and neither loses a tuple nor changes their order.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::processes::{Live, until};
use crate::scratch::{Run, Scratch, thalweg};

/// A chain that notices each missing or late tuple, and counts them.
const PROGRAM: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() { output In : n = IterationCount(); }
        stream<uint64 n> Passed = Functor(In) {}
        stream<uint64 n> Crossed = Functor(Passed) {}
        () as Out = Custom(Crossed) {
            logic state : { mutable uint64 next = 0ul; mutable boolean isBroken = false; }
                  onTuple Crossed : {
                      if (n != next) { isBroken = true; }
                      next = n + 1ul;
                      if (n == 0ul) { printStringLn("running"); }
                  }
                  onPunct Crossed : if (currentPunct() == Sys.FinalMarker) {
                      printStringLn(isBroken ? "broken" : "whole");
                  }
        }
}"#;

/// The plan that the job begins with: two processes, a queue with a thread, and pooled queues.
const FIRST: &str = "pe 0\n operators In Passed\n queue Passed wait 100\npe 1\n \
                     operators Crossed Out\n pool 1\n queue Crossed wait 100 pooled\n \
                     queue Out wait 100 pooled\n";

fn other(core: u32) -> String {
    format!(
        "pe 0\n operators In Passed\n source In core {core}\n queue Passed wait 7 core {core}\n\
         pe 1\n operators Crossed Out\n cores {core}\n pool 2 elastic 2\n \
         queue Crossed wait 3000 pooled\n queue Out wait 1 pooled\n"
    )
}

fn started(scratch: &Scratch) -> Live {
    let program = scratch.write("Main.spl", PROGRAM);
    let plan = scratch.write("First.plan", FIRST);
    let (program, plan) = (program.to_str().unwrap(), plan.to_str().unwrap());
    let mut live = Live::start(scratch, &["run", program, "--fuse", plan]);
    assert_eq!(live.line(), "running\n");
    until("both processes have counters", || {
        let pes = sample(&live)["pes"].as_array().map_or(0, Vec::len);
        pes == 2
    });
    live
}

fn sample(live: &Live) -> Value {
    let run = thalweg(&["top", "--once", "--json", &live.pid().to_string()]);
    let jobs: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    jobs["jobs"][0].clone()
}

/// Sizes of the job's queues.
fn sizes(live: &Live) -> BTreeMap<String, u64> {
    let job = sample(live);
    let pes = job["pes"].as_array().into_iter().flatten();
    let queues = pes.flat_map(|pe| pe["queues"].as_array().unwrap());
    let sizes = queues.map(|queue| {
        let name = queue["operator"].as_str().unwrap().to_owned();
        (name, queue["items_max"].as_u64().unwrap())
    });
    sizes.collect()
}

/// Cores of the threads of a job's processes, as Linux lists them, by the names of the threads.
fn cores(live: &Live) -> BTreeMap<String, String> {
    let job = sample(live);
    let pes = job["pes"].as_array().expect("processes");
    let threads = pes.iter().flat_map(|pe| {
        let folder = fs::read_dir(format!("/proc/{}/task", pe["pid"])).unwrap();
        folder.map(|thread| thread.unwrap().path())
    });
    let named = threads.filter_map(|thread| {
        let name = fs::read_to_string(thread.join("comm")).ok()?;
        let status = fs::read_to_string(thread.join("status")).ok()?;
        let mut lines = status.lines();
        let cores = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some((name.trim().to_owned(), cores.trim().to_owned()))
    });
    named.collect()
}

fn apply(scratch: &Scratch, live: &Live, plan: &str) -> Run {
    let file = scratch.write("Next.plan", plan);
    thalweg(&[
        "plan",
        "apply",
        &live.pid().to_string(),
        file.to_str().unwrap(),
    ])
}

/// The last core that this process may use.
fn last_core() -> u32 {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    let mut all = (0..rustix::thread::CpuSet::MAX_CPU).rev();
    all.find(|&core| set.is_set(core)).expect("a core") as u32
}

#[test]
fn a_running_job_gets_the_settings_of_another_plan_and_keeps_its_tuples() {
    let scratch = Scratch::new();
    let live = started(&scratch);
    let core = last_core();
    let before = cores(&live);
    let (sources, pooled) = ("In", "pool 0");
    for _ in 0..3 {
        assert_eq!(apply(&scratch, &live, &other(core)).ok(), "");
        let moved = cores(&live);
        for thread in [sources, "queue of Passed", pooled] {
            let cores = moved.iter().find(|(name, _)| name.starts_with(thread));
            let (_, cores) = cores.unwrap_or_else(|| panic!("{thread}: {moved:?}"));
            assert_eq!(*cores, core.to_string(), "{thread}");
        }
        until("the pool has a second thread", || {
            cores(&live).contains_key("pool 1")
        });
        until("the sizes of queues are shown", || {
            let sizes = sizes(&live);
            let size = |queue: &str| sizes.get(queue).copied();
            size("queue of Passed.0") == Some(7) && size("queue of Out.0") == Some(1)
        });
        assert_eq!(apply(&scratch, &live, FIRST).ok(), "");
        assert_eq!(cores(&live)[sources], before[sources]);
        until("the first sizes are back", || {
            let sizes = sizes(&live);
            sizes.len() == 3 && sizes.values().all(|&size| size == 100)
        });
    }
    live.signal(Signal::INT);
    assert_eq!(live.end().ok(), "whole\n");
}

#[test]
fn a_plan_that_a_running_job_cannot_have_changes_nothing() {
    let scratch = Scratch::new();
    let live = started(&scratch);
    let job = live.pid();
    let cases = [
        (
            FIRST
                .replace(" queue Passed wait 100\n", "")
                .replace("wait 100", "wait 9"),
            "pe 0: the plan has no queue before `Passed.0` in pe 0, where the job has one; queues \
             cannot be removed while it runs",
        ),
        (
            FIRST.replace("Crossed Out", "Crossed Outt"),
            "pe 0: 5:20: the program has no operator `Outt`; did you mean `Out`?",
        ),
        (
            FIRST
                .replace("pool 1", "pool 1\n cores 1023")
                .replace("wait 100", "wait 9"),
            "pe 1: cannot run on the cores 1023: Invalid argument (os error 22)",
        ),
    ];
    let first = sizes(&live);
    for (plan, sentence) in cases {
        let error = apply(&scratch, &live, &plan).fails(1);
        let file = scratch.path("Next.plan");
        let file = file.display();
        let expected =
            format!("thalweg: {file} cannot be applied to the job Main ({job}): {sentence}\n");
        assert_eq!(error, expected);
    }
    let missing = thalweg(&["plan", "apply", &job.to_string(), "/nowhere/Next.plan"]).fails(1);
    let reason = "cannot read /nowhere/Next.plan: No such file or directory (os error 2)";
    assert_eq!(missing, format!("thalweg: {reason}\n"));
    until("all sizes are shown", || sizes(&live) == first);
    live.signal(Signal::INT);
    assert_eq!(live.end().ok(), "whole\n");
}
