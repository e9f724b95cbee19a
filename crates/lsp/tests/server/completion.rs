//! Completion by a script: a document is opened whole, then broken off at the cursor.

use serde_json::{Value, json};

use crate::client::{ScriptedClient, TestFolder, at, position};

const BEGINNING: &str = "\
// größe 😀
type Reading = int32 size, rstring label;

rstring named(Reading reading) {
    return reading.label;
}

composite Inner(output Out) {
    param
        expression<int32> $times : 1;
    graph
        stream<Reading> Out = Beacon() {
            param
                iterations : $times;
        }
}

composite Main {
    type
        static Colour = enum { red, green };
    graph
        stream<Reading> Readings = Inner() {
        }
        stream<Reading, tuple<float64 weight>> Weighed = Functor(Readings) {
            output
                Weighed : weight = 1.0;
        }
";

/// A session in which the whole beginning, which is right, was analysed.
struct Completer {
    client: ScriptedClient,
    uri: String,
    version: i32,
    _folder: TestFolder,
}

impl Completer {
    fn new() -> Completer {
        let folder = TestFolder::new();
        let uri = folder.uri("Main.spl");
        let client = ScriptedClient::start(&[]);
        client.open(&uri, &format!("{BEGINNING}}}\n"));
        let mut completer = Completer {
            client,
            uri,
            version: 1,
            _folder: folder,
        };
        let found = completer.client.diagnostics(&completer.uri, Some(1));
        assert!(found.is_empty(), "{found:?}");
        completer
    }

    /// The items where `|` stands in a text.
    fn items(&mut self, marked: &str) -> Vec<Value> {
        let offset = marked.find('|').expect("a mark");
        let text = marked.replacen('|', "", 1);
        self.version += 1;
        let changes = [(Value::Null, &*text)];
        self.client.change(&self.uri, self.version, &changes);
        let place = at(&self.uri, &position(&text, offset));
        let items = self.client.request("textDocument/completion", place);
        let items = items.expect("items");
        items.as_array().expect("a list").clone()
    }

    /// The labels where `|` stands behind the beginning of the composite, which is broken off.
    fn labels(&mut self, rest: &str) -> Vec<String> {
        let items = self.items(&format!("{BEGINNING}{rest}"));
        let label = |item: &Value| item["label"].as_str().expect("a label").to_owned();
        items.iter().map(label).collect()
    }
}

/// Checks that labels have some words and lack others.
fn check(labels: &[String], wanted: &[&str], unwanted: &[&str]) {
    let has = |word: &&&str| labels.iter().any(|label| label == **word);
    let missing: Vec<_> = wanted.iter().filter(|word| !has(word)).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {labels:?}");
    let found: Vec<_> = unwanted.iter().filter(has).collect();
    assert!(found.is_empty(), "{found:?} are among {labels:?}");
}

#[test]
fn heads_of_invocations_are_completed() {
    let mut completer = Completer::new();
    let labels = completer.labels("        stream<Reading> X = |");
    check(
        &labels,
        &["Beacon", "Filter", "Custom", "Inner", "Main"],
        &["Readings", "param"],
    );
    assert_eq!(labels[0], "Inner", "the program's own come first");
    let labels = completer.labels("        stream<Reading> X = Fil|");
    check(&labels, &["Filter", "FileSource"], &["spl"]);
    let labels = completer.labels("        () as X = spl.utility::Cus|");
    check(&labels, &["Custom"], &["param"]);
    let labels = completer.labels("        stream<Reading> X = Filter(|");
    check(
        &labels,
        &["Readings", "Weighed"],
        &["Out", "Filter", "size"],
    );
    let labels = completer.labels("        stream<Reading> X = Join(Readings; |)");
    check(&labels, &["Readings", "Weighed"], &["Filter"]);
    let labels = completer.labels("        stream<|");
    check(
        &labels,
        &["Reading", "Colour", "Weighed", "int32", "list"],
        &["param", "Filter"],
    );
    let labels = completer.labels("        |");
    check(&labels, &["stream"], &["size"]);
    let labels = completer.labels("        stream<Reading> Na|");
    assert_eq!(labels, [""; 0], "a new name");
}

#[test]
fn clauses_of_invocations_are_completed() {
    let mut completer = Completer::new();
    let head = "        stream<Reading> X = Filter(Weighed as W) {\n            ";
    let mut labels = |rest: &str| completer.labels(&format!("{head}{rest}"));
    check(
        &labels("|"),
        &["param", "output", "logic", "window", "config"],
        &["filter"],
    );
    check(
        &labels("param\n |"),
        &["filter"],
        &["iterations", "param", "size"],
    );
    let values = labels("param\n filter : |");
    check(
        &values,
        &["size", "label", "weight", "W", "Weighed", "abs", "named"],
        &["filter"],
    );
    check(
        &labels("param\n filter : W.|"),
        &["size", "label", "weight"],
        &["abs", "W"],
    );
    check(
        &labels("param\n filter : W.we|\n}\n}"),
        &["weight"],
        &["abs"],
    );
    check(
        &labels("param\n filter : size > 3 && |"),
        &["size", "true"],
        &["filter"],
    );
    check(&labels("param\n filter : named(|"), &["label"], &["filter"]);
    check(
        &labels("config\n |"),
        &["placement", "threadedPort"],
        &["filter"],
    );
    check(&labels("window\n |"), &["W"], &["filter"]);
    check(
        &labels("window\n W : |"),
        &["tumbling", "sliding", "count"],
        &["param"],
    );
    assert_eq!(labels("param\n filter : 12|"), [""; 0]);
    assert_eq!(labels("param\n filter : \"si|"), [""; 0]);
    assert_eq!(labels("param // fil|"), [""; 0]);
    let inner = "        stream<Reading> Y = Inner() {\n            param\n |";
    check(&completer.labels(inner), &["times"], &["iterations"]);
    let words = "        () as Z = FileSink(Readings) { param file : \"x\"; format : |";
    check(&completer.labels(words), &["csv", "json", "bin"], &[]);
}

#[test]
fn output_clauses_are_completed() {
    let mut completer = Completer::new();
    let head = "        stream<Reading> X = Aggregate(Weighed) {\n window Weighed : tumbling, \
                count(2);\n output\n ";
    let mut labels = |rest: &str| completer.labels(&format!("{head}{rest}"));
    check(&labels("|"), &["X"], &["size", "Weighed"]);
    // The stream is new: its attributes are known when it was analysed.
    let values = labels("X : size = |");
    check(&values, &["Max", "Sum", "weight", "label"], &["param"]);
    let known = "        stream<Reading, tuple<float64 weight>> Weighed = Functor(Readings) {\n \
                 output\n Weighed : |";
    check(
        &completer.labels(known),
        &["size", "label", "weight"],
        &["Readings", "abs"],
    );
    let second = known.replace('|', "size = 1, we|");
    check(&completer.labels(&second), &["weight"], &["abs"]);
}

#[test]
fn statements_are_completed() {
    let mut completer = Completer::new();
    let head = "        () as X = Custom(Weighed as W) {\n            logic\n ";
    let mut labels = |rest: &str| completer.labels(&format!("{head}{rest}"));
    check(&labels("|"), &["onTuple", "onPunct", "state"], &["if"]);
    check(&labels("onTuple |"), &["W", "Weighed"], &["if", "size"]);
    let body = "state : mutable int32 total = 0;\n onTuple W : {\n rstring text = label;\n ";
    let mut inside = |rest: &str| labels(&format!("{body}{rest}"));
    let begin = inside("|");
    check(
        &begin,
        &["total", "text", "size", "if", "mutable", "int32", "Reading"],
        &["W2"],
    );
    check(&inside("to|\n }\n }\n}"), &["total"], &["onTuple"]);
    check(
        &inside("if (text == |"),
        &["total", "text", "label"],
        &["onTuple"],
    );
    check(
        &inside("for (int32 i in range(3)) {\n total += |"),
        &["i", "total"],
        &[],
    );
    check(
        &inside("submit({ size = |"),
        &["total", "size"],
        &["onTuple"],
    );
    check(
        &inside("appTrc(Trace.|"),
        &["error", "info", "Level"],
        &["size"],
    );
    check(&inside("return Main.|"), &["red", "green"], &["size"]);
    assert_eq!(inside("int32 ne|"), [""; 0], "a new name");
    let function = BEGINNING.replace(
        "return reading.label;",
        "mutable Reading copy = reading;\n |",
    );
    let items = completer.items(&function);
    let labels: Vec<String> = items
        .iter()
        .map(|item| item["label"].as_str().expect("a label").to_owned())
        .collect();
    check(
        &labels,
        &["reading", "copy", "return"],
        &["label", "Readings"],
    );
    let member = BEGINNING.replace("reading.label", "reading.|");
    let items = completer.items(&member);
    let labels: Vec<_> = items.iter().map(|item| item["label"].clone()).collect();
    assert_eq!(labels, ["size", "label"]);
}

#[test]
fn files_and_composites_are_completed() {
    let mut completer = Completer::new();
    let mut labels = |text: &str| -> Vec<String> {
        let items = completer.items(text);
        let label = |item: &Value| item["label"].as_str().expect("a label").to_owned();
        items.iter().map(label).collect()
    };
    check(
        &labels("|"),
        &["composite", "type", "use", "namespace"],
        &["graph"],
    );
    check(&labels("use |"), &["spl.file", "spl.math"], &["graph"]);
    check(
        &labels("type T = |"),
        &["int32", "list", "tuple"],
        &["graph"],
    );
    check(&labels("composite A(|"), &["input", "output"], &["graph"]);
    check(
        &labels("composite A {\n |"),
        &["graph", "param", "type"],
        &["composite"],
    );
    check(
        &labels("composite A {\n param\n |"),
        &["expression", "operator"],
        &["graph"],
    );
    check(
        &labels("composite A { graph } composite B { |"),
        &["graph"],
        &["composite"],
    );
    check(&labels("int32 f(|"), &["int32", "rstring"], &["graph"]);
    assert_eq!(labels("composite |"), [""; 0]);
}

#[test]
fn items_bring_their_types_and_descriptions() {
    let mut completer = Completer::new();
    let items = completer.items(&format!("{BEGINNING}        stream<Reading> X = Filt|"));
    let find = |items: &[Value], label: &str| -> Value {
        let found = items.iter().find(|item| item["label"] == label);
        found.unwrap_or_else(|| panic!("{label}")).clone()
    };
    let filter = find(&items, "Filter");
    assert_eq!(filter["kind"], 7);
    let detail = filter["detail"].as_str().expect("a detail");
    assert!(detail.starts_with("spl.relational: "), "{detail}");
    let resolved = completer.client.request("completionItem/resolve", filter);
    let doc = resolved.expect("an item")["documentation"]["value"].clone();
    let doc = doc.as_str().expect("a description");
    assert!(
        doc.contains("spl.relational::Filter") && doc.contains("PARAMETERS"),
        "{doc}"
    );
    let head = "        stream<Reading> X = Filter(Weighed) {\n param\n ";
    let items = completer.items(&format!("{BEGINNING}{head}|"));
    let param = find(&items, "filter");
    assert_eq!(param["insertText"], "filter : ");
    assert!(param["documentation"].is_string());
    let items = completer.items(&format!("{BEGINNING}{head}filter : |"));
    assert_eq!(find(&items, "weight")["detail"], "float64");
    let weighed = "stream<int32 size, rstring label, float64 weight>";
    assert_eq!(find(&items, "Weighed")["detail"], weighed);
    let function = find(&items, "named");
    assert_eq!(function["detail"], "rstring named(Reading reading)");
    let native = find(&items, "substring");
    assert_eq!(
        native["data"],
        json!({ "namespace": "spl.string", "name": "substring" })
    );
    completer.client.end();
}
