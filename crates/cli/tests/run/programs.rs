//! Golden programs: every program below `tests/programs/` gives what it says itself, compiled and
//! interpreted.
//!
//! A program ends with directives, lines that begin with `//!`; their content follows in lines that
//! begin with `//|`:
//! ```text
//! //! args: --trace debug name=value     more arguments of the run
//! //! data in.csv:                       a file of the data directory, which is a fresh folder
//! //| 1,"one"
//! //! status: 1                          exit status, 0 if not given
//! //! stderr: division by zero           a part of standard error; may be given several times
//! //! file out.csv:                      what a file of the data directory holds in the end
//! //| 1
//! //! expect:                            standard output, nothing if not given
//! //| {n=1}
//! ```
//! Short of an `expect`, each comment `// => text` of the program is a line of standard output;
//! this suits programs that go straight on. `{here}` in arguments is the program's folder.
//!
//! Output that does not end with a line end, or is long, stands in a file of the program's name
//! with the extension `out` instead; files that the program reads may also lie in a folder with the
//! extension `data`. Files without directives are parts of programs. `BLESS=1` writes down what the
//! compiled programs give.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::processes::media;
use crate::scratch::{Run, Scratch, root, thalweg};

/// One directive with its content.
struct Directive {
    name: String,
    argument: String,
    content: String,
}

/// A program with what is expected of it.
struct Golden {
    path: PathBuf,
    /// The program without directives.
    program: String,
    directives: Vec<Directive>,
}

#[test]
fn compiled_programs_give_what_they_say() {
    let bless = std::env::var_os("BLESS").is_some();
    check(&[], bless);
}

#[test]
fn interpreted_programs_give_what_they_say() {
    if std::env::var_os("BLESS").is_none() {
        check(&["--interpret"], false);
    }
}

/// A process for each operator. The lines of two operators come in any order then, and what an
/// operator makes of two streams may depend on which of them is faster.
#[test]
fn split_programs_give_what_they_say() {
    split_programs_of(&["--fuse", "none"], |_| true);
}

/// One process with a pool of threads for all input ports.
#[test]
fn pooled_programs_give_what_they_say() {
    split_programs_of(&["--threading", "dynamic"], |_| true);
}

/// Split programs give what they say over `rdma` in each of its modes, too: one program in 16 for
/// each, or all with `THALWEG_RDMA_PROGRAMS=all`.
#[test]
fn split_programs_give_what_they_say_by_rdma() {
    let modes = ["rdma", "rdma mode=channel", "rum-rdma"];
    let modes = modes
        .into_iter()
        .filter(|mode| media().any(|medium| medium == *mode));
    let takes_all = std::env::var("THALWEG_RDMA_PROGRAMS").is_ok_and(|which| which == "all");
    for (at, mode) in modes.enumerate() {
        let number = Cell::new(at * 5);
        split_programs_of(&["--fuse", "none", "-F", mode], |_| {
            number.set(number.get() + 1);
            let number: usize = number.get();
            takes_all || number.is_multiple_of(16)
        });
    }
}

/// Runs the programs whose paths are selected with options that make several processes.
pub fn split_programs_of(options: &[&str], is_selected: impl Fn(&str) -> bool) {
    split_programs_by(&|_, args| thalweg(args), options, is_selected);
}

/// A way to run the command with arguments, from the folder of a test.
pub type Starter<'a> = &'a (dyn Fn(&Scratch, &[&str]) -> Run + Sync);

/// Like [`split_programs_of`], started by another program.
pub fn split_programs_by(start: Starter<'_>, options: &[&str], is_selected: impl Fn(&str) -> bool) {
    let mut programs = programs();
    programs.retain(|golden| !golden.shares_files() && is_selected(&golden.path.to_string_lossy()));
    check_each(programs, options, |golden| {
        let scratch = Scratch::new();
        let mut run = golden.run_by(start, &scratch, options);
        if run.status != 0 || golden.merges_streams() {
            let mut parts = golden.arguments("stderr");
            let is_said = parts.all(|part| run.stderr.contains(part));
            if run.status != golden.status() || !is_said {
                return vec![format!("{}: {run:?}", golden.path.display())];
            }
            return Vec::new();
        }
        if sorted(&run.stdout) == sorted(&golden.expected()) {
            run.stdout = golden.expected();
        }
        golden.differences(&scratch, &run)
    });
}

/// The lines of a text, sorted.
pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// All programs, or those whose path contains `PROGRAM`.
fn programs() -> Vec<Golden> {
    let wanted = std::env::var("PROGRAM").unwrap_or_default();
    let mut paths = Vec::new();
    collect(&root().join("tests/programs"), &mut paths);
    paths.sort();
    paths.retain(|path| path.to_string_lossy().contains(&wanted));
    paths.iter().filter_map(|path| Golden::read(path)).collect()
}

/// Runs all programs, and reports all that differ at once.
fn check(options: &[&str], bless: bool) {
    check_each(programs(), options, |golden| {
        let scratch = Scratch::new();
        let run = golden.run(&scratch, options);
        if bless {
            golden.bless(&scratch, &run);
        }
        golden.differences(&scratch, &run)
    });
}

/// Runs programs, two at a time, and reports what is wrong with any of them.
fn check_each(
    programs: Vec<Golden>,
    options: &[&str],
    faults_of: impl Fn(&mut Golden) -> Vec<String> + Sync,
) {
    let count = programs.len();
    assert!(count > 0, "no program");
    let (left, wrong) = (Mutex::new(programs), Mutex::new(Vec::new()));
    let take = || left.lock().unwrap().pop();
    let work = || {
        while let Some(mut golden) = take() {
            let faults = faults_of(&mut golden);
            wrong.lock().unwrap().extend(faults);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} of {count} programs, {options:?}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "spl") {
            into.push(path);
        }
    }
}

impl Golden {
    /// `None` if the file is a part of other programs.
    fn read(path: &Path) -> Option<Golden> {
        let text = fs::read_to_string(path).unwrap();
        let mut golden = Golden {
            path: path.to_owned(),
            program: String::new(),
            directives: Vec::new(),
        };
        for line in text.split_inclusive('\n') {
            if let Some(directive) = line.strip_prefix("//!") {
                let (name, argument) = directive.trim().split_once(':').unwrap_or_else(|| {
                    panic!("{}: a directive has a colon: {line}", path.display())
                });
                golden.directives.push(Directive {
                    name: name.trim().to_owned(),
                    argument: argument.trim().to_owned(),
                    content: String::new(),
                });
            } else if let Some(content) = line.strip_prefix("//|") {
                let last = golden.directives.last_mut();
                let last = last.unwrap_or_else(|| panic!("{}: whose content?", path.display()));
                last.content
                    .push_str(content.strip_prefix(' ').unwrap_or(content));
            } else {
                golden.program.push_str(line);
            }
        }
        let is_program = !golden.directives.is_empty()
            || path.with_extension("out").exists()
            || golden.remarks().next().is_some();
        is_program.then_some(golden)
    }

    fn arguments<'g>(&'g self, name: &'g str) -> impl Iterator<Item = &'g str> {
        let named = self.directives.iter().filter(move |d| d.name == name);
        named.map(|directive| &*directive.argument)
    }

    /// The texts of the comments `// => text`.
    fn remarks(&self) -> impl Iterator<Item = &str> {
        let lines = self.program.lines();
        lines.filter_map(|line| Some(line.split_once("// =>")?.1))
    }

    /// The output that the comments expect.
    fn remarked(&self) -> String {
        let line = |remark: &str| remark.strip_prefix(' ').unwrap_or(remark).to_owned() + "\n";
        self.remarks().map(line).collect()
    }

    /// Name and content of the files that a directive speaks of.
    fn files<'g>(&'g self, word: &'g str) -> impl Iterator<Item = (&'g str, &'g str)> {
        self.directives.iter().filter_map(move |directive| {
            let name = directive.name.strip_prefix(word)?.strip_prefix(' ')?;
            Some((name, &*directive.content))
        })
    }

    /// Whether one operator may read or write a file that another one writes.
    fn shares_files(&self) -> bool {
        let count = |word| self.program.matches(word).count();
        let others = ["FileSink(", "FileSource(", "fopen("].map(count);
        count("FileSink(") > 0 && others.iter().sum::<usize>() > 1
    }

    /// Whether an operator is fed by more than one stream.
    fn merges_streams(&self) -> bool {
        let plan = thalweg(&["dump", "--stage", "plan", self.path.to_str().unwrap()]);
        let edges = plan
            .stdout
            .lines()
            .filter_map(|line| line.split_once("# edge "));
        let fed = edges.filter_map(|(_, edge)| edge.split(' ').nth(2)?.rsplit_once('.'));
        let fed: Vec<&str> = fed.map(|(operator, _)| operator).collect();
        let is_first = |(at, operator): (usize, &&str)| !fed[..at].contains(operator);
        plan.status != 0 || !fed.iter().enumerate().all(is_first)
    }

    /// Runs it in a fresh data directory.
    fn run(&self, scratch: &Scratch, options: &[&str]) -> Run {
        self.run_by(&|_, args| thalweg(args), scratch, options)
    }

    fn run_by(&self, start: Starter<'_>, scratch: &Scratch, options: &[&str]) -> Run {
        for (name, content) in self.files("data") {
            scratch.write(name, content);
        }
        for file in fs::read_dir(self.path.with_extension("data"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = file.file_name();
            scratch.write(name.to_str().unwrap(), fs::read(file.path()).unwrap());
        }
        let file = self.path.to_str().unwrap();
        let folder = scratch.path("");
        // A program that hangs is stopped, and then differs.
        let mut args = vec!["run", file, "-d", folder.to_str().unwrap(), "-k", "30"];
        args.extend(options);
        let here = self.path.parent().unwrap().to_str().unwrap();
        let given: Vec<String> = self
            .arguments("args")
            .flat_map(str::split_whitespace)
            .map(|word| word.replace("{here}", here))
            .collect();
        args.extend(given.iter().map(String::as_str));
        start(scratch, &args)
    }

    fn status(&self) -> i32 {
        let mut given = self.arguments("status");
        given.next().map_or(0, |status| status.parse().unwrap())
    }

    fn expected(&self) -> String {
        fs::read_to_string(self.path.with_extension("out")).unwrap_or_else(|_| {
            let mut given = self.directives.iter().filter(|d| d.name == "expect");
            match given.next() {
                Some(directive) => directive.content.clone(),
                None => self.remarked(),
            }
        })
    }

    /// The differences between a run and what the program expects.
    fn differences(&self, scratch: &Scratch, run: &Run) -> Vec<String> {
        let mut wrong = Vec::new();
        let status = self.status();
        if run.status != status {
            wrong.push(format!("status {} instead of {status}", run.status));
        }
        if run.stdout != self.expected() {
            let (expected, given) = (self.expected(), &run.stdout);
            wrong.push(format!("expected:\n{expected}given:\n{given}"));
        }
        for part in self.arguments("stderr") {
            if !run.stderr.contains(part) {
                wrong.push(format!("standard error does not contain {part}"));
            }
        }
        for (name, content) in self.files("file") {
            let given = fs::read(scratch.path(name)).unwrap_or_default();
            let given = String::from_utf8_lossy(&given);
            if given != content {
                wrong.push(format!("{name}, expected:\n{content}given:\n{given}"));
            }
        }
        if self.arguments("stderr").next().is_none() && !run.stderr.is_empty() && status == 0 {
            wrong.push("standard error is not empty".to_owned());
        }
        if !wrong.is_empty() && !run.stderr.is_empty() {
            wrong.push(format!("standard error:\n{}", run.stderr));
        }
        let path = self.path.strip_prefix(root()).unwrap().display();
        wrong.iter().map(|what| format!("{path}: {what}")).collect()
    }

    /// Writes down what a run gave.
    fn bless(&mut self, scratch: &Scratch, run: &Run) {
        let out = self.path.with_extension("out");
        for directive in &mut self.directives {
            if let Some(name) = directive.name.strip_prefix("file ") {
                directive.content = scratch.read(name);
            }
        }
        self.directives
            .retain(|d| d.name != "expect" && d.name != "status");
        let whole_lines = run.stdout.is_empty() || run.stdout.ends_with('\n');
        if run.status != 0 {
            self.add("status", &run.status.to_string(), "");
        }
        if out.exists() || !whole_lines {
            fs::write(out, &run.stdout).unwrap();
        } else if run.stdout != self.remarked() {
            self.add("expect", "", &run.stdout);
        }
        fs::write(&self.path, self.text()).unwrap();
    }

    fn add(&mut self, name: &str, argument: &str, content: &str) {
        self.directives.push(Directive {
            name: name.to_owned(),
            argument: argument.to_owned(),
            content: content.to_owned(),
        });
    }

    /// The text of the whole file.
    fn text(&self) -> String {
        let mut text = self.program.clone();
        for directive in &self.directives {
            let Directive { name, argument, .. } = directive;
            text.push_str(format!("//! {name}: {argument}").trim_end());
            text.push('\n');
            for line in directive.content.split_inclusive('\n') {
                text.push_str(if line == "\n" { "//|" } else { "//| " });
                text.push_str(line);
            }
        }
        text
    }
}
