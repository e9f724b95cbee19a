//! One operator without a PE: it is called directly, and its submitted tuples are counted.

use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, InputTuples, Services, State, TraceLevel};
use graph::{Body, InPort, OperatorNode, OutPort, PortIndex, Pos, StateVar};
use runtime::abi::{Backend, CodeContext, CodeOutlet, CodeScope, RunBody};
use runtime::{EvaluationInputs, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, TupleType, Value};

/// An operator with one input port, compiled or interpreted by a backend.
pub struct BareOperator {
    act: Box<dyn RunBody>,
    /// State variables of the operator.
    pub state: State,
    layouts: Vec<Arc<Layout>>,
}

/// The parts of an operator: schema, state and code.
pub struct BareOperatorParts<'a> {
    /// Schema of the input port.
    pub input: &'a Arc<TupleType>,
    /// State variables that the body reads and writes.
    pub state: &'a [StateVar],
    /// Statements that process a tuple.
    pub body: &'a Body,
}

/// The description of an operator with these ports, without parameters or logic.
pub fn graph_operator(inputs: &[Arc<TupleType>], outputs: &[Arc<TupleType>]) -> OperatorNode {
    let input = |schema: &Arc<TupleType>| InPort::new("In", schema.clone(), Vec::new());
    let output = |schema: &Arc<TupleType>| OutPort::new("Out", schema.clone());
    OperatorNode {
        inputs: inputs.iter().map(input).collect(),
        outputs: outputs.iter().map(output).collect(),
        ..OperatorNode::new("Op", "bench::Op", Pos::default())
    }
}

impl BareOperator {
    /// Compiles an operator with a backend.
    ///
    /// # Panics
    /// If the backend refuses the operator; the bench is broken then.
    pub fn new(backend: &mut dyn Backend, parts: &BareOperatorParts<'_>) -> BareOperator {
        let operator = graph_operator(std::slice::from_ref(parts.input), &[]);
        let layouts = vec![Layout::new(parts.input)];
        let scope = CodeScope {
            operator: &operator,
            index: 0,
            inputs: layouts.clone(),
            outputs: Vec::new(),
            state: parts.state,
            tables: &[],
        };
        let act = backend
            .body(&scope, parts.body)
            .unwrap_or_else(|fault| panic!("{fault}"));
        backend.finish().unwrap_or_else(|fault| panic!("{fault}"));
        BareOperator {
            act,
            state: State::new(parts.state),
            layouts,
        }
    }

    /// Has the operator process a tuple.
    ///
    /// # Panics
    /// On a fault; the bench is broken then.
    pub fn process(&mut self, tuple: &Value) {
        let mut buf = TupleBuf::default();
        buf.set_all(&self.layouts[0], tuple);
        let result = self.act.run_body(&mut CodeContext {
            inputs: InputTuples {
                tuples: &[Some(buf.as_ref())],
                layouts: &self.layouts,
            },
            state: &mut self.state,
            outlet: &mut CountingOutlet::default(),
            punctuation: None,
        });
        result.unwrap_or_else(|fault| panic!("{fault}"));
    }
}

/// An outlet that counts submitted tuples and drops them.
#[derive(Default)]
pub struct CountingOutlet {
    /// Number of submitted tuples.
    pub count: u64,
}

impl Outlet for CountingOutlet {
    fn submit(&mut self, _port: PortIndex, _tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.count += 1;
        Ok(())
    }
    fn submit_punctuation(&mut self, _port: PortIndex, _mark: Punctuation) -> Result<(), Fault> {
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
        Err(Fault::value("a bench has no windows"))
    }
}

impl CodeOutlet for CountingOutlet {
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

impl Services for CountingOutlet {
    fn print(&mut self, _text: &[u8], _flush: bool) -> Result<(), Fault> {
        Ok(())
    }
    fn flush(&mut self) -> Result<(), Fault> {
        Ok(())
    }
    fn data_directory(&self) -> Result<String, Fault> {
        Ok(String::new())
    }
    fn is_shutdown(&self) -> bool {
        false
    }
    fn shutdown(&mut self) {}
    fn block(&mut self, _seconds: f64) {}
    fn is_traceable(&self, _level: TraceLevel) -> bool {
        false
    }
    fn trace(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {}
    fn is_loggable(&self, _level: TraceLevel) -> bool {
        false
    }
    fn log(&mut self, _level: TraceLevel, _message: &str, _aspect: &str) {}
    fn random(&mut self) -> f64 {
        0.5
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
