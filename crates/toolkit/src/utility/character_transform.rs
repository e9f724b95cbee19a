//! CharacterTransform: converts blobs of text from one encoding to another.

use eval::Fault;
use graph::{
    AssignmentMode, ExprKind, InPortModel, InvocationError, InvocationPart, OperatorModel,
    OutPortModel, PortIndex, PunctuationOutputMode,
};
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{TupleRef, Value};

use crate::charset::convert;
use crate::output_calls::OutputCalls;
use crate::verify_params::verify_encoding;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "CharacterTransform",
    doc: "Passes tuples with blobs of text converted from one encoding to another, by the output \
          function Convert.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        assign: AssignmentMode::Expression,
        auto_assignment: true,
        complete_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    output_functions: &[
        "<any T> T AsIs(T v)",
        "blob Convert(rstring fromEncoding, rstring toEncoding, blob data)",
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// The encodings, as far as they are known.
fn verify(operator: &graph::OperatorNode) -> Result<(), InvocationError> {
    for (at, assigned) in (0..).zip(&operator.outputs[0].assign) {
        let Some(ExprKind::OutputCall(call)) = assigned.as_ref().map(|expr| &expr.kind) else {
            continue;
        };
        let call = &operator.outputs[0].calls[*call as usize];
        if &*call.function == "Convert" {
            let mut names = call.args.iter().take(2);
            names.try_for_each(|name| {
                verify_encoding(name, InvocationPart::Attribute(PortIndex(0), at))
            })?;
        }
    }
    Ok(())
}

/// Output functions of CharacterTransform.
enum TransformFunction {
    AsIs,
    Convert,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let function = |name: &str| match name {
        "Convert" => TransformFunction::Convert,
        _ => TransformFunction::AsIs,
    };
    Ok(Box::new(CharacterTransform {
        calls: OutputCalls::new(build, PortIndex(0), function)?,
    }))
}

struct CharacterTransform {
    calls: OutputCalls<TransformFunction>,
}

impl Operator for CharacterTransform {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        self.calls
            .write(&EvaluationInputs::new(&inputs), out, evaluate_function)?;
        out.submit(PortIndex(0), self.calls.tuple())
    }
}

fn evaluate_function(function: &TransformFunction, arguments: &[Value]) -> Result<Value, Fault> {
    Ok(match (function, arguments) {
        (
            TransformFunction::Convert,
            [Value::RString(from), Value::RString(to), Value::Blob(data)],
        ) => {
            let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
            Value::Blob(convert(&from, &to, data)?)
        }
        (_, [value, ..]) => value.clone(),
        _ => Value::Blob(Vec::new()),
    })
}
