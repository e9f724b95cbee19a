//! FileSource: reads tuples from files.
//!
//! `operator` decides which files are read and what follows them; `verify` checks invocations.

mod operator;
mod verify;

use graph::{AssignmentMode, Cardinality};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{OperatorConstructor, OperatorEntry};

use super::params;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(operator::build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "FileSource",
    doc: "Reads tuples from a file, or from the files whose names come in on its input port. A \
          window marker follows each file. The second output port reports each file with 0, or \
          with the error number if it could not be opened.",
    inputs: &[InPortModel {
        count: Cardinality::Optional,
        ..InPortModel::DEFAULT
    }],
    outputs: &[
        OutPortModel {
            assign: AssignmentMode::Expression,
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Optional,
            ..OutPortModel::DEFAULT
        },
    ],
    params: PARAMS,
    enums: &[params::FORMATS, params::PARSINGS, params::ALGORITHMS],
    output_functions: &[
        "rstring FileName()",
        "int64 TupleNumber()",
        "<any T> T AsIs(T v)",
    ],
    metrics: &["nFilesOpened", "nInvalidTuples"],
    verify: Some(verify::verify),
    starts_consistent_region: true,
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "file",
        ty: "rstring",
        doc: "The file; relative to the data directory. Needed unless there is an input port.",
        ..ParamModel::DEFAULT
    },
    params::FORMAT,
    params::DEFAULT_TUPLE,
    params::PARSING,
    params::READ_DELAY,
    ParamModel {
        name: "compression",
        ty: "CompressionAlg",
        mode: ParamMode::Literal,
        doc: "How the file is compressed. Default: not at all.",
        ..ParamModel::DEFAULT
    },
    params::READ_EOL,
    params::BLOCK_SIZE,
    ParamModel {
        name: "initDelay",
        ty: "float64",
        doc: "Seconds to wait before the first tuple. Default: 0.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "hotFile",
        doc: "Whether to go on reading as the file grows; a file that gets its name (the log was \
              rotated) is read once this one is read to its end. Default: false.",
        ..params::FLAG
    },
    ParamModel {
        name: "deleteFile",
        doc: "Whether to delete the file once it has been read. Default: false.",
        ..params::FLAG
    },
    ParamModel {
        name: "moveFileToDirectory",
        ty: "rstring",
        doc: "Where to move the file once it has been read.",
        ..ParamModel::DEFAULT
    },
    params::SEPARATOR,
    ParamModel {
        name: "encoding",
        ty: "rstring",
        doc: "The character encoding of the file. Default: UTF-8.",
        ..ParamModel::DEFAULT
    },
    params::HEADER_LINE,
    ParamModel {
        name: "ignoreOpenErrors",
        ty: "boolean",
        doc: "Whether to go on when a file cannot be opened. Default: false.",
        ..ParamModel::DEFAULT
    },
    params::READ_PUNCTUATIONS,
    params::IGNORE_EXTRA,
];
