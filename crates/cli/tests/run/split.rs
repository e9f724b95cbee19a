//! Programs give one output on all plans: every program below `examples/` with a
//! thread for each port, with a process for each operator on every medium, and mixed. (That it does
//! so fused is tested in `examples`.)

use std::fs;
use std::path::PathBuf;

use crate::examples;
use crate::processes::media;
use crate::scratch::{Scratch, root, thalweg};

/// The part of a program's output that is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Every byte is determined.
    Bytes,
    /// Every line, but not which of two operators prints first.
    Lines,
}

use Order::{Bytes, Lines};

/// The programs, and what is determined when every operator is a process or thread of its own.
const PROGRAMS: &[(&str, Order)] = &[
    ("composites/Composites", Lines),
    ("control/Control", Lines),
    ("filter_functor/FilterFunctor", Lines),
    ("hello/Hello", Bytes),
    ("join/Orders", Bytes),
    ("operators/Operators", Lines),
    ("panes/Clicks", Bytes),
    ("sessions/Visits", Bytes),
    ("state/Keys", Bytes),
    ("types/Types", Lines),
    ("vwap/Vwap", Bytes),
    ("windows/Windows", Lines),
    ("wordcount/WordCount", Bytes),
];

/// Plans that are neither: a program, the operators of each process, and what is determined.
const MIXED: &[(&str, &[&str], Order)] = &[
    (
        "composites/Composites",
        &["Items Doubled.*", "Cheap.*", "Printer"],
        Lines,
    ),
    ("control/Control", &["Numbers Printer", "Facts"], Lines),
    (
        "filter_functor/FilterFunctor",
        &["Readings Warm Changes", "*"],
        Lines,
    ),
    ("join/Orders", &["*", "Printer"], Bytes),
    (
        "operators/Operators",
        &["Items Even", "Both Paired Sorted", "*"],
        Lines,
    ),
    ("vwap/Vwap", &["TradesAndQuotes", "*", "Sink"], Bytes),
    (
        "windows/Windows",
        &["Samples Punctuated", "*", "Printer"],
        Lines,
    ),
    (
        "wordcount/WordCount",
        &["Lines", "Words Counted", "Ranked Printer"],
        Bytes,
    ),
];

fn program(name: &str) -> PathBuf {
    root().join("examples").join(name).with_extension("spl")
}

/// Runs a program and compares what it prints.
fn check(name: &str, order: Order, args: &[&str]) {
    let program = program(name);
    let expected = fs::read_to_string(program.with_file_name("expected.txt")).unwrap();
    let run = thalweg(&[&["run", program.to_str().unwrap()], args].concat());
    assert_eq!(run.stderr, "", "{name} {args:?}");
    assert_eq!(run.status, 0, "{name} {args:?}");
    let is_same = match order {
        Bytes => run.stdout == expected,
        Lines => sorted(&run.stdout) == sorted(&expected),
    };
    assert!(is_same, "{name} {args:?} gives\n{}", run.stdout);
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_example_is_listed() {
    let listed: Vec<_> = PROGRAMS.iter().map(|(name, _)| program(name)).collect();
    assert_eq!(examples::programs(), listed);
}

#[test]
fn examples_give_the_same_with_a_process_for_each_operator() {
    for medium in media() {
        for (name, order) in PROGRAMS {
            check(name, *order, &["--fuse", "none", "-F", medium]);
        }
    }
}

#[test]
fn examples_give_the_same_with_dedicated_threads() {
    threaded_examples_give_the_same("dedicated");
}

#[test]
fn examples_give_the_same_with_dynamic_threads() {
    threaded_examples_give_the_same("dynamic");
}

fn threaded_examples_give_the_same(model: &str) {
    for (name, order) in PROGRAMS {
        let args = ["--threading", model];
        check(name, *order, &args);
        check(name, *order, &[&args[..], &["--interpret"]].concat());
        check(name, *order, &[&args[..], &["--fuse", "none"]].concat());
    }
}

#[test]
fn examples_give_the_same_when_tuples_are_written_field_by_field() {
    for medium in media() {
        for (name, order) in PROGRAMS {
            let args = ["--fuse", "none", "-F", medium, "--codec", "normal"];
            check(name, *order, &args);
        }
    }
}

/// Stamps come between tuples: between those of streams whose order is kept, too.
#[test]
fn examples_give_the_same_when_their_latency_is_measured() {
    for medium in media() {
        for (name, order) in PROGRAMS {
            check(name, *order, &["--fuse", "none", "--latency", "-F", medium]);
        }
    }
}

#[test]
fn examples_give_the_same_with_a_thread_for_each_port() {
    let scratch = Scratch::new();
    for (name, order) in PROGRAMS {
        let plan = scratch.write("threaded.plan", threaded(name));
        check(name, *order, &["--fuse", plan.to_str().unwrap()]);
    }
}

#[test]
fn examples_give_the_same_with_one_thread_for_all_ports() {
    let scratch = Scratch::new();
    for (name, order) in PROGRAMS {
        let plan = scratch.write("pooled.plan", pooled(name));
        check(name, *order, &["--fuse", plan.to_str().unwrap()]);
    }
}

/// Texts of all lengths, small ones among large ones, through a chain of two threaded ports.
const TEXTS: &str = r#"composite Main {
    graph
        stream<uint64 n, rstring text, list<rstring> both> In = Custom() {
            logic onProcess : {
                mutable rstring text = "";
                mutable uint64 n = 0;
                while (n < 200ul) {
                    if (length(text) > 20000) { text = ""; }
                    text = text + text + (rstring) n;
                    submit({ n = n, text = text, both = [text, "b"] }, In);
                    if (n % 3ul == 0ul) { submit({ n = n, text = "a", both = ["c"] }, In); }
                    n++;
                }
            }
        }
        stream<In> Middle = Functor(In) { output Middle : text = "<" + text + ">"; }
        () as Out = Custom(Middle) {
            logic onTuple Middle : printStringLn((rstring) n + text + both[0]);
        }
}"#;

#[test]
fn large_tuples_pass_threaded_ports_as_they_are() {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", TEXTS);
    let program = program.to_str().unwrap();
    let expected = thalweg(&["run", program]).ok();
    assert!(expected.len() > 1_000_000, "{} bytes", expected.len());
    for (items, congestion) in [
        (1, "wait"),
        (10, "wait"),
        (1000, "wait"),
        (1000, "dropFirst"),
    ] {
        let plan = format!(
            "pe 0\n operators *\n queue Middle {congestion} {items}\n queue Out wait {items}\n"
        );
        let plan = scratch.write("threaded.plan", plan);
        for backend in [&[][..], &["--interpret"]] {
            let args = ["run", program, "--fuse", plan.to_str().unwrap()];
            let found = thalweg(&[&args, backend].concat()).ok();
            assert!(found == expected, "{congestion} {items} {backend:?}");
        }
    }
}

/// A plan with one process, a pool of one thread, and a pooled queue of one tuple at every port
/// that no loop comes back to.
fn pooled(name: &str) -> String {
    let program = program(name);
    let dump = ["dump", "--stage", "plan", "--threading", "dynamic"];
    let plan = thalweg(&[&dump[..], &[program.to_str().unwrap()]].concat()).ok();
    let line = |line: &str| match line.trim_start().starts_with("pool ") {
        true => "  pool 1\n".to_owned(),
        false => line.replace(" wait 1000 pooled", " wait 1 pooled") + "\n",
    };
    plan.lines().map(line).collect()
}

/// A plan with one process, and a queue at every input port.
fn threaded(name: &str) -> String {
    let program = program(name);
    let plan = thalweg(&["dump", "--stage", "plan", program.to_str().unwrap()]).ok();
    let edges = plan.lines().filter_map(|line| line.split_once("# edge "));
    let mut ports: Vec<_> = edges
        .filter_map(|(_, edge)| edge.split(' ').nth(2))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    let queues = ports.iter().map(|port| format!(" queue {port} wait 10\n"));
    format!("pe 0\n operators *\n{}", queues.collect::<String>())
}

#[test]
fn examples_give_the_same_on_mixed_plans() {
    let scratch = Scratch::new();
    for (name, pes, order) in MIXED {
        let pes = pes.iter().enumerate();
        let text = pes.map(|(number, operators)| format!("pe {number}\n operators {operators}\n"));
        let plan = scratch.write("mixed.plan", text.collect::<String>());
        for medium in media() {
            let args = ["--fuse", plan.to_str().unwrap(), "-F", medium];
            check(name, *order, &args);
        }
    }
}

/// A plan may set everything about a crossing, and is printed as it was written.
#[test]
fn plans_set_the_batches_of_rum() {
    let crossings = [
        "crossing Lines.0 -> pe 1 on rum codec normal ring 65536 batch 100 400 4096",
        "crossing Counted.0 -> pe 2 on rum ring 8192 batch 0 0 1",
    ];
    let pes = "pe 0\n operators Lines\npe 1\n operators Words Counted\npe 2\n operators *\n";
    let scratch = Scratch::new();
    let plan = scratch.write("rum.plan", format!("{pes}{}\n", crossings.join("\n")));
    let fuse = ["--fuse", plan.to_str().unwrap()];
    check("wordcount/WordCount", Bytes, &fuse);
    let program = program("wordcount/WordCount");
    let dump = ["dump", "--stage", "plan", program.to_str().unwrap()];
    let text = thalweg(&[&dump[..], &fuse].concat()).ok();
    for crossing in crossings {
        assert!(text.contains(crossing), "{text}");
    }
}

/// Operators ask for a medium by config, TCP by the word that SPL has for it.
#[test]
fn operators_ask_for_their_medium() {
    let text = "composite Main {
        graph
            stream<int32 n> Left = Beacon() {
                param iterations : 3;
                output Left : n = (int32) IterationCount();
                config outputTransport : rum;
            }
            stream<int32 n> Right = Filter(Left) { param filter : n > 0; }
            () as Printer = Custom(Right) {
                logic onTuple Right : printStringLn((rstring) n);
                config inputTransport : TCP;
            }
    }";
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", text);
    let program = program.to_str().unwrap();
    let plan = thalweg(&["dump", "--stage", "plan", "--fuse", "none", program]).ok();
    assert!(plan.contains("crossing Left.0 -> pe 1 on rum"), "{plan}");
    assert!(plan.contains("crossing Right.0 -> pe 2 on tcp"), "{plan}");
    let run = thalweg(&["run", "--fuse", "none", program]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("1\n2\n", ""));
}

#[test]
fn interpreted_examples_give_the_same_with_a_process_for_each_operator() {
    for (name, order) in PROGRAMS {
        check(name, *order, &["--fuse", "none", "--interpret"]);
    }
}

/// Streams that leave a process are its output ports; within a process there are none.
#[test]
fn operators_see_the_connections_of_their_process() {
    let program = r#"composite Main {
        graph
            stream<int32 n> Out = Custom() {
                logic onProcess : {
                    mutable Sys.PEConnections connections = [];
                    println(getPEOutputPortConnections(0u, connections));
                    println(connections);
                    println(getOutputPortCongestionFactor(0u));
                    println(getPEOutputPortConnections(1u, connections));
                    println(getOutputPortCongestionFactor(1u));
                    submit({ n = 1 }, Out);
                }
            }
            () as Sink = Custom(Out) { logic onTuple Out : println(n); }
    }"#;
    let scratch = Scratch::new();
    assert_eq!(scratch.run(program, &[]).ok(), "-1\n[]\n-1\n-1\n-1\n1\n");
    let connection = "{pe=1,port=0,congestionFactor=0,nTuplesFilteredOut=0}";
    let expected = format!("0\n[{connection}]\n0\n-1\n-1\n");
    for medium in ["shm", "rum"] {
        let said = scratch.run(program, &["--fuse", "none", "-F", medium]).ok();
        let said: String = said
            .lines()
            .filter(|line| *line != "1")
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(said, expected, "{medium}");
    }
}
