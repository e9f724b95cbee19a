//! Messages when a PE dies or an operator fails; no process or file is left then.

use std::fs;

use rustix::process::Signal;

use crate::processes::{Live, Process, media, until};
use crate::scratch::Scratch;

/// A program of `count` operators in a row, and their names. It prints a line when it runs, and
/// runs on.
fn row(count: usize) -> (String, Vec<String>) {
    let mut program = r#"composite Main { graph
    stream<uint64 n> S0 = Beacon() { param period : 0.001; output S0 : n = IterationCount(); }
"#
    .to_owned();
    for at in 1..count - 1 {
        program += &format!("    stream<S0> S{at} = Functor(S{}) {{}}\n", at - 1);
    }
    program += &format!(
        "    () as Out = Custom(S{} as S) {{
        logic onTuple S : if (n == 0ul) {{ printStringLn(\"running\"); }}\n    }}\n}}",
        count - 2
    );
    let names = (0..count - 1).map(|at| format!("S{at}"));
    (program, names.chain(["Out".to_owned()]).collect())
}

/// Sends a signal until the process is gone: the first SIGSEGV that comes from outside is taken by
/// a handler, which leaves the next one to the system, as it does with one of the process' own.
fn kill(process: &Process, signal: Signal) {
    until("a process has died", || {
        if process.is_alive() {
            process.signal(signal);
        }
        !process.is_alive()
    });
}

/// One of so many PEs is killed by a signal.
fn dies(count: usize, medium: &str, victim: usize, (signal, name): (Signal, &str)) {
    let (program, names) = row(count);
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", &program);
    let file = file.to_str().unwrap();
    let mut live = Live::start(&scratch, &["run", file, "--fuse", "none", "-F", medium]);
    assert_eq!(live.line(), "running\n");
    let pes = live.pes();
    assert_eq!(pes.len(), count);
    kill(&pes[victim], signal);
    let operator = &names[victim];
    let sentence = format!("thalweg: pe {victim} ({operator}): killed by signal {name}\n");
    assert_eq!(live.end().fails(1), sentence, "{medium}, {count} PEs");
    pes.iter().for_each(Process::is_gone);
    let left = fs::read_dir(scratch.path("")).unwrap().count();
    assert_eq!(left, 1, "only the program is there");
}

#[test]
fn a_death_is_one_sentence_and_leaves_nothing() {
    let signals = [
        (Signal::KILL, "9 (SIGKILL)"),
        (Signal::SEGV, "11 (SIGSEGV)"),
        (Signal::ABORT, "6 (SIGABRT)"),
    ];
    for medium in media() {
        for signal in signals {
            (0..2).for_each(|victim| dies(2, medium, victim, signal));
            [0, 2, 4]
                .into_iter()
                .for_each(|victim| dies(5, medium, victim, signal));
        }
    }
}

#[test]
fn a_failing_operator_is_one_sentence_with_its_pe() {
    let fails = [
        "() as Bad = Custom(S) { logic onTuple S : if (n == 5ul) { abort(); } }",
        r#"() as Bad = Custom(S) { logic onTuple S : assert(n < 5ul, "more than enough"); }"#,
        "() as Bad = Custom(S) { logic onTuple S : println(deep(n)); }",
        r#"() as Bad = FileSink(S) { param file : "/dev/full"; flush : 1u; }"#,
        r#"() as Bad = FileSink(S) { param file : "no/such/folder/file"; }"#,
    ];
    for count in [2, 5] {
        let (program, _) = row(count);
        let (middle, _) = program.split_once("    () as Out").unwrap();
        let before = count - 2;
        for bad in fails {
            let bad = bad.replacen("(S)", &format!("(S{before} as S)"), 1);
            let deep = "int32 deep(uint64 n) { return deep(n) + 1; }\n";
            let program = format!("{deep}{middle}{bad}\n}}");
            let scratch = Scratch::new();
            let fused = scratch.run(&program, &[]).fails(1);
            let sentence = fused.strip_prefix("thalweg: ").unwrap();
            assert_eq!(sentence.lines().count(), 1, "{sentence}");
            for medium in media() {
                let run = scratch.run(&program, &["--fuse", "none", "-F", medium]);
                let said = format!("thalweg: pe {}: {sentence}", count - 1);
                assert_eq!(run.fails(1), said, "{medium}");
            }
        }
    }
}
