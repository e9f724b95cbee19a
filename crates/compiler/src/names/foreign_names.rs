//! Functions and operators of other languages, with their counterparts in SPL.

/// How SPL does what a function of that name does elsewhere.
pub(crate) fn foreign_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "str" | "toString" | "to_string" | "tostring" | "toRString" => {
            "a value becomes text by a cast: `(rstring) value`"
        }
        "parseInt" | "toInt" | "to_int" | "atoi" | "stoi" | "toNumber" | "parseFloat" | "atof" => {
            "text becomes a number by a cast: `(int32) text`, `(float64) text`"
        }
        "printf" | "sprintf" | "format" | "echo" | "puts" | "cout" => {
            "write `printStringLn(\"n = \" + (rstring) n)`"
        }
        "len" | "strlen" => "a string has a `length`, a list, set or map a `size`",
        "Avg" | "Mean" => "an Aggregate has `Average`",
        "average" | "mean" => "a list has an `avg`, an Aggregate `Average`",
        "count" => "a list, set or map has a `size`",
        "push" | "push_back" | "append" | "add_all" => {
            "`appendM(values, value)` appends to a mutable list"
        }
        "pop" | "erase" | "delete" | "removeAt" => {
            "`removeM(values, index)` removes from a mutable list"
        }
        "contains" | "includes" | "containsKey" => {
            "`value in collection` asks whether it is there; `findFirst` looks into a string"
        }
        "startsWith" | "starts_with" | "startswith" | "hasPrefix" => {
            "`findFirst(text, part) == 0` asks whether it begins so"
        }
        "endsWith" | "ends_with" | "endswith" | "hasSuffix" => {
            "`findLast(text, part, length(text) - 1)` is the last position of a part, or -1"
        }
        "indexOf" | "strpos" | "strstr" => "`findFirst(text, part)` is the position, or -1",
        "split" | "explode" => "`tokenize(text, \",\", true)` takes a string apart",
        "replace" | "replaceAll" | "sub" | "gsub" => {
            "`regexReplace(text, pattern, replacement, true)` replaces"
        }
        "substr" | "mid" => "`substring(text, start, length)` is a part of a string",
        "toUpperCase" | "toUpper" | "uppercase" => "write `upper(text)`",
        "toLowerCase" | "toLower" | "lowercase" => "write `lower(text)`",
        "strip" => "`trim(text, \" \\t\")` takes characters off both ends",
        "now" | "currentTimeMillis" | "getCurrentTime" => "write `getTimestamp()`",
        "sleep" | "usleep" | "wait" => "`block(seconds)` waits",
        "exit" | "quit" => "`shutdownPE()` ends the program, `abort()` at once",
        "rand" => "`random()` is a number from 0 up to 1",
        "punct" | "punctuation" => "`currentPunct()` is the punctuation of an `onPunct`",
        name if sends(name) => "`submit(tuple, Stream)` sends",
        _ => return None,
    })
}

/// The parameter that other programs call by another name.
pub(crate) fn foreign_param(name: &str) -> Option<&'static str> {
    Some(match name {
        "hasHeader" | "header" | "headerLine" => "hasHeaderLine",
        "delimiter" | "delim" | "sep" | "fieldSeparator" => "separator",
        "fileName" | "filename" | "path" => "file",
        "dir" | "folder" => "directory",
        "count" | "limit" | "maxTuples" | "numTuples" => "iterations",
        "interval" | "delaySeconds" => "period",
        "condition" | "predicate" => "filter",
        "keys" | "orderBy" => "sortBy",
        "host" => "address",
        _ => return None,
    })
}

/// Whether a function of that name sends tuples elsewhere, to a stream among its arguments.
pub(crate) fn sends(name: &str) -> bool {
    matches!(name, "emit" | "output" | "send")
}
