//! TupleToJSON: tuples to JSON texts.

use std::sync::Arc;

use eval::Fault;
use graph::{
    AssignmentMode, InPortModel, InvocationError, InvocationPart, OperatorModel, OperatorNode,
    OutPortModel, ParamMode, ParamModel, PortIndex, PunctuationOutputMode,
};
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::text::json::{JsonWriteOptions, print_json};
use tuple::{Layout, TupleRef, Type, Value};

use super::attribute_param::{
    OUTPUT, default_text_attribute, given_attribute, named_attribute, names, no_text_attribute,
    refused, verify_root, verify_text,
};
use super::{ATTRIBUTE_NAME, IGNORE_PREFIX};
use crate::output_calls::OutputCalls;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "com.ibm.streamsx.json",
    name: "TupleToJSON",
    doc: "Makes a JSON text of each tuple, or of one of its attributes. Blobs, complex numbers, xml \
          and optionals without a value are null; timestamps and enums are strings. Other output \
          attributes are taken from input attributes of their name and type.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        assign: AssignmentMode::None,
        auto_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "inputAttribute",
        mode: ParamMode::Attribute,
        doc: "The input attribute that becomes the root of the text: a tuple, a map, a list or a \
              set. Default: the whole tuple.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "rootAttribute",
        doc: "The name of the input attribute that becomes the root; `inputAttribute` gives it as \
              an attribute.",
        ..ATTRIBUTE_NAME
    },
    ParamModel {
        name: "jsonStringAttribute",
        doc: "The name of the output attribute that gets the text. Default: the only one, or \
              jsonString.",
        ..ATTRIBUTE_NAME
    },
    IGNORE_PREFIX,
];

/// The root among the input attributes, and the attribute for the text.
fn attributes(operator: &OperatorNode) -> Result<(Option<usize>, usize), InvocationError> {
    let (input, output) = (&operator.inputs[0].schema, &operator.outputs[0].schema);
    let named = named_attribute(operator, "rootAttribute", input)?;
    let given = given_attribute(operator, "inputAttribute");
    let root = given.or(named);
    if let Some(index) = root {
        let param = match given {
            Some(_) => "inputAttribute",
            None => "rootAttribute",
        };
        verify_root(input, index, InvocationPart::Param(param))?;
    }
    let named = named_attribute(operator, "jsonStringAttribute", output)?;
    let part = match named {
        Some(_) => InvocationPart::Param("jsonStringAttribute"),
        None => InvocationPart::Output(OUTPUT),
    };
    let text = named.or_else(|| default_text_attribute(output));
    let text = text.ok_or_else(|| no_text_attribute(output, part, "jsonStringAttribute"))?;
    verify_text(output, text, part)?;
    Ok((root, text))
}

fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    attributes(operator).map(drop)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let (root, text) = attributes(build.operator).map_err(refused)?;
    let input = build.inputs[0].clone();
    Ok(Box::new(TupleToJson {
        ty: match root {
            Some(index) => input.attribute(index).1.clone(),
            None => Type::Tuple(input.schema.clone()),
        },
        options: JsonWriteOptions {
            names: names(build)?,
            blobs_are_null: true,
        },
        root,
        text,
        output: build.outputs[0].clone(),
        forwarded: OutputCalls::new(build, OUTPUT, |_| ())?,
        input,
    }))
}

struct TupleToJson {
    /// The attribute that is the root; `None`: the tuple.
    root: Option<usize>,
    /// The output attribute for the text.
    text: usize,
    ty: Type,
    options: JsonWriteOptions,
    input: Arc<Layout>,
    output: Arc<Layout>,
    forwarded: OutputCalls<()>,
}

impl Operator for TupleToJson {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let root = match self.root {
            Some(index) => tuple.get(&self.input, index),
            None => tuple.to_value(&self.input),
        };
        let mut text = Vec::new();
        print_json(&root, &self.ty, &self.options, &mut text);
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        let whole = self
            .forwarded
            .write(&inputs, out, |(), _| Ok(Value::Boolean(false)))?;
        let text = match self.output.attribute(self.text).1 {
            Type::UString => Value::UString((&*String::from_utf8_lossy(&text)).into()),
            _ => Value::RString(text[..].into()),
        };
        whole.set(&self.output, self.text, &text);
        out.submit(OUTPUT, self.forwarded.tuple())
    }
}
