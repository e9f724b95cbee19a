//! The text of expressions, statements, functions and operators.

use std::sync::Arc;

use thalweg_graph::print::PrintNames;
use thalweg_graph::{
    Arg, BinaryOp, Body, Callee, Clock, ConfigEntry, Expr, ExprKind, Function, FunctionId,
    HistoryDepths, InPort, LocalId, LocalVar, Logic, MappedForm, NativeId, OperatorId,
    OperatorNode, OutPort, OutPortId, OutputCall, Param, ParamValue, Partition, PartitionEviction,
    Place, PlaceStep, Policy, PortIndex, Pos, Program, StateId, StateVar, Stmt, UnaryOp, Window,
    WindowKind,
};
use tuple::{List, TupleType, Type, Value};

fn int(x: i32) -> Expr {
    Expr::constant(Value::Int32(x), Type::Int32)
}

fn local(at: u32) -> Expr {
    Expr::local(LocalId(at), Type::Int32)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn wrap(make: impl FnOnce(Box<Expr>) -> ExprKind, inner: Expr, ty: Type) -> Expr {
    Expr::new(make(Box::new(inner)), ty)
}

#[test]
fn constants_tell_their_type() {
    let list = |of: Type| Type::List(Arc::new(of), None);
    let stamp = tuple::Timestamp {
        seconds: 1,
        nanos: 2,
        machine: 3,
    };
    let decimal = tuple::Decimal64::from_text(b"1.10").expect("a decimal");
    let colours = ["red", "green"].map(Arc::from).to_vec();
    let colours = Type::Enum(tuple::EnumType { names: colours }.into());
    let pair = TupleType::new([("a", Type::Int32), ("b", Type::RString)]);
    let pair_value = Value::Tuple(Box::new([Value::Int32(1), Value::RString("x".into())]));
    for (value, ty, text) in [
        (Value::Int32(-5), Type::Int32, "-5"),
        (Value::Int64(5), Type::Int64, "5l"),
        (Value::Uint8(5), Type::Uint8, "5ub"),
        (Value::Float64(3.0), Type::Float64, "3.0"),
        (Value::Float64(1e20), Type::Float64, "1e+20"),
        (Value::Float32(0.5), Type::Float32, "0.5w"),
        (
            Value::Float64(f64::INFINITY),
            Type::Float64,
            "(float64) \"inf\"",
        ),
        (Value::Decimal64(decimal), Type::Decimal64, "1.10d"),
        (Value::Boolean(true), Type::Boolean, "true"),
        (Value::Enum(1), colours, "green"),
        (Value::RString("a\"b".into()), Type::RString, r#""a\"b""#),
        (
            Value::RString("ab".into()),
            Type::BoundedRString(3),
            r#"(rstring[3]) "ab""#,
        ),
        (Value::UString("ü".into()), Type::UString, "\"ü\"u"),
        (Value::Xml("<a/>".into()), Type::Xml(None), "\"<a/>\"x"),
        (Value::Blob(vec![1, 255]), Type::Blob, "(blob) \"01ff\""),
        (
            Value::Timestamp(stamp),
            Type::Timestamp,
            "(timestamp) \"(1,2,3)\"",
        ),
        (
            Value::List(List::Int8(vec![1, 2])),
            list(Type::Int8),
            "[1sb, 2sb]",
        ),
        (
            Value::List(List::Int8(vec![])),
            list(Type::Int8),
            "(list<int8>) []",
        ),
        (
            Value::Optional(None),
            Type::Optional(Type::Int8.into()),
            "(optional<int8>) null",
        ),
        (pair_value, Type::Tuple(pair.into()), "{a = 1, b = \"x\"}"),
    ] {
        assert_eq!(Expr::constant(value, ty).to_string(), text);
    }
}

#[test]
fn parentheses_are_where_they_are_needed() {
    use BinaryOp::{Add, BitAnd, Lt, Mul, Sub};
    let (a, b, c) = (|| local(0), || local(1), || local(2));
    let sum = || binary(Add, a(), b());
    let boolean = |kind: fn(Box<Expr>, Box<Expr>) -> ExprKind, l: Expr, r: Expr| {
        Expr::new(kind(Box::new(l), Box::new(r)), Type::Boolean)
    };
    let less = || binary(Lt, a(), b());
    let choice = || {
        let kind = ExprKind::Conditional(Box::new(less()), Box::new(b()), Box::new(c()));
        Expr::new(kind, Type::Int32)
    };
    let negate = |e: Expr| {
        let ty = e.ty.clone();
        wrap(|e| ExprKind::Unary(UnaryOp::Negate, e), e, ty)
    };
    for (expr, text) in [
        (binary(Mul, sum(), c()), "(local0 + local1) * local2"),
        (binary(Sub, sum(), c()), "local0 + local1 - local2"),
        (binary(Sub, c(), sum()), "local2 - (local0 + local1)"),
        (
            binary(Lt, binary(BitAnd, a(), b()), c()),
            "(local0 & local1) < local2",
        ),
        (
            boolean(ExprKind::And, boolean(ExprKind::Or, less(), less()), less()),
            "(local0 < local1 || local0 < local1) && local0 < local1",
        ),
        (
            boolean(ExprKind::Or, boolean(ExprKind::And, less(), less()), less()),
            "local0 < local1 && local0 < local1 || local0 < local1",
        ),
        (
            binary(Add, choice(), int(1)),
            "(local0 < local1 ? local1 : local2) + 1",
        ),
        (sum().cast(Type::Int64), "(int64) (local0 + local1)"),
        (negate(negate(a())), "-(-local0)"),
        (negate(int(-1)), "-(-1)"),
        (binary(Mul, negate(a()), b()), "-local0 * local1"),
        (
            binary(Mul, a().cast(Type::Int64), b()),
            "(int64) local0 * local1",
        ),
    ] {
        assert_eq!(expr.to_string(), text);
    }
}

#[test]
fn every_form_has_a_text() {
    let list = || Expr::local(LocalId(3), Type::List(Type::Int32.into(), None));
    let optional = || Expr::local(LocalId(4), Type::Optional(Type::Int32.into()));
    let input = ExprKind::Attribute {
        port: PortIndex(0),
        history: 2,
        index: 1,
    };
    let slice = ExprKind::Slice(Box::new(list()), Some(Box::new(int(1))), None);
    let index = ExprKind::Index(Box::new(list()), Box::new(int(0)));
    let dotted = ExprKind::Mapped(
        BinaryOp::Mul,
        MappedForm::Elementwise,
        Box::new(list()),
        Box::new(list()),
    );
    let or = ExprKind::UnwrapOr(Box::new(optional()), Box::new(int(0)));
    let within = ExprKind::In(Box::new(int(1)), Box::new(list()));
    let place = Place::state(StateId(2), Type::Int32);
    let step = ExprKind::Increment {
        place: place.clone(),
        is_decrement: true,
        is_prefix: false,
    };
    let assign = ExprKind::AssignOp(BinaryOp::Shl, place.clone(), Box::new(int(1)));
    let args = vec![Arg::Place(place), Arg::Value(int(3))];
    let call = ExprKind::Call(Callee::Native(NativeId(7)), args);
    for (kind, text) in [
        (input, "in0[2].1"),
        (slice, "local3[1:]"),
        (index, "local3[0]"),
        (dotted, "local3 .* local3"),
        (or, "local4 ?: 0"),
        (within, "1 in local3"),
        (ExprKind::Unwrap(Box::new(optional())), "local4!"),
        (ExprKind::IsPresent(Box::new(optional())), "local4??"),
        (step, "state2--"),
        (assign, "state2 <<= 1"),
        (call, "native7(mutable state2, 3)"),
        (ExprKind::OutputCall(1), "call1"),
        (ExprKind::CurrentPunct, "currentPunct()"),
        (ExprKind::IsShutdown, "isShutdown()"),
        (ExprKind::ClockSeconds(Clock::Exact), "clockSeconds()"),
        (
            ExprKind::Input {
                port: PortIndex(1),
                history: 0,
            },
            "in1",
        ),
        (ExprKind::Map(vec![(int(1), int(2))]), "{1 : 2}"),
    ] {
        assert_eq!(Expr::new(kind, Type::Int32).to_string(), text);
    }
}

const NATIVES: &[&str] = &["<ordered T> T max(T v1, T v2)"];

/// `int32 ns::clip(mutable int32 x, int32 limit)`
fn clip() -> Function {
    let mut body = Body {
        locals: vec![
            LocalVar::mutable("x", Type::Int32),
            LocalVar::new("limit", Type::Int32),
        ],
        stmts: vec![],
    };
    let first = body.local("y", Type::Int32);
    let second = body.local("y", Type::Int32);
    let place = || Place::local(LocalId(0), Type::Int32);
    let args = [local(0), local(1)].map(Arg::Value);
    let max = Expr::call(Callee::Native(NativeId(0)), args, Type::Int32);
    let above = binary(BinaryOp::Gt, local(0), local(1));
    body.stmts = vec![
        Stmt::Let(first, Some(max)),
        Stmt::If(
            above,
            vec![
                Stmt::Expr(Expr::assign(place(), local(1))),
                Stmt::Return(Some(local(0))),
            ],
            vec![Stmt::Let(second, None), Stmt::Break],
        ),
        Stmt::While(Expr::boolean(true), vec![Stmt::Continue]),
        Stmt::Return(Some(local(first.0))),
    ];
    Function {
        name: "ns::clip".into(),
        formals: 2,
        result: Type::Int32,
        is_stateful: true,
        body,
        pos: Pos::default(),
    }
}

#[test]
fn functions() {
    let functions = [clip()];
    let names = PrintNames {
        natives: NATIVES,
        functions: &functions,
        ..PrintNames::default()
    };
    let expected = "\
stateful int32 ns::clip(mutable int32 x, int32 limit) {
  int32 y = max(x, limit);
  if (x > limit) {
    x = limit;
    return x;
  } else {
    int32 y_3;
    break;
  }
  while (true) {
    continue;
  }
  return y;
}
";
    assert_eq!(names.print(&functions[0]).to_string(), expected);
}

fn schema() -> Arc<TupleType> {
    let marks = Type::List(Type::Int32.into(), None);
    Arc::new(TupleType::new([("id", Type::Int32), ("marks", marks)]))
}

fn source() -> OperatorNode {
    OperatorNode {
        outputs: vec![OutPort {
            assign: vec![Some(int(1)), None],
            ..OutPort::new("Src", schema())
        }],
        params: vec![Param {
            name: "iterations".into(),
            value: ParamValue::Exprs(vec![int(10)]),
            pos: Pos::default(),
        }],
        ..OperatorNode::new("Src", "spl.utility::Beacon", Pos::default())
    }
}

fn window() -> Window {
    Window {
        kind: WindowKind::Sliding,
        evict: Policy::Delta(0, Value::Int32(5)),
        trigger: Some(Policy::Time(2.0)),
        partition: Some(Partition {
            evict: Some(PartitionEviction::Count(3)),
        }),
        pos: Pos::default(),
    }
}

fn counting_logic() -> Logic {
    let entry = Type::Tuple(schema());
    let state = vec![
        StateVar {
            name: "total".into(),
            ty: Type::Int32,
            init: Some(int(0)),
        },
        StateVar {
            name: "last".into(),
            ty: entry.clone(),
            init: None,
        },
    ];
    let mark = Place::state(StateId(1), entry)
        .with_step(PlaceStep::Field(1), Type::List(Type::Int32.into(), None))
        .with_step(PlaceStep::Index(int(0)), Type::Int32);
    let mut body = Body::default();
    let m = body.local("m", Type::Int32);
    let marks = Expr::attribute(PortIndex(0), 1, Type::List(Type::Int32.into(), None));
    let port = Expr::constant(Value::Uint32(0), Type::Uint32);
    let tuple = Expr::new(
        ExprKind::Input {
            port: PortIndex(0),
            history: 0,
        },
        Type::Tuple(schema()),
    );
    let add = ExprKind::AssignOp(BinaryOp::Add, mark, Box::new(Expr::local(m, Type::Int32)));
    let clause = vec![
        Stmt::For(m, marks, vec![Stmt::Expr(Expr::new(add, Type::Void))]),
        Stmt::Submit {
            port,
            tuple,
            pos: Pos::default(),
        },
    ];
    body.stmts = vec![Stmt::Clause(clause)];
    Logic {
        state,
        on_tuple: vec![Some(body)],
        ..Logic::default()
    }
}

fn program() -> Program {
    let id = || Expr::attribute(PortIndex(0), 0, Type::Int32);
    let sum = Expr::new(ExprKind::OutputCall(0), Type::Int32);
    let call = OutputCall {
        function: "Sum".into(),
        args: vec![id()],
        ty: Type::Int32,
        pos: Pos::default(),
    };
    let clip = Expr::call(Callee::User(FunctionId(0)), [Arg::Value(id())], Type::Int32);
    let operator = OperatorNode {
        inputs: vec![InPort {
            window: Some(window()),
            history: HistoryDepths::up_to(1),
            ..InPort::new(
                "In",
                schema(),
                vec![OutPortId {
                    operator: OperatorId(0),
                    port: PortIndex(0),
                }],
            )
        }],
        outputs: vec![OutPort {
            name: "Out".into(),
            schema: schema(),
            calls: vec![call],
            assign: vec![Some(binary(BinaryOp::Add, sum, int(1))), None],
        }],
        params: vec![
            Param {
                name: "groupBy".into(),
                value: ParamValue::Exprs(vec![id(), clip]),
                pos: Pos::default(),
            },
            Param {
                name: "mode".into(),
                value: ParamValue::Literals(vec!["strict".into()]),
                pos: Pos::default(),
            },
        ],
        logic: counting_logic(),
        config: vec![ConfigEntry {
            name: "threadedPort".into(),
            values: vec!["queue(In, Sys.Wait, 1000)".into()],
            pos: Pos::default(),
        }],
        annotations: vec![(
            "threading".into(),
            vec![("threads".into(), Value::Int32(2))],
        )],
        ..OperatorNode::new("Inner.Out", "spl.relational::Aggregate", Pos::default())
    };
    Program {
        name: "ns::Main".into(),
        files: [].into(),
        functions: [clip_shortly()].into(),
        operators: vec![source(), operator],
        config: Vec::new(),
    }
}

fn clip_shortly() -> Function {
    let mut clip = clip();
    clip.is_stateful = false;
    clip.body.stmts = vec![Stmt::Return(Some(local(0)))];
    clip
}

#[test]
fn programs() {
    let expected = "\
composite ns::Main

int32 ns::clip(mutable int32 x, int32 limit) {
  return x;
}

(stream<int32 id, list<int32> marks> Src) as Src = spl.utility::Beacon() {
  param
    iterations : 10;
  output
    Src : id = 1;
}

@threading(threads = 2)
(stream<int32 id, list<int32> marks> Out) as Inner.Out = spl.relational::Aggregate(Src as In[1]) {
  logic
    state : int32 total = 0;
    state : tuple<int32 id, list<int32> marks> last;
    onTuple In : {
      clause {
        for (int32 m in In.marks) {
          last.marks[0] += m;
        }
        submit(In, 0u);
      }
    }
  window
    In : sliding, delta(id, 5), time(2.0), partitioned, partitionCount(3u);
  param
    groupBy : In.id, ns::clip(In.id);
    mode : strict;
  output
    Out : id = Sum(In.id) + 1;
  config
    threadedPort : queue(In, Sys.Wait, 1000);
}
";
    assert_eq!(
        program().display_with_natives(NATIVES).to_string(),
        expected
    );
}
