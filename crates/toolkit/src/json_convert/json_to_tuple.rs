//! JSONToTuple: JSON texts to tuples.

use std::sync::Arc;

use eval::{Fault, TraceLevel};
use graph::{
    AssignmentMode, Cardinality, InPortModel, InvocationError, InvocationPart, OperatorModel,
    OperatorNode, OutPortModel, ParamMode, ParamModel, PortIndex, PunctuationOutputMode,
};
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::text::json::{JsonFailure, JsonOptions, fill_json};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use super::attribute_param::{
    OUTPUT, default_text_attribute, given_attribute, named_attribute, names, no_text_attribute,
    refused, verify_root, verify_text,
};
use super::{ATTRIBUTE_NAME, IGNORE_PREFIX};
use crate::adapter::params::FLAG;
use crate::output_calls::OutputCalls;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

/// A port that forwards what it has from the input.
const FORWARDING: OutPortModel = OutPortModel {
    punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
    assign: AssignmentMode::None,
    auto_assignment: true,
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "com.ibm.streamsx.json",
    name: "JSONToTuple",
    doc: "Makes a tuple of each JSON text. An output attribute has what the JSON object has under \
          its name; else it is taken from an input attribute of its name and type, or has its \
          default value. Numbers and booleans may stand in strings; null gives the default value, \
          and is left out in arrays. A text that is not JSON, or a value that does not fit its \
          attribute, ends the operator, unless there is a second output port, which gets the input \
          tuple, or `ignoreParsingError`.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        FORWARDING,
        OutPortModel {
            count: Cardinality::Optional,
            ..FORWARDING
        },
    ],
    params: PARAMS,
    metrics: &["nInvalidTuples"],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "inputAttribute",
        mode: ParamMode::Attribute,
        doc: "The input attribute with the JSON text, an rstring or ustring. Default: the only one, \
              or jsonString.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "jsonStringAttribute",
        doc: "The name of the input attribute with the JSON text; `inputAttribute` gives it as an \
              attribute.",
        ..ATTRIBUTE_NAME
    },
    ParamModel {
        name: "jsonStringOutputAttribute",
        doc: "The name of an output attribute that gets the JSON text as it is.",
        ..ATTRIBUTE_NAME
    },
    ParamModel {
        name: "targetAttribute",
        doc: "The name of the output attribute that the root of the JSON text becomes: a tuple, a \
              map, a list or a set. Default: the root is the output tuple.",
        ..ATTRIBUTE_NAME
    },
    ParamModel {
        name: "ignoreParsingError",
        doc: "Whether a text that cannot be read is logged and dropped. Default: false.",
        ..FLAG
    },
    IGNORE_PREFIX,
];

/// Places of the attributes that parameters name.
struct Attributes {
    input: usize,
    text_output: Option<usize>,
    target: Option<usize>,
}

fn attributes(operator: &OperatorNode) -> Result<Attributes, InvocationError> {
    let (input, output) = (&operator.inputs[0].schema, &operator.outputs[0].schema);
    let named = named_attribute(operator, "jsonStringAttribute", input)?;
    let given = given_attribute(operator, "inputAttribute");
    let part = match (given, named) {
        (Some(_), _) => InvocationPart::Param("inputAttribute"),
        (None, Some(_)) => InvocationPart::Param("jsonStringAttribute"),
        (None, None) => InvocationPart::Input(PortIndex(0)),
    };
    let text = given.or(named).or_else(|| default_text_attribute(input));
    let text = text.ok_or_else(|| no_text_attribute(input, part, "inputAttribute"))?;
    verify_text(input, text, part)?;
    let text_output = named_attribute(operator, "jsonStringOutputAttribute", output)?;
    if let Some(index) = text_output {
        let part = InvocationPart::Param("jsonStringOutputAttribute");
        verify_text(output, index, part)?;
    }
    let target = named_attribute(operator, "targetAttribute", output)?;
    if let Some(index) = target {
        verify_root(output, index, InvocationPart::Param("targetAttribute"))?;
    }
    Ok(Attributes {
        input: text,
        text_output,
        target,
    })
}

fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    attributes(operator).map(drop)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let attributes = attributes(build.operator).map_err(refused)?;
    let options = JsonOptions {
        names: names(build)?,
        ..JsonOptions::default()
    };
    let has_error_port = build.outputs.len() > 1;
    build.services.add_to_metric("nInvalidTuples", 0);
    Ok(Box::new(JsonToTuple {
        attributes,
        options,
        input: build.inputs[0].clone(),
        output: build.outputs[0].clone(),
        ty: Type::Tuple(build.outputs[0].schema.clone()),
        forwarded: OutputCalls::new(build, OUTPUT, |_| ())?,
        failed: match has_error_port {
            true => Some(OutputCalls::new(build, PortIndex(1), |_| ())?),
            false => None,
        },
        ignores_failures: build.flag("ignoreParsingError", false)?,
        tuple: TupleBuf::default(),
    }))
}

struct JsonToTuple {
    attributes: Attributes,
    options: JsonOptions,
    input: Arc<Layout>,
    output: Arc<Layout>,
    /// The type of output tuples.
    ty: Type,
    /// The output tuple as far as it comes from the input.
    forwarded: OutputCalls<()>,
    /// Forwarded attributes of the second port.
    failed: Option<OutputCalls<()>>,
    ignores_failures: bool,
    tuple: TupleBuf,
}

impl JsonToTuple {
    /// Fills the output tuple from a text.
    fn fill(&self, text: &[u8], tuple: &mut Value) -> Result<(), JsonFailure> {
        let Some(target) = self.attributes.target else {
            return fill_json(text, &self.ty, tuple, &self.options);
        };
        let (_, ty) = self.output.attribute(target);
        match tuple {
            Value::Tuple(values) => fill_json(text, ty, &mut values[target], &self.options),
            _ => Ok(()),
        }
    }

    fn reject(
        &mut self,
        failure: &JsonFailure,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let message = format!("the JSON text cannot be read: {failure}");
        match &mut self.failed {
            Some(failed) => {
                failed.write(inputs, out, |(), _| Ok(Value::Boolean(false)))?;
                out.services().add_to_metric("nInvalidTuples", 1);
                out.submit(PortIndex(1), failed.tuple())
            }
            None if self.ignores_failures => {
                out.services().add_to_metric("nInvalidTuples", 1);
                out.services()
                    .log(TraceLevel::Warn, &message, "JSONToTuple");
                Ok(())
            }
            None => Err(Fault::value(message)),
        }
    }
}

impl Operator for JsonToTuple {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        self.forwarded
            .write(&inputs, out, |(), _| Ok(Value::Boolean(false)))?;
        let mut whole = self.forwarded.tuple().to_value(&self.output);
        let bytes = match tuple.get(&self.input, self.attributes.input) {
            Value::RString(text) => text.0,
            Value::UString(text) => text.to_string_lossy().into_bytes(),
            _ => Vec::new(),
        };
        if let Err(failure) = self.fill(&bytes, &mut whole) {
            return self.reject(&failure, &inputs, out);
        }
        if let (Some(index), Value::Tuple(values)) = (self.attributes.text_output, &mut whole) {
            values[index] = match self.output.attribute(index).1 {
                Type::UString => Value::UString((&*String::from_utf8_lossy(&bytes)).into()),
                _ => Value::RString(bytes[..].into()),
            };
        }
        self.tuple.set_all(&self.output, &whole);
        out.submit(OUTPUT, self.tuple.as_ref())
    }
}
