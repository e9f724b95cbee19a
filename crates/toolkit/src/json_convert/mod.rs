//! `com.ibm.streamsx.json`: the operators JSONToTuple and TupleToJSON.

mod attribute_param;
pub mod json_to_tuple;
pub mod tuple_to_json;

use graph::ParamMode;
use graph::ParamModel;

/// The default name of the attribute with the JSON text.
const JSON_STRING: &str = "jsonString";

/// A name of an attribute, known when compiling.
const ATTRIBUTE_NAME: ParamModel = ParamModel {
    ty: "rstring",
    mode: ParamMode::Constant,
    ..ParamModel::DEFAULT
};

/// Model of the parameter `ignorePrefix`.
const IGNORE_PREFIX: ParamModel = ParamModel {
    name: "ignorePrefix",
    doc: "What is left out in front of the names of attributes in JSON: with `__`, the attribute \
          `__graph` is the key graph.",
    ..ATTRIBUTE_NAME
};
