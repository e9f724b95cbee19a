//! A graph of operators as SPL text, made from a seed.
//!
//! Each stream knows which thread its order comes from: a source, a Delay, a threaded port. What
//! one thread brings about is the same on every plan; where streams of several meet, only which
//! tuples there are is known, and operators behind that look at one tuple at a time.

use std::fmt::Write;

use super::columns::Columns;
use super::{several, single};
use crate::random::Random;

/// A stream of the graph.
#[derive(Clone, Debug)]
pub struct Stream {
    pub name: String,
    /// Origin whose order the tuples have; `None` if several mix.
    pub origin: Option<u32>,
    /// Whether an operator takes it.
    is_taken: bool,
}

/// A file that a sink writes.
#[derive(Debug)]
pub struct Written {
    pub file: String,
    /// Whether the order of its lines is known.
    pub in_order: bool,
}

/// A graph in the making.
pub struct Graph {
    pub columns: Columns,
    /// The names of its operators, for plans.
    pub operators: Vec<String>,
    pub files: Vec<Written>,
    /// Two operators that feed each other, which have to be in one process.
    pub loops: Vec<[String; 2]>,
    sources: Vec<String>,
    streams: Vec<Stream>,
    text: String,
    names: u32,
    origins: u32,
}

impl Graph {
    /// The graph of a seed.
    pub fn new(random: &mut Random) -> Graph {
        let mut graph = Graph {
            columns: Columns::new(random),
            operators: Vec::new(),
            files: Vec::new(),
            loops: Vec::new(),
            sources: Vec::new(),
            streams: Vec::new(),
            text: String::new(),
            names: 0,
            origins: 0,
        };
        graph.source(random);
        if random.once_in(3) {
            graph.source(random);
        }
        for _ in 0..2 + random.below(7) {
            match random.below(2) {
                0 => single::operator(&mut graph, random),
                _ => several::operator(&mut graph, random),
            }
        }
        graph.sinks(random);
        graph
    }

    /// The text of the program.
    pub fn text(&self) -> String {
        let definition = self.columns.definition();
        format!(
            "composite Main {{\n  type T = {definition};\n  graph\n{}}}\n",
            self.text
        )
    }

    /// Whether a plan may put a queue before an operator: not a source, nor into a loop.
    pub fn takes_queue(&self, name: &str) -> bool {
        let is_in_loop = self.loops.iter().flatten().any(|other| other == name);
        !is_in_loop && !self.sources.iter().any(|source| source == name)
    }

    fn source(&mut self, random: &mut Random) {
        let (s, origin) = (self.name(), self.new_origin());
        // So many that they cross in batches, now and then.
        let most = *random.pick(&[3, 40, 40, 1000]);
        let tuples = 1 + random.below(most);
        let text = if random.once_in(3) {
            // Markers come from the thread that sends the tuples, in the midst of them.
            let values = self.columns.made_from("at");
            format!(
                "stream<T> {s} = Custom() {{ logic onProcess : {{ mutable int64 at = 0l; \
                 while (at < {tuples}l) {{ submit({{ {values} }}, {s}); \
                 if (at % 5l == 3l) submit(Sys.WindowMarker, {s}); at++; }} }} }}"
            )
        } else {
            let values = self.columns.made_from("(int64) IterationCount()");
            format!(
                "stream<T> {s} = Beacon() {{ param iterations : {tuples}; output {s} : {values}; }}"
            )
        };
        self.add(&s, Some(origin), &text);
        self.sources.push(s);
    }

    /// Every stream that nobody takes goes to a file, and some of the others.
    fn sinks(&mut self, random: &mut Random) {
        for stream in std::mem::take(&mut self.streams) {
            let Stream {
                name,
                origin,
                is_taken,
            } = stream;
            if is_taken && !random.once_in(3) {
                continue;
            }
            let marks = match origin.is_some() && random.once_in(2) {
                true => " writePunctuations : true;",
                false => "",
            };
            let file = format!("{name}.txt");
            let _ = writeln!(
                self.text,
                "    () as {name}File = FileSink({name}) {{ param file : \"{file}\"; \
                 format : txt;{marks} }}"
            );
            self.operators.push(format!("{name}File"));
            self.files.push(Written {
                file,
                in_order: origin.is_some(),
            });
        }
    }

    /// A name that nothing has yet.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("S{}", self.names)
    }

    /// A new origin, for a further thread.
    pub fn new_origin(&mut self) -> u32 {
        self.origins += 1;
        self.origins
    }

    /// One of the streams, rather a late one.
    pub fn stream(&mut self, random: &mut Random) -> Stream {
        let count = self.streams.len() as u64;
        let first = count.saturating_sub(4);
        let stream = &mut self.streams[(first + random.below(count - first)) as usize];
        stream.is_taken = true;
        stream.clone()
    }

    /// Adds an operator that is named by its first stream.
    pub fn add(&mut self, name: &str, origin: Option<u32>, text: &str) {
        self.add_operator(name, text);
        self.add_stream(name, origin);
    }

    pub fn add_operator(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.text, "    {text}");
        self.operators.push(name.to_owned());
    }

    pub fn add_stream(&mut self, name: &str, origin: Option<u32>) {
        self.streams.push(Stream {
            name: name.to_owned(),
            origin,
            is_taken: false,
        });
    }
}
