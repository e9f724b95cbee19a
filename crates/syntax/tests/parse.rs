//! Parsing as others see it: trees keep the text, prototypes and single expressions come out whole.

use syntax::ast::{Actual, ExprKind, Item, TypeKind};
use syntax::{FileId, Severity, Span, parse, parse_expr, parse_prototype, parse_type};
use thalweg_syntax as syntax;

const PROGRAM: &str = include_str!("programs/everything.spl");

#[test]
fn the_tree_keeps_every_byte() {
    let parsed = parse(FileId(0), PROGRAM);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.tree.text().to_string(), PROGRAM);
}

#[test]
fn a_unit_holds_its_definitions_in_order() {
    let unit = parse(FileId(0), PROGRAM).unit;
    assert_eq!(
        unit.namespace.map(|n| n.text.to_string()),
        Some("my.app".to_owned())
    );
    assert_eq!(unit.uses.len(), 2);
    let Item::Composite(main) = &unit.items[0] else {
        panic!("the first definition is a composite");
    };
    assert_eq!(&*main.name.text, "Main");
    assert_eq!(
        main.doc.as_deref(),
        Some("Everything the grammar has.\nIn one program.")
    );
    assert_eq!((main.outputs.len(), main.inputs.len()), (1, 2));
    assert_eq!((main.params.len(), main.types.len()), (4, 4));
    assert_eq!((main.graph.len(), main.config.len()), (3, 2));
    let windows = &main.graph[1].windows;
    assert_eq!((windows.len(), windows[0].body.len()), (2, 4));
    let params = &main.graph[1].params;
    assert!(matches!(params[0].actual, Actual::Type(_)));
    assert!(matches!(&params[1].actual, Actual::Exprs(exprs) if exprs.len() == 6));
    assert!(matches!(&params[3].actual, Actual::Exprs(exprs) if exprs.len() == 1));
}

#[test]
fn prototypes_come_in_all_forms() {
    let one = parse_prototype(
        "<any T, ordered K>[N,M] public stateful list<T>[N] f(mutable map<K,T>[M] m, Sys.tm t)",
    )
    .expect("a good prototype");
    assert_eq!(one.type_formals.len(), 2);
    assert_eq!(&*one.type_formals[1].0.text, "ordered");
    assert_eq!(one.bounds.len(), 2);
    assert!(one.is_public && one.is_stateful && one.params[0].is_mutable);
    assert!(matches!(&one.result.kind, TypeKind::List(_, Some(_))));
    assert!(matches!(&one.params[1].ty.kind, TypeKind::Named(_, Some(tm)) if &*tm.text == "tm"));
    for good in [
        "void f()",
        "<list T> T remove(T values, int32 idx)",
        "<enum T> uint32 g(T x)",
        "stateful void h(enum {a, b} x, mutable tuple<int32 a> y, rstring[4] z)",
        "<optional T> boolean isPresent(T x)",
    ] {
        assert!(
            parse_prototype(good).is_ok(),
            "{good}: {:?}",
            parse_prototype(good)
        );
    }
    let bad = parse_prototype("void f(int32").expect_err("it does not end");
    assert!(bad.contains("void f(int32"), "{bad}");
}

#[test]
fn types_and_expressions_parse_alone() {
    assert!(matches!(
        parse_type("list<map<rstring, set<int32>>>").unwrap().kind,
        TypeKind::List(..)
    ));
    assert!(matches!(
        parse_expr("-128b").unwrap().kind,
        ExprKind::Prefix(..)
    ));
    assert!(parse_type("list<int32").is_err());
    assert!(parse_expr("1 +").is_err());
    assert!(parse_expr("1 2").is_err());
    assert!(parse_expr("").is_err());
}

#[test]
fn warnings_alone_are_never_too_many() {
    let parsed = parse(FileId(0), &program(&"println(\"\\q\");\n".repeat(101)));
    let is_warning = |found: &syntax::Diagnostic| found.severity == Severity::Warning;
    assert!(parsed.diagnostics.iter().all(is_warning));
    assert_eq!(parsed.diagnostics.len(), 101);
    assert!(parsed.unit.broken.is_empty());
}

#[test]
fn errors_that_are_not_shown_leave_broken_parts() {
    let text = program(&"println(1 1);\n".repeat(101)) + "composite Lost output Out) {}\n";
    let parsed = parse(FileId(0), &text);
    let last = parsed.diagnostics.last().expect("errors");
    assert_eq!(last.code, "too-many-errors");
    assert_eq!(parsed.diagnostics.len(), 101);
    assert!(parsed.unit.broken.has_name("Lost"));
    let lost = text.find("Lost").expect("the name") as u32;
    let place = Span::new(FileId(0), lost, lost + 3);
    assert!(parsed.unit.broken.holds(place));
    assert!(!parsed.unit.broken.meets(place));
}

#[test]
fn a_comment_without_end_hides_all_names_behind_it() {
    let text = "type A = int32 a;\n/* type B = int32 b;\ntype C = int32 c;\n";
    let broken = parse(FileId(0), text).unit.broken;
    let found = ["A", "B", "C", "$c"].map(|name| broken.has_name(name));
    assert_eq!(found, [false, true, true, true]);
}

#[test]
fn a_mended_error_loses_no_names() {
    let text = "composite M { graph () as S = F() { param one: 1\n two: 2; } }";
    let parsed = parse(FileId(0), text);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code, "missing-semicolon");
    assert!(!parsed.unit.broken.is_empty());
    assert!(!parsed.unit.broken.has_name("one"));
}

/// A program with these statements.
fn program(statements: &str) -> String {
    format!(
        "composite M {{ graph () as S = Custom() {{ logic onProcess: {{\n{statements}}} }} }}\n"
    )
}
