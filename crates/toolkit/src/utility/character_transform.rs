//! CharacterTransform: converts blobs of text from one encoding to another.

use graph::{Assignment, Fault, InPortModel, OperatorModel, OutPortModel, PunctuationOut};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Row};
use tuple::{TupleRef, Value};

use crate::calls::Calls;
use crate::charset::convert;

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
    ..OperatorModel::DEFAULT
};

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
