//! Large programs: as many operators as a user will write, and more composites.
//!
//! `cargo test --release -p thalweg-compiler --test large -- --nocapture` prints how long each
//! took.

mod support;

use std::fmt::Write;
use std::time::Instant;

use planner::PlanOptions;
use support::input;
use thalweg_compiler as compiler;

#[test]
fn a_chain_of_ten_thousand_operators() {
    let mut text = String::from("composite Main {\n graph\n");
    text += "stream<int32 a, rstring b> S0 = Beacon() {}\n";
    for at in 1..10_000 {
        let before = at - 1;
        let _ = writeln!(
            text,
            "stream<int32 a, rstring b> S{at} = Functor(S{before}) {{\n\
             param filter : a > {at};\n output S{at} : a = a + 1;\n}}"
        );
    }
    text += "}\n";
    assert_eq!(operators("a chain", &text), 10_000);
}

#[test]
fn a_thousand_composites_of_ten() {
    let mut text = String::from(
        "composite Ten(output Out; input In) {\n\
         param expression<int32> $n; attribute $key;\n\
         type T = In, tuple<int32 sum>;\n\
         graph\n\
         stream<T> S0 = Functor(In) { output S0 : sum = $n + $key; }\n",
    );
    for at in 1..9 {
        let before = at - 1;
        let _ = writeln!(
            text,
            "stream<T> S{at} = Filter(S{before}) {{ param filter : sum > $n; }}"
        );
    }
    text += "stream<In> Out = Functor(S8) {}\n}\n\ncomposite Main {\n graph\n";
    text += "stream<int32 a, rstring b> C0 = Beacon() {}\n";
    for at in 1..=1_000 {
        let before = at - 1;
        let _ = writeln!(
            text,
            "stream<int32 a, rstring b> C{at} = Ten(C{before}) {{ param n : {at} + 1; key : a; }}"
        );
    }
    text += "}\n";
    assert_eq!(operators("composites", &text), 10_001);
}

#[test]
fn one_port_fed_by_five_thousand_streams() {
    let mut text = String::from("composite Main {\n graph\n");
    let names: Vec<String> = (0..5_000).map(|at| format!("S{at}")).collect();
    for name in &names {
        let _ = writeln!(text, "stream<int32 a> {name} = Beacon() {{}}");
    }
    let _ = writeln!(text, "() as Sink = Custom({}) {{}}\n}}", names.join(", "));
    assert_eq!(operators("one port", &text), 5_001);
}

#[test]
fn composites_in_composites() {
    let mut text = String::from("composite C0(output Out; input In) { graph\n");
    text += "stream<In> Out = Functor(In) {} }\n";
    for at in 1..150 {
        let inner = at - 1;
        let _ = writeln!(
            text,
            "composite C{at}(output Out; input In) {{ graph stream<In> Out = C{inner}(In) {{}} }}"
        );
    }
    text += "composite Main { graph stream<int32 a> A = Beacon() {}\n";
    text += "stream<int32 a> B = C149(A) {} }\n";
    assert_eq!(operators("nested", &text), 2);
}

#[test]
fn a_program_that_explodes_is_refused() {
    let mut text = String::from("composite C0(output Out; input In) { graph\n");
    text += "stream<In> Out = Functor(In) {} }\n";
    for at in 1..40 {
        let inner = at - 1;
        let _ = writeln!(
            text,
            "composite C{at}(output Out; input In) {{ graph\n\
             stream<In> One = C{inner}(In) {{}}\n stream<In> Out = C{inner}(One) {{}} }}"
        );
    }
    text += "composite Main { graph stream<int32 a> A = Beacon() {}\n";
    text += "stream<int32 a> B = C39(A) {} }\n";
    let mut input = input("explodes.spl", &text, None);
    input.options.operators_max = Some(1_000);
    let output = compiler::compile(input);
    let codes: Vec<_> = output.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["too-many-operators"]);
}

#[test]
fn composites_that_double_are_refused_where_they_are_invoked() {
    let invoking = |leaf: &str, parts: [&str; 2]| {
        let mut text = format!("composite C0(input In) {{ {leaf} }}\n");
        for at in 1..60 {
            let inner = at - 1;
            let [one, two] = parts.map(|part| format!("() as {part} = C{inner}(In) {{}}"));
            let _ = writeln!(text, "composite C{at}(input In) {{ graph {one} {two} }}");
        }
        text + "composite Main { graph stream<int32 a> A = Beacon() {}\n() as B = C59(A) {} }\n"
    };
    let check = |text: &str| {
        let found = compiler::check(input("doubles.spl", text, None));
        syntax::render(&found.diagnostics, &found.sources, false)
    };
    let said = check(&invoking("graph () as S = Custom(In) {}", ["X", "Y"]));
    let sentence = "the program has more than 262144 operators";
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains("--> doubles.spl:62:11"), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    // Composites without an operator, which no limit of operators ends.
    let said = check(&invoking("", ["X", "Y"]));
    let sentence = "the program has more than 1048576 instances of composites";
    assert!(said.contains(sentence), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}

/// Without a main composite each composite is checked, those that nothing invokes first.
#[test]
fn composites_of_a_library_that_double_are_refused_once() {
    let mut text = String::from("composite C0(input In) { graph () as S = Custom(In) {} }\n");
    for at in 1..90 {
        let inner = at - 1;
        let _ = writeln!(
            text,
            "composite C{at}(input In) {{ graph () as X = C{inner}(In) {{}} \
             () as Y = C{inner}(In) {{}} }}"
        );
    }
    text += "composite Other(input In) { graph () as X = Custom(Im) {} }\n";
    let found = compiler::check(input("library.spl", &text, None));
    let said = syntax::render(&found.diagnostics, &found.sources, false);
    assert!(said.contains("--> library.spl:90:43"), "{said}");
    let codes: Vec<_> = found.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["too-many-operators", "unknown-stream"], "{said}");
}

#[test]
fn an_actual_that_doubles_is_refused_where_it_is_used() {
    let passing = |mode: &str, passed: &str, used: &str| {
        let mut text = format!("composite C0(input In) {{ param {mode} $x; graph\n{used}\n}}\n");
        // Were there no limit, four million expressions would still end.
        for at in 1..22 {
            let inner = at - 1;
            let _ = writeln!(
                text,
                "composite C{at}(input In) {{ param {mode} $x; graph\n\
                 () as S = C{inner}(In) {{ param x : {passed}; }} }}"
            );
        }
        text += "composite Main { graph stream<int32 a> A = Beacon() {}\n\
                 () as B = C21(A) { param x : a; } }\n";
        let found = compiler::check(input("actuals.spl", &text, None));
        let codes: Vec<_> = found.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["formal-too-large"], "{text}");
        syntax::render(&found.diagnostics, &found.sources, false)
    };
    let logic = "() as S = Custom(In) { logic onTuple In : println($x); }";
    let said = passing("expression<int32>", "$x + $x", logic);
    assert!(said.contains("--> actuals.spl:2:51"), "{said}");
    assert!(said.contains("more than 65536 expressions"), "{said}");
    passing("expression<int32>", "($x) * (1 - $x)", logic);
    let list =
        "stream<In> S = Aggregate(In) { window In : tumbling, count(1); param groupBy : $x; }";
    passing("attribute", "$x, $x", list);
}

fn operators(what: &str, text: &str) -> usize {
    let start = Instant::now();
    let output = compiler::compile(input("large.spl", text, None));
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    assert!(!output.has_errors(), "{what}: {said}");
    let program = output.program.expect("it has no errors");
    let compiled = start.elapsed();
    let plan = planner::plan(&program, &PlanOptions::default()).expect("a plan");
    println!("{what}: {compiled:?}, with its plan {:?}", start.elapsed());
    assert_eq!(plan.pes[0].operators.len(), program.operators.len());
    program.operators.len()
}

/// Names times mistakes would be time that grows with the square of the program.
#[test]
fn of_many_unknown_names_a_hundred_are_compared_with_those_there_are() {
    let mut text = String::from("void f() {\n");
    for at in 0..300 {
        let _ = writeln!(
            text,
            "int32 name{at} = 1;\nprintln(nane{at});\nprintln(name{at});"
        );
    }
    text += "}\n";
    let found = compiler::check(input("names.spl", &text, None)).diagnostics;
    assert_eq!(found.len(), 300);
    let helped = found.iter().take_while(|finding| !finding.help.is_empty());
    assert_eq!(helped.count(), 100);
    let helped = found.iter().filter(|finding| !finding.help.is_empty());
    assert_eq!(helped.count(), 100);
}

#[test]
fn channels_that_multiply_are_refused() {
    let wide = "composite Main { graph stream<int32 a> A = Beacon() {}\n\
                @parallel(width = 100000000) stream<int32 a> B = Functor(A) {}\n\
                () as C = Custom(B) {} }\n";
    let mut nested = String::from(
        "composite Main { graph stream<int32 a> A = Beacon() {}\n\
         @parallel(width = 10) () as B = C0(A) {} }\n",
    );
    for at in 0..40 {
        let inner = at + 1;
        let _ = writeln!(
            nested,
            "composite C{at}(input In) {{ graph\n\
             @parallel(width = 10) () as Out = C{inner}(In) {{}} }}"
        );
    }
    nested += "composite C40(input In) { graph () as Out = Custom(In) {} }\n";
    for text in [wide, &nested] {
        let output = compiler::compile(input("channels.spl", text, None));
        let codes: Vec<_> = output.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, ["too-many-operators"]);
    }
}
