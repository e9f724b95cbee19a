//! Pools of threads: they never come to a stop, and end as threads of their own would.

use std::fmt::Write;

use rustix::process::Signal;

use crate::processes::{Live, Process};
use crate::scratch::{Run, Scratch, thalweg};

/// Number of threaded ports of a chain.
const PORTS: usize = 30;

/// A chain of Functors between a source and a sink, each of which adds one to `a`.
fn chain(iterations: &str) -> String {
    let mut text = format!(
        "composite Main {{ graph\n  stream<int64 a, uint64 n> F0 = Beacon() {{ {iterations} \
         output F0 : a = 0l, n = IterationCount(); }}\n"
    );
    for at in 1..PORTS {
        let _ = writeln!(
            text,
            "  stream<int64 a, uint64 n> F{at} = Functor(F{}) {{ output F{at} : a = a + 1l; }}",
            at - 1
        );
    }
    let last = PORTS - 1;
    let _ = writeln!(
        text,
        "  () as Out = Custom(F{last}) {{ logic onTuple F{last} : printStringLn((rstring) n + \" \" \
         + (rstring) a); onPunct F{last} : if (currentPunct() == Sys.FinalMarker) \
         {{ printStringLn(\"end\"); }} }} }}"
    );
    text
}

/// A plan of the chain: a pool, and a pooled queue of so many tuples at each port.
fn chain_plan(pool: &str, tuples: u32) -> String {
    let mut text = format!("pe 0\n operators *\n pool {pool}\n");
    for at in 1..PORTS {
        let _ = writeln!(text, " queue F{at} wait {tuples} pooled");
    }
    let _ = writeln!(text, " queue Out wait {tuples} pooled");
    text
}

/// Runs a program by a plan.
fn planned(scratch: &Scratch, program: &str, plan: &str, args: &[&str]) -> Run {
    let program = scratch.write("Main.spl", program);
    let plan = scratch.write("Main.plan", plan);
    let run = [
        "run",
        program.to_str().unwrap(),
        "--fuse",
        plan.to_str().unwrap(),
    ];
    thalweg(&[&run, args].concat())
}

#[test]
fn a_pool_of_any_size_runs_a_chain_to_its_end() {
    let scratch = Scratch::new();
    let program = chain("param iterations : 2000;");
    let expected = scratch.run(&program, &[]).ok();
    assert!(expected.ends_with("1999 29\nend\n"), "{expected}");
    for pool in ["1", "2", "40", "1 elastic 2"] {
        for tuples in [1, 3, 1000] {
            for args in [&[][..], &["--interpret"], &["--idle", "park"]] {
                let found = planned(&scratch, &program, &chain_plan(pool, tuples), args).ok();
                assert!(found == expected, "pool {pool}, {tuples} tuples, {args:?}");
            }
        }
    }
}

/// One source on two ways of different lengths that meet again, in order.
const DIAMOND: &str = r#"composite Main { graph
    stream<uint64 n, rstring way> In = Beacon() {
        param iterations : 5000;
        output In : n = IterationCount(), way = "";
    }
    stream<In> Short = Filter(In) { param filter : n % 7ul == 0ul; }
    stream<In> Long1 = Functor(In) { output Long1 : way = "l"; }
    stream<In> Long2 = Custom(Long1) { logic onTuple Long1 : if (n % 3ul != 0ul) { submit(Long1, Long2); submit(Long1, Long2); } }
    stream<In> Long3 = Functor(Long2) { output Long3 : way = way + "3"; }
    () as Out = Custom(Short, Long3) { logic onTuple Short : printStringLn((rstring) n + way); }
}"#;

#[test]
fn one_thread_is_enough_for_a_merge_of_several_ways() {
    let scratch = Scratch::new();
    let expected = scratch.run(DIAMOND, &[]).ok();
    for tuples in [1, 2, 1000] {
        let mut plan = "pe 0\n operators *\n pool 1\n".to_owned();
        for port in ["Short", "Long1", "Long2", "Long3", "Out"] {
            let _ = writeln!(plan, " queue {port} wait {tuples} pooled");
        }
        for args in [&[][..], &["--interpret"]] {
            let found = planned(&scratch, DIAMOND, &plan, args).ok();
            assert!(found == expected, "{tuples} tuples, {args:?}");
        }
    }
}

/// An operator that sleeps for each tuple: others of a pool of one thread go on meanwhile, and one
/// of them ends the sleep.
#[test]
fn an_operator_that_blocks_does_not_hold_up_the_pool() {
    let program = r#"composite Main { graph
        stream<uint64 n> In = Beacon() { param iterations : 2; output In : n = IterationCount(); }
        stream<In> Slow = Custom(In) { logic onTuple In : { block(3600.0); submit(In, Slow); } }
        () as Stop = Custom(In) {
            logic onTuple In : if (n == 1ul) { printStringLn("stop"); shutdownPE(); }
        }
    }"#;
    let plan = "pe 0\n operators *\n pool 1\n queue Slow pooled\n queue Stop pooled\n";
    let scratch = Scratch::new();
    let found = planned(&scratch, program, plan, &[]).ok();
    assert_eq!(found, "stop\n");
}

#[test]
fn an_operator_that_fails_ends_the_job_as_without_a_pool() {
    let scratch = Scratch::new();
    let sink = "printStringLn((rstring) n + \" \" + (rstring) a)";
    let fails = "if (n == 500ul) println(1l / (a - a))";
    for iterations in ["param iterations : 2000;", ""] {
        let program = chain(iterations).replace(sink, fails);
        let expected = scratch.run(&program, &[]).fails(1);
        assert!(expected.contains("division by zero"), "{expected}");
        for (pool, tuples) in [("1", 1), ("1", 1000), ("2", 7), ("40", 1)] {
            let run = planned(&scratch, &program, &chain_plan(pool, tuples), &[]);
            assert_eq!(run.fails(1), expected, "pool {pool}, {tuples} tuples");
        }
    }
}

#[test]
fn a_fault_that_is_caught_costs_one_tuple() {
    let scratch = Scratch::new();
    let program = chain("param iterations : 1000;").replace(
        "stream<int64 a, uint64 n> F9 = Functor(F8) { output F9 : a = a + 1l; }",
        "@catch(exception = all)\n  stream<int64 a, uint64 n> F9 = Functor(F8) { output F9 : a = a \
         + (int64) (n / (n % 10ul)); }",
    );
    assert!(program.contains("@catch"));
    let expected = scratch.run(&program, &[]);
    assert_eq!(expected.stdout.lines().count(), 901);
    for (pool, tuples) in [("1", 1), ("2", 50)] {
        let run = planned(&scratch, &program, &chain_plan(pool, tuples), &[]);
        assert_eq!(run.stdout, expected.stdout, "pool {pool}, {tuples} tuples");
    }
}

#[test]
fn a_signal_ends_the_source_and_everything_under_way_arrives() {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", chain(""));
    let program = program.to_str().unwrap();
    for (pool, tuples) in [("1", 1), ("1", 1000), ("2", 20)] {
        let plan = scratch.write("Main.plan", chain_plan(pool, tuples));
        let args = ["run", program, "--fuse", plan.to_str().unwrap()];
        let mut live = Live::start(&scratch, &args);
        assert_eq!(live.line(), "0 29\n");
        let pes = live.pes();
        live.signal(Signal::TERM);
        let printed = live.end().ok();
        pes.iter().for_each(Process::is_gone);
        let mut lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.pop(), Some("end"), "pool {pool}, {tuples} tuples");
        for (n, line) in (1..).zip(lines) {
            assert_eq!(line, format!("{n} 29"), "pool {pool}, {tuples} tuples");
        }
    }
}

#[test]
fn what_a_pool_cannot_run_is_said() {
    let scratch = Scratch::new();
    let looped = r#"composite Main { graph
        stream<int64 n> In = Beacon() { param iterations : 3; }
        stream<int64 n> A = Custom(In; B) { logic onTuple In : submit(In, A); }
        stream<int64 n> B = Filter(A) {}
    }"#;
    for (lines, sentence) in [
        (
            " queue B pooled",
            "a pooled queue needs a line `pool THREADS` in pe 0",
        ),
        (
            " pool 1\n queue A.0 pooled core 0",
            "has no thread of its own, so it has no core",
        ),
        (" pool 0\n queue A.0 pooled", "a pool has at least 1 thread"),
        (
            " pool 4 elastic 2\n queue A.0 pooled",
            "may have as many, not only 2",
        ),
        (" pool 1\n pool 2", "a pe has one pool"),
        (
            " pool 1\n queue B pooled",
            "a loop comes back to `B.0`, so its queue needs a thread of its own",
        ),
    ] {
        let plan = format!("pe 0\n operators *\n{lines}\n");
        let said = planned(&scratch, looped, &plan, &[]).fails(1);
        assert!(said.contains(sentence), "{lines}: {said}");
    }
}
