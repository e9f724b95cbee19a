//! Time of the answers on a program of 5,000 lines, printed (`--release`, `-- --nocapture`). Only
//! their contents are asserted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{ScriptedClient, TestFolder, at, position};

/// Composites of the program, each of 50 lines.
const COMPOSITES: usize = 100;

/// A program of 5,000 lines, and more.
fn program() -> String {
    let mut text = String::from("type Reading = int32 size, rstring label, float64 weight;\n");
    for number in 0..COMPOSITES {
        text += &format!("composite Part{number} {{\n    graph\n");
        text += "        stream<Reading> S0 = Beacon() {\n        }\n";
        for step in 1..=5 {
            let before = step - 1;
            text += &format!(
                "        stream<Reading> S{step} = Functor(S{before}) {{\n            param\n                \
                 filter : size > {step} && length(label) < 100;\n            output\n                S{step} :\n                    \
                 size = S{before}.size + {number},\n                    weight = weight * 2.0;\n        }}\n"
            );
        }
        text += "        () as Sink = Custom(S5) {\n            logic\n                onTuple S5 : {\n                    \
                 printStringLn(label);\n                }\n        }\n}\n";
    }
    text
}

#[test]
fn completion_in_5000_lines_says_what_it_should() {
    let text = program();
    let lines = text.lines().count();
    assert!(lines >= 5_000, "{lines}");
    let folder = TestFolder::new();
    let uri = folder.uri("Main.spl");
    let mut client = ScriptedClient::start(&[]);
    let begun = Instant::now();
    client.open(&uri, &text);
    let found = client.diagnostics(&uri, Some(1));
    println!("{lines} lines: diagnostics after {:?}", begun.elapsed());
    assert!(found.is_empty(), "{found:?}");
    let mut worst = Duration::ZERO;
    // In the middle and at the end, letter by letter: what the user feels.
    for (version, part) in [(2, "Part50 "), (10, "Part99 ")] {
        let part = text.find(part).expect("a composite");
        let filter = text[part..].find("filter : ").expect("a parameter") + part + 9;
        let mut text = text.clone();
        for (step, letter) in ["w", "e", "i"].into_iter().enumerate() {
            let place = position(&text, filter + step);
            let range = json!({ "start": place, "end": place });
            text.insert_str(filter + step, letter);
            client.change(&uri, version + step as i32, &[(range, letter)]);
            let place = at(&uri, &position(&text, filter + step + 1));
            let begun = Instant::now();
            let items = client.request("textDocument/completion", place);
            let taken = begun.elapsed();
            worst = worst.max(taken);
            println!("completion behind `{letter}`: {taken:?}");
            let items = items.expect("items");
            let items = items.as_array().expect("a list");
            let has = |label: &str| items.iter().any(|item| item["label"] == label);
            assert!(
                has("weight") && has("size") && has("length"),
                "{}",
                items.len()
            );
        }
        let before = text.replacen("wei", "", 1);
        client.change(&uri, version + 5, &[(Value::Null, &before)]);
    }
    println!("worst completion: {worst:?}");
    let begun = Instant::now();
    let hover = client.request(
        "textDocument/hover",
        at(&uri, &json!({ "line": 0, "character": 6 })),
    );
    println!("hover with an analysis before it: {:?}", begun.elapsed());
    assert!(hover.expect("an answer")["contents"]["value"].is_string());
    client.end();
}
