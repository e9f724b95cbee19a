//! XMLParse: its model, and what the compiler verifies of an invocation.

use graph::{
    AssignmentMode, Cardinality, InPortModel, InvocationError, OperatorModel, OperatorNode,
    OutPortModel, ParamMode, ParamModel,
};
use runtime::{OperatorConstructor, OperatorEntry};

use super::document_attribute::document_attribute;
use super::{operator, plan};
use crate::adapter::params::FLAG;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(operator::build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.XML",
    name: "XMLParse",
    doc: "Makes tuples of XML documents: on each output port one whenever an element ends that its \
          trigger leads to, and a window marker at the end of each document. Documents may come in \
          pieces that end anywhere, and follow one another; a tuple of type xml is a document. \
          Memory holds one element of a trigger, as far as paths ask for it. An output attribute \
          that is not assigned is what the element has of its name: a tuple is a child element, a \
          list of tuples all of them, `_text` the element's own text, a map `_attrs` its XML \
          attributes; `flatten` says what attributes without parts are. Paths are names, `*` and \
          `.` with `/` between, or `//` for any depth, and `|` between alternatives, with `text()` \
          or `@name` at the end. Conditions choose elements: `[2]`, `[last()]`, `[@id = 'x']`, \
          `[title]`, `[price != 5 and text()]`; those of a trigger ask for attributes only. \
          What a path does not find has its default value; of several finds the last one counts, \
          or all with XPathList. `(int32) XPath(...)` converts. Blanks that lay elements out are no \
          text; entities that a DOCTYPE declares are not known.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OutPortModel {
            assign: AssignmentMode::Expression,
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Any,
            assign: AssignmentMode::Expression,
            ..OutPortModel::DEFAULT
        },
    ],
    params: PARAMS,
    enums: &[
        ("ParseOption", &["strict", "permissive"]),
        ("Flatten", &["none", "attributes", "elements"]),
    ],
    output_functions: &[
        "<any T> T AsIs(T v)",
        "rstring XPath(rstring path)",
        "<tuple T> T XPath(rstring path, T element)",
        "list<rstring> XPathList(rstring path)",
        "<any T> list<T> XPathList(rstring path, T element)",
        "map<rstring, rstring> XPathMap(rstring path)",
    ],
    nested_output_functions: true,
    metrics: &["nInvalidTuples"],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// A name that is known when compiling.
const NAME: ParamModel = ParamModel {
    ty: "rstring",
    mode: ParamMode::Constant,
    ..ParamModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "trigger",
        mandatory: true,
        is_list: true,
        doc: "For each output port the path from the document to the elements that make a tuple: \
              `/catalog/book`.",
        ..NAME
    },
    ParamModel {
        name: "xmlInput",
        mode: ParamMode::Attribute,
        doc: "The attribute that holds the text, of type xml, rstring, ustring or blob. Default: \
              the only one of these types.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "parsing",
        ty: "ParseOption",
        mode: ParamMode::Literal,
        doc: "What becomes of text that is not well-formed, or is no value of an attribute's type: \
              it ends the operator (strict), or is logged and counted (permissive); then a tuple \
              that it concerns is left out, and a document that is not well-formed is left at that \
              place, and the next input tuple begins another one. Default: strict.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flatten",
        ty: "Flatten",
        mode: ParamMode::Literal,
        doc: "What output attributes without parts are that are not assigned: nothing (none: \
              elements are tuples), XML attributes of their name (attributes), or the text of \
              elements of their name (elements). Default: none.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "attributesName",
        doc: "The name of the map that holds an element's XML attributes. Default: _attrs.",
        ..NAME
    },
    ParamModel {
        name: "textName",
        doc: "The name of the attribute that holds an element's own text. Default: _text.",
        ..NAME
    },
    ParamModel {
        name: "nullify",
        doc: "Whether an attribute of which the element says nothing has its default value; if not, \
              it keeps that of the tuple before, unless it is a collection. Default: true.",
        ..FLAG
    },
    ParamModel {
        name: "ignorecase",
        doc: "Whether names are compared without regard to case. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "ignoreNamespaces",
        doc: "Whether prefixes of names do not count. Default: false, names are compared with them.",
        ..FLAG
    },
    ParamModel {
        name: "ignorePrefix",
        doc: "What is left out in front of the names of output attributes that are not assigned: \
              with `_`, `_stream` is the element <stream>.",
        ..NAME
    },
    ParamModel {
        name: "xmlParseHuge",
        ty: "boolean",
        doc: "Whether elements may nest 2048 deep, not only 256, and a tag or a text have 1000 \
              million bytes, not only 10 million. Default: false.",
        ..ParamModel::DEFAULT
    },
];

fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    document_attribute(operator)?;
    plan::plan(operator).map(drop)
}
