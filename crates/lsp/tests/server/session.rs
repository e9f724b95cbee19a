//! A session by a script: open, mend, complete, hover, jump, rename, format, close.

use serde_json::{Value, json};

use crate::client::{ScriptedClient, TestFolder, at, edited, place, range};

/// A program with letters of several bytes before everything that is asked about.
const PROGRAM: &str = "\
/* größe 😀 */ type Reading = int32 größe_in_cm, rstring label;

/** Doubles a number. */
int32 twice(int32 number) {
    return number * 2;
}

composite Main {
    type
        Wide = Reading, tuple<float64 weight>;
    graph
        stream<Reading> Readings = Beacon() {
            param
                iterations : 3;
            output
                Readings : größe_in_cm = 7, label = \"😀\";
        }
        stream<Wide> Weighed = Functor(Readings) {
            output
                Weighed : weight = (float64) twice(Readings.größe_in_cm);
        }
        () as Sink = Custom(Weighed as In) {
            logic
                state : mutable int32 count = 0;
                onTuple In : {
                    mutable float64 sum = weight + In.weight;
                    count++;
                    printStringLn(label + (rstring) sum + (rstring) count);
                }
        }
}
";

/// A program with words that are no names.
const WORDS: &str = "composite Words { graph stream<uint64 n> A = Beacon() { output A : n = \
    IterationCount(); } stream<uint64 n> B = Aggregate(A) { window A : tumbling, count(2); } \
    stream<uint64 n> C = Custom(B) { logic onTuple B : { submit(B, C); } } }";

/// The program, whose attribute has no letter beyond ASCII: SPL's names have none.
fn program() -> String {
    PROGRAM.replace("größe_in_cm", "size_in_cm")
}

fn opened() -> (ScriptedClient, TestFolder, String, String) {
    let folder = TestFolder::new();
    let uri = folder.uri("Main.spl");
    let text = program();
    let mut client = ScriptedClient::start(&[]);
    client.open(&uri, &text);
    let found = client.diagnostics(&uri, Some(1));
    assert!(found.is_empty(), "{found:?}");
    (client, folder, uri, text)
}

#[test]
fn findings_come_and_go_with_changes() {
    let folder = TestFolder::new();
    let uri = folder.uri("Main.spl");
    let right = program();
    let wrong = right.replace("weight + In.weight", "weight + In.wieght");
    let mut client = ScriptedClient::start(&[]);
    client.open(&uri, &wrong);
    let found = client.diagnostics(&uri, Some(1));
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(finding["code"], "unknown-attribute");
    assert_eq!(finding["severity"], 1);
    assert_eq!(finding["source"], "thalweg");
    assert_eq!(finding["range"], range(&wrong, "wieght"));
    let message = finding["message"].as_str().expect("a message");
    assert!(
        message.ends_with("help: did you mean `weight`?"),
        "{message}"
    );
    // Mended in two changes, the second of which counts from the first.
    let emoji = wrong.find("😀 */").expect("a comment");
    let first = json!({ "start": crate::client::position(&wrong, emoji), "end": crate::client::position(&wrong, emoji) });
    let between = wrong.replacen("😀 */", "漢😀 */", 1);
    let changes = [(first, "漢"), (range(&between, "wieght"), "weight")];
    client.change(&uri, 2, &changes);
    assert_eq!(client.diagnostics(&uri, Some(2)), [Value::Null; 0]);
    // A finding with a second place.
    client.change(&uri, 3, &[(Value::Null, "type T = int32; type T = int64;")]);
    let found = client.diagnostics(&uri, Some(3));
    let related = &found[0]["relatedInformation"][0];
    assert_eq!(found[0]["code"], "duplicate-definition", "{found:?}");
    assert_eq!(related["location"]["uri"], *uri);
    assert_eq!(related["location"]["range"]["start"]["character"], 5);
    let document = json!({ "textDocument": { "uri": uri } });
    client.notify("textDocument/didClose", document);
    assert_eq!(client.diagnostics(&uri, None), [Value::Null; 0]);
    client.end();
}

#[test]
fn columns_are_bytes_if_the_client_offers_that() {
    let folder = TestFolder::new();
    let uri = folder.uri("Main.spl");
    let mut client = ScriptedClient::start(&["utf-16", "utf-8"]);
    client.open(&uri, "/* 😀 */ type A = B;");
    let found = client.diagnostics(&uri, Some(1));
    assert_eq!(
        found[0]["range"]["start"],
        json!({ "line": 0, "character": 20 })
    );
    client.end();
}

#[test]
fn hover_tells_types_and_descriptions() {
    let (mut client, folder, uri, text) = opened();
    let mut hover = |marked: &str| {
        let found = client.request("textDocument/hover", at(&uri, &place(&text, marked)));
        let found = found.expect("an answer");
        let value = found["contents"]["value"].as_str();
        value
            .unwrap_or_else(|| panic!("{marked}: {found}"))
            .to_owned()
    };
    assert!(hover("= Bea|con()").contains("spl.utility::Beacon\n"));
    let stream = "stream<int32 size_in_cm, rstring label> Readings";
    assert!(hover("Functor(Read|ings)").contains(stream));
    assert!(hover("stream<Reading> Read|ings").contains(stream));
    let wide = "stream<int32 size_in_cm, rstring label, float64 weight> In";
    assert!(hover("onTuple I|n").contains(wide));
    assert!(hover("In.we|ight").contains("float64 weight"));
    assert!(hover("sum = wei|ght").contains("float64 weight"));
    assert!(hover("co|unt++").contains("int32 count"));
    let function = hover("tw|ice(Readings");
    assert!(function.contains("int32 twice(int32 number)"), "{function}");
    assert!(function.contains("Doubles a number."), "{function}");
    let native = hover("print|StringLn");
    assert!(native.contains("void printStringLn(T s)"), "{native}");
    assert!(hover("iter|ations : 3").contains("Parameter of Beacon."));
    let named = hover("stream<Wi|de>");
    assert!(
        named.contains("Wide = Reading, tuple<float64 weight>"),
        "{named}"
    );
    assert!(named.contains("rstring label"), "{named}");
    client.open(&folder.uri("Words.spl"), WORDS);
    let words = folder.uri("Words.spl");
    let mut hover = |marked: &str| {
        let found = client.request("textDocument/hover", at(&words, &place(WORDS, marked)));
        found.expect("an answer")["contents"]["value"].clone()
    };
    let counted = hover("Iteration|Count()");
    let counted = counted.as_str().expect("a prototype");
    assert!(counted.contains("Output function of Beacon."), "{counted}");
    let submitted = hover("sub|mit(");
    assert!(
        submitted
            .as_str()
            .expect("a text")
            .contains("submit(tuple, Stream)")
    );
    assert_eq!(hover("co|unt(2)"), Value::Null, "a part of a window");
    let nothing = client.request("textDocument/hover", at(&uri, &place(&text, "gra|ph")));
    assert_eq!(nothing.expect("an answer"), Value::Null);
    client.end();
}

#[test]
fn names_lead_to_their_declarations_and_back() {
    let (mut client, _folder, uri, text) = opened();
    let mut definition = |marked: &str| {
        let found = client.request("textDocument/definition", at(&uri, &place(&text, marked)));
        found.expect("an answer")["range"]["start"].clone()
    };
    let start = |marked: &str| place(&text, marked);
    assert_eq!(
        definition("Functor(Read|ings)"),
        start("stream<Reading> |Readings")
    );
    assert_eq!(definition("onTuple I|n"), start("Weighed as |In"));
    assert_eq!(definition("In.we|ight"), start("float64 |weight"));
    assert_eq!(definition("Readings.size|_in"), start("int32 |size_in"));
    assert_eq!(definition("Readings : si|ze"), start("int32 |size_in"));
    assert_eq!(definition("(la|bel + "), start("rstring |label"));
    assert_eq!(definition("co|unt++"), start("int32 |count"));
    assert_eq!(definition("tw|ice(Readings"), start("int32 |twice"));
    assert_eq!(definition("num|ber * 2"), start("int32 |number"));
    assert_eq!(definition("<Wi|de>"), start("|Wide = "));
    assert_eq!(definition("Wide = Rea|ding"), start("type |Reading"));
    assert_eq!(definition("Bea|con()"), Value::Null);
    let mut params = at(&uri, &start("Functor(Read|ings)"));
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.request("textDocument/references", params.clone());
    let count = |found: Value| found.as_array().map_or(0, Vec::len);
    // Declared, in its output clause, as an input, before an attribute.
    assert_eq!(count(found.expect("an answer")), 4);
    params["context"]["includeDeclaration"] = false.into();
    let found = client.request("textDocument/references", params);
    assert_eq!(count(found.expect("an answer")), 3);
    client.end();
}

fn renamed(
    client: &mut ScriptedClient,
    uri: &str,
    text: &str,
    marked: &str,
    name: &str,
) -> Result<String, String> {
    let mut params = at(uri, &place(text, marked));
    params["newName"] = name.into();
    let found = client.request("textDocument/rename", params);
    let edit = found.map_err(|error| error.message)?;
    let changes = &edit["documentChanges"];
    assert_eq!(changes[0]["textDocument"]["uri"], *uri, "{edit}");
    Ok(edited(text, &changes[0]["edits"]))
}

#[test]
fn renames_keep_the_meaning_or_are_refused() {
    let (mut client, _folder, uri, text) = opened();
    let prepared = client.request(
        "textDocument/prepareRename",
        at(&uri, &place(&text, "Functor(Read|ings)")),
    );
    assert_eq!(prepared.expect("an answer")["placeholder"], "Readings");
    let mut rename = |marked, name| renamed(&mut client, &uri, &text, marked, name);
    let stream = text
        .replace("> Readings", "> Measured")
        .replace("Readings : ", "Measured : ")
        .replace("(Readings", "(Measured");
    assert_eq!(rename("Functor(Read|ings)", "Measured"), Ok(stream));
    let alias = text
        .replace("as In)", "as Heavy)")
        .replace("onTuple In", "onTuple Heavy")
        .replace("In.weight", "Heavy.weight");
    assert_eq!(rename("as I|n)", "Heavy"), Ok(alias));
    let ty = text
        .replace("Reading ", "Length ")
        .replace("Reading>", "Length>");
    let ty = ty.replace("Reading,", "Length,");
    assert_eq!(rename("type Rea|ding", "Length"), Ok(ty));
    let attribute = text.replace("size_in_cm", "centimetres");
    assert_eq!(rename("size|_in_cm = 7", "centimetres"), Ok(attribute));
    let weight = text.replace("weight", "mass");
    assert_eq!(rename("float64 we|ight", "mass"), Ok(weight));
    assert_eq!(
        rename("co|unt++", "number"),
        Ok(text.replace("count", "number"))
    );
    let function = text.replace("twice", "doubled");
    assert_eq!(rename("tw|ice(Read", "doubled"), Ok(function));
    // Names that are taken, hidden, reserved, none, or not the program's.
    let error = |found: Result<String, String>| found.expect_err("a refusal");
    let taken = error(rename("Functor(Read|ings)", "Weighed"));
    assert!(
        taken.starts_with("`Weighed` cannot be used here: "),
        "{taken}"
    );
    let hiding = error(rename("co|unt++", "label"));
    assert!(hiding.contains("label"), "{hiding}");
    assert_eq!(
        error(rename("co|unt++", "graph")),
        "`graph` is a reserved word"
    );
    assert_eq!(error(rename("co|unt++", "a b")), "`a b` is not a name");
    assert_eq!(
        error(rename("Bea|con()", "X")),
        "`Beacon` belongs to the library"
    );
    assert!(error(rename("gra|ph", "X")).starts_with("there is no name here"));
    client.end();
}

#[test]
fn formals_and_composites_are_renamed_in_all_files() {
    let folder = TestFolder::new();
    let inner = "public composite Inner(output Out) {\n    param\n        expression<int32> $n : 1;\n    \
                 graph\n        stream<int32 a> Out = Beacon() {\n            param\n                \
                 iterations : $n;\n        }\n}\n";
    let main = "composite Main {\n    graph\n        stream<int32 a> A = Inner() {\n            param\n                \
                n : 2;\n        }\n        () as S = Custom(A) {\n        }\n}\n";
    std::fs::write(folder.path().join("Inner.spl"), inner).expect("a file");
    let uri = folder.uri("Main.spl");
    let mut client = ScriptedClient::start(&[]);
    client.open(&uri, main);
    assert_eq!(client.diagnostics(&uri, Some(1)), [Value::Null; 0]);
    let mut params = at(&uri, &place(main, "|n : 2"));
    params["newName"] = "times".into();
    let edit = client
        .request("textDocument/rename", params)
        .expect("edits");
    let changes = edit["documentChanges"].as_array().expect("changes");
    let of = |name: &str| {
        let uri = folder.uri(name);
        let found = changes
            .iter()
            .find(|one| one["textDocument"]["uri"] == *uri);
        found.unwrap_or_else(|| panic!("{name} in {edit}"))["edits"].clone()
    };
    assert_eq!(
        edited(main, &of("Main.spl")),
        main.replace("n : 2", "times : 2")
    );
    assert_eq!(
        edited(inner, &of("Inner.spl")),
        inner.replace("$n", "$times")
    );
    // The other way round: the file of the composite does not need the one that uses it.
    let inner_uri = folder.uri("Inner.spl");
    client.open(&inner_uri, inner);
    let mut params = at(&inner_uri, &place(inner, "Inn|er(output"));
    params["newName"] = "Outer".into();
    let refused = client.request("textDocument/rename", params);
    let refused = refused.expect_err("a refusal").message;
    assert!(
        refused.contains("Main.spl") && refused.ends_with("rename it there"),
        "{refused}"
    );
    let jumped = client.request(
        "textDocument/definition",
        at(&uri, &place(main, "In|ner()")),
    );
    let jumped = jumped.expect("an answer");
    assert_eq!(jumped["uri"], folder.uri("Inner.spl"));
    assert_eq!(jumped["range"], range(inner, "Inner"));
    client.end();
}

#[test]
fn documents_are_formatted_where_they_differ() {
    let (mut client, _folder, uri, text) = opened();
    let untidy = text.replace(
        "param\n                iterations : 3;",
        "param iterations:3;",
    );
    client.change(&uri, 2, &[(Value::Null, &untidy)]);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": uri }, "options": options });
    let edits = client.request("textDocument/formatting", params.clone());
    let edits = edits.expect("edits");
    let formatted = edited(&untidy, &edits);
    let wanted = engine::format("Main.spl".as_ref(), &untidy).expect("a right program");
    assert_eq!(formatted, wanted);
    let lines = edits[0]["range"]["end"]["line"].as_u64().expect("a line");
    assert!(lines < 20, "only the lines that differ: {edits}");
    client.change(&uri, 3, &[(Value::Null, "composite {")]);
    let error = client.request("textDocument/formatting", params);
    let error = error.expect_err("syntax errors").message;
    assert_eq!(error, "a program with syntax errors cannot be formatted");
    client.end();
}

#[test]
fn the_outline_and_the_inlay_types_name_what_is_declared() {
    let (mut client, _folder, uri, text) = opened();
    let params = json!({ "textDocument": { "uri": uri } });
    let symbols = client.request("textDocument/documentSymbol", params);
    let symbols = symbols.expect("symbols");
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter()
            .map(|one| one["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&symbols), ["Reading", "twice", "Main"]);
    let parts = &symbols[2]["children"];
    assert_eq!(names(parts), ["Wide", "Readings", "Weighed", "Sink"]);
    assert_eq!(parts[1]["detail"], "Beacon");
    let whole =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": whole });
    let hints = client
        .request("textDocument/inlayHint", params)
        .expect("hints");
    let labels: Vec<_> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|h| &h["label"])
        .collect();
    let first = ": int32 size_in_cm, rstring label";
    let second = ": int32 size_in_cm, rstring label, float64 weight";
    assert_eq!(labels, [first, second, second]);
    assert_eq!(
        hints[0]["position"],
        place(&text, "stream<Reading> Readings|")
    );
    client.end();
}
