//! Programs that nobody would write: deep, long, and broken at random.

use std::fs;
use std::path::Path;

use super::check;

/// As deep as the parser lets anything be.
const DEEP: usize = 240;
const LONG: usize = 500;

#[test]
fn deep_and_long_expressions_are_typed() {
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    let expressions = [
        nested("(", "1", ")"),
        nested("[", "1", "]"),
        nested("- ", "x", ""),
        nested("abs(", "x", ")"),
        nested("{a=", "1", "}"),
        nested("(int32) ", "x", ""),
        vec!["x"; LONG].join(" + "),
        vec!["true"; LONG].join(" && "),
        format!("{}1", "true ? 1 : ".repeat(DEEP)),
        format!("t{}", ".a".repeat(DEEP)),
    ];
    for expression in expressions {
        let program = format!(
            "void f(int32 x, list<int32> l, tuple<int32 a> t) {{ println({expression}); }}"
        );
        let output = check("deep.spl", &program);
        let codes: Vec<_> = output.diagnostics.iter().map(|d| d.code).collect();
        let refused = ["too-deep", "not-a-tuple"];
        assert!(
            codes.iter().all(|code| refused.contains(code)),
            "{expression:.20}: {codes:?}"
        );
    }
}

#[test]
fn deep_statements_are_typed() {
    let body = format!("{}x++;{}", "if (x > 0) {".repeat(100), "}".repeat(100));
    let output = check("deep.spl", &format!("void f(mutable int32 x) {{ {body} }}"));
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
}

/// Whatever becomes of a program when pieces of it are lost, doubled or swapped, the compiler says
/// something about it and does not fail.
#[test]
fn broken_programs_are_survived() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/typing/programs"
    ));
    let mut random = Random(0x5EED);
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        let text = fs::read_to_string(&path).expect("a program can be read");
        for _ in 0..25 {
            check("broken.spl", &broken(&text, &mut random));
        }
    }
}

/// The text with some words removed, doubled, or replaced by another word of it.
fn broken(text: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text
        .split_inclusive([' ', '(', ')', ';', ',', '.', '\n'])
        .collect();
    for _ in 0..=random.below(12) {
        let (at, other) = (random.below(words.len()), random.below(words.len()));
        match random.below(3) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[other]),
            _ => words[at] = words[other],
        }
    }
    words.concat()
}

/// A small generator, the same numbers on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
