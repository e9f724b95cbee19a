//! FileSource: reads tuples from files.
//!
//! `operator` decides which files are read and what follows them; `reading` reads one file.

mod operator;
mod reading;

use graph::{Assignment, Cardinality};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(operator::build),
};

/// A boolean that is known when compiling.
const FLAG: ParamModel = ParamModel {
    ty: "boolean",
    mode: ParamMode::Constant,
    ..ParamModel::DEFAULT
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
            assign: Assignment::Expression,
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Optional,
            ..OutPortModel::DEFAULT
        },
    ],
    params: PARAMS,
    enums: &[
        ("DataFormat", &["csv", "txt", "bin", "block", "line"]),
        ("ParseOption", &["strict", "permissive", "fast"]),
        ("CompressionAlg", &["zlib", "gzip", "bzip2"]),
    ],
    output_functions: &[
        "rstring FileName()",
        "int64 TupleNumber()",
        "<any T> T AsIs(T v)",
    ],
    metrics: &["nFilesOpened", "nInvalidTuples"],
    verify: Some(super::verify::source),
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
    ParamModel {
        name: "format",
        ty: "DataFormat",
        mode: ParamMode::Literal,
        doc: "The format of the file. Default: csv.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "defaultTuple",
        doc: "Values for empty fields of csv; a tuple of the output schema.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "parsing",
        ty: "ParseOption",
        mode: ParamMode::Literal,
        doc: "What becomes of a malformed record: it ends the operator (strict), is logged and \
              skipped (permissive), or is not looked for (fast). Default: strict.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "hasDelayField",
        doc: "Whether each record begins with the seconds to wait before it. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "compression",
        ty: "CompressionAlg",
        mode: ParamMode::Literal,
        doc: "How the file is compressed. Default: not at all.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "eolMarker",
        ty: "rstring",
        mode: ParamMode::Constant,
        doc: "One or two characters that end a line of format line. Default: a newline.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "blockSize",
        ty: "uint32",
        doc: "Bytes of a block of format block. Default: the whole file.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "initDelay",
        ty: "float64",
        doc: "Seconds to wait before the first tuple. Default: 0.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "hotFile",
        doc: "Whether to go on reading as the file grows. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "deleteFile",
        doc: "Whether to delete the file once it has been read. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "moveFileToDirectory",
        ty: "rstring",
        doc: "Where to move the file once it has been read.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "separator",
        ty: "rstring | int8 | uint8",
        mode: ParamMode::Constant,
        doc: "The byte between two fields of csv. Default: a comma.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "encoding",
        ty: "rstring",
        doc: "The character encoding of the file. Default: UTF-8.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "hasHeaderLine",
        ty: "boolean | uint32",
        doc: "Whether the first line is skipped, or how many lines are. Default: false.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "ignoreOpenErrors",
        ty: "boolean",
        doc: "Whether to go on when a file cannot be opened. Default: false.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "readPunctuations",
        doc: "Whether the file holds markers too. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "ignoreExtraCSVValues",
        doc: "Whether fields after the last attribute are skipped. Default: false.",
        ..FLAG
    },
];
