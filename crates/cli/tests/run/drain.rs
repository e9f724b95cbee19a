//! An interrupt: tuples that are on their way arrive, and the job ends with status 0.

use rustix::process::Signal;

use crate::processes::{Live, Process, media};
use crate::scratch::Scratch;

/// Interrupts a program when it says that it runs; what it has printed since then.
fn interrupted(scratch: &Scratch, program: &str, args: &[&str]) -> String {
    let file = scratch.write("Main.spl", program);
    let file = file.to_str().unwrap();
    let mut live = Live::start(scratch, &[&["run", file], args].concat());
    assert_eq!(live.line(), "running\n");
    let pes = live.pes();
    live.signal(Signal::INT);
    let run = live.end();
    pes.iter().for_each(Process::is_gone);
    run.ok()
}

/// Everything fused, and every operator in a process of its own, by each medium.
fn plans() -> Vec<Vec<&'static str>> {
    let split = media().map(|medium| vec!["--fuse", "none", "-F", medium]);
    [Vec::new()].into_iter().chain(split).collect()
}

/// Numbers up to this one, line by line, and the final marker.
fn all(count: usize) -> String {
    let numbers: String = (0..count).map(|n| format!("{n}\n")).collect();
    numbers + "FinalMarker\n"
}

/// Holds 100 tuples when it runs; what follows takes two seconds for them, which is longer than a
/// source has after a shutdown.
const HELD: &str = r#"composite Main { graph
    stream<uint64 n> In = Beacon() {
        param iterations : 100;
        output In : n = IterationCount();
    }
    stream<In> Late = Delay(In) { param delay : 1000000.0; }
    stream<In> Slow = Custom(Late) {
        logic onTuple Late : {
            float64 begun = getTimestampInSecs();
            while (getTimestampInSecs() < begun + 0.02) {}
            submit(Late, Slow);
        }
    }
    () as Said = Custom(In) { logic onPunct In : if (currentPunct() == Sys.FinalMarker) { printStringLn("running"); } }
    () as Out = Custom(Slow) {
        logic
            onTuple Slow : println(n);
            onPunct Slow : if (currentPunct() == Sys.FinalMarker) { println(currentPunct()); }
    }
}"#;

/// The shutdown lasts until a file exists, which the test writes after the message.
#[test]
fn a_shutdown_that_takes_long_says_what_it_waits_for() {
    let waits = r#"mutable int32 err = 0;
            mutable uint64 file = 0ul;
            while (file == 0ul) { file = spl.file::fopen("go", "r", err); }"#;
    let begun = "float64 begun = getTimestampInSecs();\n            \
                 while (getTimestampInSecs() < begun + 0.02) {}";
    let program = HELD.replace(begun, waits);
    assert_ne!(program, HELD);
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", program);
    let folder = scratch.path("");
    let folder = folder.to_str().unwrap();
    let args = ["run", file.to_str().unwrap(), "--data-dir", folder];
    let mut live = Live::start(&scratch, &args);
    assert_eq!(live.line(), "running\n");
    live.signal(Signal::INT);
    let expected = "thalweg: shutting down: the sources have been told to end, and tuples under \
                    way are still processed; another signal ends the job at once and loses them\n";
    assert_eq!(live.said(), expected);
    scratch.write("go", "");
    assert_eq!(live.end().ok(), all(100));
}

#[test]
fn what_delay_holds_is_sent() {
    let scratch = Scratch::new();
    assert_eq!(interrupted(&scratch, HELD, &[]), all(100));
    for medium in media() {
        let plan = format!(
            "pe 0\n operators In\npe 1\n operators Late Said\npe 2\n operators Slow\npe 3\n operators Out\n\
             crossing In.0 -> pe 1 on {medium}\ncrossing Late.0 -> pe 2 on {medium}\n\
             crossing Slow.0 -> pe 3 on {medium}\n"
        );
        let plan = scratch.write("job.plan", plan);
        let args = ["--fuse", plan.to_str().unwrap()];
        assert_eq!(interrupted(&scratch, HELD, &args), all(100), "{medium}");
    }
}

#[test]
fn what_waits_before_a_throttle_passes_at_once() {
    let program = r#"composite Main { graph
        stream<uint64 n> In = Beacon() {
            param iterations : 50;
            output In : n = IterationCount();
        }
        stream<In> Few = Throttle(In) {
            param rate : 0.0001;
            config threadedPort : queue(In, Sys.Wait, 100);
        }
        () as Said = Custom(In) { logic onPunct In : if (currentPunct() == Sys.FinalMarker) { printStringLn("running"); } }
        () as Out = FileSink(Few) { param file : "out.csv"; }
    }"#;
    for args in plans() {
        let scratch = Scratch::new();
        let folder = scratch.path("");
        let folder = ["--data-dir", folder.to_str().unwrap()];
        interrupted(&scratch, program, &[&folder[..], &args].concat());
        let numbers: String = (0..50).map(|n| format!("{n}\n")).collect();
        assert_eq!(scratch.read("out.csv"), numbers, "{args:?}");
    }
}

#[test]
fn windows_of_time_go_on_while_the_job_drains() {
    let sink = HELD.find("() as Out").unwrap();
    let sums = r#"
    stream<uint64 sum> Sums = Aggregate(Slow) {
        window Slow : tumbling, time(0.1);
        output Sums : sum = Sum(n);
    }
    () as Out = Custom(Sums) { logic onTuple Sums : println(sum); }
}"#;
    let program = format!("{}{sums}", &HELD[..sink]);
    let printed = interrupted(&Scratch::new(), &program, &[]);
    assert!(printed.lines().count() > 0, "{printed}");
}

/// A loop by way of LOOPED; its source goes on until it is interrupted.
const LOOP: &str = r#"composite Main { graph
    stream<uint64 n> In = Custom() {
        logic onProcess : {
            submit({ n = 1ul }, In);
            while (!isShutdown()) { block(1000000.0); }
        }
    }
    stream<uint64 n> Merge = Custom(In; Back) {
        logic
            onTuple In : submit(In, Merge);
            onTuple Back : if (n < 10ul) { submit({ n = n + 1ul }, Merge); } else { printStringLn("running"); }
    }
    LOOPED
}"#;

#[test]
fn threads_in_a_loop_end() {
    let looped = [
        "stream<uint64 n> Back = Delay(Merge) { param delay : 0.001; }",
        "stream<uint64 n> Back = Functor(Merge) { config threadedPort : queue(Merge, Sys.Wait); }",
    ];
    for looped in looped {
        let program = LOOP.replace("LOOPED", looped);
        for args in plans() {
            assert_eq!(
                interrupted(&Scratch::new(), &program, &args),
                "",
                "{args:?}"
            );
        }
    }
}

#[test]
fn what_stands_behind_a_loop_ends_without_a_final_marker() {
    let behind = [
        "() as Out = Custom(Merge) { LOGIC }",
        "() as Out = Custom(Merge) { LOGIC config threadedPort : queue(Merge, Sys.Wait); }",
        "stream<Merge> Late = Delay(Merge) { param delay : 0.001; }
         () as Out = Custom(Late as Merge) { LOGIC }",
    ];
    for behind in behind {
        let logic = "logic onTuple Merge : println(n); onPunct Merge : println(currentPunct());";
        let behind = behind.replace("LOGIC", logic);
        let looped =
            "stream<uint64 n> Back = Custom(Merge) { logic onTuple Merge : submit(Merge, Back); }";
        let program = LOOP.replace("LOOPED", &format!("{looped}\n{behind}"));
        let program = program.replace("while (!isShutdown()) { block(1000000.0); }", "");
        let program = program.replace(r#"printStringLn("running");"#, "");
        for args in plans() {
            let printed = Scratch::new().run(&program, &args).ok();
            let numbers: String = (1..=10).map(|n| format!("{n}\n")).collect();
            assert_eq!(printed, numbers, "{args:?} {program}");
        }
    }
}

/// Neither stream has a final marker, and both are kept in the order of the loop.
#[test]
fn streams_that_meet_behind_a_loop_end_in_order() {
    let looped =
        "stream<uint64 n> Back = Custom(Merge) { logic onTuple Merge : submit(Merge, Back); }
         stream<Merge> Odd = Functor(Merge) { param filter : n % 2ul == 1ul; }
         stream<Merge> All = Functor(Merge) {}
         () as Out = Custom(All; Odd) {
             logic
                 onTuple All : println(n);
                 onPunct All : println(currentPunct());
                 onTuple Odd : printStringLn(\"odd \" + (rstring) n);
                 onPunct Odd : println(currentPunct());
         }";
    let program = LOOP.replace("LOOPED", looped);
    let program = program.replace("while (!isShutdown()) { block(1000000.0); }", "");
    let program = program.replace(r#"printStringLn("running");"#, "");
    let expected = (1..=10).map(|n| match n % 2 {
        1 => format!("odd {n}\n{n}\n"),
        _ => format!("{n}\n"),
    });
    let expected: String = expected.collect();
    for args in plans() {
        for stamps in [&[][..], &["--latency"]] {
            let args = [&args[..], stamps].concat();
            let printed = Scratch::new().run(&program, &args).ok();
            assert_eq!(printed, expected, "{args:?}");
        }
    }
}
