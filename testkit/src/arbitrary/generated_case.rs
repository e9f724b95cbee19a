//! A generated program with the tuples that it runs on.

use std::fmt;
use std::sync::Arc;

use eval::{Evaluation, InputTuples, Interpreter, State};
use graph::print::PrintNames;
use graph::{Body, Expr, Function, InPort, StateTable, StateVar};
use tuple::{Layout, Punctuation, TupleBuf, TupleType, Value};

use super::choices::Choices;
use super::constant::constant;
use super::environment;
use super::generator::ProgramGenerator;
use super::native::NATIVES;
use super::run_outcome::RunOutcome;
use crate::SubmissionRecorder;

/// Random numbers from which a case is made.
#[derive(Clone, Debug, Default)]
pub struct CaseDecisions {
    /// Numbers that decide the functions.
    pub functions: Vec<u32>,
    /// Numbers that decide the condition and the projection.
    pub expressions: Vec<u32>,
    /// Numbers that decide the body.
    pub body: Vec<u32>,
    /// Numbers that decide the tuples.
    pub data: Vec<u32>,
}

/// A generated program of one operator, with the tuples that it runs on.
///
/// It runs once for each row of [`GeneratedCase::runs`], on the same state: first the body, then,
/// whatever came of it, the projection and the condition.
pub struct GeneratedCase {
    /// The input ports; slots are numbered as in [`InputTuples`].
    pub inputs: Vec<InPort>,
    /// The schemas of the output ports.
    pub outputs: Vec<Arc<TupleType>>,
    /// State variables of the operator.
    pub state: Vec<StateVar>,
    /// Tables that the last ones of the variables live in.
    pub tables: Vec<StateTable>,
    /// The functions that it calls, besides [`NATIVES`].
    pub functions: Vec<Function>,
    /// Statements that each run executes.
    pub body: Body,
    /// Expressions for the attributes of output port 0.
    pub projection: Vec<Option<Expr>>,
    /// A condition that each run tests.
    pub condition: Expr,
    /// The tuples in the input slots, run by run.
    pub runs: Vec<Vec<Value>>,
    /// Value of `currentPunct()` in the body.
    pub current_punctuation: Punctuation,
}

impl GeneratedCase {
    /// The case that these decisions make.
    pub fn new(decisions: &CaseDecisions) -> GeneratedCase {
        let inputs = environment::inputs();
        let outputs = environment::outputs();
        let mut data = Choices::new(&decisions.data);
        let runs = (0..2).map(|_| input_tuples(&inputs, &mut data)).collect();
        let mut generator = ProgramGenerator::new(Choices::new(&decisions.functions));
        generator.functions();
        generator.choices = Choices::new(&decisions.expressions);
        let condition = generator.condition();
        let projection = generator.projection(&outputs[0]);
        generator.choices = Choices::new(&decisions.body);
        let body = generator.body();
        GeneratedCase {
            inputs,
            outputs,
            state: environment::state(),
            tables: environment::tables(),
            functions: generator.functions,
            body,
            projection,
            condition,
            runs,
            current_punctuation: Punctuation::Final,
        }
    }

    /// The layout of every input slot.
    pub fn input_layouts(&self) -> Vec<Arc<Layout>> {
        let slots = self.inputs.iter().flat_map(|port| {
            let layout = Layout::new(&port.schema);
            std::iter::repeat_n(layout, port.history.slots() as usize)
        });
        slots.collect()
    }

    /// The layouts of the output ports.
    pub fn output_layouts(&self) -> Vec<Arc<Layout>> {
        self.outputs.iter().map(Layout::new).collect()
    }

    /// The tuples of a run as they come in.
    pub fn flat_tuples(&self, run: usize) -> Vec<TupleBuf> {
        let slots = self.runs[run].iter().zip(self.input_layouts());
        let flat = slots.map(|(tuple, layout)| {
            let mut buf = TupleBuf::default();
            buf.begin(&layout);
            if let Value::Tuple(parts) = tuple {
                parts
                    .iter()
                    .enumerate()
                    .for_each(|(at, part)| buf.set(&layout, at, part));
            }
            buf
        });
        flat.collect()
    }

    /// Interprets the case; the result has an outcome for each run.
    pub fn interpret(&self) -> Vec<RunOutcome> {
        let outputs = self.output_layouts();
        let interpreter = Interpreter::new(&self.functions, NATIVES);
        let mut interpreter = interpreter.with_ports(&self.inputs, &outputs);
        let mut state = State::with_tables(&self.state, &self.tables);
        let runs = 0..self.runs.len();
        runs.map(|run| self.interpret_run(run, &mut interpreter, &mut state))
            .collect()
    }

    fn interpret_run(
        &self,
        run: usize,
        interpreter: &mut Interpreter,
        state: &mut State,
    ) -> RunOutcome {
        let flat = self.flat_tuples(run);
        let tuples: Vec<_> = flat.iter().map(|tuple| Some(tuple.as_ref())).collect();
        let layouts = self.input_layouts();
        let outputs = self.output_layouts();
        let mut recorder = SubmissionRecorder::default();
        let mut to = Evaluation {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &layouts,
            },
            state,
            submit: &mut recorder,
            current_punctuation: Some(self.current_punctuation),
        };
        let ended = interpreter.run(&self.body, &mut to);
        let mut out = TupleBuf::default();
        let projected = interpreter.project(&self.projection, &mut to, &outputs[0], &mut out);
        let holds = interpreter.evaluate_condition(&self.condition, &mut to);
        RunOutcome {
            body_result: ended,
            state: RunOutcome::state_bytes(state),
            submitted: RunOutcome::submitted_bytes(&recorder, &outputs),
            projection: projected.map(|()| RunOutcome::tuple_bytes(out.as_ref(), &outputs[0])),
            condition: holds,
        }
    }
}

/// A tuple for every input slot.
fn input_tuples(inputs: &[InPort], choices: &mut Choices<'_>) -> Vec<Value> {
    let slots = inputs.iter().flat_map(|port| {
        std::iter::repeat_n(
            tuple::Type::Tuple(port.schema.clone()),
            port.history.slots() as usize,
        )
    });
    slots.map(|ty| constant(&ty, choices)).collect()
}

/// The program as text, then what it runs on.
impl fmt::Debug for GeneratedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let natives: Vec<&str> = NATIVES.iter().map(|native| native.prototype).collect();
        let names = PrintNames {
            natives: &natives,
            functions: &self.functions,
            inputs: &self.inputs,
            state: &self.state,
            ..PrintNames::default()
        };
        for function in &self.functions {
            writeln!(f, "{}", names.print(function))?;
        }
        writeln!(f, "body:\n{}", names.print(&self.body))?;
        for (at, expr) in self.projection.iter().enumerate() {
            if let Some(expr) = expr {
                writeln!(f, "projection {at}: {}", names.print(expr))?;
            }
        }
        writeln!(f, "condition: {}", names.print(&self.condition))?;
        let types = self.input_layouts();
        for (at, run) in self.runs.iter().enumerate() {
            for (slot, tuple) in run.iter().enumerate() {
                let ty = tuple::Type::Tuple(types[slot].schema.clone());
                let text = tuple::text::to_text(tuple, &ty);
                writeln!(f, "run {at}, slot {slot}: {text}")?;
            }
        }
        Ok(())
    }
}
