//! `check`, `fmt` and `dump` take instructions in proportion to a program's size: counted under
//! cachegrind, for programs that are broken in one way throughout and for whole ones with very many
//! of one thing.
//!
//! That takes minutes and wants Debian's `valgrind`, so it is done only when asked for:
//! `THALWEG_GROWTH=all`, or a part of a program's name.

#[path = "../../../syntax/tests/garbled/mod.rs"]
mod garbled;

use std::process::Command;

use garbled::{GARBLED, Garbled};

use crate::scratch::{Scratch, command};

/// Programs that are counted at this size, twice and four times of it.
const SIZE: usize = 150;
/// Instructions that may come from hash tables, whose order differs from run to run.
const NOISE: u64 = 2_000_000;

/// Whole programs with so many of one thing, wrong ones among them.
const MANY: &[Garbled] = &[
    ("unknown names among variables", |n| {
        logic(&each(n, |i| {
            format!("int32 name{i} = 1; println(nane{i}); println(name{i});")
        }))
    }),
    ("unknown functions among functions", |n| {
        let defined = each(n, |i| format!("int32 food{i}(int32 a) {{ return a; }}"));
        format!("{defined}{}", logic(&each(n, |i| format!("fooo{i}(n);"))))
    }),
    ("unknown streams among streams", |n| {
        graph(&each(n, |i| {
            format!("stream<int32 a> Name{i} = Functor(Nane{i}) {{ }}")
        }))
    }),
    ("mistakes on one line", |n| {
        logic(&each(n, |i| format!("rstring x{i} = 1;")).replace('\n', " "))
    }),
    ("statements on one line", |n| {
        logic(&"println(n); ".repeat(n))
    }),
    ("a chain of operators", |n| {
        graph(&each(n, |i| match i {
            0 => "stream<In> S0 = Filter(In) { }".to_owned(),
            _ => format!(
                "stream<In> S{i} = Filter(S{}) {{ param filter : n > 0; }}",
                i - 1
            ),
        }))
    }),
    ("attributes", |n| {
        let columns = each(n, |i| format!(", int32 a{i}")).replace('\n', "");
        let values = each(n, |i| format!(", a{i} = n")).replace('\n', "");
        graph(&format!(
            "stream<int32 z{columns}> W = Functor(In) {{ output W : z = 1{values}; }}"
        ))
    }),
    ("state variables", |n| {
        let state = each(n, |i| format!("mutable int32 v{i} = 1;"));
        let uses = each(n, |i| format!("v{i}++;"));
        graph(&format!(
            "() as X = Custom(In) {{ logic state : {{ {state} }} onTuple In : {{ {uses} }} }}"
        ))
    }),
    ("`else if`s that are checked", |n| {
        let links = each(n, |i| format!("else if (n == {i}) {{ println({i}); }}"));
        logic(&format!("if (n < 0) {{ }} {links}"))
    }),
    ("overloads", |n| {
        let all = each(n, |i| {
            format!("int32 f(tuple<int32 a{i}> x) {{ return 1; }}")
        });
        format!("{all}{}", logic("println(1);"))
    }),
    ("unknown attributes of an output", |n| {
        let columns = each(n, |i| format!(", int32 name{i}")).replace('\n', "");
        let values = each(n, |i| format!(", nane{i} = n")).replace('\n', "");
        graph(&format!(
            "stream<int32 z{columns}> W = Functor(In) {{ output W : z = 1{values}; }}"
        ))
    }),
    ("static types in a chain", |n| {
        let types = each(n, |i| format!("static T{} = T{i};", i + 1));
        format!(
            "composite Main {{ type static T0 = int32; {types} graph () as O = Custom() {{ }} }}"
        )
    }),
    ("operators that say where they run", |n| {
        graph(&each(n, |i| {
            let config = format!(
                "config placement : partitionColocation(\"p{i}\"), hostExlocation(\"h{i}\");"
            );
            format!("() as O{i} = Custom(In) {{ {config} }}")
        }))
    }),
    ("composites that nobody invokes", |n| {
        each(n, |i| {
            format!("composite C{i}(output O; input I) {{ graph stream<I> O = Functor(I) {{ }} }}")
        })
    }),
    ("composites of one name", |n| {
        "composite A { graph () as O = Custom() { } }\n".repeat(n)
    }),
];

fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| line(at) + "\n").collect()
}

fn graph(invocations: &str) -> String {
    format!(
        "composite Main {{ graph\nstream<int32 n> In = Beacon() {{ output In : n = 1; }}\n\
         {invocations}}}\n"
    )
}

fn logic(statements: &str) -> String {
    graph(&format!(
        "() as Out = Custom(In) {{ logic onTuple In : {{\n{statements}}} }}\n"
    ))
}

/// The instructions of a command.
fn instructions(args: &[&str]) -> u64 {
    let counted = command(args);
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(counted.get_program())
        .args(counted.get_args())
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().rfind(|line| line.contains("refs:"));
    let count = line.and_then(|line| line.split("refs:").nth(1));
    let count = count.unwrap_or_else(|| panic!("valgrind counts nothing: {said}"));
    count.trim().replace(',', "").parse().expect("a count")
}

/// The instruction counts of a command for a program of three sizes, if they grow faster than the
/// sizes.
fn fault(scratch: &Scratch, (name, text): Garbled, word: &[&str]) -> Option<String> {
    let counts = [1, 2, 4].map(|times| {
        let file = scratch.write("Main.spl", text(SIZE * times));
        instructions(&[word, &[file.to_str().unwrap()]].concat())
    });
    let [one, two, four] = counts;
    // A text that is refused where it nests too deeply takes less than a smaller one.
    let first = two.saturating_sub(one).max(one / 4);
    let second = four.saturating_sub(two);
    let is_fast = second > first * 26 / 10 + NOISE;
    is_fast.then(|| format!("{} of {name}: {counts:?}", word.join(" ")))
}

#[test]
fn instructions_grow_as_programs_do() {
    let Ok(wanted) = std::env::var("THALWEG_GROWTH") else {
        println!("not counted: THALWEG_GROWTH asks for it");
        return;
    };
    let is_wanted = |(name, _): &&Garbled| wanted == "all" || name.contains(&wanted);
    let scratch = Scratch::new();
    let check: &[&str] = &["check"];
    let broken: [&[&str]; 3] = [check, &["fmt", "--stdout"], &["dump", "--stage", "tree"]];
    let mut faults = Vec::new();
    for garbled in GARBLED.iter().filter(is_wanted) {
        faults.extend(
            broken
                .iter()
                .filter_map(|word| fault(&scratch, *garbled, word)),
        );
    }
    for many in MANY.iter().filter(is_wanted) {
        faults.extend(fault(&scratch, *many, check));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
