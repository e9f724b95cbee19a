//! Programs that no user would write: deep, long, and broken at random.

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

/// The compiler reports something on programs with pieces lost, doubled or swapped, and does not
/// fail.
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

/// The nearest of many names is looked for as long as there are not many findings.
#[test]
fn many_unknown_names_among_many_are_found_in_time() {
    const NAMES: usize = 600;
    let list = |item: &dyn Fn(usize) -> String, between: &str| {
        let items: Vec<_> = (0..NAMES).map(item).collect();
        items.join(between)
    };
    let attributes = list(&|at| format!("int32 someAttribute{at}"), ", ");
    let assigned = list(&|at| format!("otherAttribute{at} = 1"), ", ");
    let read = list(&|at| format!("println(A.otherAttribute{at});"), " ");
    let ports = list(&|_| "A".to_owned(), "; ");
    let clauses = list(&|at| format!("onTuple SomePort{at} : {{}}"), "\n");
    let asked = list(&|_| "println(inputPort(A));".to_owned(), "\n");
    let sent = list(&|at| format!("submit({{n = 1}}, OtherPort{at});"), "\n");
    let program = format!(
        "composite Main {{ graph\n\
         stream<{attributes}> A = Beacon() {{ output A : {assigned}; }}\n\
         () as B = Custom(A) {{ logic onTuple A : {{ {read} {sent} }}\n {clauses} }}\n\
         () as C = Custom({ports}) {{ logic onTuple A : {{ {asked} }} {clauses} }}\n}}"
    );
    let output = check("many.spl", &program);
    let count = |code: &str| output.diagnostics.iter().filter(|d| d.code == code).count();
    assert_eq!(count("unknown-attribute"), 2 * NAMES);
    let helped = output.diagnostics.iter().filter(|d| !d.help.is_empty());
    assert!(helped.clone().count() <= 100, "{}", helped.count());
}

#[test]
fn few_of_many_ports_are_named() {
    let ports: Vec<_> = (0..50).map(|at| format!("A as P{at}")).collect();
    let program = format!(
        "composite Main {{ graph stream<int32 n> A = Beacon() {{}}\n\
         () as B = Custom({}) {{ logic onTuple A : {{}} }} }}",
        ports.join("; ")
    );
    let output = check("ports.spl", &program);
    let help = &output.diagnostics[0].help[0];
    assert!(help.starts_with("write `P0` or `P1`"), "{help}");
    assert!(help.ends_with("`P7` or one of 42 more"), "{help}");
}

/// Each type of a composite is looked at once for what it is made of.
#[test]
fn a_chain_of_static_types_is_checked_in_time() {
    const TYPES: usize = 5_000;
    let chain: Vec<_> = (1..TYPES)
        .map(|at| format!("static T{at} = list<T{}>;", at - 1))
        .collect();
    let program = |first: &str| {
        let chain = chain.join("\n");
        format!("composite C(input In) {{ param type $T; type static T0 = {first};\n{chain}\n")
            + "graph () as A = Custom(In) {} }"
    };
    let count = |first: &str| {
        let found = check("chain.spl", &program(first)).diagnostics;
        let of_formals = found.iter().filter(|d| d.code == "static-type-formal");
        of_formals.count()
    };
    let start = std::time::Instant::now();
    assert_eq!(count("$T"), TYPES);
    assert_eq!(count("int32"), 0);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// The symbols of conditions in texts are made once.
#[test]
fn many_filters_that_are_texts_are_typed_in_time() {
    let import = |at: usize| {
        let filter = match at % 2 {
            0 => format!("n > {at}"),
            _ => format!("n > {at} && m{at} > 1"),
        };
        format!(
            "stream<int32 n> S{at} = Import() {{ param subscription : x == 1; filter : \"{filter}\"; }}"
        )
    };
    let imports: Vec<_> = (0..1_000).map(import).collect();
    let program = format!("composite Main {{ graph {} }}", imports.join("\n"));
    let start = std::time::Instant::now();
    let found = check("filters.spl", &program).diagnostics;
    let wrong = found.iter().filter(|d| d.code == "bad-filter");
    let places: Vec<_> = wrong.map(|d| d.message.contains("1:")).collect();
    assert_eq!(places, [true; 500]);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// Logic is looked at once for the markers that it submits, whatever ports there are.
#[test]
fn a_window_on_each_of_many_ports_is_checked_in_time() {
    const PORTS: usize = 1_500;
    let list = |item: &dyn Fn(usize) -> String| {
        let items: Vec<_> = (0..PORTS).map(item).collect();
        items.join("\n")
    };
    let outputs = list(&|at| format!("stream<int32 n> P{at}{}", [";", ""][at / (PORTS - 1)]));
    let sent = list(&|at| match at % 2 {
        0 => format!("if (In.n > {at}) submit(Sys.WindowMarker, P{at});"),
        _ => format!("submit(Sys.FinalMarker, P{at});"),
    });
    let read = list(&|at| {
        format!(
            "stream<int32 n> A{at} = Aggregate(P{at}) {{ window P{at} : tumbling, punct(); \
             output A{at} : n = Sum(n); }}"
        )
    });
    let program = format!(
        "composite Main {{ graph stream<int32 n> In = Beacon() {{}}\n\
         ({outputs}) = Custom(In) {{ logic onTuple In : {{ {sent} }} }}\n{read} }}"
    );
    let found = check("ports.spl", &program).diagnostics;
    let never = found.iter().filter(|d| d.code == "no-window-markers");
    assert_eq!(never.count(), PORTS / 2);
}
