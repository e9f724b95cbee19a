//! Descriptions of the toolkit's operators and functions, made from their models.

use std::fmt::Write;

use eval::NativeFn;
use graph::{
    AssignmentMode, Cardinality, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel,
    PortIndex, PunctuationInputMode, PunctuationOutputMode, TuplePort, Unsupported, WindowingMode,
};

use crate::compilation::operator_models;
use crate::doc_functions::{examples, namespace_page, namespaces};
use crate::doc_topics::{topic_text, topics, topics_with};

/// Characters of a line of text at most: it fits a narrow terminal.
const WIDTH: usize = 92;

/// Lists all operators and topics, one a line, and the names of all functions by namespace.
pub fn doc_index() -> String {
    let mut text = String::from("OPERATORS\n");
    for model in operator_models() {
        let name = format!("{}::{}", model.namespace, model.name);
        let _ = writeln!(text, "  {name:<28} {}", first_sentence(model.doc));
    }
    text += "\nFUNCTIONS\n";
    let mut namespaces: Vec<&str> = toolkit::functions().iter().map(|f| f.namespace).collect();
    namespaces.dedup();
    for namespace in namespaces {
        let mut names: Vec<&str> = toolkit::functions()
            .iter()
            .filter(|function| function.namespace == namespace)
            .map(function_name)
            .collect();
        names.sort_unstable();
        names.dedup();
        let _ = writeln!(text, "  {namespace}");
        text += &wrap(&names.join(" "), "    ");
    }
    text += "\nTOPICS\n";
    for (name, title) in topics() {
        let _ = writeln!(text, "  {name:<17} {title}");
    }
    text
}

/// Describes the operator of a name, or all functions of a name; the namespace may be left out. For
/// a topic of the documentation, or a type, its page.
///
/// # Example
/// ```
/// use thalweg_engine::doc;
///
/// assert!(doc("Filter").unwrap().starts_with("spl.relational::Filter\n"));
/// let sentence = doc("Fliter").unwrap_err();
/// assert_eq!(sentence, "there is no operator, function or topic Fliter; did you mean Filter?");
/// ```
///
/// # Errors
/// A sentence: there is nothing of that name. It proposes a similar name if there is one.
pub fn doc(name: &str) -> Result<String, String> {
    let (namespace, last) = match name.rsplit_once("::") {
        Some((namespace, last)) => (Some(namespace), last),
        None => (None, name),
    };
    let is_in = |other: &str| namespace.is_none_or(|namespace| namespace == other);
    let operators = operator_models()
        .iter()
        .filter(|m| m.name == last && is_in(m.namespace));
    let functions: Vec<&NativeFn> = toolkit::functions()
        .iter()
        .filter(|function| function_name(function) == last && is_in(function.namespace))
        .collect();
    let mut text: String = operators.map(|model| operator_doc(model)).collect();
    for function in &functions {
        let _ = writeln!(text, "{}::{}", function.namespace, function.prototype);
        text += &wrap(function.doc, "    ");
        text.push('\n');
    }
    let mut namespaces: Vec<&str> = functions.iter().map(|f| f.namespace).collect();
    namespaces.dedup();
    for examples in namespaces.iter().filter_map(|known| examples(known, last)) {
        let lines = examples.lines();
        text.extend(lines.map(|line| format!("    {line}\n")));
        text.push('\n');
    }
    text.extend(
        LANGUAGE_NAMES
            .iter()
            .filter(|part| part.name == last && namespace.is_none())
            .map(|part| format!("{}\n{}\n", part.form, wrap(part.doc, "    "))),
    );
    if text.is_empty() {
        let page = topic_text(name).or_else(|| namespace_page(name));
        let page = page.map(str::to_owned);
        page.or_else(|| output_function_doc(last))
            .ok_or_else(|| unknown_name(name, last))
    } else {
        Ok(text)
    }
}

/// Lists the operators, functions and topics that have all words of a text in their names,
/// descriptions or pages, whatever their case; blanks and hyphens within words do not count.
///
/// # Example
/// ```
/// use thalweg_engine::doc_search;
///
/// assert!(doc_search("Uppercase").unwrap().contains("spl.string::"));
/// assert!(doc_search("frobnicate").is_err());
/// ```
///
/// # Errors
/// A sentence: nothing has the text.
pub fn doc_search(text: &str) -> Result<String, String> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '-', '\n'], "");
    let words: Vec<String> = text.split_whitespace().map(plain).collect();
    let has = |parts: [&str; 2]| {
        let parts = parts.map(plain);
        words
            .iter()
            .all(|word| parts.iter().any(|part| part.contains(word)))
    };
    let mut found = String::new();
    for model in operator_models()
        .iter()
        .filter(|model| has([model.name, model.doc]))
    {
        let _ = writeln!(found, "{}::{}", model.namespace, model.name);
        found += &wrap(first_sentence(model.doc), "    ");
    }
    for part in LANGUAGE_NAMES
        .iter()
        .filter(|part| has([part.name, part.doc]))
    {
        let _ = writeln!(found, "{}", part.form);
        found += &wrap(first_sentence(part.doc), "    ");
    }
    for function in toolkit::functions()
        .iter()
        .filter(|f| has([function_name(f), f.doc]))
    {
        let _ = writeln!(found, "{}::{}", function.namespace, function.prototype);
        found += &wrap(first_sentence(function.doc), "    ");
    }
    for (name, title) in topics_with(&words, plain) {
        let _ = writeln!(found, "topic {name}");
        found += &wrap(title, "    ");
    }
    match found.is_empty() {
        true => Err(format!(
            "no operator, function or topic has `{text}` in its name or description"
        )),
        false => Ok(found),
    }
}

/// A name that the language itself defines.
struct LanguageName {
    name: &'static str,
    form: &'static str,
    doc: &'static str,
}

/// The names that programs call and no library declares.
const LANGUAGE_NAMES: &[LanguageName] = &[
    LanguageName {
        name: "submit",
        form: "submit(tuple, Stream); submit(marker, Stream)",
        doc: "Sends a tuple or a marker to an output stream of a Custom, in its logic: \
              `submit({ n = 1 }, Numbers)`, `submit(Sys.WindowMarker, Numbers)`. The tuple has the \
              type of the stream.",
    },
    LanguageName {
        name: "currentPunct",
        form: "Sys.Punctuation currentPunct()",
        doc: "The marker that an `onPunct` clause processes: Sys.WindowMarker or Sys.FinalMarker.",
    },
    LanguageName {
        name: "assignFrom",
        form: "assignFrom(target, source)",
        doc: "Copies the attributes of a tuple to those of the same names and types of another one, \
              which is mutable.",
    },
];

/// Says which operators have an output function of a name; `None` if there is none.
fn output_function_doc(name: &str) -> Option<String> {
    let is_it = |prototype: &&str| {
        let before = prototype.split('(').next().unwrap_or_default();
        before.rsplit([' ', '>']).next() == Some(name)
    };
    let mut text = String::new();
    for model in operator_models() {
        let own: Vec<_> = model
            .output_functions
            .iter()
            .copied()
            .filter(is_it)
            .collect();
        if !own.is_empty() {
            let operator = format!("{}::{}", model.namespace, model.name);
            let _ = writeln!(text, "An output function of {operator}:");
            own.iter().for_each(|prototype| {
                let _ = writeln!(text, "  {prototype}");
            });
            let _ = writeln!(
                text,
                "`thalweg doc {}` describes the operator.\n",
                model.name
            );
        }
    }
    (!text.is_empty()).then_some(text)
}

fn unknown_name(name: &str, last: &str) -> String {
    let operators = operator_models().iter().map(|model| model.name);
    let functions = toolkit::functions().iter().map(function_name);
    let topics = topics().map(|(topic, _)| topic).chain(namespaces());
    let like = syntax::closest(last, operators.chain(functions).chain(topics));
    let what = "operator, function or topic";
    match like {
        Some(like) => format!("there is no {what} {name}; did you mean {like}?"),
        None => format!(
            "there is no {what} {name}; `thalweg doc --search '{name}'` searches descriptions"
        ),
    }
}

/// The function's name: `sqrt` of `<numeric T> T sqrt(T f)`.
fn function_name(function: &NativeFn) -> &'static str {
    let before = function.prototype.split('(').next().unwrap_or_default();
    before
        .trim_end()
        .rsplit([' ', '>'])
        .next()
        .unwrap_or_default()
}

fn operator_doc(model: &OperatorModel) -> String {
    let mut text = format!("{}::{}\n\n", model.namespace, model.name);
    text += &wrap(model.doc, "");
    if !model.inputs.is_empty() {
        text += "\nINPUT PORTS\n";
        model
            .inputs
            .iter()
            .for_each(|port| text += &wrap(&input_port_doc(port), "  "));
    }
    if !model.outputs.is_empty() {
        text += "\nOUTPUT PORTS\n";
        model
            .outputs
            .iter()
            .for_each(|port| text += &wrap(&output_port_doc(port), "  "));
    }
    if !model.params.is_empty() {
        text += "\nPARAMETERS\n";
        model
            .params
            .iter()
            .for_each(|param| text += &parameter_doc(model, param));
    }
    for (
        name,
        Unsupported {
            reason: why,
            alternative: instead,
        },
    ) in model.unsupported_params
    {
        text += &wrap(&format!("{name}: not supported: {why}; {instead}"), "  ");
    }
    if !model.output_functions.is_empty() {
        text += "\nOUTPUT FUNCTIONS\n";
        model.output_functions.iter().for_each(|f| {
            let _ = writeln!(text, "  {f}");
        });
    }
    if !model.metrics.is_empty() {
        let _ = writeln!(text, "\nMETRICS\n  {}", model.metrics.join(", "));
    }
    if !model.allows_logic {
        text += "\nIt has no logic clause.\n";
    }
    text
}

fn cardinality_text(cardinality: Cardinality) -> String {
    match cardinality {
        Cardinality::Exactly(1) => "one".to_owned(),
        Cardinality::Exactly(n) => n.to_string(),
        Cardinality::Optional => "one, optional".to_owned(),
        Cardinality::Any => "any number".to_owned(),
    }
}

fn input_port_doc(port: &InPortModel) -> String {
    let window = match port.window {
        WindowingMode::NonWindowed => "",
        WindowingMode::Windowed => "; has a window",
        WindowingMode::OptionallyWindowed => "; may have a window",
    };
    let punctuation = match port.punctuation {
        PunctuationInputMode::Oblivious => "",
        PunctuationInputMode::Expecting => "; needs window markers",
        PunctuationInputMode::WindowBound => "; needs window markers for a punct() window",
    };
    let interval = match (port.allows_time_interval, port.allows_session) {
        (true, true) => ", which may be timeInterval or session",
        (true, false) => ", which may be timeInterval",
        (false, true) => ", which may be session",
        (false, false) => "",
    };
    let control = if port.is_control {
        "; a control port"
    } else {
        ""
    };
    format!(
        "{}{window}{interval}{punctuation}{control}",
        cardinality_text(port.count)
    )
}

fn output_port_doc(port: &OutPortModel) -> String {
    let punctuation = match port.punctuation {
        PunctuationOutputMode::Generating => "makes its own window markers".to_owned(),
        PunctuationOutputMode::Preserving(PortIndex(0)) => "forwards window markers".to_owned(),
        PunctuationOutputMode::Preserving(n) => format!("forwards the window markers of input {n}"),
        PunctuationOutputMode::Free => "has no window markers".to_owned(),
    };
    let assign = match port.assign {
        AssignmentMode::None => "",
        AssignmentMode::AttributeFree => "; attributes may be assigned without reading a tuple",
        AssignmentMode::Expression => "; attributes may be assigned",
    };
    let forwards = if port.auto_assignment {
        "; the others are forwarded by name"
    } else {
        ""
    };
    format!(
        "{}; {punctuation}{assign}{forwards}",
        cardinality_text(port.count)
    )
}

fn parameter_doc(model: &OperatorModel, param: &ParamModel) -> String {
    let ty = match model.enums.iter().find(|(name, _)| *name == param.ty) {
        Some((_, values)) => format!("{{{}}}", values.join(", ")),
        None => match param.tuple_of {
            Some(port) => format!("a tuple of {}", port_text(model, port)),
            None => param.ty.to_owned(),
        },
    };
    let mode = match param.mode {
        ParamMode::Constant => "known when compiling",
        ParamMode::AttributeFree => "evaluated once",
        ParamMode::Expression => "an expression over the tuple",
        ParamMode::Attribute => "an attribute",
        ParamMode::Literal => "a literal",
        ParamMode::Subscription => "a condition over properties",
        ParamMode::Filter => "a condition over the output tuple",
    };
    let list = if param.is_list { ", one or more" } else { "" };
    let mandatory = if param.mandatory { ", mandatory" } else { "" };
    let head = format!("  {}: {ty} ({mode}{list}{mandatory})\n", param.name);
    head + &wrap(param.doc, "      ")
}

/// The port that a parameter gives a tuple of, as `output 0` where there are several.
fn port_text(model: &OperatorModel, port: TuplePort) -> String {
    let (word, port, models) = match port {
        TuplePort::Input(port) => ("input", port, model.inputs.len()),
        TuplePort::Output(port) => ("output", port, model.outputs.len()),
    };
    match models {
        1 => format!("the {word} port"),
        _ => format!("{word} port {port}"),
    }
}

pub(crate) fn first_sentence(doc: &str) -> &str {
    doc.find(". ").map_or(doc, |end| &doc[..=end])
}

/// Wraps words into indented lines of at most [`WIDTH`] characters.
pub(crate) fn wrap(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.len() + line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(lines, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    if !line.is_empty() {
        let _ = writeln!(lines, "{indent}{line}");
    }
    lines
}
