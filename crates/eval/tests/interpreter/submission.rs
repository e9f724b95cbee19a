//! Input tuples in, output tuples and markers out.

use std::sync::Arc;

use graph::{Body, Expr, ExprKind, HistoryDepths, InPort, PortIndex, Stmt};
use thalweg_eval::{Evaluation, InputTuples, Interpreter, State};
use tuple::{Layout, Punctuation, TupleBuf, TupleType, Type, Value};

use crate::fixture::*;

fn schema() -> Arc<TupleType> {
    Arc::new(TupleType::new([
        ("id", Type::Int32),
        ("tags", list_of(Type::RString)),
    ]))
}

fn record(id: i32, tags: &[&str]) -> Value {
    let tags = tags.iter().map(|tag| string(tag)).collect();
    Value::Tuple(Box::new([
        Value::Int32(id),
        Value::List(tuple::List::Any(tags)),
    ]))
}

fn flat(layout: &Layout, tuple: &Value) -> TupleBuf {
    let mut buf = TupleBuf::default();
    let Value::Tuple(parts) = tuple else {
        panic!("no tuple")
    };
    buf.begin(layout);
    for (at, part) in parts.iter().enumerate() {
        buf.set(layout, at, part);
    }
    buf
}

fn port(history: u32) -> InPort {
    InPort {
        history: HistoryDepths::up_to(history),
        ..InPort::new("In", schema(), vec![])
    }
}

/// One run of an operator with an input port that looks one tuple back, a second input port, and
/// two output ports of the same schema.
struct Bench {
    interpreter: Interpreter,
    layout: Arc<Layout>,
    inputs: Vec<Option<TupleBuf>>,
    recorder: Recorder,
    mark: Option<Punctuation>,
}

impl Bench {
    fn new() -> Bench {
        let layout = Layout::new(&schema());
        let outputs = vec![layout.clone(), layout.clone()];
        let interpreter = Interpreter::new(&[], NATIVES).with_ports(&[port(1), port(0)], &outputs);
        let inputs = [
            record(1, &["a", "b"]),
            record(2, &[]),
            record(3, &["c"]),
            record(4, &["d"]),
        ];
        Bench {
            interpreter,
            inputs: inputs
                .iter()
                .map(|tuple| Some(flat(&layout, tuple)))
                .collect(),
            recorder: Recorder {
                layouts: outputs,
                ..Recorder::default()
            },
            layout,
            mark: None,
        }
    }

    fn with<R>(&mut self, work: impl FnOnce(&mut Interpreter, &mut Evaluation<'_>) -> R) -> R {
        let tuples: Vec<_> = self
            .inputs
            .iter()
            .map(|input| input.as_ref().map(TupleBuf::as_ref))
            .collect();
        let layouts = vec![self.layout.clone(); tuples.len()];
        let mut to = Evaluation {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &layouts,
            },
            state: &mut State::default(),
            submit: &mut self.recorder,
            current_punctuation: self.mark,
        };
        work(&mut self.interpreter, &mut to)
    }

    fn value(&mut self, kind: ExprKind, ty: Type) -> Value {
        self.with(|interpreter, to| interpreter.evaluate(&Expr::new(kind, ty), to))
            .expect("no fault")
    }

    fn run(&mut self, stmts: Vec<Stmt>) -> Result<(), thalweg_eval::Fault> {
        let body = Body {
            locals: vec![],
            stmts,
        };
        self.with(|interpreter, to| interpreter.run(&body, to))
    }
}

fn number(port: PortIndex, history: u32) -> ExprKind {
    ExprKind::Attribute {
        port,
        history,
        index: 0,
    }
}

fn out(at: u32) -> Expr {
    Expr::constant(Value::Uint32(at), Type::Uint32)
}

fn submit(port: Expr, tuple: Expr) -> Stmt {
    let pos = graph::Pos {
        file: 0,
        line: 7,
        column: 1,
    };
    Stmt::Submit { port, tuple, pos }
}

fn tuple_expr(parts: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Tuple(parts), Type::Tuple(schema()))
}

#[test]
fn slots_are_numbered_port_by_port() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.value(number(PortIndex(0), 0), Type::Int32),
        Value::Int32(1)
    );
    assert_eq!(
        bench.value(number(PortIndex(0), 1), Type::Int32),
        Value::Int32(2)
    );
    assert_eq!(
        bench.value(number(PortIndex(1), 0), Type::Int32),
        Value::Int32(3)
    );
    assert_eq!(
        bench.value(ExprKind::OutputCall(0), Type::Int32),
        Value::Int32(4)
    );
}

#[test]
fn whole_tuples_and_their_parts() {
    let mut bench = Bench::new();
    let ty = Type::Tuple(schema());
    let whole = ExprKind::Input {
        port: PortIndex(1),
        history: 0,
    };
    assert_eq!(bench.value(whole.clone(), ty.clone()), record(3, &["c"]));
    let field = Expr::new(whole, ty).field("tags");
    assert_eq!(
        bench.value(index(field, int(0), Type::RString).kind, Type::RString),
        string("c")
    );
    let tags = ExprKind::Attribute {
        port: PortIndex(0),
        history: 0,
        index: 1,
    };
    let tags = Expr::new(tags, list_of(Type::RString));
    let size = native(SIZE, vec![graph::Arg::Value(tags.clone())], Type::Int32);
    let first = index(tags, int(0), Type::RString);
    let ty = tuple_of(&[("n", Type::Int32), ("first", Type::RString)]);
    let both = bench.value(ExprKind::Tuple(vec![size, first]), ty);
    assert_eq!(both, Value::Tuple(Box::new([Value::Int32(2), string("a")])));
}

#[test]
fn an_empty_slot_reads_as_the_default_tuple() {
    let mut bench = Bench::new();
    bench.inputs[1] = None;
    assert_eq!(
        bench.value(number(PortIndex(0), 1), Type::Int32),
        Value::Int32(0)
    );
}

#[test]
fn tuples_are_submitted_flat() {
    let mut bench = Bench::new();
    let id = add(Expr::new(number(PortIndex(0), 0), Type::Int32), int(10));
    let tags = ExprKind::Attribute {
        port: PortIndex(0),
        history: 0,
        index: 1,
    };
    let tuple = tuple_expr(vec![id, Expr::new(tags, list_of(Type::RString))]);
    let forwarded = Expr::new(
        ExprKind::Input {
            port: PortIndex(1),
            history: 0,
        },
        Type::Tuple(schema()),
    );
    let constant = Expr::constant(record(5, &["k"]), Type::Tuple(schema()));
    bench
        .run(vec![
            submit(out(0), tuple),
            submit(out(1), forwarded),
            submit(out(0), constant),
        ])
        .expect("no fault");
    let expected = [
        (PortIndex(0), record(11, &["a", "b"])),
        (PortIndex(1), record(3, &["c"])),
        (PortIndex(0), record(5, &["k"])),
    ];
    assert_eq!(bench.recorder.tuples, expected);
}

#[test]
fn a_port_that_is_not_there_is_a_fault() {
    let mut bench = Bench::new();
    let tuple = Expr::constant(record(5, &[]), Type::Tuple(schema()));
    let fault = bench.run(vec![submit(out(2), tuple)]).expect_err("a fault");
    assert_eq!(
        fault.message(),
        "output port 2 does not exist: there are 2 output ports"
    );
    assert_eq!(fault.pos().map(|pos| pos.line), Some(7));
}

#[test]
fn markers() {
    let mut bench = Bench::new();
    bench.mark = Some(Punctuation::Final);
    let names = ["WindowMarker", "FinalMarker"].map(Into::into).to_vec();
    let ty = Type::Enum(tuple::EnumType { names }.into());
    let pos = graph::Pos::default();
    let mark = Expr::new(ExprKind::CurrentPunct, ty.clone());
    let window = Expr::constant(Value::Enum(0), ty);
    bench
        .run(vec![
            Stmt::SubmitPunct {
                port: out(1),
                mark,
                pos,
            },
            Stmt::SubmitPunct {
                port: out(0),
                mark: window,
                pos,
            },
        ])
        .expect("no fault");
    assert_eq!(
        bench.recorder.marks,
        [
            (PortIndex(1), Punctuation::Final),
            (PortIndex(0), Punctuation::Window)
        ]
    );
}

#[test]
fn projections_and_conditions() {
    let mut bench = Bench::new();
    let layout = bench.layout.clone();
    let mut buf = TupleBuf::default();
    let exprs = [
        Some(add(Expr::new(number(PortIndex(0), 0), Type::Int32), int(1))),
        None,
    ];
    bench
        .with(|interpreter, to| interpreter.project(&exprs, to, &layout, &mut buf))
        .expect("no fault");
    assert_eq!(buf.as_ref().to_value(&layout), record(2, &[]));
    let condition = less(Expr::new(number(PortIndex(0), 0), Type::Int32), int(2));
    assert_eq!(
        bench.with(|interpreter, to| interpreter.evaluate_condition(&condition, to)),
        Ok(true)
    );
}
