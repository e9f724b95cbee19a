//! Programs whose operators pass tuples on: whole, in part, from several ports, kept and changed.

use std::fmt::Write;

use super::types::{self, Attribute};
use crate::random::Random;

/// What comes out of the source.
const TUPLES: u64 = 40;

/// A program, with the names of its operators and the files that it writes.
pub struct Program {
    pub text: String,
    operators: Vec<String>,
    /// The operator without input ports.
    first: String,
    pub files: Vec<String>,
}

/// A program while it is written.
struct Writer<'r> {
    random: &'r mut Random,
    attributes: Vec<&'static Attribute>,
    graph: String,
    operators: Vec<String>,
    streams: Vec<String>,
}

impl Program {
    /// The program that a sequence of numbers makes.
    pub fn new(random: &mut Random) -> Program {
        let attributes = types::some(random);
        let mut writer = Writer {
            random,
            attributes,
            graph: String::new(),
            operators: Vec::new(),
            streams: Vec::new(),
        };
        writer.source();
        for at in 0..2 + writer.random.below(6) {
            writer.operator(&format!("S{at}"));
        }
        let files = writer.sinks();
        let each = writer
            .attributes
            .iter()
            .map(|a| format!(", {} {}", a.ty, a.name));
        let schema: String = each.collect();
        Program {
            text: format!(
                "composite Main {{\n  type T = int64 n{schema};\n  graph\n{}}}\n",
                writer.graph
            ),
            first: writer.operators[0].clone(),
            operators: writer.operators,
            files,
        }
    }

    /// A plan at random: some processes, some queues.
    pub fn plan(&self, random: &mut Random) -> String {
        let pes = 1 + random.below(3);
        let mut homes: Vec<Vec<&str>> = vec![Vec::new(); pes as usize];
        for operator in &self.operators {
            homes[random.below(pes) as usize].push(operator);
        }
        homes.retain(|home| !home.is_empty());
        let mut text = String::new();
        for (number, home) in homes.iter().enumerate() {
            let _ = writeln!(text, "pe {number}\n operators {}", home.join(" "));
            for name in home.iter().filter(|name| self.first != **name) {
                if random.one_in(3) {
                    let _ = writeln!(text, " queue {name}.0 wait {}", 1 + random.below(20));
                }
            }
        }
        text
    }
}

impl Writer<'_> {
    /// A literal of all attributes, each a function of a number.
    fn literal(&self, number: &str) -> String {
        let each = self.attributes.iter();
        let each = each.map(|a| format!(", {} = {}", a.name, a.of(number)));
        format!("{{n = {number}{}}}", each.collect::<String>())
    }

    /// A literal with each attribute from one of these tuples.
    fn mixed(&mut self, from: &[&str]) -> String {
        let each = self.attributes.iter();
        let each = each.map(|a| format!(", {} = {}.{}", a.name, self.random.pick(from), a.name));
        format!("{{n = {}.n{}}}", from[0], each.collect::<String>())
    }

    /// Changes of some attributes of a variable.
    fn changes(&mut self, variable: &str) -> String {
        let each = self.attributes.iter().filter(|_| !self.random.one_in(3));
        each.map(|a| a.change(variable))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// `output` assignments of some attributes.
    fn assignments(&mut self, stream: &str, value: impl Fn(&Attribute) -> String) -> String {
        let each = self.attributes.iter().filter(|_| !self.random.one_in(3));
        let each: Vec<_> = each.map(|a| format!("{} = {}", a.name, value(a))).collect();
        if each.is_empty() {
            return String::new();
        }
        format!("output {stream} : {};", each.join(", "))
    }

    fn line(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.graph, "    {text}");
        self.operators.push(name.to_owned());
    }

    fn source(&mut self) {
        let literal = self.literal("n");
        let text = if self.random.one_in(2) {
            format!(
                "stream<T> Source = Custom() {{ logic onProcess : {{ mutable int64 n = 0l; \
                 while (n < {TUPLES}l) {{ submit({literal}, Source); \
                 if (n % 7l == 6l) submit(Sys.WindowMarker, Source); n++; }} }} }}"
            )
        } else {
            let each = self.attributes.iter();
            let each = each.map(|a| format!(", {} = {}", a.name, a.of("n")));
            let each: String = each.collect();
            self.line(
                "Ticks",
                &format!(
                    "stream<int64 n> Ticks = Beacon() {{ param iterations : {TUPLES}; \
                     output Ticks : n = (int64) IterationCount(); }}"
                ),
            );
            format!("stream<T> Source = Functor(Ticks) {{ output Source : n = n{each}; }}")
        };
        self.line("Source", &text);
        self.streams.push("Source".to_owned());
    }

    /// One of the latest streams.
    fn stream(&mut self) -> String {
        let latest = self.streams.len().saturating_sub(4) as u64;
        let at = latest + self.random.below(self.streams.len() as u64 - latest);
        self.streams[at as usize].clone()
    }

    fn operator(&mut self, s: &str) {
        let text = match self.random.below(3) {
            0 => self.built(s),
            1 => self.custom(s),
            _ => self.several_ports(s),
        };
        self.line(s, &text);
        self.streams.push(s.to_owned());
    }

    /// An operator of the standard toolkit.
    fn built(&mut self, s: &str) -> String {
        let (a, k) = (self.stream(), 2 + self.random.below(3));
        let r = self.random.below(k);
        match self.random.below(8) {
            0 => format!("stream<T> {s} = Filter({a}) {{ param filter : n % {k}l != {r}l; }}"),
            1 => {
                let output = self.assignments(s, |attribute| attribute.of("(n + 1l)"));
                format!("stream<T> {s} = Functor({a}) {{ {output} }}")
            }
            2 => {
                let output = self.assignments(s, |attribute| format!("In[1].{}", attribute.name));
                format!("stream<T> {s} = Functor({a} as In) {{ {output} }}")
            }
            3 => format!("stream<T> {s} = DeDuplicate({a}) {{ param key : n / {k}l; }}"),
            4 => format!(
                "stream<T> {s} = Punctor({a}) {{ param punctuate : n % {k}l == {r}l; position : after; }}"
            ),
            5 => format!(
                "stream<T> {s} = Sort({a} as In) {{ window In : tumbling, count({k}); \
                 param sortBy : n % 2l, n; }}"
            ),
            6 => {
                let of = *self.random.pick(&["First", "Last"]);
                let each = self.attributes.iter();
                let each = each.map(|x| format!(", {} = {of}({})", x.name, x.name));
                let each: String = each.collect();
                format!(
                    "stream<T> {s} = Aggregate({a} as In) {{ window In : tumbling, count({k}); \
                     output {s} : n = Max(n){each}; }}"
                )
            }
            _ => {
                let more = format!("{s}x");
                self.streams.push(more.clone());
                format!(
                    "(stream<T> {s}; stream<T> {more}) = Split({a}) {{ param index : n % {k}l; }}"
                )
            }
        }
    }

    /// A Custom with one port.
    fn custom(&mut self, s: &str) -> String {
        let (a, k) = (self.stream(), 2 + self.random.below(3));
        let changes = self.changes("k");
        let (state, clauses) = match self.random.below(6) {
            0 => (
                String::new(),
                format!("onTuple In : if (In.n % {k}l != 0l) submit(In, {s});"),
            ),
            1 => (
                String::new(),
                format!(
                    "onTuple In : {{ mutable T k = In; {changes} submit(k, {s}); \
                     if (In.n % {k}l == 0l) submit(In, {s}); }}"
                ),
            ),
            2 => (
                "mutable T k = {};".replace("{}", &self.literal("1l")),
                format!("onTuple In : {{ submit(k, {s}); k = In; {changes} }}"),
            ),
            3 => {
                let before = self.mixed(&["k", "In"]);
                (
                    format!("mutable T k = {};", self.literal("2l")),
                    format!(
                        "onTuple In : {{ T before = {before}; k = In; {changes} \
                         submit(before, {s}); }}"
                    ),
                )
            }
            4 => (
                "mutable list<T> kept = [];".to_owned(),
                format!(
                    "onTuple In : {{ appendM(kept, In); if (size(kept) == {k}) {{ \
                     for (T each in kept) submit(each, {s}); \
                     mutable T k = kept[0]; {changes} kept[1] = k; submit(kept[1], {s}); \
                     clearM(kept); }} }}"
                ),
            ),
            _ => (
                format!("mutable T k = {};", self.literal("3l")),
                format!(
                    "onTuple In : submit(In.n % {k}l == 0l ? In : k, {s}); \
                     onPunct In : {{ {changes} submit(currentPunct(), {s}); }}"
                ),
            ),
        };
        let state = match state.is_empty() {
            true => state,
            false => format!("state : {{ {state} }} "),
        };
        format!("stream<T> {s} = Custom({a} as In) {{ logic {state}{clauses} }}")
    }

    /// An operator with two or three ports, which may all come from one stream.
    fn several_ports(&mut self, s: &str) -> String {
        let (a, b, c) = (self.stream(), self.stream(), self.stream());
        let k = 1 + self.random.below(3);
        let mixed = self.mixed(&["R", "L"]);
        let kept = self.mixed(&["R", "k"]);
        match self.random.below(8) {
            0 => format!(
                "stream<T> {s} = Custom({a} as L; {b} as R) {{ logic onTuple R : submit(R, {s}); }}"
            ),
            1 => format!(
                "stream<T> {s} = Custom({a} as L; {b} as R) {{ logic onTuple L : submit(L, {s}); \
                 onTuple R : {{ if (R.n % 3l == 0l) submit(R, {s}); }} }}"
            ),
            2 => format!(
                "stream<T> {s} = Custom({a} as L; {b} as R) {{ logic state : mutable T k = {}; \
                 onTuple L : k = L; onTuple R : submit({kept}, {s}); }}",
                self.literal("4l")
            ),
            3 => format!(
                "stream<T> {s} = Custom({a} as L; {b} as M; {c} as R) {{ logic \
                 onTuple R : submit(R, {s}); onTuple M : if (M.n % 2l == 0l) submit(M, {s}); }}"
            ),
            4 => format!("stream<T> {s} = Union({a} as L; {b} as R) {{ }}"),
            5 => format!(
                "stream<T> {s} = Filter({a}, {b} as In) {{ param filter : n % 3l != 1l; }}",
            )
            .replace(&format!("{a}, {a} as In"), &format!("{a} as In")),
            6 => format!(
                "stream<T> {s} = Join({a} as L; {b} as R) {{ window L : sliding, count({k}); \
                 R : sliding, count(1); param match : L.n % 2l == R.n % 2l; \
                 output {s} : {}; }}",
                mixed.trim_matches(['{', '}'])
            ),
            _ => format!(
                "stream<T> {s} = Barrier({a} as L; {b} as R) {{ output {s} : {}; }}",
                mixed.trim_matches(['{', '}'])
            ),
        }
    }

    /// A file for most streams; the last one always has one.
    fn sinks(&mut self) -> Vec<String> {
        let streams = self.streams.clone();
        let mut files = Vec::new();
        for stream in streams.iter().skip(1) {
            let is_last = Some(stream) == streams.last();
            if is_last || !self.random.one_in(4) {
                let (name, file) = (format!("Out{stream}"), format!("{stream}.txt"));
                let text = format!(
                    "() as {name} = FileSink({stream}) {{ param file : \"{file}\"; \
                     format : txt; writePunctuations : true; }}"
                );
                self.line(&name, &text);
                files.push(file);
            }
        }
        files
    }
}
