//! Logic that changes its input tuples works on a copy, and everything in the clause sees it.

use graph::{Expr, ExprKind, LocalId, PortIndex, Stmt};

use super::{compiler, input};

const PROGRAM: &str = "
composite Main {
  graph
    stream<int32 a, rstring b> In = Beacon() { }
    (stream<In> Out) as Changes = Custom(In) {
      logic
        onTuple In: {
          println(a);
          a = In.a + 1;
          appendM(In.b, 'x');
          submit(In, Out);
        }
        onPunct In: println(currentPunct());
    }
    () as Reads = Custom(Out) {
      logic onTuple Out: println(Out);
    }
}
";

#[test]
fn changed_input_tuples_are_copied_first() {
    let output = compiler::compile(input("copies.spl", PROGRAM));
    let shown = syntax::render(&output.diagnostics, &output.sources, false);
    let program = output.program.unwrap_or_else(|| panic!("{shown}"));
    let body = program.operators[1].logic.on_tuple[0]
        .clone()
        .expect("it has a body");
    let copy = LocalId(0);
    let whole = |kind: &ExprKind| {
        matches!(
            kind,
            ExprKind::Input {
                port: PortIndex(0),
                history: 0
            }
        )
    };
    assert!(
        matches!(&body.stmts[0], Stmt::Let(id, Some(init)) if *id == copy && whole(&init.kind))
    );
    let mut rest = 0;
    for stmt in &body.stmts[1..] {
        each(stmt.clone(), &mut |expr| {
            let reads = matches!(
                expr.kind,
                ExprKind::Input { .. } | ExprKind::Attribute { .. }
            );
            assert!(!reads, "the input is not read again");
            rest += usize::from(matches!(expr.kind, ExprKind::Local(id) if id == copy));
        });
    }
    assert!(rest == 3, "the copy is read {rest} times");
    let reader = program.operators[2].logic.on_tuple[0]
        .clone()
        .expect("it has a body");
    assert!(reader.locals.is_empty(), "what is only read is not copied");
}

fn each(stmt: Stmt, visit: &mut dyn FnMut(&Expr)) {
    match stmt {
        Stmt::Expr(mut e) | Stmt::Submit { tuple: mut e, .. } => e.for_each(&mut |e| visit(e)),
        other => panic!("not in the program: {other:?}"),
    }
}
