//! Runs a body interpreted and compiled, and compares everything that can be seen of it.

use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, FaultKind, InputTuples, NativeFn, Services, State, TraceLevel};
use graph::{
    Body, Expr, ExprKind, Function, HistoryDepths, InPort, OperatorNode, OutPort, PortIndex, Pos,
    StateVar, Stmt,
};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::abi::{Backend, CodeContext, CodeOutlet, CodeScope, RunBody};
use runtime::{EvaluationInputs, Outlet};
use thalweg_jit::{Jit, JitOptions};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, TupleType, Type, Value};

/// A body with the inputs, state and ports that it runs with.
#[derive(Clone, Default)]
pub struct Rig {
    pub functions: Vec<Function>,
    pub natives: Vec<NativeFn>,
    pub state: Vec<StateVar>,
    /// Input ports: schema and history.
    pub inputs: Vec<(Arc<TupleType>, u32)>,
    pub outputs: Vec<Arc<TupleType>>,
}

/// Observations of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub result: Result<(), (FaultKind, String, Option<Pos>)>,
    pub events: Vec<Event>,
    pub state: String,
}

/// One observable act of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Tuple(PortIndex, Vec<u8>, String),
    Mark(PortIndex, Punctuation),
    Print(String),
}

/// The type of a tuple.
pub fn schema<const N: usize>(attributes: [(&str, Type); N]) -> Arc<TupleType> {
    Arc::new(TupleType::new(attributes))
}

impl Rig {
    pub fn operator(&self) -> OperatorNode {
        let inputs = self.inputs.iter().map(|(schema, history)| InPort {
            history: HistoryDepths::up_to(*history),
            ..InPort::new("In", schema.clone(), Vec::new())
        });
        let outputs = self
            .outputs
            .iter()
            .map(|schema| OutPort::new("Out", schema.clone()));
        OperatorNode {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            ..OperatorNode::new("Op", "test::Op", Pos::default())
        }
    }

    /// Runs a body on rows of input tuples one after the other, by both backends, and compares.
    pub fn agree(&self, body: &Body, rows: &[Vec<Option<Value>>]) -> Vec<Seen> {
        let mut interpreted = InterpreterBackend::new(&self.functions, &self.natives);
        let mut compiled = Jit::new(&self.functions, &self.natives, JitOptions::default())
            .expect("this machine is supported");
        let expected = self.run(&mut interpreted, body, rows);
        let actual = self.run(&mut compiled, body, rows);
        for (at, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            assert_eq!(expected, actual, "run {at} of {body:#?}");
        }
        expected
    }

    fn run(
        &self,
        backend: &mut dyn Backend,
        body: &Body,
        rows: &[Vec<Option<Value>>],
    ) -> Vec<Seen> {
        let operator = self.operator();
        let slots = self
            .inputs
            .iter()
            .flat_map(|(s, h)| vec![Layout::new(s); *h as usize + 1]);
        let scope = CodeScope {
            operator: &operator,
            index: 0,
            inputs: slots.collect(),
            outputs: self.outputs.iter().map(Layout::new).collect(),
            state: &self.state,
            tables: &[],
        };
        let mut act = backend
            .body(&scope, body)
            .unwrap_or_else(|fault| panic!("{fault}"));
        backend.finish().unwrap_or_else(|fault| panic!("{fault}"));
        let mut state = State::new(&self.state);
        rows.iter()
            .map(|row| self.once(&mut *act, &scope, &mut state, row))
            .collect()
    }

    fn once(
        &self,
        act: &mut dyn RunBody,
        scope: &CodeScope<'_>,
        state: &mut State,
        row: &[Option<Value>],
    ) -> Seen {
        let bufs: Vec<Option<TupleBuf>> = row
            .iter()
            .zip(&scope.inputs)
            .map(|(value, layout)| {
                value.as_ref().map(|value| {
                    let mut buf = TupleBuf::default();
                    buf.set_all(layout, value);
                    buf
                })
            })
            .collect();
        let tuples: Vec<Option<TupleRef<'_>>> = bufs
            .iter()
            .map(|buf| buf.as_ref().map(TupleBuf::as_ref))
            .collect();
        let mut sink = Sink {
            layouts: scope.outputs.clone(),
            ..Sink::default()
        };
        let result = act.run_body(&mut CodeContext {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &scope.inputs,
            },
            state,
            outlet: &mut sink,
            punctuation: Some(Punctuation::Final),
        });
        let describe = |fault: Fault| (fault.kind(), fault.message().to_owned(), fault.pos());
        Seen {
            result: result.map_err(describe),
            events: sink.events,
            state: format!("{:?} {:?}", state.scalars, state.values),
        }
    }

    /// Compares the values of expressions over one row of input tuples.
    pub fn values(&mut self, exprs: Vec<Expr>, row: Vec<Option<Value>>) -> Vec<Seen> {
        let attributes = exprs
            .iter()
            .enumerate()
            .map(|(at, e)| (format!("a{at}"), e.ty.clone()));
        let out = Arc::new(TupleType::new(attributes));
        self.outputs = vec![out.clone()];
        let tuple = Expr::new(ExprKind::Tuple(exprs), Type::Tuple(out));
        let body = Body {
            locals: Vec::new(),
            stmts: vec![submit(PortIndex(0), tuple)],
        };
        self.agree(&body, &[row])
    }
}

/// The statement `submit(tuple, port)`.
pub fn submit(port: PortIndex, tuple: Expr) -> Stmt {
    let port = Expr::constant(Value::Uint32(port.0), Type::Uint32);
    Stmt::Submit {
        port,
        tuple,
        pos: Pos {
            file: 0,
            line: 99,
            column: 1,
        },
    }
}

/// Notes what is submitted and printed.
#[derive(Default)]
pub struct Sink {
    pub layouts: Vec<Arc<Layout>>,
    pub events: Vec<Event>,
    pub randoms: u32,
}

impl Outlet for Sink {
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        let value = tuple.to_value(&self.layouts[port.index()]);
        if self.events.len() > 100_000 {
            return Err(Fault::new(FaultKind::Abort, "enough"));
        }
        self.events.push(Event::Tuple(
            port,
            tuple.bytes().to_vec(),
            format!("{value:?}"),
        ));
        Ok(())
    }
    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        self.events.push(Event::Mark(port, mark));
        Ok(())
    }
    fn services(&mut self) -> &mut dyn Services {
        self
    }
    fn evaluate(
        &mut self,
        _row: &EvaluationInputs<'_>,
        _code: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Err(Fault::value("not here"))
    }
}

impl CodeOutlet for Sink {
    fn act_as(&mut self, _operator: u32) -> u32 {
        0
    }
    fn submit_to(
        &mut self,
        port: PortIndex,
        _consumers: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        self.submit(port, tuple)
    }
    fn wake_consumer(&mut self, _port: PortIndex, _consumer: u32) {}
}

impl Services for Sink {
    fn print(&mut self, text: &[u8], _flush: bool) -> Result<(), Fault> {
        self.events
            .push(Event::Print(String::from_utf8_lossy(text).into_owned()));
        Ok(())
    }
    fn flush(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    fn data_directory(&self) -> Result<String, Fault> {
        Ok("/data".to_owned())
    }
    fn is_shutdown(&self) -> bool {
        self.events.len() > 20
    }
    fn shutdown(&mut self) {}
    fn block(&mut self, seconds: f64) {
        self.events.push(Event::Print(format!("slept {seconds}")));
    }
    fn is_traceable(&self, _level: TraceLevel) -> bool {
        false
    }
    fn trace(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {}
    fn is_loggable(&self, _level: TraceLevel) -> bool {
        false
    }
    fn log(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {}
    fn random(&mut self) -> f64 {
        self.randoms += 1;
        f64::from(self.randoms) / 1000.0
    }
    fn seed(&mut self, _seed: i32) {}
    fn operator_name(&self) -> &str {
        "Op"
    }
    fn metric(&self, _name: &str) -> Option<i64> {
        None
    }
    fn set_metric(&mut self, _name: &str, _value: i64) -> bool {
        false
    }
    fn create_metric(&mut self, _: &str, _: &str, _: u32, _: i64) -> bool {
        false
    }
    fn metric_names(&self) -> Vec<String> {
        Vec::new()
    }
    fn property(&self, _name: &str) -> Option<String> {
        None
    }
}
