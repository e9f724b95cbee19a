//! Models with features that no operator of the library uses yet.

mod support;

use compiler::{CompileInput, CompileOutput};
use graph::{
    AssignmentMode, InPortModel, InvocationError, InvocationPart, OperatorModel, OperatorNode,
    OperatorRole, OutPortModel, ParamMode, ParamModel, PortIndex, PunctuationInputMode,
    PunctuationOutputMode,
};
use thalweg_compiler as compiler;

static MODELS: &[&OperatorModel] = &[
    &OperatorModel {
        namespace: "spl.utility",
        name: "Source",
        outputs: &[OutPortModel::DEFAULT],
        starts_consistent_region: true,
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.utility",
        name: "Sink",
        inputs: &[InPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.utility",
        name: "Expects",
        inputs: &[InPortModel {
            punctuation: PunctuationInputMode::Expecting,
            ..InPortModel::DEFAULT
        }],
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.utility",
        name: "Gate",
        inputs: &[
            InPortModel::DEFAULT,
            InPortModel {
                is_control: true,
                ..InPortModel::DEFAULT
            },
        ],
        outputs: &[OutPortModel {
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            auto_assignment: true,
            complete_assignment: true,
            same_schema_as: Some(PortIndex(0)),
            ..OutPortModel::DEFAULT
        }],
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.adapter",
        name: "Import",
        outputs: &[OutPortModel::DEFAULT],
        role: OperatorRole::Boundary,
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.adapter",
        name: "Export",
        inputs: &[InPortModel::DEFAULT],
        role: OperatorRole::Boundary,
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.utility",
        name: "Control",
        role: OperatorRole::ControlPlane,
        ..OperatorModel::DEFAULT
    },
    &OperatorModel {
        namespace: "spl.utility",
        name: "Parse",
        inputs: &[InPortModel::DEFAULT],
        outputs: &[OutPortModel {
            assign: AssignmentMode::AttributeFree,
            ..OutPortModel::DEFAULT
        }],
        params: &[
            ParamModel {
                name: "from",
                mode: ParamMode::Attribute,
                ..ParamModel::DEFAULT
            },
            ParamModel {
                name: "words",
                ty: "Word",
                mode: ParamMode::Literal,
                is_list: true,
                ..ParamModel::DEFAULT
            },
        ],
        enums: &[("Word", &["one", "two"])],
        output_functions: &["int32 Number()"],
        verify: Some(only_integers),
        ..OperatorModel::DEFAULT
    },
];

/// The first output attribute of `Parse` is an int32, and `from` goes with `words`.
fn only_integers(operator: &OperatorNode) -> Result<(), InvocationError> {
    let misuse = |part, message: &str| {
        Err(InvocationError {
            part,
            message: message.to_owned(),
            help: "see its page".to_owned(),
        })
    };
    let schema = &operator.outputs[0].schema;
    if schema
        .attributes
        .first()
        .is_none_or(|a| a.ty != tuple::Type::Int32)
    {
        return misuse(
            InvocationPart::Attribute(PortIndex(0), 0),
            "the first attribute must be an int32",
        );
    }
    if operator.param("from").is_some() && operator.param("words").is_none() {
        return misuse(InvocationPart::Param("from"), "`from` needs `words`");
    }
    Ok(())
}

fn compile(graph: &str) -> CompileOutput {
    let text = format!("composite Main {{ graph\n{graph}\n}}");
    let natives = toolkit::functions();
    let output = compiler::compile(CompileInput {
        models: MODELS,
        natives,
        ..support::input("models.spl", &text, None)
    });
    println!(
        "{}",
        syntax::render(&output.diagnostics, &output.sources, false)
    );
    output
}

/// The code of each finding and the text at its place.
fn findings(graph: &str) -> Vec<(&'static str, String)> {
    let output = compile(graph);
    let found = output.diagnostics.iter();
    found
        .map(|f| (f.code, output.sources.text(f.span).to_owned()))
        .collect()
}

fn found(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    list.iter()
        .map(|(code, text)| (*code, (*text).to_owned()))
        .collect()
}

#[test]
fn a_loop_through_a_control_port_is_meant_to_be_one() {
    let output = compile(
        "stream<int32 a> A = Source() {}\n\
         stream<int32 a> G = Gate(A ; B) {}\n stream<int32 a> B = Gate(G ; A) {}",
    );
    assert!(output.diagnostics.is_empty());
    let program = output.program.expect("it is right");
    assert!(program.operators[1].inputs[1].is_control);
    let looped = "stream<int32 a> A = Source() {}\n\
         stream<int32 a> G = Gate(A, B ; A as C) {}\n stream<int32 a> B = Gate(G ; A) {}";
    assert_eq!(findings(looped), found(&[("feedback-loop", "B")]));
}

#[test]
fn imported_streams_carry_no_markers() {
    assert_eq!(
        findings("stream<int32 a> A = Import() {}\n () as S = Expects(A) {}"),
        found(&[("missing-punctuation", "A")])
    );
    assert_eq!(
        findings("stream<int32 a> A = Source() {}\n () as S = Expects(A) {}"),
        []
    );
}

#[test]
fn what_joins_other_jobs_takes_no_config_and_few_annotations() {
    let graph = "@parallel(width = 1)\n stream<int32 a> A = Import() {}\n\
        @catch(exception = all)\n () as S = Export(A) { config restartable : true; }";
    assert_eq!(
        findings(graph),
        found(&[
            ("misplaced-annotation", "@parallel(width = 1)"),
            ("misplaced-annotation", "@catch(exception = all)"),
            ("config-not-allowed", "restartable"),
        ])
    );
}

#[test]
fn a_consistent_region_needs_one_control_plane_and_no_boundary() {
    let start = "@consistent(trigger = operatorDriven)\n stream<int32 a> A = Source() {}\n";
    let head = "stream<int32 a> A = Source()";
    let warned = (
        "no-consistent-region",
        "@consistent(trigger = operatorDriven)",
    );
    assert_eq!(
        findings(&format!("{start} () as S = Sink(A) {{}}")),
        found(&[warned, ("consistent-region", head)])
    );
    assert_eq!(
        findings(&format!(
            "{start} () as S = Sink(A) {{}}\n () as C = Control() {{}}"
        )),
        found(&[warned])
    );
    assert_eq!(
        findings(&format!(
            "{start} () as S = Export(A) {{}}\n () as C = Control() {{}}"
        )),
        found(&[warned, ("consistent-region", "() as S = Export(A)")])
    );
    assert_eq!(
        findings(&format!(
            "{start} () as C = Control() {{}}\n () as D = Control() {{}}"
        )),
        found(&[warned, ("consistent-region", "() as D = Control()")])
    );
}

#[test]
fn models_check_what_their_fields_cannot_say() {
    let parse = |ty: &str, clauses: &str| {
        findings(&format!(
            "stream<rstring t> A = Source() {{}}\n stream<{ty} a> B = Parse(A) {{ {clauses} }}"
        ))
    };
    assert_eq!(parse("int32", ""), []);
    assert_eq!(parse("int32", "param from : t; words : two, one;"), []);
    assert_eq!(parse("int64", ""), found(&[("operator-rule", "B")]));
    let assigned = parse("int64", "output B : a = 5l;");
    assert_eq!(assigned, found(&[("operator-rule", "5l")]));
    assert_eq!(
        parse("int32", "param from : t;"),
        found(&[("operator-rule", "t")])
    );
}

#[test]
fn assignments_without_attributes_may_call_output_functions() {
    let graph = |value: &str| {
        format!(
            "stream<int32 t> A = Source() {{}}\n\
             stream<int32 a> B = Parse(A) {{ output B : a = {value}; }}"
        )
    };
    assert_eq!(findings(&graph("Number()")), []);
    assert_eq!(
        findings(&graph("t")),
        found(&[("attribute-not-allowed", "t")])
    );
}

#[test]
fn a_port_that_hands_on_keeps_its_type() {
    let graph = "stream<int32 a> A = Source() {}\n stream<int32 b> G = Gate(A ; A as C) {}";
    assert_eq!(findings(graph), found(&[("type-mismatch", "G")]));
}
