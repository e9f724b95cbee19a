//! Programs at random whose streams part and meet again, on plans at random: each gives what it
//! gives fused, byte for byte, if everything comes from one source and is printed by one operator.
//! With two sources that are mixed nowhere before, what each of them has brought about is in its
//! order. Where several sources are mixed first, how is free; but then everything downstream agrees
//! on it: a program whose only source is a file of what was mixed gives the same.
//!
//! `THALWEG_PROGRAMS=500` tries more of them.

use std::fmt::Write;

use crate::processes::media;
use crate::random::Random;
use crate::scratch::{Scratch, root, thalweg};

/// Programs, each on [`PLANS`] plans.
const PROGRAMS: u64 = 20;
const PLANS: u64 = 4;

/// A program, and the names of its operators.
struct Program {
    /// Text of the sources that the streams come from.
    sources: String,
    /// Text of the operators downstream of the sources.
    text: String,
    operators: Vec<String>,
    begins: Begins,
}

/// How a program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// The program has one source.
    One,
    /// Two sources meet only where everything is printed.
    Two,
    /// Several sources are mixed before any other operator.
    Mixed,
}

/// Least number that the second source sends; the third one sends at least twice this number.
const SECOND: i64 = 1_000_000;

/// Event time that is the number of the tuple: so watermarks have a place among the tuples, too.
const CLOCK: &str = "@eventTime(eventTimeAttribute = n, lag = 0.003, minimumGap = 0.002)";

const SOURCES: [&str; 3] = ["Source", "Second", "Third"];

impl Program {
    fn new(random: &mut Random) -> Program {
        let tuples = 1 + random.below(300);
        let begins = match random.below(6) {
            0 | 1 => Begins::Two,
            2 | 3 => Begins::Mixed,
            _ => Begins::One,
        };
        let mut program = Program {
            sources: String::new(),
            text: String::new(),
            operators: Vec::new(),
            begins,
        };
        let mut streams = match begins {
            Begins::One => program.beacons(&["Source"], tuples, ""),
            Begins::Two => program.beacons(&["Source", "Second"], tuples, ""),
            Begins::Mixed => program.mixed(random, tuples),
        };
        for at in 0..2 + random.below(8) {
            program.operator(random, at, &mut streams);
        }
        program.sink(random, &streams);
        program
    }

    /// The whole text, of streams that come from these sources.
    fn from(&self, sources: &str) -> String {
        let Program { text, .. } = self;
        format!("composite Main {{\n  type T = int64 n, int64 path;\n  graph\n{sources}{text}}}\n")
    }

    fn beacons(&mut self, names: &[&str], tuples: u64, period: &str) -> Vec<String> {
        let clock = match self.begins {
            Begins::One => CLOCK,
            // How two come together is free, and Mixed has one behind them.
            Begins::Two | Begins::Mixed => "",
        };
        for (name, first) in names.iter().zip((0..).step_by(SECOND as usize)) {
            let _ = writeln!(
                self.sources,
                "    {clock} stream<T> {name} = Beacon() {{ param iterations : {tuples}; {period} \
                 output {name} : n = {first}l + (int64) IterationCount(), path = 0l; }}"
            );
            self.operators.push((*name).to_owned());
        }
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Sources that are mixed. The file says how.
    fn mixed(&mut self, random: &mut Random, tuples: u64) -> Vec<String> {
        let names = &SOURCES[..2 + random.below(2) as usize];
        let period = *random.pick(&["", "period : 0.0001;"]);
        let mut all = self.beacons(names, tuples, period);
        if random.below(2) == 0 {
            // What parts before it is mixed comes in its order too.
            let _ = writeln!(
                self.sources,
                "    stream<T> Odd = Filter(Source) {{ param filter : n % 2l == 1l; }}"
            );
            all.push("Odd".to_owned());
            self.operators.push("Odd".to_owned());
        }
        let all = all.join(", ");
        let _ = writeln!(
            self.sources,
            "    {CLOCK} stream<T> Mix = Custom({all} as In) {{ logic state : mutable int64 count = 0l; \
             onTuple In : {{ submit({{n = count, path = n}}, Mix); count++; }} }}\n\
             \x20   () as Recorder = FileSink(Mix) {{ param file : \"mixed.csv\"; }}"
        );
        self.operators
            .extend(["Mix", "Recorder"].map(str::to_owned));
        vec!["Mix".to_owned()]
    }

    /// The program with its sources replaced by a file of the mixed tuples.
    fn replayed(&self) -> String {
        self.from(&format!(
            "    stream<T> Mixed = FileSource() {{ param file : \"mixed.csv\"; }}\n\
                 \x20   {CLOCK} stream<T> Mix = Custom(Mixed as In) {{ \
                 logic onTuple In : submit(In, Mix); }}\n"
        ))
    }

    /// Adds an operator that takes one or two of the streams so far, rather the latest.
    fn operator(&mut self, random: &mut Random, at: u64, streams: &mut Vec<String>) {
        let take = |random: &mut Random| {
            let latest = streams.len().saturating_sub(4) as u64;
            let at = latest + random.below(streams.len() as u64 - latest);
            streams[at as usize].clone()
        };
        let (a, b) = (take(random), take(random));
        let (k, r) = (2 + random.below(4), random.below(2));
        let s = format!("S{at}");
        let path = |of: &str| format!("path = ({of}path * 31l + {}l) % 1000003l", at + 1);
        let is_apart = self.begins == Begins::Two;
        let both = if a == b || is_apart {
            a.clone()
        } else {
            format!("{a}, {b}")
        };
        let kind = random.below(if is_apart { 3 } else { 9 });
        let text = match kind {
            0 => format!(
                "stream<T> {s} = Functor({a}) {{ param filter : n % {k}l != {r}l; output {s} : {}; }}",
                path("")
            ),
            1 => format!(
                "stream<T> {s} = Functor({both}) {{ output {s} : {}; }}",
                path("")
            ),
            2 => {
                let more = format!("{s}x");
                let text = format!(
                    "(stream<T> {s}; stream<T> {more}) = Custom({a} as In) {{ logic onTuple In : {{ \
                     if (n % {k}l == {r}l) submit({{n = n, path = path + 1l}}, {s}); \
                     submit({{n = n, path = path + 2l}}, {more}); \
                     if (n % 3l == 0l) submit({{n = n, path = path + 3l}}, {s}); }} }}"
                );
                streams.push(more);
                text
            }
            3 => format!(
                "stream<T> {s} = Join({a} as L; {b} as R) {{ window L : sliding, count({k}); \
                 R : sliding, count({}); param match : L.n % 2l == R.n % 2l; \
                 output {s} : n = L.n, path = (L.path * 17l + R.path) % 1000003l; }}",
                1 + r
            ),
            4 => format!(
                "stream<T> {s} = Aggregate({both} as In) {{ window In : tumbling, count({k}); \
                 output {s} : n = Last(n), path = Sum(path); }}"
            ),
            5 => {
                // What waits for a marker is fed by one stream, as the language wants it.
                self.operators.push(format!("{s}p"));
                format!(
                    "stream<T> {s}p = Punctor({both} as In) {{ param punctuate : n % {k}l == {r}l; \
                     position : after; }}\n    stream<T> {s} = Aggregate({s}p as In) {{ window In : \
                     tumbling, punct(); output {s} : n = Max(n), path = Sum(path); }}"
                )
            }
            6 | 7 => by_event_time(&s, &both, (k, r), kind == 6),
            _ => format!(
                "stream<T> {s} = Punctor({both} as In) {{ param punctuate : n % {k}l == {r}l; \
                 position : after; }}"
            ),
        };
        let _ = writeln!(self.text, "    {text}");
        self.operators.push(s.clone());
        streams.push(s);
    }

    /// One operator prints what every stream brings, by two ports or one.
    fn sink(&mut self, random: &mut Random, streams: &[String]) {
        let (left, right): (Vec<_>, Vec<_>) =
            streams.iter().skip(1).partition(|_| random.below(2) == 0);
        let mut ports = [left, right].map(|port| port.into_iter().cloned().collect::<Vec<_>>());
        for port in ports.iter_mut().filter(|port| port.is_empty()) {
            port.push(streams[0].clone());
        }
        let [left, right] = ports.map(|port| port.join(", "));
        let print = |port: &str| {
            format!(
                "onTuple {port} : printStringLn(\"{port} \" + (rstring) n + \" \" + (rstring) path \
                 + \" \" + (rstring) getWatermark()); \
                 onPunct {port} : printStringLn(\"{port} \" + (rstring) currentPunct());"
            )
        };
        self.operators.push("Printer".to_owned());
        if random.below(2) == 0 {
            let _ = writeln!(
                self.text,
                "    () as Printer = Custom({left}, {right} as A) {{ logic {} }}",
                print("A")
            );
            return;
        }
        let _ = writeln!(
            self.text,
            "    () as Printer = Custom({left} as A; {right} as B) {{ logic {} {} }}",
            print("A"),
            print("B")
        );
    }

    /// The part of the output that is equal on every plan: all of it, or the tuples of each source.
    fn determined(&self, printed: String) -> String {
        if self.begins != Begins::Two {
            return printed;
        }
        let tuples = printed.lines().filter(|line| !line.ends_with("Marker"));
        let is_first = |line: &&str| {
            let n = line.split(' ').nth(1).and_then(|n| n.parse().ok());
            n.is_some_and(|n: i64| n < SECOND)
        };
        let (first, second): (Vec<_>, Vec<_>) = tuples.partition(is_first);
        [first, second].concat().join("\n")
    }

    /// A plan at random: some processes, some queues.
    fn plan(&self, random: &mut Random) -> String {
        let pes = 1 + random.below(4);
        let mut homes: Vec<Vec<&String>> = vec![Vec::new(); pes as usize];
        for operator in &self.operators {
            homes[random.below(pes) as usize].push(operator);
        }
        homes.retain(|home| !home.is_empty());
        let mut text = String::new();
        for (number, home) in homes.iter().enumerate() {
            let names: Vec<&str> = home.iter().map(|name| name.as_str()).collect();
            let _ = writeln!(text, "pe {number}\n operators {}", names.join(" "));
            let _ = writeln!(text, " pool {}", 1 + random.below(2));
            for name in home.iter().filter(|name| !SOURCES.contains(&name.as_str())) {
                if random.below(3) == 0 {
                    let pooled = random.pick(&["", " pooled"]);
                    let tuples = 1 + random.below(20);
                    let _ = writeln!(text, " queue {name}.0 wait {tuples}{pooled}");
                }
            }
        }
        text
    }
}

/// An operator whose output tells of watermarks: by its window, or by itself.
fn by_event_time(name: &str, from: &str, (k, r): (u64, u64), has_window: bool) -> String {
    match has_window {
        true => format!(
            "stream<T> {name} = Aggregate({from} as In) {{ window In : timeInterval, \
             intervalDuration(0.0{k}), creationPeriod(0.0{r}7), discardAge(0.0{r}5); \
             output {name} : n = Max(n), path = Sum(path); }}"
        ),
        false => format!(
            "stream<T> {name} = Functor({from}) {{ output {name} : path = (path * 7l + \
             int64TicksFromTimestamp(getWatermark(), Sys.Milliseconds)) % 1000003l; }}"
        ),
    }
}

/// Whether a line is one of the warning that tuples came too late.
pub fn is_about_late_tuples(line: &str) -> bool {
    let is_warning = line.starts_with("thalweg: warning: ") && line.contains(" came too late, ");
    is_warning || line.starts_with("  = help: a larger `lag` ")
}

#[test]
fn streams_that_meet_again_do_so_in_the_order_of_their_source() {
    let count = std::env::var("THALWEG_PROGRAMS").ok();
    let count = count.map_or(PROGRAMS, |count| {
        count.parse().expect("a number of programs")
    });
    let scratch = Scratch::new();
    for seed in 0..count {
        let random = &mut Random(seed);
        let program = Program::new(random);
        let text = program.from(&program.sources);
        let file = scratch.write("Main.spl", &text);
        let file = file.to_str().unwrap();
        let folder = scratch.path("");
        let folder = folder.to_str().unwrap();
        let replayed = scratch.write("Replayed.spl", program.replayed());
        let replayed = replayed.to_str().unwrap();
        let fused = thalweg(&["run", file, "--data-dir", folder]);
        let late_tuples = fused.stderr.clone();
        assert!(
            late_tuples.lines().all(is_about_late_tuples),
            "{late_tuples}"
        );
        let fused = fused.ok();
        for number in 0..PLANS {
            let plan = program.plan(random);
            let path = scratch.write("Main.plan", &plan);
            let media: Vec<_> = media().collect();
            let medium = random.pick(&media);
            let mut args = vec!["run", file, "--data-dir", folder, "-F", medium];
            match number {
                0 => args.extend(["--fuse", "none"]),
                1 => args.extend(["--threading", "dedicated"]),
                2 => args.extend(["--threading", "dynamic"]),
                _ => args.extend(["--fuse", path.to_str().unwrap()]),
            }
            if random.below(2) == 0 {
                args.push("--interpret");
            }
            let run = thalweg(&args);
            let about = format!("seed {seed}: {args:?}\n{text}{plan}");
            // How many tuples are late depends on their order, and nothing else is said.
            let (said, expected) = match program.begins {
                Begins::Mixed => {
                    let said = run
                        .stderr
                        .lines()
                        .filter(|line| !is_about_late_tuples(line));
                    let replay = thalweg(&["run", replayed, "--data-dir", folder]);
                    (said.collect::<String>() + &late_tuples, replay.ok())
                }
                _ => (run.stderr.clone(), fused.clone()),
            };
            assert_eq!((run.status, &said), (0, &late_tuples), "{about}");
            let (found, expected) = (program.determined(run.stdout), program.determined(expected));
            assert!(
                found == expected,
                "{about}{}",
                difference(&found, &expected)
            );
        }
    }
}

/// One way to the switch is a call and the other one crosses, so that one thread has to bring both
/// together; if it also brought what opens the switch, it would wait for itself.
/// Two sources that are mixed, and each of which meets what it has brought about once more: a merge
/// waited for what only comes behind the tuple that it held back.
#[test]
fn sources_that_meet_their_mixture_again_do_not_wait_for_each_other() {
    let program = "composite Main { graph
        stream<uint64 n> First = Beacon() { param iterations : 3000u; output First : n = IterationCount(); }
        stream<uint64 n> Second = Beacon() { param iterations : 3000u; output Second : n = IterationCount(); }
        stream<uint64 n> One = Functor(First) {}
        stream<uint64 n> Two = Functor(Second) {}
        stream<uint64 n> Mixed = Functor(Two, One as In) {}
        stream<uint64 n> WithFirst = Functor(Mixed, First as In) {}
        stream<uint64 n> WithBoth = Functor(WithFirst, Second as In) {}
        () as Sink = Custom(WithBoth as In) {
            logic
                state : { mutable uint64 count = 0ul; mutable uint64 sum = 0ul; }
                onTuple In : { count++; sum += n; }
                onPunct In : {
                    if (currentPunct() == Sys.FinalMarker) {
                        printStringLn((rstring) count + \" \" + (rstring) sum);
                    }
                }
        }
    }";
    let folder = Scratch::new();
    for plan in [&["--fuse", "none"][..], &["--fuse", "none", "--interpret"]] {
        assert_eq!(folder.run(program, plan).ok(), "12000 17994000\n");
    }
}

#[test]
fn a_merge_does_not_take_what_opens_a_switch() {
    let scratch = Scratch::new();
    let plan = scratch.write(
        "cut.plan",
        "pe 0\n operators A B S C\npe 1\n operators Even\n",
    );
    let program = root().join("tests/programs/switch/opened_by_another_source.spl");
    let args = [
        "run",
        program.to_str().unwrap(),
        "--fuse",
        plan.to_str().unwrap(),
    ];
    assert_eq!(thalweg(&args).ok(), "waited\nwaited\n1\n2\n2\n");
}

/// The first lines that differ.
fn difference(found: &str, expected: &str) -> String {
    let same = found.lines().zip(expected.lines());
    let at = same.take_while(|(a, b)| a == b).count();
    let from = |text: &str| {
        let lines: Vec<_> = text.lines().skip(at.saturating_sub(2)).take(8).collect();
        lines.join("\n")
    };
    format!("line {}:\n{}\nnot\n{}", at + 1, from(found), from(expected))
}
