//! Every prototype of the standard library can be called with what it asks for.

use std::sync::OnceLock;

use eval::{Fault, NativeCall, NativeFn};
use syntax::ast::Prototype;
use tuple::Value;

use super::check;

const TEXT: &str = include_str!("prototypes.txt");

/// Functions whose arguments are no ordinary values, or must be constants that are given.
const SPECIAL: [&str; 7] = [
    "inputPort",
    "outputPort",
    "assignFrom",
    "getCompileTimeValue",
    "getCompileTimeListValue",
    "getSubmissionTimeValue",
    "getSubmissionTimeListValue",
];

/// The library functions of the language, all giving the default of their type.
pub fn natives() -> &'static [NativeFn] {
    static NATIVES: OnceLock<Vec<NativeFn>> = OnceLock::new();
    NATIVES.get_or_init(|| {
        let native = |(namespace, prototype)| NativeFn {
            namespace,
            prototype,
            doc: "",
            eval: default,
            is_range: false,
            needs_counts: false,
            needs_pane: false,
            port: None,
            unsupported: None,
            check: None,
        };
        prototypes().map(native).collect()
    })
}

fn default(call: &mut NativeCall<'_>) -> Result<Value, Fault> {
    Ok(Value::default_of(call.result))
}

/// Namespace and text of each.
fn prototypes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut namespace = "";
    TEXT.lines()
        .skip(1)
        .filter(|line| !line.is_empty())
        .filter_map(move |line| match line.strip_prefix("# ") {
            Some(name) => {
                namespace = name;
                None
            }
            None => Some((namespace, line)),
        })
}

#[test]
fn every_prototype_can_be_called() {
    let mut program = String::from("use spl.file::*;\n");
    let mut calls = 0;
    for (_, text) in prototypes() {
        let prototype = syntax::parse_prototype(text).unwrap_or_else(|error| panic!("{error}"));
        if SPECIAL.contains(&&*prototype.name.text) {
            continue;
        }
        for choice in 0..3 {
            program.push_str(&caller(text, &prototype, choice, calls));
            calls += 1;
        }
    }
    let output = check("calls.spl", &program);
    assert!(calls > 1000);
    let shown = syntax::render(&output.diagnostics, &output.sources, false);
    assert!(output.diagnostics.is_empty(), "{shown}");
}

/// A function that calls the prototype with variables of the types it asks for.
fn caller(text: &str, prototype: &Prototype, choice: usize, number: usize) -> String {
    let head = text.split_once('>').filter(|_| text.starts_with('<'));
    let text = head.map_or(text, |(_, rest)| rest);
    let open = text.find('(').expect("a prototype has parentheses");
    let mut result = text[..open]
        .trim()
        .trim_start_matches("stateful ")
        .to_owned();
    let name = &*prototype.name.text;
    result.truncate(result.len() - name.len());
    let types: Vec<String> = split(text[open + 1..].trim_end().trim_end_matches(')'));
    let formals: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(at, formal)| {
            let ty = formal.trim().trim_start_matches("mutable ");
            let ty = ty.rsplit_once(' ').map_or(ty, |(ty, _)| ty);
            format!("mutable {} a{at}", concrete(ty, prototype, choice))
        })
        .collect();
    let args: Vec<String> = (0..formals.len()).map(|at| format!("a{at}")).collect();
    let result = concrete(result.trim(), prototype, choice);
    let stateful = match text[..open].contains("stateful ") {
        true => "stateful ",
        false => "",
    };
    let give = if result == "void" { "" } else { "return " };
    format!(
        "{stateful}{result} caller{number}({}) {{ {give}{name}({}); }}\n",
        formals.join(", "),
        args.join(", ")
    )
}

/// The formals of a prototype: split at commas outside of brackets.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '<' | '{' => depth += 1,
            '>' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is always one").push(c);
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// A type with each type formal replaced by a type that its constraint admits.
fn concrete(ty: &str, prototype: &Prototype, choice: usize) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in ty.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
            continue;
        }
        let formal = prototype
            .type_formals
            .iter()
            .find(|(_, name)| *name.text == *word);
        match formal {
            Some((constraint, _)) => out.push_str(example(&constraint.text, choice)),
            None => out.push_str(&word),
        }
        word.clear();
        out.push(c);
    }
    out.trim().to_owned()
}

fn example(constraint: &str, choice: usize) -> &'static str {
    let all = match constraint {
        "any" => [
            "int32",
            "list<rstring>",
            "tuple<int32 a, optional<rstring> b>",
        ],
        "primitive" => ["boolean", "complex32", "ustring"],
        "ordered" => ["float64", "rstring", "timestamp"],
        "numeric" => ["int64", "decimal64", "uint8"],
        "integral" => ["int8", "uint32", "int64"],
        "floatingpoint" => ["float32", "decimal128", "float64"],
        "float" => ["float32", "float64", "float64"],
        "decimal" => ["decimal32", "decimal64", "decimal128"],
        "complex" => ["complex32", "complex64", "complex64"],
        "string" => ["rstring", "ustring", "rstring[7]"],
        "xml" => ["xml", "xml", "xml"],
        "composite" => ["tuple<int32 a>", "list<int32>", "map<int32, rstring>"],
        "collection" => ["list<int32>", "map<rstring, float64>", "set<int8>"],
        "list" => ["list<int32>", "list<list<rstring>>", "list<float64>[4]"],
        "map" => [
            "map<int32, rstring>",
            "map<rstring, int8>",
            "map<int8, int8>",
        ],
        "set" => ["set<int32>", "set<rstring>", "set<int64>[3]"],
        "tuple" => [
            "tuple<int32 a>",
            "tuple<rstring b, float64 c>",
            "tuple<list<int32> d>",
        ],
        other => panic!("an unknown constraint: {other}"),
    };
    all[choice]
}
