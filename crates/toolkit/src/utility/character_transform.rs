//! CharacterTransform: converts blobs of text from one encoding to another.

use graph::{
    Assignment, ExprKind, Fault, InPortModel, Misuse, OperatorModel, OutPortModel, Part,
    PunctuationOut,
};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Row};
use tuple::{TupleRef, Value};

use crate::calls::Calls;
use crate::charset::convert;
use crate::rule::encoding;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "CharacterTransform",
    doc: "Passes tuples with blobs of text converted from one encoding to another, by the output \
          function Convert.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Preserving(0),
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
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
fn verify(operator: &graph::Operator) -> Result<(), Misuse> {
    for (at, assigned) in (0..).zip(&operator.outputs[0].assign) {
        let Some(ExprKind::OutputCall(call)) = assigned.as_ref().map(|expr| &expr.kind) else {
            continue;
        };
        let call = &operator.outputs[0].calls[*call as usize];
        if &*call.function == "Convert" {
            let mut names = call.args.iter().take(2);
            names.try_for_each(|name| encoding(name, Part::Attribute(0, at)))?;
        }
    }
    Ok(())
}

/// Its output functions.
enum Function {
    AsIs,
    Convert,
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let function = |name: &str| match name {
        "Convert" => Function::Convert,
        _ => Function::AsIs,
    };
    Ok(Box::new(CharacterTransform {
        calls: Calls::new(build, 0, function)?,
    }))
}

struct CharacterTransform {
    calls: Calls<Function>,
}

impl Operator for CharacterTransform {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(tuple)];
        self.calls.write(&Row::new(&row), out, answer)?;
        out.submit(0, self.calls.tuple())
    }
}

fn answer(function: &Function, arguments: &[Value]) -> Result<Value, Fault> {
    Ok(match (function, arguments) {
        (Function::Convert, [Value::RString(from), Value::RString(to), Value::Blob(data)]) => {
            let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
            Value::Blob(convert(&from, &to, data)?)
        }
        (_, [value, ..]) => value.clone(),
        _ => Value::Blob(Vec::new()),
    })
}
