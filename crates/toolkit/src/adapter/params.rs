//! Models of the parameters that several operators have: those of records that are read or written.

use graph::{ParamMode, ParamModel, PortIndex, TuplePort};

/// The literals of [`FORMAT`].
pub const FORMATS: (&str, &[&str]) = (
    "DataFormat",
    &["csv", "txt", "bin", "block", "line", "json"],
);

/// The literals of [`PARSING`].
pub const PARSINGS: (&str, &[&str]) = ("ParseOption", &["strict", "permissive", "fast"]);

/// The literals of a parameter `compression`.
pub const ALGORITHMS: (&str, &[&str]) = ("CompressionAlg", &["zlib", "gzip", "bzip2"]);

/// A boolean that is known when compiling.
pub const FLAG: ParamModel = ParamModel {
    ty: "boolean",
    mode: ParamMode::Constant,
    ..ParamModel::DEFAULT
};

/// Model of the parameter `format`.
pub const FORMAT: ParamModel = ParamModel {
    name: "format",
    ty: "DataFormat",
    mode: ParamMode::Literal,
    doc: "The format of the records: csv, txt, bin, block, line, or json, which is an object a \
          line, or arrays of objects. Default: csv.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `parsing`.
pub const PARSING: ParamModel = ParamModel {
    name: "parsing",
    ty: "ParseOption",
    mode: ParamMode::Literal,
    doc: "What becomes of a malformed record: it ends the operator (strict), is logged and \
          skipped (permissive), or is not looked for (fast). Default: strict.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `defaultTuple`.
pub const DEFAULT_TUPLE: ParamModel = ParamModel {
    name: "defaultTuple",
    tuple_of: Some(TuplePort::Output(PortIndex(0))),
    doc: "Values for empty fields of csv; a tuple of the output schema.",
    ..ParamModel::DEFAULT
};

/// `hasDelayField` of what is read.
pub const READ_DELAY: ParamModel = ParamModel {
    name: "hasDelayField",
    doc: "Whether each record begins with the seconds to wait before it. Default: false.",
    ..FLAG
};

/// `eolMarker` of what is read.
pub const READ_EOL: ParamModel = ParamModel {
    name: "eolMarker",
    ty: "rstring",
    mode: ParamMode::Constant,
    doc: "One or two characters that end a line of format line. Default: a newline.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `blockSize`.
pub const BLOCK_SIZE: ParamModel = ParamModel {
    name: "blockSize",
    ty: "uint32",
    doc: "Bytes of a block of format block. Default: all there is of a file or a datagram; needed \
          where that has no end.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `separator`.
pub const SEPARATOR: ParamModel = ParamModel {
    name: "separator",
    ty: "rstring | int8 | uint8",
    mode: ParamMode::Constant,
    doc: "The byte between two fields of csv. Default: a comma.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `hasHeaderLine`.
pub const HEADER_LINE: ParamModel = ParamModel {
    name: "hasHeaderLine",
    ty: "boolean | uint32",
    doc: "Of csv: whether the first line is skipped, or how many lines are. Default: false.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `readPunctuations`.
pub const READ_PUNCTUATIONS: ParamModel = ParamModel {
    name: "readPunctuations",
    doc: "With format bin: whether markers come as records too. Default: false.",
    ..FLAG
};

/// Model of the parameter `ignoreExtraCSVValues`.
pub const IGNORE_EXTRA: ParamModel = ParamModel {
    name: "ignoreExtraCSVValues",
    doc: "Whether fields after the last attribute are skipped. Default: false.",
    ..FLAG
};

/// `eolMarker` of what is written.
pub const WRITE_EOL: ParamModel = ParamModel {
    name: "eolMarker",
    ty: "rstring",
    mode: ParamMode::Constant,
    doc: "What ends a line of format line. Default: a newline.",
    ..ParamModel::DEFAULT
};

/// Model of the parameter `writePunctuations`.
pub const WRITE_PUNCTUATIONS: ParamModel = ParamModel {
    name: "writePunctuations",
    doc: "Whether markers are written too. Default: false.",
    ..FLAG
};

/// `hasDelayField` of what is written.
pub const WRITE_DELAY: ParamModel = ParamModel {
    name: "hasDelayField",
    doc: "Whether the seconds since the tuple before are written first. Default: false.",
    ..FLAG
};

/// Model of the parameter `quoteStrings`.
pub const QUOTE_STRINGS: ParamModel = ParamModel {
    name: "quoteStrings",
    doc: "Whether csv puts quotes around strings. Default: true.",
    ..FLAG
};

/// Model of the parameter `suppress`.
pub const SUPPRESS: ParamModel = ParamModel {
    name: "suppress",
    mode: ParamMode::Attribute,
    is_list: true,
    doc: "Input attributes that are not written.",
    ..ParamModel::DEFAULT
};
