//! Client of a session in memory, which tests drive by a script.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response, ResponseError};
use serde_json::{Value, json};
use thalweg_lsp::{SessionEnd, serve};

/// Time after which a test says that it hangs.
const WATCHDOG: Duration = Duration::from_secs(240);

/// Client with a server on a thread of its own.
pub struct ScriptedClient {
    connection: Connection,
    server: JoinHandle<SessionEnd>,
    next_id: i32,
    /// Notifications that came while something else was waited for.
    notifications: Vec<Notification>,
    /// Answers to other requests than the one that was waited for.
    responses: Vec<Response>,
}

impl ScriptedClient {
    /// A session that has begun; positions are in UTF-16 unless `encodings` says otherwise.
    pub fn start(encodings: &[&str]) -> ScriptedClient {
        let (client, server) = Connection::memory();
        let mut client = ScriptedClient {
            connection: client,
            server: std::thread::spawn(|| serve(server)),
            next_id: 0,
            notifications: Vec::new(),
            responses: Vec::new(),
        };
        let capabilities = json!({
            "general": { "positionEncodings": encodings },
            "workspace": { "workspaceEdit": { "documentChanges": true } },
        });
        let result = client
            .request("initialize", json!({ "capabilities": capabilities }))
            .expect("the server begins");
        let wanted = encodings.iter().find(|&&one| one == "utf-8");
        let encoding = wanted.unwrap_or(&"utf-16");
        assert_eq!(result["capabilities"]["positionEncoding"], *encoding);
        client.notify("initialized", json!({}));
        client
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    fn send(&self, message: Message) {
        let sent = self.connection.sender.send(message);
        sent.expect("the server is there");
    }

    /// Sends a request without waiting for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        self.send(Request::new(id.clone(), method.to_owned(), params).into());
        id
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: &RequestId) -> Result<Value, ResponseError> {
        loop {
            let known = self.responses.iter().position(|one| one.id == *id);
            if let Some(at) = known {
                return self.responses.remove(at).response_result;
            }
            match self.receive() {
                Message::Response(response) => self.responses.push(response),
                Message::Notification(notification) => self.notifications.push(notification),
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let id = self.ask(method, params);
        self.answer(&id)
    }

    fn receive(&self) -> Message {
        let received = self.connection.receiver.recv_timeout(WATCHDOG);
        received.expect("the server answers")
    }

    /// Waits for diagnostics of a version of a document; `None` for those that are cleared.
    pub fn diagnostics(&mut self, uri: &str, version: Option<i32>) -> Vec<Value> {
        loop {
            let is_wanted = |one: &Notification| {
                one.method == "textDocument/publishDiagnostics"
                    && one.params["uri"] == uri
                    && one.params["version"].as_i64() == version.map(i64::from)
            };
            if let Some(at) = self.notifications.iter().position(is_wanted) {
                let mut params = self.notifications.remove(at).params;
                return serde_json::from_value(params["diagnostics"].take()).expect("a list");
            }
            match self.receive() {
                Message::Notification(notification) => self.notifications.push(notification),
                Message::Response(response) => self.responses.push(response),
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    pub fn open(&self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "spl", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Changes a document: a range and a text for each change.
    pub fn change(&self, uri: &str, version: i32, changes: &[(Value, &str)]) {
        let changes: Vec<_> = changes
            .iter()
            .map(|(range, text)| match range {
                Value::Null => json!({ "text": text }),
                range => json!({ "range": range, "text": text }),
            })
            .collect();
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// Ends the session in order.
    pub fn end(mut self) {
        let ended = self.request("shutdown", Value::Null);
        assert_eq!(ended.expect("an answer"), Value::Null);
        self.notify("exit", Value::Null);
        let end = self.server.join().expect("the server does not panic");
        assert_eq!(end, SessionEnd::Orderly);
    }
}

/// Position of a byte offset, in UTF-16.
pub fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": before[begin..].encode_utf16().count() })
}

/// Position of the place that `|` marks in a part of a text: `"Nu|mbers"`.
pub fn place(text: &str, marked: &str) -> Value {
    let (before, behind) = marked.split_once('|').expect("a mark");
    let part = [before, behind].concat();
    let at = text
        .find(&part)
        .unwrap_or_else(|| panic!("{part} in {text}"));
    position(text, at + before.len())
}

/// Range of a part of a text.
pub fn range(text: &str, part: &str) -> Value {
    let at = text
        .find(part)
        .unwrap_or_else(|| panic!("{part} in {text}"));
    json!({ "start": position(text, at), "end": position(text, at + part.len()) })
}

/// Parameters of a request about a place in a document.
pub fn at(uri: &str, position: &Value) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": position })
}

/// Folder of a test, which is deleted when it is dropped.
pub struct TestFolder(PathBuf);

impl TestFolder {
    pub fn new() -> TestFolder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-lsp-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        TestFolder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn uri(&self, name: &str) -> String {
        format!("file://{}", self.0.join(name).display())
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // A folder that stays is no fault of what was tested.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The text with edits of the protocol, which are in the order of their places.
pub fn edited(text: &str, edits: &Value) -> String {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let character = position["character"].as_u64().expect("a column") as usize;
        let start = starts[line];
        let mut units = 0;
        let rest = text[start..].char_indices();
        let mut rest = rest.skip_while(|(_, letter)| {
            let is_before = units < character;
            units += letter.len_utf16();
            is_before
        });
        rest.next().map_or(text.len(), |(at, _)| start + at)
    };
    let mut new = text.to_owned();
    for edit in edits.as_array().expect("edits").iter().rev() {
        let range = &edit["range"];
        let places = offset(&range["start"])..offset(&range["end"]);
        new.replace_range(places, edit["newText"].as_str().expect("a text"));
    }
    new
}
