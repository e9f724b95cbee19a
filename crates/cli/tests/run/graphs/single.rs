//! Operators with one input port, compiled and built ones.

use super::graph::{Graph, Stream};
use crate::random::Random;

/// Adds an operator behind a stream.
pub fn operator(graph: &mut Graph, random: &mut Random) {
    let from = graph.stream(random);
    match from.origin {
        // Of what several threads mix only the tuples are known, not their order.
        None => stateless(graph, random, &from),
        Some(_) if random.once_in(3) => stateless(graph, random, &from),
        Some(_) => stateful(graph, random, &from),
    }
}

/// Adds an operator whose output depends on the current tuple alone.
fn stateless(graph: &mut Graph, random: &mut Random, from: &Stream) {
    let (s, a) = (graph.name(), &from.name);
    let (k, r) = (2 + random.below(4), random.below(2));
    let text = match random.below(5) {
        0 => format!("stream<T> {s} = Filter({a}) {{ param filter : n % {k}l != {r}l; }}"),
        1 => format!("stream<T> {s} = Functor({a}) {{ output {s} : n = n * {k}l; }}"),
        2 => {
            let values = graph.columns.made_from(&format!("(n + {k}l)"));
            format!("stream<T> {s} = Functor({a}) {{ output {s} : {values}; }}")
        }
        3 => return split(graph, from, k),
        _ => {
            let statement = statement(graph, random, "In", &s);
            format!("stream<T> {s} = Custom({a} as In) {{ logic onTuple In : {{ {statement} }} }}")
        }
    };
    graph.add(&s, from.origin, &text);
}

/// Adds an operator whose output depends on earlier tuples.
fn stateful(graph: &mut Graph, random: &mut Random, from: &Stream) {
    let (s, a) = (graph.name(), &from.name);
    let (k, r) = (2 + random.below(4), random.below(2));
    let text = match random.below(12) {
        0 => format!("stream<T> {s} = DeDuplicate({a}) {{ param key : n / {k}l; count : {k}ul; }}"),
        1 => {
            let (more, text) = (
                graph.name(),
                format!("DeDuplicate({a}) {{ param key : n % {k}l; }}"),
            );
            graph.add_stream(&more, from.origin);
            format!("(stream<T> {s}; stream<T> {more}) = {text}")
        }
        2 => format!(
            "stream<T> {s} = Punctor({a}) {{ param punctuate : n % {k}l == {r}l; position : after; }}"
        ),
        3 => {
            let values = graph.columns.assignments("Max(n)", |at| match at % 2 {
                0 => format!("First(c{at})"),
                _ => format!("Last(c{at})"),
            });
            let window = match r {
                0 => format!("tumbling, count({k})"),
                _ => format!("sliding, count({k}), count(1)"),
            };
            format!(
                "stream<T> {s} = Aggregate({a} as In) {{ window In : {window}; \
                 output {s} : {values}; }}"
            )
        }
        4 => format!(
            "stream<T> {s} = Sort({a} as In) {{ window In : tumbling, count({k}); \
             param sortBy : -n; }}"
        ),
        5 => {
            let values = graph.columns.assignments("n + In[1].n", |at| match at % 2 {
                0 => format!("In[{r}].c{at}"),
                _ => format!("In[{k}].c{at}"),
            });
            format!("stream<T> {s} = Functor({a} as In) {{ output {s} : {values}; }}")
        }
        6 => format!(
            "stream<T> {s} = Filter({a} as In) {{ param filter : In[1].n % {k}l != {r}l; }}"
        ),
        7 => format!(
            "stream<T> {s} = Custom({a} as In) {{ logic state : mutable list<T> kept = []; \
             onTuple In : {{ appendM(kept, In); if (size(kept) > {k}) {{ submit(kept[0], {s}); \
             removeM(kept, 0); }} }} }}"
        ),
        8 => format!(
            "stream<T> {s} = Custom({a} as In) {{ logic state : mutable int64 count = 0l; \
             onTuple In : {{ count++; mutable T t = In; t.n = t.n + count; submit(t, {s}); \
             if (count % {k}l == 0l) submit(In, {s}); }} onPunct In : submit(currentPunct(), {s}); }}"
        ),
        9 => kept(graph, a, &s),
        10 => format!(
            "stream<T> {s} = Custom({a} as In) {{ logic state : mutable int64 marks = 0l; \
             onTuple In : {{ mutable T t = In; t.n = t.n * {k}l + marks; submit(t, {s}); }} \
             onPunct In : {{ marks++; submit(currentPunct(), {s}); }} }}"
        ),
        _ => return by_a_thread(graph, random, from),
    };
    graph.add(&s, from.origin, &text);
}

/// A Custom that puts a tuple together of its state, and changes the state before it sends the
/// tuple.
fn kept(graph: &Graph, from: &str, s: &str) -> String {
    let columns = &graph.columns;
    let first = columns.made_from("1l");
    let parts = columns.assignments("k.n", |at| format!("k.c{at}"));
    let changes = (0..columns.len()).map(|at| format!("k.c{at} = {};", columns.value(at, "In.n")));
    let changes: String = changes.collect();
    format!(
        "stream<T> {s} = Custom({from} as In) {{ logic state : mutable T k = {{ {first} }}; \
         onTuple In : {{ T before = {{ {parts} }}; k.n = In.n; {changes} submit(before, {s}); }} }}"
    )
}

/// Adds an operator that submits from another thread, at times of its own.
fn by_a_thread(graph: &mut Graph, random: &mut Random, from: &Stream) {
    let (s, a) = (graph.name(), &from.name);
    let origin = graph.new_origin();
    let text = match random.below(3) {
        0 => format!("stream<T> {s} = Delay({a}) {{ param delay : 0.001; }}"),
        1 => format!(
            "stream<T> {s} = Functor({a} as In) {{ config threadedPort : queue(In, Sys.Wait, 10); }}"
        ),
        _ => {
            let (x, y) = (graph.name(), graph.name());
            let split = format!(
                "(stream<T> {x}; stream<T> {y}) = ThreadedSplit({a}) {{ param bufferSize : 10u; }}"
            );
            graph.add_operator(&x, &split);
            let text = format!("stream<T> {s} = Functor({x}, {y}) {{ }}");
            return graph.add(&s, None, &text);
        }
    };
    graph.add(&s, Some(origin), &text);
}

fn split(graph: &mut Graph, from: &Stream, ways: u64) {
    let names: Vec<String> = (0..ways.min(3)).map(|_| graph.name()).collect();
    let outputs: Vec<String> = names.iter().map(|s| format!("stream<T> {s}")).collect();
    let (a, outputs) = (&from.name, outputs.join("; "));
    let text = format!("({outputs}) = Split({a}) {{ param index : n; }}");
    graph.add_operator(&names[0], &text);
    for name in &names {
        graph.add_stream(name, from.origin);
    }
}

/// A statement of a Custom that sends something on of what has come to `port`.
pub fn statement(graph: &Graph, random: &mut Random, port: &str, to: &str) -> String {
    let (k, r) = (2 + random.below(4), random.below(2));
    let columns = &graph.columns;
    match random.below(6) {
        0 | 1 => format!("submit({port}, {to});"),
        2 => format!("if ({port}.n % {k}l != {r}l) submit({port}, {to});"),
        3 => {
            let parts =
                columns.assignments(&format!("{port}.n + 1l"), |at| format!("{port}.c{at}"));
            format!("submit({{ {parts} }}, {to});")
        }
        4 => {
            let change = match columns.len() {
                0 => String::new(),
                len => {
                    let at = random.below(len as u64) as usize;
                    format!("t.c{at} = {};", columns.value(at, "(t.n + 1l)"))
                }
            };
            format!("{{ mutable T t = {port}; t.n = t.n * {k}l; {change} submit(t, {to}); }}")
        }
        _ => format!("for (T t in [{port}, {port}]) submit(t, {to});"),
    }
}
