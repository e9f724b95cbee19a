//! Random programs: what compiled code does is what the interpreter does, to the bit.

use std::sync::Arc;

use eval::{InputTuples, State};
use graph::{Expr, OperatorNode, OutPort, Pos};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::abi::{Backend, CodeContext, CodeScope};
use testkit::SubmissionRecorder;
use testkit::arbitrary::{GeneratedCase, NATIVES, RunOutcome, generated_cases};
use thalweg_jit::{Jit, JitOptions};
use tuple::TupleBuf;

fn operator(case: &GeneratedCase) -> OperatorNode {
    let output = |schema: &Arc<tuple::TupleType>| OutPort::new("Out", schema.clone());
    OperatorNode {
        inputs: case.inputs.clone(),
        outputs: case.outputs.iter().map(output).collect(),
        ..OperatorNode::new("Op", "test::Op", Pos::default())
    }
}

/// Outcomes of a case that runs compiled.
fn compiled(case: &GeneratedCase) -> Vec<RunOutcome> {
    let operator = operator(case);
    let scope = CodeScope {
        operator: &operator,
        index: 0,
        inputs: case.input_layouts(),
        outputs: case.output_layouts(),
        state: &case.state,
        tables: &case.tables,
    };
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
}
