//! The language server as an editor starts it: the binary, over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::scratch::{Scratch, command};

/// An editor at the other end of the server's standard input and output.
struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn start(args: &[&str]) -> Editor {
        let mut command = command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("the server starts");
        Editor {
            input: server.stdin.take().expect("an input"),
            output: BufReader::new(server.stdout.take().expect("an output")),
            server,
        }
    }

    fn send_text(&mut self, text: &str) {
        let message = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.input.write_all(message.as_bytes()).expect("a reader");
        self.input.flush().expect("a reader");
    }

    fn notify(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.send_text(&message.to_string());
    }

    fn ask(&mut self, id: i32, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_text(&message.to_string());
    }

    /// The next message of the server.
    fn receive(&mut self) -> Value {
        let mut length = None;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("a header");
            assert_ne!(read, 0, "the server has ended");
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().ok();
            }
        }
        let mut bytes = vec![0; length.expect("a length")];
        self.output.read_exact(&mut bytes).expect("a message");
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// The next diagnostics of a version.
    fn diagnostics(&mut self, version: i32) -> Value {
        loop {
            let message = self.receive();
            assert_eq!(
                message["method"], "textDocument/publishDiagnostics",
                "{message}"
            );
            if message["params"]["version"] == version {
                return message["params"]["diagnostics"].clone();
            }
        }
    }

    fn begin(&mut self) {
        self.ask(1, "initialize", json!({ "capabilities": {} }));
        let begun = self.receive();
        assert_eq!(begun["id"], 1);
        assert_eq!(begun["result"]["serverInfo"]["name"], "thalweg");
        assert_eq!(
            begun["result"]["capabilities"]["positionEncoding"],
            "utf-16"
        );
        self.notify("initialized", json!({}));
    }

    /// Ends the input, and answers with the exit status.
    fn status(mut self) -> Option<i32> {
        drop(self.input);
        let status = self.server.wait().expect("a status");
        status.code()
    }
}

#[test]
fn an_editor_is_served_over_standard_input_and_output() {
    let scratch = Scratch::new();
    let path = scratch.write("Main.spl", "");
    let uri = format!("file://{}", path.display());
    let mut editor = Editor::start(&["lsp"]);
    editor.begin();
    let text = "/* 😀 */ composite Main { graph stream<int32 n> A = Beacn() {} }";
    let document = json!({ "uri": uri, "languageId": "spl", "version": 1, "text": text });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let found = editor.diagnostics(1);
    assert_eq!(found[0]["code"], "unknown-operator", "{found}");
    let column = found[0]["range"]["start"]["character"]
        .as_u64()
        .expect("a column");
    assert_eq!(
        column as usize,
        text.encode_utf16().count() - "Beacn() {} }".len()
    );
    // A message that is none, between others that are.
    editor.send_text("{\"jsonrpc\": nonsense");
    let refused = editor.receive();
    assert_eq!(refused["id"], Value::Null);
    assert_eq!(refused["error"]["code"], -32700);
    let range = found[0]["range"].clone();
    let document = json!({ "uri": uri, "version": 2 });
    let changes = json!([{ "range": range, "text": "Beacon" }]);
    let params = json!({ "textDocument": document, "contentChanges": changes });
    editor.notify("textDocument/didChange", params);
    assert_eq!(editor.diagnostics(2), json!([]));
    let place = json!({ "line": 0, "character": column + 1 });
    let params = json!({ "textDocument": { "uri": uri }, "position": place });
    editor.ask(2, "textDocument/hover", params.clone());
    let hover = editor.receive();
    let value = hover["result"]["contents"]["value"]
        .as_str()
        .expect("a text");
    assert!(value.contains("spl.utility::Beacon"), "{value}");
    editor.ask(3, "textDocument/completion", params);
    let items = editor.receive();
    let items = items["result"].as_array().expect("items");
    assert!(items.iter().any(|item| item["label"] == "Beacon"));
    editor.ask(4, "shutdown", Value::Null);
    assert_eq!(editor.receive()["result"], Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.status(), Some(0));
}

#[test]
fn a_session_that_breaks_off_has_a_failing_status() {
    let mut editor = Editor::start(&["lsp", "--stdio"]);
    editor.begin();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.status(), Some(1));
    // The input ends without any message, or in the middle of one.
    assert_eq!(Editor::start(&["lsp"]).status(), Some(1));
    let mut editor = Editor::start(&["lsp"]);
    editor
        .input
        .write_all(b"Content-Length: 100\r\n\r\n{")
        .expect("a reader");
    assert_eq!(editor.status(), Some(1));
}
