//! Generated graphs of compiled and built operators give the same on every plan, compiled and
//! interpreted: what the interpreter writes to each file in one process is what every other run has
//! to write, line by line where one thread brings it about, in any order where several mix.
//!
//! `THALWEG_GRAPHS=500` tries more of them, `THALWEG_GRAPHS_SEED=17` begins with another one.

mod columns;
mod graph;
mod plans;
mod several;
mod single;

use std::fs;
use std::path::Path;

use graph::Graph;
use plans::Way;

use crate::random::Random;
use crate::scratch::{Run, Scratch, thalweg};

/// Graphs, and plans at random for each.
const GRAPHS: u64 = 8;
const PLANS: usize = 2;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// The files that a run has written, those with lines in no known order sorted.
fn results(graph: &Graph, folder: &Path) -> Vec<(String, String)> {
    let read = |written: &graph::Written| {
        let path = folder.join(&written.file);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "no file".to_owned());
        let _ = fs::remove_file(path);
        let mut lines: Vec<&str> = text.lines().collect();
        if !written.in_order {
            lines.sort_unstable();
        }
        (written.file.clone(), lines.join("\n"))
    };
    graph.files.iter().map(read).collect()
}

fn run(scratch: &Scratch, program: &Path, way: &Way) -> (Vec<String>, Run) {
    let folder = scratch.path("");
    let mut args: Vec<String> = ["run", program.to_str().unwrap(), "--data-dir"]
        .map(str::to_owned)
        .to_vec();
    args.push(folder.to_str().unwrap().to_owned());
    args.extend(way.options.iter().cloned());
    if let Some(plan) = &way.plan {
        let path = scratch.write("Main.plan", plan);
        args.extend(["--fuse".to_owned(), path.to_str().unwrap().to_owned()]);
    }
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let run = thalweg(&words);
    (args, run)
}

/// The difference between plans of a seed's graph, if there is one.
fn fault(seed: u64) -> Option<String> {
    let scratch = Scratch::new();
    let random = &mut Random(seed);
    let graph = Graph::new(random);
    let text = graph.text();
    let program = scratch.write("Main.spl", &text);
    let truth = Way {
        options: vec!["--interpret".to_owned()],
        plan: None,
    };
    let (_, run_of_truth) = run(&scratch, &program, &truth);
    if run_of_truth.status != 0 {
        let said = run_of_truth.stderr;
        return Some(format!("seed {seed}: interpreted\n{text}\n{said}"));
    }
    let expected = results(&graph, &scratch.path(""));
    for way in plans::ways(&graph, random, PLANS) {
        let (args, run) = run(&scratch, &program, &way);
        let found = results(&graph, &scratch.path(""));
        let plan = way.plan.unwrap_or_default();
        let about = format!(
            "seed {seed}: THALWEG_GRAPHS=1 THALWEG_GRAPHS_SEED={seed} cargo test -p thalweg-cli \
             --test run graphs\n{}\n{text}\n{plan}",
            args.join(" ")
        );
        if run.status != 0 {
            return Some(format!("{about}\nstatus {}: {}", run.status, run.stderr));
        }
        let differs = expected.iter().zip(&found).find(|(a, b)| a != b);
        if let Some(((file, expected), (_, found))) = differs {
            return Some(format!("{about}\n{file}:\n{found}\nnot\n{expected}"));
        }
    }
    None
}

#[test]
fn generated_graphs_give_the_same_on_every_plan() {
    let first = number("THALWEG_GRAPHS_SEED").unwrap_or(0);
    let count = number("THALWEG_GRAPHS").unwrap_or(GRAPHS);
    let faults: Vec<String> = (first..first + count).filter_map(fault).collect();
    assert!(
        faults.is_empty(),
        "{} of {count} graphs:\n{}",
        faults.len(),
        faults.join("\n----\n")
    );
}
