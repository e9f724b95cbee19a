//! The lowered operators on the interpreter: one by one in the harness, and a program of them.

use graph::{BinaryOp, OperatorNode, PortIndex};
use runtime::OperatorEntry;
use testkit::{OperatorBuilder, TextHarness, build_program, exprs, run_program, test_operators};
use tuple::Type;

fn entry(kind: &str) -> OperatorEntry {
    let found = OperatorEntry::find(thalweg_toolkit::operators(), kind);
    found.unwrap_or_else(|| panic!("no operator {kind}"))
}

fn harness(operator: &OperatorNode) -> TextHarness {
    TextHarness::new(operator, entry(&operator.kind))
}

const A: [(&str, Type); 1] = [("a", Type::Int64)];

fn a() -> graph::Expr {
    exprs::attribute(PortIndex(0), 0, Type::Int64)
}

#[test]
fn filter_drops_or_sends_to_its_second_port() {
    let one = OperatorBuilder::new("spl.relational::Filter", "F").input("In", A);
    let one = one
        .param("filter", [exprs::lt(a(), exprs::int64(2))])
        .output("Yes", A);
    let mut filter = harness(&one);
    filter.process_texts(PortIndex(0), &["{a=1}", "{a=2}"]);
    filter.window_marker(PortIndex(0));
    filter.final_marker(PortIndex(0));
    assert_eq!(filter.take_submitted(), ["0 {a=1}", "0 window", "0 final"]);

    let mut filter = harness(&one.output("No", A));
    filter.process_texts(PortIndex(0), &["{a=1}", "{a=2}"]);
    filter.window_marker(PortIndex(0));
    filter.final_marker(PortIndex(0));
    let markers = ["0 window", "1 window", "0 final", "1 final"];
    assert_eq!(
        filter.take_submitted(),
        [&["0 {a=1}", "1 {a=2}"][..], &markers].concat()
    );
}

#[test]
fn functor_computes_every_port_and_looks_back() {
    let sum = exprs::add(
        a(),
        exprs::history_attribute(PortIndex(0), 1, 0, Type::Int64),
    );
    let functor = OperatorBuilder::new("spl.relational::Functor", "F")
        .input("In", A)
        .history(1)
        .param("filter", [exprs::lt(exprs::int64(0), a())])
        .output("Sum", [("sum", Type::Int64)])
        .assign([Some(sum)])
        .output("Default", [("none", Type::RString)])
        .assign([None]);
    let mut functor = harness(&functor);
    functor.process_texts(PortIndex(0), &["{a=5}", "{a=-1}", "{a=7}"]);
    let first = ["0 {sum=5}", "1 {none=\"\"}"];
    let third = ["0 {sum=6}", "1 {none=\"\"}"];
    assert_eq!(
        functor.take_submitted(),
        [first, third].concat(),
        "dropped tuples are history too"
    );
}

#[test]
fn logic_runs_first_and_its_return_leaves_only_it() {
    let count = exprs::add(exprs::state(0, Type::Int64), a());
    let clause = vec![exprs::set_state(0, count), graph::Stmt::Return(None)];
    let functor = OperatorBuilder::new("spl.relational::Functor", "F")
        .input("In", A)
        .state("total", Type::Int64, Some(exprs::int64(100)))
        .on_tuple(0, exprs::body(&[], clause))
        .output("Out", A)
        .assign([Some(exprs::state(0, Type::Int64))]);
    let mut functor = harness(&functor);
    functor.process_texts(PortIndex(0), &["{a=1}", "{a=2}"]);
    assert_eq!(functor.take_submitted(), ["0 {a=101}", "0 {a=103}"]);
}

#[test]
fn punctor_makes_markers_and_drops_those_that_come() {
    for (position, expected) in [
        ("before", ["0 {a=1}", "0 window", "0 {a=2}"]),
        ("after", ["0 {a=1}", "0 {a=2}", "0 window"]),
    ] {
        let punctor = OperatorBuilder::new("spl.relational::Punctor", "P")
            .input("In", A)
            .param("punctuate", [exprs::eq(a(), exprs::int64(2))])
            .literal("position", &[position])
            .output("Out", A)
            .assign([Some(a())]);
        let mut punctor = harness(&punctor);
        punctor.process_texts(PortIndex(0), &["{a=1}", "{a=2}"]);
        punctor.window_marker(PortIndex(0));
        assert_eq!(punctor.take_submitted(), expected);
    }
}

#[test]
fn union_takes_attributes_by_name_and_ends_with_its_last_port() {
    let union = OperatorBuilder::new("spl.utility::Union", "U")
        .input("L", [("a", Type::Int64), ("b", Type::RString)])
        .input("R", [("b", Type::RString)])
        .output("Out", [("b", Type::RString)]);
    let mut union = harness(&union);
    union.process_text(PortIndex(0), "{a=1,b=\"left\"}");
    union.process_text(PortIndex(1), "{b=\"right\"}");
    union.window_marker(PortIndex(1));
    union.final_marker(PortIndex(0));
    union.process_text(PortIndex(0), "{a=2,b=\"late\"}");
    assert_eq!(
        union.take_submitted(),
        ["0 {b=\"left\"}", "0 {b=\"right\"}"]
    );
    union.final_marker(PortIndex(1));
    assert_eq!(union.take_submitted(), ["0 final"]);
}

fn split(index: graph::Expr, ports: usize) -> TextHarness {
    let mut split = OperatorBuilder::new("spl.utility::Split", "S").input("In", A);
    split = split.param("index", [index]);
    for _ in 0..ports {
        split = split.output("Out", A);
    }
    harness(&split)
}

#[test]
fn split_wraps_and_drops_what_is_negative() {
    for ports in [3, 20] {
        let mut few = split(a(), ports);
        few.process_texts(PortIndex(0), &["{a=1}", "{a=-1}", "{a=64}"]);
        let wrapped = 64 % ports;
        assert_eq!(
            few.take_submitted(),
            ["1 {a=1}".to_owned(), format!("{wrapped} {{a=64}}")]
        );
    }
    let list = graph::ExprKind::List(vec![
        a(),
        exprs::binary(BinaryOp::Sub, a(), exprs::int64(2)),
    ]);
    let list = exprs::expr(list, Type::List(Type::Int64.into(), None));
    let mut both = split(list, 2);
    both.process_texts(PortIndex(0), &["{a=1}", "{a=3}"]);
    both.window_marker(PortIndex(0));
    assert_eq!(
        both.take_submitted(),
        ["1 {a=1}", "1 {a=3}", "1 {a=3}", "0 window", "1 window"]
    );
}

#[test]
fn split_reads_a_mapping_file() {
    let name = format!("split-{}.csv", std::process::id());
    let file = std::env::temp_dir().join(&name);
    std::fs::write(&file, "# key, ports\n\"x\",0\ny,1,0 # both\ndefault,1\n").unwrap();
    let schema = [("k", Type::RString)];
    let split = OperatorBuilder::new("spl.utility::Split", "S")
        .input("In", schema.clone())
        .param("file", [exprs::rstring(&name)])
        .param("key", [exprs::attribute(PortIndex(0), 0, Type::RString)])
        .output("A", schema.clone())
        .output("B", schema);
    let mut split = harness(&split);
    std::fs::remove_file(&file).unwrap();
    split.process_texts(PortIndex(0), &["{k=\"x\"}", "{k=\"y\"}", "{k=\"z\"}"]);
    assert_eq!(
        split.take_submitted(),
        ["0 {k=\"x\"}", "1 {k=\"y\"}", "0 {k=\"y\"}", "1 {k=\"z\"}"]
    );
}

fn beacon(iterations: graph::Expr) -> OperatorBuilder {
    let count = exprs::expr(graph::ExprKind::OutputCall(0), Type::Uint64);
    let as_is = exprs::expr(graph::ExprKind::OutputCall(1), Type::Int64);
    let schema = [
        ("n", Type::Uint64),
        ("seven", Type::Int64),
        ("none", Type::RString),
    ];
    OperatorBuilder::new("spl.utility::Beacon", "Numbers")
        .param("iterations", [iterations])
        .output("Numbers", schema)
        .call("IterationCount", Vec::new(), Type::Uint64)
        .call(
            "AsIs",
            vec![exprs::add(exprs::int64(3), exprs::int64(4))],
            Type::Int64,
        )
        .assign([Some(count), Some(as_is), None])
}

#[test]
fn beacon_counts_and_ends() {
    let mut two = harness(&beacon(exprs::int32(2)));
    two.run();
    let tuple = |n: u32| format!("0 {{n={n},seven=7,none=\"\"}}");
    assert_eq!(
        two.take_submitted(),
        [&tuple(0), &tuple(1), "0 window", "0 final"]
    );
    for none in [exprs::int32(-1), exprs::uint32(0)] {
        let mut none = harness(&beacon(none));
        none.run();
        assert_eq!(none.take_submitted(), ["0 window", "0 final"]);
    }
}

#[test]
fn a_program_runs_from_beacon_to_sink() {
    let n = || exprs::attribute(PortIndex(0), 0, Type::Uint64);
    let one = exprs::constant(tuple::Value::Uint64(1), Type::Uint64);
    let even = exprs::eq(exprs::binary(BinaryOp::BitAnd, n(), one), {
        exprs::constant(tuple::Value::Uint64(0), Type::Uint64)
    });
    let tuple = exprs::tuple(&["n"], vec![n()]);
    let schema = [
        ("n", Type::Uint64),
        ("seven", Type::Int64),
        ("none", Type::RString),
    ];
    let program = build_program([
        beacon(exprs::int32(5)),
        OperatorBuilder::new("spl.relational::Filter", "Even")
            .input("In", schema.clone())
            .connect(0, 0, 0)
            .param("filter", [even])
            .output("Even", schema.clone()),
        OperatorBuilder::new("spl.utility::Custom", "Custom")
            .input("In", schema)
            .connect(0, 1, 0)
            .on_tuple(
                0,
                exprs::body(&[], vec![exprs::submit(PortIndex(0), tuple)]),
            )
            .output("Out", [("n", Type::Uint64)]),
        OperatorBuilder::new("testkit::Print", "Print")
            .input("In", [("n", Type::Uint64)])
            .connect(0, 2, 0),
    ]);
    let registry = [thalweg_toolkit::operators(), &test_operators()].concat();
    let (printed, ended) = run_program(&program, &registry);
    assert_eq!(printed, "0 {n=0}\n0 {n=2}\n0 {n=4}\n0 final\n");
    let tallies = ended.unwrap();
    assert_eq!(tallies[0].submitted, [5]);
    assert_eq!(
        (&tallies[1].processed[..], &tallies[1].submitted[..]),
        (&[5][..], &[3][..])
    );
}
