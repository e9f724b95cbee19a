//! Fused chains: inlined operators against the same operators one by one.

use eval::NativeFn;
use graph::{BinaryOp, Body, Expr, ExprKind, PortIndex, Stmt, UnaryOp};
use runtime::LoweredLogic;
use runtime::abi::FrameForm;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_jit::{Jit, JitOptions};
use tuple::{Type, Value};

use crate::hub::{Node, Seen, run, run_batch, run_partly, run_until};
use crate::make::*;
use crate::rig::{Rig, schema, submit};

fn note(call: &mut eval::NativeCall<'_>) -> Result<Value, eval::Fault> {
    call.services.print(b"noted", false)?;
    Ok(Value::Boolean(false))
}

const NATIVES: [NativeFn; 1] = [NativeFn {
    namespace: "test",
    prototype: "void note()",
    doc: "Prints.",
    eval: note,
    is_range: false,
    needs_counts: false,
    needs_pane: false,
    port: None,
    unsupported: None,
    check: None,
}];

fn stream() -> Type {
    Type::Tuple(schema([
        ("n", Type::Int64),
        ("name", Type::RString),
        ("list", list_of(Type::Int32)),
        ("words", list_of(Type::RString)),
    ]))
}

fn whole() -> Expr {
    expr(
        ExprKind::Input {
            port: PortIndex(0),
            history: 0,
        },
        stream(),
    )
}

fn words() -> Type {
    list_of(Type::RString)
}

fn node(inputs: u32, on_tuple: Body, edges: Vec<Option<Vec<(u32, PortIndex)>>>) -> Node {
    let schema = stream().as_tuple().unwrap().clone();
    let rig = Rig {
        inputs: vec![(schema.clone(), 0); inputs as usize],
        outputs: vec![schema; edges.len()],
        state: vec![var("count", Type::Int64), var("names", Type::RString)],
        ..Rig::default()
    };
    let logic = LoweredLogic {
        state: rig.state.clone(),
        on_tuple: vec![on_tuple; inputs as usize],
        on_punct: vec![None; inputs as usize],
        on_process: None,
        ..LoweredLogic::default()
    };
    Node { rig, logic, edges }
}

/// n + 1, the name with a mark, the rest forwarded.
fn functor() -> Body {
    let fields = vec![
        add(attr(0, Type::Int64), int(1)),
        add(attr(1, Type::RString), text("'")),
        attr(2, list_of(Type::Int32)),
        attr(3, words()),
    ];
    body([], vec![submit(PortIndex(0), tuple(&stream(), fields))])
}

fn filter() -> Body {
    let even = bin(
        BinaryOp::Eq,
        bin(BinaryOp::Rem, attr(0, Type::Int64), int(2)),
        int(0),
    );
    body(
        [],
        vec![Stmt::If(even, vec![submit(PortIndex(0), whole())], vec![])],
    )
}

fn count() -> Body {
    let quotient = bin(
        BinaryOp::Div,
        int(100),
        bin(BinaryOp::Sub, attr(0, Type::Int64), int(8)),
    );
    body(
        [Type::RString],
        vec![
            add_to(state_place(0, Type::Int64), attr(0, Type::Int64)),
            let_(0, state(1, Type::RString)),
            set_to(
                state_place(1, Type::RString),
                add(local(0, Type::RString), attr(1, Type::RString)),
            ),
            Stmt::Expr(Expr::call(
                graph::Callee::Native(graph::NativeId(0)),
                [],
                Type::Void,
            )),
            add_to(state_place(0, Type::Int64), quotient),
            submit(
                PortIndex(0),
                tuple(
                    &stream(),
                    vec![
                        state(0, Type::Int64),
                        state(1, Type::RString),
                        attr(2, list_of(Type::Int32)),
                        attr(3, words()),
                    ],
                ),
            ),
        ],
    )
}

fn row(n: i64) -> Value {
    Value::Tuple(Box::new([
        Value::Int64(n),
        string("name"),
        list(&Type::Int32, [1, 2, 3].map(Value::Int32)),
        list(&Type::RString, ["p", "q"].map(string)),
    ]))
}

fn agree(nodes: &[Node], tuples: &[Value]) -> Seen {
    let expected = run(nodes, &mut InterpreterBackend::new(&[], &NATIVES), tuples);
    let mut jit = Jit::new(&[], &NATIVES, JitOptions::default()).unwrap();
    let actual = run(nodes, &mut jit, tuples);
    assert_eq!(expected, actual);
    // Some consumers of each port as if they were not members.
    for is_outlet in [|place| place % 2 == 0, |place| place % 2 == 1] {
        let mut jit = Jit::new(&[], &NATIVES, JitOptions::default()).unwrap();
        let partly = run_partly(nodes, &mut jit, tuples, is_outlet);
        assert_eq!(expected, partly);
    }
    if nodes[0].rig.inputs.len() == 1 {
        let mut jit = Jit::new(&[], &NATIVES, JitOptions::default()).unwrap();
        let in_batch = run_batch(nodes, &mut jit, tuples, FrameForm::Flat);
        assert_eq!(expected, in_batch);
    }
    actual
}

#[test]
fn a_chain_is_one_function() {
    let nodes = [
        node(1, functor(), vec![Some(vec![(1, PortIndex(0))])]),
        node(1, filter(), vec![Some(vec![(2, PortIndex(0))])]),
        node(1, count(), vec![None]),
    ];
    let seen = agree(&nodes, &[row(1), row(2), row(3), row(4)]);
    assert_eq!(seen.counts[..3], [4, 2, 0]);
    assert_eq!(seen.events.len(), 4);
}

#[test]
fn faults_are_those_of_the_inlined_operator() {
    let nodes = [
        node(1, functor(), vec![Some(vec![(1, PortIndex(0))])]),
        node(1, filter(), vec![Some(vec![(2, PortIndex(0))])]),
        node(1, count(), vec![None]),
    ];
    let seen = agree(&nodes, &[row(1), row(7), row(3)]);
    assert_eq!(seen.acting, 2);
    assert!(seen.result.is_err());
}

#[test]
fn a_stream_may_feed_several_and_several_streams_one() {
    let nodes = [
        node(
            1,
            functor(),
            vec![Some(vec![
                (1, PortIndex(0)),
                (2, PortIndex(0)),
                (3, PortIndex(1)),
            ])],
        ),
        node(1, filter(), vec![Some(vec![(3, PortIndex(0))])]),
        node(1, functor(), vec![None]),
        node(2, count(), vec![None]),
        node(1, functor(), vec![Some(vec![])]),
    ];
    let seen = agree(&nodes, &[row(1), row(2), row(3)]);
    assert_eq!(seen.events.len(), 3 + 2 * (3 + 2));
}

/// Each twentieth tuple, and none of those between.
fn every_twentieth() -> Body {
    let is_due = bin(BinaryOp::Eq, state(0, Type::Int64), int(20));
    let pass_on = vec![
        set_to(state_place(0, Type::Int64), int(0)),
        submit(PortIndex(0), whole()),
    ];
    let count = add_to(state_place(0, Type::Int64), int(1));
    body([], vec![count, Stmt::If(is_due, pass_on, vec![])])
}

#[test]
fn arms_that_seldom_run_submit_what_the_interpreter_submits() {
    let nodes = [
        node(1, every_twentieth(), vec![Some(vec![(1, PortIndex(0))])]),
        node(1, functor(), vec![Some(vec![(2, PortIndex(0))])]),
        node(1, count(), vec![None]),
    ];
    let rows: Vec<Value> = (100..165).map(row).collect();
    let seen = agree(&nodes, &rows);
    assert_eq!((seen.counts[0], seen.result), (3, Ok(())));
    // The functor makes 8 of 7: the last operator divides by the difference to 8.
    let rows: Vec<Value> = (-52..48).map(row).collect();
    let seen = agree(&nodes, &rows);
    assert_eq!((seen.counts[0], seen.acting), (3, 2));
    assert!(seen.result.is_err());
}

/// 3 n - 1 in place of n, by instructions alone.
fn tripled() -> Body {
    let tripled = bin(BinaryOp::Mul, attr(0, Type::Int64), int(3));
    let fields = vec![
        bin(BinaryOp::Sub, tripled, int(1)),
        attr(1, Type::RString),
        attr(2, list_of(Type::Int32)),
        attr(3, words()),
    ];
    body([], vec![submit(PortIndex(0), tuple(&stream(), fields))])
}

#[test]
fn tuples_that_are_passed_on_at_once_are_counted_on_each_edge() {
    let passing = || body([], vec![submit(PortIndex(0), whole())]);
    let (long_way, short_way) = ((1, PortIndex(0)), (3, PortIndex(0)));
    for edges in [vec![long_way, short_way], vec![short_way, long_way]] {
        let nodes = [
            node(1, tripled(), vec![Some(edges)]),
            node(1, passing(), vec![Some(vec![(2, PortIndex(0))])]),
            node(1, tripled(), vec![Some(vec![(3, PortIndex(0))])]),
            node(1, count(), vec![None]),
        ];
        let rows: Vec<Value> = (100..1_300).map(row).collect();
        let seen = agree(&nodes, &rows);
        assert_eq!(
            (seen.counts[..3].to_vec(), seen.result),
            (vec![1_200; 3], Ok(()))
        );
        // The short way makes 8 of 3, and the last operator divides by the difference to 8.
        let rows: Vec<Value> = [1, 2, 3, 4].map(row).into();
        let seen = agree(&nodes, &rows);
        assert_eq!(seen.acting, 3);
        assert!(seen.result.is_err());
    }
}

#[test]
fn sources_run_their_whole_chain() {
    let mut nodes = [
        node(0, Body::default(), vec![Some(vec![(1, PortIndex(0))])]),
        node(1, filter(), vec![Some(vec![(2, PortIndex(0))])]),
        node(1, functor(), vec![Some(vec![(3, PortIndex(0))])]),
        node(1, count(), vec![None]),
    ];
    let i = || local(0, Type::Int64);
    let made = tuple(
        &stream(),
        vec![
            i(),
            i().cast(Type::RString),
            expr(ExprKind::List(vec![int32(4)]), list_of(Type::Int32)),
            expr(ExprKind::List(vec![text("w")]), words()),
        ],
    );
    nodes[0].logic.on_process = Some(body(
        [Type::Int64],
        vec![
            let_(0, int(1)),
            Stmt::While(
                bin(BinaryOp::Lt, i(), int(6)),
                vec![
                    submit(PortIndex(0), made),
                    add_to(local_place(0, Type::Int64), int(1)),
                ],
            ),
        ],
    ));
    let seen = agree(&nodes, &[]);
    assert_eq!(seen.counts[0], 5);
    assert_eq!(seen.events.len(), 4);
}

#[test]
fn sources_look_at_the_shutdown_flag_each_turn() {
    let not = |e: Expr| expr(ExprKind::Unary(UnaryOp::Not, e.into()), Type::Boolean);
    let is_running = not(expr(ExprKind::IsShutdown, Type::Boolean));
    let i = || local(0, Type::Int64);
    let few = bin(BinaryOp::Lt, i(), int(1000));
    // Nothing that would be called, so that nothing but the flag itself makes compiled code look.
    let made = tuple(
        &stream(),
        vec![
            i(),
            text("s"),
            Expr::constant(list(&Type::Int32, []), list_of(Type::Int32)),
            Expr::constant(list(&Type::RString, []), words()),
        ],
    );
    // So many consumers that not all counters of theirs are kept in registers.
    let consumers = 1..=20;
    let edges = consumers
        .clone()
        .map(|member| (member, PortIndex(0)))
        .collect();
    let mut nodes = vec![node(0, Body::default(), vec![Some(edges)])];
    nodes.extend(consumers.map(|_| node(1, Body::default(), vec![])));
    nodes[0].logic.on_process = Some(body(
        [Type::Int64],
        vec![
            let_(0, int(0)),
            Stmt::While(
                expr(ExprKind::And(is_running.into(), few.into()), Type::Boolean),
                vec![
                    submit(PortIndex(0), made),
                    add_to(local_place(0, Type::Int64), int(1)),
                ],
            ),
        ],
    ));
    let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("this machine is supported");
    // The flag is the low byte of a counter: the first tuple asks for the shutdown.
    let seen = run_until(&nodes, &mut jit, |processed| {
        processed[20][0].address().cast()
    });
    assert_eq!(seen.counts[0], 1);
}
