//! One operator of an SPL program, compiled, and handed its tuples on this thread.

use std::path::Path;
use std::sync::Arc;

use engine::{Request, compile};
use jit::Jit;
use runtime::{Options, Workbench};
use tuple::{Layout, TupleBuf, Value};

/// An operator that runs.
pub struct Single {
    bench: Workbench,
    /// Of its input ports.
    pub inputs: Vec<Arc<Layout>>,
}

impl Single {
    /// The operator of that name in a program below `bench/programs`.
    ///
    /// # Panics
    /// If there is none, or it cannot be made: the bench is broken.
    pub fn of(program: &str, name: &str) -> Single {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let request = Request {
            file: folder.join(program),
            ..Request::default()
        };
        let compiled = compile(&request).expect("the program can be read");
        let program = compiled.program.expect("the program is right");
        let mut operators = program.operators.iter();
        let operator = operators.find(|operator| &*operator.name == name);
        let operator = operator.unwrap_or_else(|| panic!("no operator {name}"));
        let mut registry = toolkit::operators().iter();
        let entry = registry.find(|entry| {
            let model = entry.model;
            *operator.kind == format!("{}::{}", model.namespace, model.name)
        });
        let functions = toolkit::functions();
        let mut jit = Jit::new(&program.functions, functions, jit::Options::default())
            .expect("a known machine");
        let entry = *entry.expect("a known operator");
        let bench = Workbench::new(operator, entry, &mut jit, Options::default());
        let bench = bench.unwrap_or_else(|report| panic!("{report}"));
        let inputs = operator.inputs.iter();
        Single {
            bench,
            inputs: inputs.map(|port| Layout::of(&port.schema)).collect(),
        }
    }

    /// Flat tuples for an input port.
    pub fn tuples(
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

    /// Hands over tuples; how many items it has sent on account of them.
    ///
    /// # Panics
    /// On a fault: the bench is broken.
    pub fn process(&mut self, port: u32, tuples: &[TupleBuf]) -> usize {
        for tuple in tuples {
            let done = self.bench.tuple(port, tuple.as_ref());
            done.unwrap_or_else(|fault| panic!("{fault}"));
        }
        self.bench.take().len()
    }
}
