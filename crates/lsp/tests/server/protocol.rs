//! Lifecycle and errors of the protocol: what a client may send that makes no sense.

use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};
use thalweg_lsp::{SessionEnd, serve};

use crate::client::{ScriptedClient, TestFolder, at};

#[test]
fn unknown_requests_and_wrong_parameters_are_errors() {
    let mut client = ScriptedClient::start(&[]);
    let mut code = |method: &str, params: Value| {
        let answer = client.request(method, params);
        answer.expect_err("an error").code
    };
    assert_eq!(code("textDocument/frobnicate", json!({})), -32601);
    assert_eq!(code("$/frobnicate", Value::Null), -32601);
    assert_eq!(code("textDocument/hover", json!({ "nonsense": 1 })), -32602);
    assert_eq!(code("textDocument/completion", json!([])), -32602);
    let unopened = at("file:///nowhere.spl", &json!({ "line": 0, "character": 0 }));
    assert_eq!(code("textDocument/hover", unopened.clone()), -32602);
    assert_eq!(code("textDocument/completion", unopened), -32602);
    // Notifications that cannot be read have no answer, and do no harm.
    client.notify("textDocument/didOpen", json!({ "x": 1 }));
    client.notify("textDocument/didChange", json!("?"));
    client.notify("$/frobnicate", json!([1, 2]));
    client.notify("$/cancelRequest", json!({ "id": [] }));
    client.end();
}

#[test]
fn requests_before_and_after_the_session_are_refused() {
    let (client, server) = Connection::memory();
    let server = std::thread::spawn(|| serve(server));
    let send = |message: Message| client.sender.send(message).expect("a server");
    let receive = || match client.receiver.recv().expect("a message") {
        Message::Response(response) => response.response_result.map_err(|error| error.code),
        other => panic!("unexpected {other:?}"),
    };
    let request = |id: i32, method: &str, params: Value| {
        Message::from(Request::new(id.into(), method.to_owned(), params))
    };
    send(request(1, "textDocument/hover", json!({})));
    assert_eq!(receive(), Err(-32002));
    send(request(2, "initialize", json!({ "capabilities": 7 })));
    assert_eq!(receive(), Err(-32602));
    send(request(3, "initialize", json!({ "capabilities": {} })));
    assert!(receive().is_ok());
    send(request(4, "shutdown", Value::Null));
    assert_eq!(receive(), Ok(Value::Null));
    send(request(5, "textDocument/hover", json!({})));
    assert_eq!(receive(), Err(-32600));
    send(Notification::new("exit".to_owned(), Value::Null).into());
    assert_eq!(server.join().expect("no panic"), SessionEnd::Orderly);
}

#[test]
fn a_client_that_goes_away_ends_the_session() {
    let (client, server) = Connection::memory();
    let server = std::thread::spawn(|| serve(server));
    drop(client);
    assert_eq!(server.join().expect("no panic"), SessionEnd::Abrupt);
}

#[test]
fn questions_can_be_cancelled_and_all_are_answered() {
    let folder = TestFolder::new();
    let uri = folder.uri("Main.spl");
    let mut client = ScriptedClient::start(&[]);
    let text = "type Reading = int32 size;\n".repeat(200);
    client.open(&uri, &text);
    let place = at(&uri, &json!({ "line": 0, "character": 6 }));
    let ids: Vec<_> = (0..20)
        .map(|_| client.ask("textDocument/hover", place.clone()))
        .collect();
    for id in &ids[10..] {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in &ids[..10] {
        client.answer(id).expect("a hover");
    }
    // Those that were taken back are answered with that, or were answered before.
    for id in &ids[10..] {
        let code = client.answer(id).err().map(|error| error.code);
        assert!(code.is_none_or(|code| code == -32800), "{code:?}");
    }
    let document = json!({ "textDocument": { "uri": uri } });
    let late = client.ask("textDocument/hover", place);
    client.notify("textDocument/didClose", document);
    let code = client.answer(&late).err().map(|error| error.code);
    assert!(code.is_none_or(|code| code == -32800), "{code:?}");
    client.end();
}

#[test]
fn files_with_perl_in_them_are_left_alone() {
    let folder = TestFolder::new();
    let uri = folder.uri("Main.splmm");
    let mut client = ScriptedClient::start(&[]);
    client.open(&uri, "<% system(\"touch ran\"); %> composite Main {");
    assert_eq!(client.diagnostics(&uri, Some(1)), [Value::Null; 0]);
    let place = at(&uri, &json!({ "line": 0, "character": 30 }));
    let items = client.request("textDocument/completion", place.clone());
    assert_eq!(items.expect("an answer"), json!([]));
    let hover = client.request("textDocument/hover", place);
    assert_eq!(hover.expect("an answer"), Value::Null);
    client.end();
}
