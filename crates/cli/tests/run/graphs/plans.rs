//! Ways to run a generated graph: how it is compiled, and which process and thread runs what.

use std::fmt::Write;

use super::graph::Graph;
use crate::processes::media;
use crate::random::Random;

/// The options of a run, and the text of its plan if it has one.
pub struct Way {
    pub options: Vec<String>,
    pub plan: Option<String>,
}

/// The ways that each graph is run: fused, one process an operator, a thread or a pooled queue for
/// each port, and `plans` at random.
pub fn ways(graph: &Graph, random: &mut Random, plans: usize) -> Vec<Way> {
    let fixed = [
        &[][..],
        &["--fuse", "none"],
        &["--threading", "dedicated"],
        &["--threading", "dynamic"],
    ];
    let way = |options: &[&str]| Way {
        options: options.iter().map(|&option| option.to_owned()).collect(),
        plan: None,
    };
    let mut ways: Vec<Way> = fixed.into_iter().map(way).collect();
    let media: Vec<_> = media().collect();
    for _ in 0..plans {
        let mut options = vec!["-F".to_owned(), (*random.pick(&media)).to_owned()];
        if random.once_in(3) {
            options.push("--interpret".to_owned());
        }
        let plan = Some(plan(graph, random));
        ways.push(Way { options, plan });
    }
    ways
}

/// Some processes, some queues, some of them pooled.
fn plan(graph: &Graph, random: &mut Random) -> String {
    let pes = 1 + random.below(3);
    let mut homes: Vec<Vec<&str>> = vec![Vec::new(); pes as usize];
    let is_second = |name: &String| graph.loops.iter().any(|[_, second]| second == name);
    for operator in graph.operators.iter().filter(|name| !is_second(name)) {
        let home = &mut homes[random.below(pes) as usize];
        home.push(operator);
        let of_loop = graph.loops.iter().filter(|[first, _]| first == operator);
        home.extend(of_loop.map(|[_, second]| second.as_str()));
    }
    homes.retain(|home| !home.is_empty());
    let mut text = String::new();
    for (number, home) in homes.iter().enumerate() {
        let _ = writeln!(text, "pe {number}\n operators {}", home.join(" "));
        let _ = writeln!(text, " pool {}", 1 + random.below(2));
        for name in home.iter().filter(|name| graph.takes_queue(name)) {
            if random.once_in(4) {
                let pooled = random.pick(&["", " pooled"]);
                let tuples = 1 + random.below(20);
                let _ = writeln!(text, " queue {name}.0 wait {tuples}{pooled}");
            }
        }
    }
    text
}
