//! Drawings of graphs and plans: DOT and SVG beside this file, SVG of every example, and drawings
//! by a profile.
//!
//! `BLESS=1 cargo test -p thalweg-cli --test run drawings` writes the expected files anew.

use std::fs;

use engine::CompileRequest;

use crate::examples::programs;
use crate::scratch::{Scratch, root, thalweg};

const MERGED_PORTS: &str = "crates/compiler/tests/right/merged_ports.spl";

/// Draws the graph of a program.
fn drawing(format: &str, program: &str) -> String {
    thalweg(&["dump", "--stage", "graph", "--format", format, program]).ok()
}

#[test]
fn a_graph_has_its_drawings() {
    let folder = root().join("crates/cli/tests/run/drawings");
    for format in ["dot", "svg"] {
        let found = drawing(format, MERGED_PORTS);
        let expected = folder.join("merged_ports").with_extension(format);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(fs::read_to_string(&expected).unwrap_or_default(), found);
    }
}

#[test]
fn every_operator_of_an_example_has_a_box() {
    for file in programs() {
        let picture = drawing("svg", file.to_str().unwrap());
        let request = CompileRequest {
            file: file.clone(),
            submission_values: Some(Vec::new()),
            ..CompileRequest::default()
        };
        let program = engine::compile(&request).unwrap().program.unwrap();
        let drawn: usize = boxes(&picture).into_iter().map(|(_, count)| count).sum();
        assert_eq!(drawn, program.operators.len(), "{file:?}");
    }
}

/// The names in the boxes of operators, and the operators that each stands for.
fn boxes(picture: &str) -> Vec<(String, usize)> {
    let parts = picture.split("<rect class=\"operator\"").skip(1);
    let names = parts.filter_map(|part| {
        let (_, name) = part.split_once("<text class=\"name\"")?;
        let (_, name) = name.split_once('>')?;
        Some(name.split_once("</text>")?.0.to_owned())
    });
    let counted = names.map(|name| {
        let count = name.rsplit_once(" × ").map(|(_, count)| count.parse());
        (name, count.transpose().unwrap().unwrap_or(1))
    });
    counted.collect()
}

const VWAP_332: &str = "examples/vwap/Vwap332.spl";

#[test]
fn many_copies_are_drawn_as_one() {
    let picture = drawing("svg", VWAP_332);
    let found = boxes(&picture);
    let copies = found.iter().filter(|(_, count)| *count == 41).count();
    assert_eq!((found.len(), copies), (12, 8), "{found:?}");
    assert!(picture.contains(">P* × 41</text>"), "{picture}");
    let folded = [
        "dump", "--stage", "graph", "--format", "svg", "--depth", "0", VWAP_332,
    ];
    let found = boxes(&thalweg(&folded).ok());
    assert!(found.contains(&("B* × 41".to_owned(), 41)), "{found:?}");
    assert_eq!(found.len(), 5, "{found:?}");
    let said = thalweg(&["dump", "--stage", "graph", "--depth", "0", VWAP_332]).fails(2);
    assert!(
        said.contains("--depth is for --stage graph --format svg"),
        "{said}"
    );
    // In processes of their own, too.
    let picture = thalweg(&["plan", "draw", "--fuse", "none", VWAP_332]).ok();
    assert_eq!(boxes(&picture).len(), 12);
    assert_eq!(picture.matches("<rect class=\"process\"").count(), 12);
    assert!(picture.contains(" by shm"), "{picture}");
}

const HELLO: &str = "examples/hello/Hello.spl";

/// A profile of the program Hello in which the second operator has no line.
const PROFILE: &str = "thalweg profile 1\nprogram Hello\nprocessor Slide Rule\ncores 3\nruns 1\n\
                       seconds 10\noperator Greetings kind Beacon tuples 1000 cpu_ns 40000 \
                       state_bytes 0\n\
                       operator Gone kind Beacon tuples 1000 cpu_ns 120000 state_bytes 0\n\
                       stream Greetings.0 tuples 20000000 bytes 32000 peak_per_second 400\n";

#[test]
fn a_graph_is_coloured_by_a_profile() {
    let scratch = Scratch::new();
    let file = scratch.write("profile", PROFILE);
    let file = file.to_str().unwrap();
    let graph = |format| {
        let args = [
            "dump",
            "--stage",
            "graph",
            "--format",
            format,
            "--use-profile",
            file,
            HELLO,
        ];
        let run = thalweg(&args);
        let note = "note: the profile has no line for `Printer`: drawn grey\n";
        assert_eq!(run.stderr, note);
        run.ok()
    };
    let text = graph("text");
    assert!(
        text.contains("\n    cost 25.0 %, 40 ns a tuple\n"),
        "{text}"
    );
    assert!(text.contains("  2.0 M tuples/s\n"), "{text}");
    let dot = graph("dot");
    let greetings = "o0 [label=\"Greetings\\nBeacon\\n25.0 %, 40 ns a tuple\", style=filled, \
                     fillcolor=\"#f3701b\"];";
    assert!(dot.contains(greetings), "{dot}");
    assert!(dot.contains("o1 [label=\"Printer\\nCustom\", style=filled, fillcolor=\"#d9d9d9\"];"));
    assert!(
        dot.contains("[label=\"Greetings, 2.0 M tuples/s\", penwidth=6];"),
        "{dot}"
    );
    let svg = graph("svg");
    for part in [
        "style=\"fill:#f3701b\"><title>",
        ">25.0 %, 40 ns a tuple</text>",
        ">Greetings, 2.0 M tuples/s</text>",
        "<path class=\"edge\" style=\"stroke-width:6\"",
        ">share of the processor time:</text>",
    ] {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
    // Without a plan there are no processes.
    assert!(!svg.contains("<rect class=\"process\""), "{svg}");
    let args = [
        "dump",
        "--stage",
        "graph",
        "--use-profile",
        "/nonexistent",
        HELLO,
    ];
    let said = thalweg(&args).fails(2);
    assert!(said.contains("cannot read /nonexistent: "), "{said}");
}

#[test]
fn a_plan_is_drawn_with_hosts_processes_and_threads() {
    let scratch = Scratch::new();
    let profile = scratch.write("profile", PROFILE);
    let text = "pe 0\noperators Greetings\nhost near\npe 1\noperators Printer\nhost far\n";
    let plan = scratch.write("plan", text);
    let picture = scratch.path("plan.svg");
    let said = thalweg(&[
        "plan",
        "draw",
        "--fuse",
        plan.to_str().unwrap(),
        "--use-profile",
        profile.to_str().unwrap(),
        "--out",
        picture.to_str().unwrap(),
        HELLO,
    ]);
    assert_eq!(said.ok(), "");
    let svg = fs::read_to_string(&picture).unwrap();
    for part in [
        ">host near</text>",
        ">host far</text>",
        ">pe 0</text>",
        ">1 operator, 1 thread, 25.0 %</text>",
        ">thread 0: source Greetings</text>",
        ">thread 0: receiver of pe 0 -&gt; Greetings</text>",
        ">Greetings by rum, 2.0 M tuples/s</text>",
        ">from one process to another</text>",
    ] {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
    // Without `--fuse` it is the plan of the optimiser, on standard output.
    let run = thalweg(&["plan", "draw", "--pin", "0", HELLO]);
    assert!(
        run.stderr.contains("note: without a profile "),
        "{}",
        run.stderr
    );
    let svg = run.ok();
    assert!(
        svg.contains(">2 operators, 1 thread, cores 0</text>"),
        "{svg}"
    );
}
