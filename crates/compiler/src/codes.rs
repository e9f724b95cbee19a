//! The codes of diagnostics, each with two sentences and an example of wrong and right SPL.
//!
//! The table is the page `codes.md`, which people read as it is and `thalweg explain` prints by
//! sections. Tests compile the examples, and hold the page against the codes that the sources
//! report.
//!
//! # Example
//! ```
//! let code = thalweg_compiler::codes::find("unknown-stream").expect("a code of the page");
//! let wrong = code.examples[0].program();
//! assert!(wrong.contains("composite Main"));
//! assert_eq!(thalweg_compiler::codes::find("unknown-steam"), Err(Some("unknown-stream")));
//! ```

use std::fmt;

use crate::names::nearest;

/// The page of codes.
const PAGE: &str = include_str!("codes.md");

/// Stream in whose graph clause the examples marked `graph` and `logic` stand.
const STREAM: &str = "stream<int32 n, rstring s, float64 x, list<int32> l> A = Beacon() {}";

/// A code of a diagnostic, as the page explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticCode {
    /// Code in kebab case, as reports show it in brackets.
    pub code: &'static str,
    /// Two sentences: the cause, and the remedy.
    pub sentences: &'static str,
    /// A wrong program and a right one; none if no short program reports the code.
    pub examples: Vec<CodeExample>,
}

/// A piece of SPL that reports a code, or that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeExample {
    /// Lines as the page shows them.
    pub source: &'static str,
    /// Place of a program where the lines stand.
    pub place: ExamplePlace,
}

/// Place of a program where an example stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamplePlace {
    /// Whole file with its main composite.
    File,
    /// Graph clause of a main composite, behind a stream `A`.
    Graph,
    /// `onTuple` clause of an operator that reads `A`.
    Logic,
}

impl CodeExample {
    /// The example as a whole file.
    pub fn program(&self) -> String {
        let source = self.source;
        match self.place {
            ExamplePlace::File => source.to_owned(),
            ExamplePlace::Graph => {
                format!("composite Main {{\n    graph\n        {STREAM}\n{source}}}\n")
            }
            ExamplePlace::Logic => format!(
                "composite Main {{\n    graph\n        {STREAM}\n        () as Sink = Custom(A) {{\n\
                 logic onTuple A : {{\n{source}}} }}\n}}\n"
            ),
        }
    }
}

impl ExamplePlace {
    /// Words behind `Wrong`, for examples that are no whole file.
    fn words(self) -> String {
        match self {
            ExamplePlace::File => String::new(),
            ExamplePlace::Graph => format!(", in a graph clause after `{STREAM}`"),
            ExamplePlace::Logic => {
                format!(", in the logic of an operator that reads `{STREAM}`")
            }
        }
    }
}

/// The section as a terminal shows it: examples are indented.
impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}", self.code, self.sentences)?;
        for (title, example) in ["Wrong", "Right"].iter().zip(&self.examples) {
            let place = match *title {
                "Wrong" => example.place.words(),
                _ => String::new(),
            };
            writeln!(f, "\n{title}{place}:\n")?;
            for line in example.source.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        Ok(())
    }
}

/// All codes, in the order of the page.
pub fn all() -> impl Iterator<Item = DiagnosticCode> {
    let sections = PAGE.split("\n### ").skip(1);
    sections.map(|section| {
        // The heading of the next group of codes is no part of the section.
        let section = section.split("\n## ").next().unwrap_or(section);
        DiagnosticCode {
            code: section.lines().next().unwrap_or(""),
            sentences: section.lines().nth(2).unwrap_or(""),
            examples: examples(section),
        }
    })
}

/// The explanation of a code.
///
/// # Errors
/// The code that is most like it, if any is, when there is no such code.
pub fn find(code: &str) -> Result<DiagnosticCode, Option<&'static str>> {
    let found = all().find(|known| known.code == code);
    found.ok_or_else(|| nearest(code, all().map(|known| known.code)))
}

/// The examples of a section: what stands between its fences.
fn examples(section: &'static str) -> Vec<CodeExample> {
    let fenced = section.split("```").skip(1).step_by(2);
    let read = fenced.filter_map(|fenced| {
        let (kind, source) = fenced.split_once('\n')?;
        let place = match kind {
            "spl graph" => ExamplePlace::Graph,
            "spl logic" => ExamplePlace::Logic,
            _ => ExamplePlace::File,
        };
        Some(CodeExample { source, place })
    });
    read.collect()
}
