//! Threads of a job, seen from outside: the cores that they may run on, and that they rest while
//! there is no work.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::processes::{Live, Process, media, until};
use crate::scratch::{Scratch, command, thalweg};

/// A source in one PE, its consumer in another.
const PAIR: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() {
            param period : 0.001;
            output In : n = IterationCount();
        }
        () as Out = Custom(In) {
            logic onTuple In : {
                if (n == 0ul) { printStringLn("running"); }
            }
        }
}"#;

/// Both threads on one core.
fn pair_plan(core: &str) -> String {
    format!(
        "pe 0\n operators In\n source In core {core}\n\
         pe 1\n operators Out\n receiver In core {core}\n"
    )
}

/// The cores in the status of a thread: `0-3,8`.
fn cores(status: &str) -> &str {
    let mut lines = status.lines();
    let cores = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.unwrap_or_default().trim()
}

/// The first core that this process may run on.
fn first_core() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let digits = cores(&status).chars().take_while(char::is_ascii_digit);
    digits.collect()
}

/// The entries that a process has for its threads.
fn threads(process: &Process, file: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.pid)).unwrap();
    let texts = tasks.map(|task| fs::read_to_string(task.unwrap().path().join(file)));
    // Threads may end meanwhile.
    texts.filter_map(Result::ok).collect()
}

/// How many threads may run on that core alone, and how many threads there are.
fn on_core(process: &Process, core: &str) -> (usize, usize) {
    let all = threads(process, "status");
    let pinned = all.iter().filter(|status| cores(status) == core);
    (pinned.count(), all.len())
}

#[test]
fn sources_and_receivers_run_on_their_cores() {
    let core = first_core();
    let has_others = std::thread::available_parallelism().map_or(1, usize::from) > 1;
    for medium in media() {
        let scratch = Scratch::new();
        let program = scratch.write("Main.spl", PAIR);
        let plan = scratch.write("job.plan", pair_plan(&core));
        let (program, plan) = (program.to_str().unwrap(), plan.to_str().unwrap());
        let args = ["run", program, "--fuse", plan, "-F", medium];
        let mut live = Live::start(&scratch, &args);
        assert_eq!(live.line(), "running\n");
        for pe in live.pes() {
            let (pinned, all) = on_core(&pe, &core);
            let expected = if has_others { 1 } else { all };
            assert_eq!(
                pinned, expected,
                "{medium}: of {all} threads of {}",
                pe.name
            );
        }
        live.signal(Signal::INT);
        live.end().ok();
        let dumped = thalweg(&["dump", "--stage", "plan", program, "--fuse", plan]).ok();
        for line in ["source In", "receiver In.0"] {
            let line = format!("\n  {line} core {core}\n");
            assert!(dumped.contains(&line), "{dumped}");
        }
    }
}

/// As `ps -L`, `top -H`, `perf` and debuggers show them.
#[test]
fn threads_have_the_names_of_what_they_run() {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", PAIR);
    let plan = scratch.write(
        "job.plan",
        "pe 0\n operators In\npe 1\n operators Out\n queue Out\n",
    );
    let (program, plan) = (program.to_str().unwrap(), plan.to_str().unwrap());
    let mut live = Live::start(&scratch, &["run", program, "--fuse", plan]);
    assert_eq!(live.line(), "running\n");
    let pes = live.pes();
    for (pe, name) in [(0, "In\n"), (1, "pe 0 -> In\n"), (1, "queue of Out.0\n")] {
        let names = threads(&pes[pe], "comm");
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
    live.signal(Signal::INT);
    live.end().ok();
}

#[test]
fn a_core_that_is_not_there_is_said() {
    let scratch = Scratch::new();
    let lines = [
        "source In core 5000",
        "receiver In core 5000",
        "queue Out core 5000",
        "cores 5000",
    ];
    for line in lines {
        let (first, second, pe) = match line.starts_with("source") {
            true => (line, "", 0),
            false => ("", line, 1),
        };
        let text = format!("pe 0\n operators In\n {first}\npe 1\n operators Out\n {second}\n");
        let plan = scratch.write("job.plan", text);
        let said = scratch.run(PAIR, &["--fuse", plan.to_str().unwrap()]);
        let said = said.fails(1);
        let expected =
            format!("thalweg: the plan, pe {pe}: there is no core 5000 to run on; there are ");
        assert!(said.starts_with(&expected), "{line}: {said}");
    }
}

/// Tuples arrive whatever threads do while they wait.
#[test]
fn tuples_come_whatever_threads_do_without_work() {
    let program = PAIR.replace("period : 0.001;", "period : 0.001; iterations : 50u;");
    let program = program.replace("n == 0ul", "n % 10ul == 9ul");
    for idle in ["adaptive", "spin", "yield", "park"] {
        for plan in [&["--threading", "dedicated"][..], &["--fuse", "none"][..]] {
            let args = [plan, &["--idle", idle][..]].concat();
            let printed = Scratch::new().run(&program, &args).ok();
            assert_eq!(printed, "running\n".repeat(5), "{args:?}");
        }
    }
}

#[test]
fn an_unknown_idle_strategy_is_said() {
    let said = Scratch::new().run(PAIR, &["--idle", "sleep"]).fails(2);
    let expected = "sleep is no idle strategy: there are spin, yield, park and adaptive";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_unknown_medium_is_said_with_its_place() {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", PAIR);
    let plan = pair_plan("0") + "crossing In -> pe 1 on smh\n";
    let plan = scratch.write("job.plan", plan);
    let (program, plan) = (program.to_str().unwrap(), plan.to_str().unwrap());
    let said = thalweg(&["run", program, "--fuse", plan]).fails(1);
    let sentence = format!("{plan}:7:24: there is no medium `smh`; did you mean `shm`?\n");
    assert!(said.ends_with(&sentence), "{said}");
}

/// PEs of the idle job.
const IDLE_PES: usize = 20;

/// One tuple through all PEs, then silence.
fn idle_program() -> String {
    let stages = 1..IDLE_PES - 1;
    let stages = stages.map(|n| format!("stream<uint64 n> S{n} = Functor(S{}) {{}}\n", n - 1));
    format!(
        r#"composite Main {{
    graph
        stream<uint64 n> S0 = Custom() {{
            logic onProcess : {{
                submit({{ n = 1ul }}, S0);
                while (!isShutdown()) {{ block(1000.0); }}
            }}
        }}
        {}
        () as Out = Custom(S{}) {{
            logic onTuple S{} : printStringLn("running");
        }}
}}"#,
        stages.collect::<String>(),
        IDLE_PES - 2,
        IDLE_PES - 2
    )
}

/// Nanoseconds that the processes have run so far.
fn ran_ns(processes: &[Process]) -> u64 {
    let all = processes.iter().flat_map(|one| threads(one, "schedstat"));
    let first = |text: String| text.split(' ').next().map(|ns| ns.parse::<u64>().unwrap());
    all.filter_map(first).sum()
}

/// How long is looked at.
const SILENCE: Duration = Duration::from_secs(3);

/// Parts in a hundred of one core.
const PERCENT_MAX: f64 = 2.0;

#[test]
fn an_idle_job_of_many_pes_hardly_runs() {
    for medium in media() {
        let scratch = Scratch::new();
        let program = scratch.write("Main.spl", idle_program());
        let program = program.to_str().unwrap();
        let args = ["run", program, "--fuse", "none", "-F", medium];
        let mut live = Live::of(&scratch, command(&args));
        assert_eq!(live.line(), "running\n");
        let pes = live.pes();
        assert_eq!(pes.len(), IDLE_PES, "{medium}");
        // Whatever is still to be done when the first tuple has come falls into an earlier look.
        let mut percents = Vec::new();
        until("the job rests", || {
            let before = ran_ns(&pes);
            std::thread::sleep(SILENCE);
            assert!(before > 0, "the system says how long threads have run");
            let ran = (ran_ns(&pes) - before) as f64;
            let percent = ran * 100.0 / SILENCE.as_nanos() as f64;
            percents.push(percent);
            let is_idle = percent <= PERCENT_MAX;
            assert!(is_idle || percents.len() < 4, "{medium}: {percents:?} %");
            is_idle
        });
        println!("{medium}: {percents:.3?} % of a core");
        live.signal(Signal::INT);
        live.end().ok();
    }
}
