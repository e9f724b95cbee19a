//! One operator of an SPL program, compiled, which processes tuples on the calling thread.

use std::path::Path;
use std::sync::Arc;

use engine::{CompileRequest, compile};
use graph::PortIndex;
use jit::Jit;
use runtime::{OperatorEntry, PeOptions, TestHarness};
use tuple::{Layout, TupleBuf, Value};

/// A compiled operator in a test harness.
pub struct CompiledOperator {
    harness: TestHarness,
    /// Layouts of the input ports.
    pub inputs: Vec<Arc<Layout>>,
}

impl CompiledOperator {
    /// Compiles the operator called `name` in a program below `lab/micro/programs`.
    ///
    /// # Panics
    /// If there is no such operator or it does not compile; the bench is broken then.
    pub fn compile(program: &str, name: &str) -> CompiledOperator {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let request = CompileRequest {
            file: folder.join(program),
            ..CompileRequest::default()
        };
        let compiled = compile(&request).expect("the program can be read");
        let program = compiled.program.expect("the program is right");
        let mut operators = program.operators.iter();
        let operator = operators.find(|operator| &*operator.name == name);
        let operator = operator.unwrap_or_else(|| panic!("no operator {name}"));
        let entry = OperatorEntry::find(toolkit::operators(), &operator.kind);
        let functions = toolkit::functions();
        let mut jit = Jit::new(&program.functions, functions, jit::JitOptions::default())
            .expect("a known machine");
        let entry = entry.expect("a known operator");
        let harness = TestHarness::new(operator, entry, &mut jit, PeOptions::default());
        let harness = harness.unwrap_or_else(|report| panic!("{report}"));
        let inputs = operator.inputs.iter();
        CompiledOperator {
            harness,
            inputs: inputs.map(|port| Layout::new(&port.schema)).collect(),
        }
    }

    /// Flat tuples for an input port, one per value.
    pub fn flat_tuples(
        &self,
        port: usize,
        values: impl IntoIterator<Item = Vec<Value>>,
    ) -> Vec<TupleBuf> {
        let layout = &self.inputs[port];
        let flat = values.into_iter().map(|fields| {
            let mut buf = TupleBuf::default();
            buf.set_all(layout, &Value::Tuple(fields.into()));
            buf
        });
        flat.collect()
    }

    /// Has the operator process tuples; the number of tuples and punctuations that it submits.
    ///
    /// # Panics
    /// On a fault; the bench is broken then.
    pub fn process(&mut self, port: PortIndex, tuples: &[TupleBuf]) -> usize {
        for tuple in tuples {
            let done = self.harness.process(port, tuple.as_ref());
            done.unwrap_or_else(|fault| panic!("{fault}"));
        }
        self.harness.take_outputs().len()
    }
}
