//! Generated programs are well-typed, run to an end, and reach every form of expression.

use std::collections::BTreeSet;

use eval::FaultKind;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use thalweg_testkit::arbitrary::{CaseDecisions, GeneratedCase, generated_cases};

proptest! {
    #![proptest_config(Config { cases: 200, ..Config::default() })]

    #[test]
    fn they_run_without_an_operation_that_is_not_defined(case in generated_cases(300)) {
        for outcome in case.interpret() {
            let ends = [outcome.body_result, outcome.projection.map(drop), outcome.condition.map(drop)];
            for fault in ends.into_iter().filter_map(Result::err) {
                prop_assert_ne!(fault.kind(), FaultKind::Limit, "{}", fault);
            }
        }
    }

    #[test]
    fn a_run_repeats(case in generated_cases(200)) {
        prop_assert_eq!(case.interpret(), case.interpret());
    }
}

#[test]
fn the_simplest_case_does_nothing() {
    let case = GeneratedCase::new(&CaseDecisions::default());
    assert!(case.body.stmts.is_empty());
    assert!(
        case.interpret()
            .iter()
            .all(|outcome| outcome.body_result.is_ok())
    );
}

/// The names of all forms, as `Debug` writes them.
const FORMS: &str = "\
    Const Local State Input Attribute CurrentPunct IsShutdown Tuple List Set Map Field Index Slice \
    Unary Binary Mapped And Or Conditional In Cast Wrap Unwrap UnwrapOr IsPresent Call User \
    Native Place Assign AssignOp Increment Let If While For Break Continue Return Clause Submit \
    SubmitPunct Sleep Shl Rem Elementwise CollectionScalar ScalarCollection";

#[test]
fn they_reach_every_form_and_mostly_end_well() {
    let mut runner = TestRunner::deterministic();
    let strategy = generated_cases(300);
    let mut forms = BTreeSet::new();
    let mut well = 0;
    for _ in 0..300 {
        let case = strategy.new_tree(&mut runner).expect("a case").current();
        let text = format!("{:?} {:?} {:?}", case.body, case.projection, case.functions);
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        forms.extend(words.map(str::to_owned));
        well += case
            .interpret()
            .iter()
            .filter(|outcome| outcome.body_result.is_ok())
            .count();
    }
    for form in FORMS.split_whitespace() {
        assert!(forms.contains(form), "no program has a {form}");
    }
    assert!(
        (150..600).contains(&well),
        "{well} of 600 runs end without a fault"
    );
}
