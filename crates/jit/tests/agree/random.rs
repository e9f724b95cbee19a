//! Random programs: what compiled code does is what the interpreter does, to the bit.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use eval::{Fault, InputTuples, OperatorEventTime, State};
use graph::{Expr, OperatorNode, OutPort, PortIndex, Pos};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::abi::{
    Backend, ChainMember, CodeContext, CodeScope, FrameBatch, FrameForm, LoweredLogic, StateCell,
    ThreadChains,
};
use testkit::SubmissionRecorder;
use testkit::arbitrary::{GeneratedCase, NATIVES, RunOutcome, generated_cases};
use thalweg_jit::{Jit, JitOptions};
use tuple::{Punctuation, TupleBuf};

fn operator(case: &GeneratedCase) -> OperatorNode {
    let output = |schema: &Arc<tuple::TupleType>| OutPort::new("Out", schema.clone());
    OperatorNode {
        inputs: case.inputs.clone(),
        outputs: case.outputs.iter().map(output).collect(),
        ..OperatorNode::new("Op", "test::Op", Pos::default())
    }
}

fn scope<'a>(case: &'a GeneratedCase, operator: &'a OperatorNode) -> CodeScope<'a> {
    CodeScope {
        operator,
        index: 0,
        inputs: case.input_layouts(),
        outputs: case.output_layouts(),
        state: &case.state,
        tables: &case.tables,
    }
}

/// Outcomes of a case that runs compiled.
fn compiled(case: &GeneratedCase) -> Vec<RunOutcome> {
    let operator = operator(case);
    let scope = scope(case, &operator);
    let mut jit = Jit::new(&case.functions, NATIVES, JitOptions::default()).unwrap();
    let exprs: Vec<Option<&Expr>> = case.projection.iter().map(Option::as_ref).collect();
    let layout = scope.outputs[0].clone();
    let mut body = jit
        .body(&scope, &case.body)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let mut projection = jit
        .projection(&scope, &exprs, &layout)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let mut condition = jit
        .predicate(&scope, &case.condition)
        .unwrap_or_else(|fault| panic!("{fault}"));
    jit.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let mut state = State::with_tables(&case.state, &case.tables);
    let runs = (0..case.runs.len()).map(|run| {
        let flat = case.flat_tuples(run);
        let tuples: Vec<_> = flat.iter().map(|tuple| Some(tuple.as_ref())).collect();
        let mut recorder = SubmissionRecorder::default();
        let mut context = CodeContext {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &scope.inputs,
            },
            state: &mut state,
            outlet: &mut recorder,
            punctuation: Some(case.current_punctuation),
        };
        let ended = body.run_body(&mut context);
        let mut out = TupleBuf::default();
        let projected = projection.project(&mut context, &mut out);
        let holds = condition.test(&mut context);
        RunOutcome {
            body_result: ended,
            state: RunOutcome::state_bytes(&state),
            submitted: RunOutcome::submitted_bytes(&recorder, &scope.outputs),
            projection: projected.map(|()| RunOutcome::tuple_bytes(out.as_ref(), &layout)),
            condition: holds,
        }
    });
    runs.collect()
}

/// Outcome of the body for tuples of the first port: how it ended, after how many tuples, then
/// state and submissions.
type BodyOutcome = (
    Result<(), Fault>,
    u64,
    Vec<Vec<u8>>,
    Vec<(PortIndex, Result<Vec<u8>, Punctuation>)>,
);

/// Tuples of the first input port, those of each run several times.
fn first_tuples(case: &GeneratedCase) -> Vec<TupleBuf> {
    let runs = (0..3 * case.runs.len()).map(|run| run % case.runs.len());
    runs.map(|run| case.flat_tuples(run).swap_remove(0))
        .collect()
}

/// The outcome of code that is called for each tuple.
fn called_for_each(case: &GeneratedCase) -> BodyOutcome {
    let operator = operator(case);
    let scope = scope(case, &operator);
    let mut jit = Jit::new(&case.functions, NATIVES, JitOptions::default()).unwrap();
    let body = jit.body(&scope, &case.body);
    let mut body = body.unwrap_or_else(|fault| panic!("{fault}"));
    jit.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let mut state = State::with_tables(&case.state, &case.tables);
    let mut recorder = SubmissionRecorder::default();
    let (mut result, mut count) = (Ok(()), 0);
    for tuple in first_tuples(case) {
        let mut tuples = vec![None; scope.inputs.len()];
        tuples[0] = Some(tuple.as_ref());
        count += 1;
        result = body.run_body(&mut CodeContext {
            inputs: InputTuples {
                tuples: &tuples,
                layouts: &scope.inputs,
            },
            state: &mut state,
            outlet: &mut recorder,
            punctuation: None,
        });
        if result.is_err() {
            break;
        }
    }
    let submitted = RunOutcome::submitted_bytes(&recorder, &scope.outputs);
    (result, count, RunOutcome::state_bytes(&state), submitted)
}

/// Whether a statement of a program lets the thread sleep: there is no code for batches of it then.
fn may_sleep(case: &GeneratedCase) -> bool {
    format!("{:?} {:?}", case.body, case.functions).contains("Sleep(")
}

/// The outcome of code that is called once, which keeps words of the state in registers.
fn called_once(case: &GeneratedCase) -> BodyOutcome {
    const KIND: u8 = 7;
    static STOP: u8 = 0;
    let running = AtomicU32::new(0);
    let operator = operator(case);
    let scope = scope(case, &operator);
    let outputs = scope.outputs.clone();
    let cell = StateCell::new(State::with_tables(&case.state, &case.tables));
    let logic = LoweredLogic {
        state: case.state.clone(),
        tables: case.tables.clone(),
        on_tuple: vec![case.body.clone()],
        on_punct: vec![None],
        ..LoweredLogic::default()
    };
    let event_time = OperatorEventTime::default();
    // What code says for samples changes nothing else.
    let options = JitOptions {
        for_samples: true,
        ..JitOptions::default()
    };
    let mut jit = Jit::new(&case.functions, NATIVES, options).unwrap();
    let codes = jit.compile_chains(&ThreadChains {
        members: vec![ChainMember {
            scope,
            logic: &logic,
            state: cell.address(),
            event_time: &event_time,
            chain_outputs: outputs.iter().map(|_| None).collect(),
            batch_forms: vec![Some(FrameForm::Flat)],
        }],
        stop_flag: &raw const STOP,
        running: Some(running.as_ptr()),
    });
    let mut codes = codes.unwrap_or_else(|fault| panic!("{fault}"));
    jit.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let mut words = Vec::new();
    for tuple in first_tuples(case) {
        let bytes = tuple.as_ref().bytes().to_vec();
        words.push(bytes.len() as u64 | u64::from(KIND) << 32);
        words.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        }));
    }
    let mut cell = cell;
    let mut recorder = SubmissionRecorder::default();
    let code = codes[0].on_batch[0].as_mut().expect("code for batches");
    let (count, result) = code.body.run_body_on_batch(
        &mut CodeContext {
            inputs: InputTuples::NONE,
            state: cell.borrow(),
            outlet: &mut recorder,
            punctuation: None,
        },
        &mut FrameBatch::new(bytemuck::cast_slice(&words)),
        KIND,
    );
    let submitted = RunOutcome::submitted_bytes(&recorder, &outputs);
    (
        result,
        count,
        RunOutcome::state_bytes(cell.borrow()),
        submitted,
    )
}

/// Summary of how the outcomes of two runs differ.
fn difference(expected: &[RunOutcome], actual: &[RunOutcome]) -> Option<String> {
    let runs = expected.iter().zip(actual).enumerate();
    for (run, (expected, actual)) in runs {
        let mut differ = Vec::new();
        if expected.body_result != actual.body_result {
            differ.push(format!(
                "ended {:?}, not {:?}",
                actual.body_result, expected.body_result
            ));
        }
        for (at, (a, b)) in actual.state.iter().zip(&expected.state).enumerate() {
            if a != b {
                differ.push(format!("state {at} is {a:?}, not {b:?}"));
            }
        }
        if expected.submitted != actual.submitted {
            let (a, b) = (&actual.submitted, &expected.submitted);
            differ.push(format!("submitted {a:?}, not {b:?}"));
        }
        if expected.projection != actual.projection {
            differ.push(format!(
                "projected {:?}, not {:?}",
                actual.projection, expected.projection
            ));
        }
        if expected.condition != actual.condition {
            differ.push(format!(
                "holds {:?}, not {:?}",
                actual.condition, expected.condition
            ));
        }
        if !differ.is_empty() {
            return Some(format!("run {run}: {}", differ.join("; ")));
        }
    }
    None
}

/// How many programs are generated: 300, or what `THALWEG_PROGRAMS` says.
fn case_count() -> u32 {
    let asked = std::env::var("THALWEG_PROGRAMS").ok();
    asked.map_or(300, |count| count.parse().expect("a number of programs"))
}

proptest! {
    #![proptest_config(Config {
        cases: case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn random_programs_agree(case in generated_cases(300)) {
        let difference = difference(&case.interpret(), &compiled(&case));
        prop_assert_eq!(difference, None);
    }

    #[test]
    fn random_programs_agree_over_batches(
        case in generated_cases(300).prop_filter("it sleeps", |case| !may_sleep(case)),
    ) {
        prop_assert_eq!(called_once(&case), called_for_each(&case));
    }
}
