//! FileSink: writes tuples to files.
//!
//! `operator` decides what is written and when a file is done; `files` opens, closes, names and moves
//! them.

mod files;
mod operator;

use graph::{Cardinality, PunctuationOut};
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
    name: "FileSink",
    doc: "Writes the tuples that come in to a file, or to a sequence of files. The output port \
          reports the name of each file that has been closed.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        count: Cardinality::Optional,
        punctuation: PunctuationOut::Free,
        ..OutPortModel::DEFAULT
    }],
    params: PARAMS,
    enums: &[
        ("DataFormat", &["csv", "txt", "bin", "block", "line"]),
        (
            "CloseMode",
            &["punct", "count", "size", "time", "dynamic", "never"],
        ),
        ("CompressionAlg", &["zlib", "gzip", "bzip2"]),
        ("WriteFailureAction", &["ignore", "log", "terminate"]),
    ],
    metrics: &["nFilesOpened", "nTupleWriteErrors"],
    verify: Some(super::verify::sink),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "file",
        ty: "rstring",
        mode: ParamMode::Expression,
        mandatory: true,
        doc: "The file, relative to the data directory; {id}, {localtime:f} and {gmtime:f} are \
              filled in. It may depend on the tuple if closeMode is dynamic.",
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
        name: "flush",
        ty: "uint32",
        doc: "Flush after so many tuples. Default: 0, when the buffer is full.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flushOnPunctuation",
        doc: "Whether a marker flushes. Default: true.",
        ..FLAG
    },
    ParamModel {
        name: "eolMarker",
        ty: "rstring",
        mode: ParamMode::Constant,
        doc: "What ends a line of format line. Default: a newline.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "writePunctuations",
        doc: "Whether markers are written too. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "hasDelayField",
        doc: "Whether the seconds since the tuple before are written first. Default: false.",
        ..FLAG
    },
    ParamModel {
        name: "compression",
        ty: "CompressionAlg",
        mode: ParamMode::Literal,
        doc: "How to compress the file. Default: not at all.",
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
        name: "quoteStrings",
        doc: "Whether csv puts quotes around strings. Default: true.",
        ..FLAG
    },
    ParamModel {
        name: "closeMode",
        ty: "CloseMode",
        mode: ParamMode::Literal,
        doc: "When the file is closed and the next one begun. Default: never.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "tuplesPerFile",
        doc: "With closeMode count: an integer of tuples.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "timePerFile",
        ty: "float64",
        doc: "With closeMode time: seconds.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "bytesPerFile",
        doc: "With closeMode size: an integer of bytes.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "moveFileToDirectory",
        ty: "rstring",
        doc: "Where to move the file once it is closed.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "append",
        ty: "boolean",
        doc: "Whether to write behind what the file holds. Default: false.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "writeFailureAction",
        ty: "WriteFailureAction",
        mode: ParamMode::Literal,
        doc: "What a failed write does: ignore counts it, log also traces it, terminate ends the \
              program. Default: terminate, so that nothing is lost unseen.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "suppress",
        mode: ParamMode::Attribute,
        list: true,
        doc: "Input attributes that are not written.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "truncateOnReset",
        ty: "boolean",
        doc: "Only in consistent regions: whether a reset truncates the file. Default: true.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "writeStateHandlerCallbacks",
        ty: "boolean",
        doc: "Only in consistent regions: whether call-backs are written. Default: false.",
        ..ParamModel::DEFAULT
    },
];
