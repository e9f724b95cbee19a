//! Statements, variables, functions, state.

use graph::{BinaryOp, ExprKind, Function, LocalId, LocalVar, PortIndex, Stmt};
use tuple::{Type, Value};

use crate::make::*;
use crate::rig::{Event, Rig, schema, submit};

fn numbers() -> Rig {
    let input = schema([("x", Type::Int64), ("s", Type::RString)]);
    let out = schema([("n", Type::Int64), ("t", Type::RString)]);
    Rig {
        inputs: vec![(input, 0)],
        outputs: vec![out],
        ..Rig::default()
    }
}

fn row(x: i64, s: &str) -> Vec<Option<Value>> {
    vec![Some(Value::Tuple(Box::new([Value::Int64(x), string(s)])))]
}

fn out(rig: &Rig, n: graph::Expr, t: graph::Expr) -> Stmt {
    submit(
        PortIndex(0),
        tuple(&Type::Tuple(rig.outputs[0].clone()), vec![n, t]),
    )
}

#[test]
fn loops_carry_strings_and_numbers() {
    let rig = numbers();
    let (i, s) = (|| local(0, Type::Int64), || local(1, Type::RString));
    let b = body(
        [Type::Int64, Type::RString, Type::RString],
        vec![
            let_(0, int(0)),
            let_(1, text("")),
            Stmt::While(
                bin(BinaryOp::Lt, i(), attr(0, Type::Int64)),
                vec![
                    let_(2, add(attr(1, Type::RString), i().cast(Type::RString))),
                    add_to(local_place(1, Type::RString), local(2, Type::RString)),
                    Stmt::If(
                        bin(BinaryOp::Eq, bin(BinaryOp::Rem, i(), int(3)), int(2)),
                        vec![
                            Stmt::Expr(step(local_place(0, Type::Int64), false, true)),
                            Stmt::Continue,
                        ],
                        vec![out(&rig, i(), s())],
                    ),
                    Stmt::If(bin(BinaryOp::Gt, i(), int(40)), vec![Stmt::Break], vec![]),
                    add_to(local_place(0, Type::Int64), int(1)),
                ],
            ),
            out(&rig, i(), s()),
        ],
    );
    let seen = rig.agree(&b, &[row(5, "ab"), row(0, ""), row(100, "xyz")]);
    assert_eq!(seen[0].events.len(), 5);
}

#[test]
fn a_thousand_turns_keep_no_memory_of_each() {
    let rig = numbers();
    let i = || local(0, Type::Int64);
    let b = body(
        [Type::Int64, Type::RString],
        vec![
            let_(0, int(0)),
            let_(1, text("start")),
            Stmt::While(
                bin(BinaryOp::Lt, i(), attr(0, Type::Int64)),
                vec![
                    set_to(
                        local_place(1, Type::RString),
                        add(attr(1, Type::RString), i().cast(Type::RString)),
                    ),
                    add_to(local_place(0, Type::Int64), int(1)),
                ],
            ),
            out(&rig, i(), local(1, Type::RString)),
        ],
    );
    rig.agree(&b, &[row(20_000, &"long ".repeat(50))]);
}

#[test]
fn state_is_changed_in_place() {
    let mut rig = numbers();
    let counts = map_of(Type::RString, Type::Int64);
    let lists = map_of(Type::Int64, list_of(Type::RString));
    let pair = schema([("a", Type::Int32), ("b", Type::RString)]);
    let pair = Type::Tuple(pair);
    rig.state = vec![
        var("total", Type::Int64),
        var("counts", counts.clone()),
        var("last", Type::RString),
        var("history", list_of(Type::Int64)),
        var("lists", lists.clone()),
        var("pair", pair.clone()),
    ];
    let x = || attr(0, Type::Int64);
    let s = || attr(1, Type::RString);
    let b = body(
        [Type::RString, pair.clone()],
        vec![
            add_to(state_place(0, Type::Int64), x()),
            Stmt::If(
                contains(s(), state(1, counts.clone())),
                vec![add_to(
                    at(state_place(1, counts.clone()), s(), Type::Int64),
                    int(1),
                )],
                vec![set_to(
                    at(state_place(1, counts.clone()), s(), Type::Int64),
                    int(1),
                )],
            ),
            let_(0, state(2, Type::RString)),
            set_to(state_place(2, Type::RString), add(s(), text("!"))),
            out(
                &rig,
                state(0, Type::Int64),
                add(local(0, Type::RString), state(2, Type::RString)),
            ),
            out(&rig, index(state(1, counts.clone()), s(), Type::Int64), s()),
            let_(1, state(5, pair.clone())),
            set_to(part(state_place(5, pair.clone()), 1, Type::RString), s()),
            add_to(part(state_place(5, pair.clone()), 0, Type::Int32), int32(2)),
            out(
                &rig,
                field(state(5, pair.clone()), "a").cast(Type::Int64),
                field(local(1, pair.clone()), "b"),
            ),
            set_to(
                at(state_place(4, lists.clone()), x(), list_of(Type::RString)),
                expr(ExprKind::List(vec![s(), text("z")]), list_of(Type::RString)),
            ),
            set_to(
                at(
                    at(state_place(4, lists.clone()), x(), list_of(Type::RString)),
                    int32(1),
                    Type::RString,
                ),
                add(s(), s()),
            ),
            set_to(
                at(state_place(3, list_of(Type::Int64)), x(), Type::Int64),
                int(5),
            ),
        ],
    );
    let seen = rig.agree(&b, &[row(3, "q"), row(4, "q"), row(0, "r")]);
    assert!(seen[0].result.is_err(), "an index beyond an empty list");
    assert_eq!(seen[1].events.len(), 3);
}

#[test]
fn collections_are_looped_over() {
    let rig = numbers();
    let l = list_of(Type::RString);
    let m = map_of(Type::Int64, Type::RString);
    let words = graph::Expr::constant(
        list(&Type::RString, ["a", "bb", "c"].map(string)),
        l.clone(),
    );
    let entries = map([
        (Value::Int64(3), string("x")),
        (Value::Int64(1), string("y")),
    ]);
    let entries = graph::Expr::constant(entries, m.clone());
    let b = body(
        [Type::RString, Type::Int64, Type::RString, Type::UString],
        vec![
            for_(0, words, vec![out(&rig, int(1), local(0, Type::RString))]),
            for_(
                1,
                entries.clone(),
                vec![out(
                    &rig,
                    local(1, Type::Int64),
                    index(entries, local(1, Type::Int64), Type::RString),
                )],
            ),
            for_(
                2,
                attr(1, Type::RString),
                vec![out(&rig, int(2), local(2, Type::RString))],
            ),
            for_(
                3,
                attr(1, Type::RString).cast(Type::UString),
                vec![out(
                    &rig,
                    int(3),
                    local(3, Type::UString).cast(Type::RString),
                )],
            ),
        ],
    );
    let seen = rig.agree(&b, &[row(1, "né"), row(1, "")]);
    assert_eq!(seen[1].events.len(), 5);
}

#[test]
fn a_list_is_changed_and_looped_over() {
    let rig = numbers();
    let l = list_of(Type::RString);
    let b = body(
        [Type::RString, l.clone()],
        vec![
            let_(
                1,
                expr(
                    ExprKind::List(vec![attr(1, Type::RString), text("k")]),
                    l.clone(),
                ),
            ),
            set_to(
                at(local_place(1, l.clone()), int32(0), Type::RString),
                text("changed"),
            ),
            for_(
                0,
                local(1, l.clone()),
                vec![
                    Stmt::If(
                        bin(BinaryOp::Eq, local(0, Type::RString), text("k")),
                        vec![Stmt::Break],
                        vec![],
                    ),
                    out(&rig, int(4), local(0, Type::RString)),
                ],
            ),
        ],
    );
    let seen = rig.agree(&b, &[row(1, "a"), row(1, "k")]);
    assert_eq!(seen[0].events.len(), 1);
}

/// The function `int64 fib(int64 n)`, which calls itself.
fn fib() -> Function {
    let n = || local(0, Type::Int64);
    let less = |by: i64| val(bin(BinaryOp::Sub, n(), int(by)));
    let recursive = |by: i64| call(0, vec![less(by)], Type::Int64);
    let stmts = vec![
        Stmt::If(bin(BinaryOp::Lt, n(), int(2)), vec![ret(n())], vec![]),
        ret(add(recursive(1), recursive(2))),
    ];
    let formals = vec![LocalVar::new("n", Type::Int64)];
    function("fib", formals, vec![], Type::Int64, stmts)
}

/// `void bump(mutable int64 n, mutable rstring s, int64 by)`: faults if `by` is 0.
fn bump() -> Function {
    let formals = vec![
        LocalVar::mutable("n", Type::Int64),
        LocalVar::mutable("s", Type::RString),
        LocalVar::new("by", Type::Int64),
    ];
    let quotient = bin(BinaryOp::Div, local(0, Type::Int64), local(2, Type::Int64));
    let stmts = vec![
        add_to(local_place(0, Type::Int64), local(2, Type::Int64)),
        add_to(local_place(1, Type::RString), text("+")),
        set_to(local_place(0, Type::Int64), quotient),
    ];
    function("bump", formals, vec![], Type::Void, stmts)
}

/// `rstring twice(rstring s)`, small enough to be inlined.
fn twice() -> Function {
    let s = || local(0, Type::RString);
    let nothing = vec![ret(text("nothing"))];
    let stmts = vec![
        Stmt::If(bin(BinaryOp::Eq, s(), text("")), nothing, vec![]),
        ret(add(s(), s())),
    ];
    let formals = vec![LocalVar::new("s", Type::RString)];
    function("twice", formals, vec![], Type::RString, stmts)
}

#[test]
fn functions_take_values_and_references() {
    let mut rig = numbers();
    let s = Type::RString;
    rig.functions = vec![fib(), bump(), twice()];
    rig.state = vec![
        var("n", Type::Int64),
        var("m", map_of(Type::Int64, s.clone())),
    ];
    let m = map_of(Type::Int64, s.clone());
    let b = body(
        [Type::Int64, s.clone()],
        vec![
            let_(0, int(10)),
            let_(1, attr(1, s.clone())),
            Stmt::Expr(call(
                1,
                vec![
                    by_ref(local_place(0, Type::Int64)),
                    by_ref(local_place(1, s.clone())),
                    val(int(2)),
                ],
                Type::Void,
            )),
            out(&rig, local(0, Type::Int64), local(1, s.clone())),
            set_to(
                at(state_place(1, m.clone()), int(7), s.clone()),
                text("seven"),
            ),
            Stmt::Expr(call(
                1,
                vec![
                    by_ref(state_place(0, Type::Int64)),
                    by_ref(at(state_place(1, m.clone()), int(7), s.clone())),
                    val(attr(0, Type::Int64)),
                ],
                Type::Void,
            )),
            out(
                &rig,
                call(0, vec![val(int(12))], Type::Int64),
                call(2, vec![val(attr(1, s.clone()))], s),
            ),
        ],
    );
    let seen = rig.agree(&b, &[row(3, "v"), row(0, "w"), row(4, "")]);
    assert!(seen[0].result.is_ok());
    assert!(seen[1].result.is_err(), "a division by zero in the callee");
}

#[test]
fn tuples_are_changed_by_attribute() {
    let rig = numbers();
    let t = Type::Tuple(rig.outputs[0].clone());
    let nested = Type::Tuple(schema([("in", t.clone()), ("k", Type::Int8)]));
    let b = body(
        [t.clone(), nested.clone(), Type::Int64],
        vec![
            let_(
                0,
                tuple(&t, vec![attr(0, Type::Int64), attr(1, Type::RString)]),
            ),
            add_to(part(local_place(0, t.clone()), 0, Type::Int64), int(1)),
            submit(PortIndex(0), local(0, t.clone())),
            Stmt::Let(LocalId(1), None),
            set_to(
                part(local_place(1, nested.clone()), 0, t.clone()),
                local(0, t.clone()),
            ),
            set_to(
                part(
                    part(local_place(1, nested.clone()), 0, t.clone()),
                    1,
                    Type::RString,
                ),
                text("inner"),
            ),
            let_(2, int(0)),
            Stmt::While(
                bin(BinaryOp::Lt, local(2, Type::Int64), int(3)),
                vec![
                    add_to(local_place(2, Type::Int64), int(1)),
                    set_to(
                        part(local_place(0, t.clone()), 1, Type::RString),
                        add(field(local(0, t.clone()), "t"), text("~")),
                    ),
                    submit(PortIndex(0), local(0, t.clone())),
                ],
            ),
            submit(PortIndex(0), field(local(1, nested.clone()), "in")),
            submit(
                PortIndex(0),
                expr(
                    ExprKind::Input {
                        port: PortIndex(0),
                        history: 0,
                    },
                    t.clone(),
                ),
            ),
            submit(PortIndex(4), local(0, t)),
        ],
    );
    let seen = rig.agree(&b, &[row(1, "one"), row(-1, "")]);
    assert!(
        matches!(&seen[0].events[4], Event::Tuple(PortIndex(0), _, text) if text.contains("Int64(2)"))
    );
    assert!(seen[0].result.is_err(), "there is no port 4");
}

#[test]
fn clauses_return_on_their_own() {
    let rig = numbers();
    let b = body(
        [],
        vec![
            Stmt::Clause(vec![
                Stmt::If(
                    bin(BinaryOp::Gt, attr(0, Type::Int64), int(0)),
                    vec![Stmt::Return(None)],
                    vec![],
                ),
                out(&rig, int(1), text("clause")),
            ]),
            out(&rig, int(2), text("after")),
            Stmt::SubmitPunct {
                port: graph::Expr::constant(Value::Uint32(0), Type::Uint32),
                mark: expr(
                    ExprKind::CurrentPunct,
                    Type::Enum(
                        tuple::EnumType {
                            names: vec!["WindowMarker".into(), "FinalMarker".into()],
                        }
                        .into(),
                    ),
                ),
                pos: pos(),
            },
            Stmt::Sleep(graph::Expr::constant(Value::Float64(0.25), Type::Float64)),
        ],
    );
    let seen = rig.agree(&b, &[row(1, ""), row(0, "")]);
    assert_eq!(seen[0].events.len(), 3);
    assert_eq!(seen[1].events.len(), 4);
}

#[test]
fn sources_run_until_a_shutdown() {
    let mut rig = numbers();
    rig.inputs.clear();
    let running = expr(ExprKind::IsShutdown, Type::Boolean);
    let running = expr(
        ExprKind::Unary(graph::UnaryOp::Not, running.into()),
        Type::Boolean,
    );
    let b = body(
        [Type::Int64],
        vec![
            let_(0, int(0)),
            Stmt::While(
                running,
                vec![
                    out(
                        &rig,
                        local(0, Type::Int64),
                        local(0, Type::Int64).cast(Type::RString),
                    ),
                    Stmt::Expr(step(local_place(0, Type::Int64), false, false)),
                ],
            ),
        ],
    );
    let seen = rig.agree(&b, &[vec![]]);
    assert_eq!(seen[0].events.len(), 21);
}

#[test]
fn recursion_is_bounded() {
    let mut rig = numbers();
    let n = || local(0, Type::Int64);
    let down = call(0, vec![val(add(n(), int(1)))], Type::Int64);
    rig.functions = vec![function(
        "endless",
        vec![LocalVar::new("n", Type::Int64)],
        vec![],
        Type::Int64,
        vec![ret(add(down, int(1)))],
    )];
    let b = body(
        [],
        vec![out(&rig, call(0, vec![val(int(0))], Type::Int64), text(""))],
    );
    // Stack enough for the interpreter to get as deep as it may.
    let thread = std::thread::Builder::new()
        .stack_size(400 << 20)
        .spawn(move || {
            eval::interp::reserve_stack(390 << 20);
            rig.agree(&b, &[row(0, "")])
        });
    let seen = thread.unwrap().join().unwrap();
    assert!(matches!(
        &seen[0].result,
        Err((eval::FaultKind::Limit, _, Some(_)))
    ));
}
