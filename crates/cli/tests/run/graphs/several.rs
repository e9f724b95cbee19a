//! Operators with two and three input ports, and loops.

use super::graph::{Graph, Stream};
use super::single::statement;
use crate::random::Random;

/// Adds an operator behind two or three streams.
pub fn operator(graph: &mut Graph, random: &mut Random) {
    let a = graph.stream(random);
    let b = graph.stream(random);
    let c = graph.stream(random);
    match a.origin.is_some() && a.origin == b.origin {
        true if random.once_in(8) => in_a_loop(graph, random, &a),
        true if random.below(2) == 0 => combined(graph, random, &a, &b),
        true => {
            let ports = 2 + random.below(2) as usize;
            custom(graph, random, &[&a, &b, &c][..ports]);
        }
        false if random.below(2) == 0 => union(graph, &[&a, &b, &c]),
        false => custom(graph, random, &[&a, &b]),
    }
}

/// The streams that one operator takes come from one thread, or their order is free.
fn common(streams: &[&Stream]) -> Option<u32> {
    let first = streams[0].origin;
    streams.iter().all(|s| s.origin == first).then_some(first)?
}

fn union(graph: &mut Graph, from: &[&Stream]) {
    let s = graph.name();
    let mut names: Vec<&str> = from.iter().map(|s| &*s.name).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 {
        let text = format!("stream<T> {s} = Union({}) {{ }}", names.join("; "));
        graph.add(&s, common(from), &text);
    }
}

/// How what a Custom does with tuples of its first port begins.
const FIRST: &str = "onTuple A : {";

/// A Custom whose ports all lead to one output, or to one each.
fn custom(graph: &mut Graph, random: &mut Random, from: &[&Stream]) {
    const PORTS: [&str; 3] = ["A", "B", "C"];
    let s = graph.name();
    let ports: Vec<_> = PORTS.iter().zip(from).collect();
    let inputs: Vec<_> = ports
        .iter()
        .map(|(p, s)| format!("{} as {p}", s.name))
        .collect();
    let origin = common(from);
    let other = (random.once_in(3)).then(|| graph.name());
    let mut logic = String::new();
    for (at, (port, _)) in ports.iter().enumerate() {
        // A port that does nothing with its tuples is fed all the same.
        let is_last = at + 1 == ports.len() && logic.is_empty();
        if !is_last && random.once_in(4) {
            continue;
        }
        let to = other.as_ref().filter(|_| at == 1).unwrap_or(&s);
        let statement = statement(graph, random, port, to);
        logic += &format!("onTuple {port} : {{ {statement} }} ");
    }
    if origin.is_some() && logic.contains(FIRST) && random.below(2) == 0 {
        let kept = format!(
            "{FIRST} if (size(kept) > 0) {{ submit(kept[0], {s}); clearM(kept); }} appendM(kept, A);"
        );
        logic = logic.replacen(FIRST, &kept, 1);
        logic = format!("state : mutable list<T> kept = []; {logic}");
    }
    let outputs = match &other {
        Some(other) => format!("(stream<T> {s}; stream<T> {other})"),
        None => format!("stream<T> {s}"),
    };
    let text = format!(
        "{outputs} = Custom({}) {{ logic {logic} }}",
        inputs.join("; ")
    );
    graph.add(&s, origin, &text);
    if let Some(other) = &other {
        graph.add_stream(other, origin);
    }
}

/// An operator that puts tuples of two streams of one source together.
fn combined(graph: &mut Graph, random: &mut Random, a: &Stream, b: &Stream) {
    let s = graph.name();
    let (k, r) = (1 + random.below(4), 1 + random.below(2));
    let inputs = format!("{} as A; {} as B", a.name, b.name);
    let of_both = graph.columns.assignments("A.n + B.n", |at| match at % 2 {
        0 => format!("A.c{at}"),
        _ => format!("B.c{at}"),
    });
    let text = match random.below(5) {
        0 => format!("stream<T> {s} = Barrier({inputs}) {{ output {s} : {of_both}; }}"),
        1 => format!("stream<T> {s} = Pair({inputs}) {{ }}"),
        2 => format!(
            "stream<T> {s} = Switch({inputs}) {{ param status : B.n >= 0l; initialStatus : true; }}"
        ),
        3 => {
            let back = graph.name();
            let text = format!(
                "stream<T> {s} = Gate({} as A; {back} as B) {{ param maxUnackedTupleCount : {k}u; }}",
                a.name
            );
            graph.add(&s, a.origin, &text);
            graph.loops.push([s.clone(), back.clone()]);
            let text = format!("stream<T> {back} = Functor({s}) {{ output {back} : n = n + 1l; }}");
            return graph.add(&back, a.origin, &text);
        }
        _ => format!(
            "stream<T> {s} = Join({inputs}) {{ window A : sliding, count({k}); \
             B : sliding, count({r}); param match : A.n % 2l == B.n % 2l; output {s} : {of_both}; }}"
        ),
    };
    graph.add(&s, a.origin, &text);
}

/// Adds a loop in which every tuple goes round once.
fn in_a_loop(graph: &mut Graph, random: &mut Random, from: &Stream) {
    let (s, back) = (graph.name(), graph.name());
    let statement = statement(graph, random, "A", &s);
    let text = format!(
        "stream<T> {s} = Custom({} as A; {back} as B) {{ logic onTuple A : {{ {statement} }} \
         onTuple B : submit(B, {s}); }}",
        from.name
    );
    graph.add(&s, from.origin, &text);
    graph.loops.push([s.clone(), back.clone()]);
    let text = format!(
        "stream<T> {back} = Functor({s}) {{ param filter : n < {ROUND}l; \
         output {back} : n = n + {ROUND}l; }}"
    );
    graph.add(&back, from.origin, &text);
}

/// Numbers from here on have been round.
const ROUND: u64 = 1_000_000_000_000;
