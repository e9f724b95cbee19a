//! Server: the session with one client, from `initialize` to `exit`.

use std::sync::Arc;
use std::time::Duration;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response, ResponseError};
use lsp_types::{
    CompletionOptions, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentFormattingParams, DocumentSymbolParams,
    DocumentSymbolResponse, HoverProviderCapability, InitializeParams, InitializeResult, OneOf,
    PositionEncodingKind, RenameOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysed_document::AnalysedDocument;
use crate::analysis_queue::{
    AnalysisQueue, Answer, AnswerFunction, MessageSink, PendingQuestion, QUIET_TIME,
};
use crate::client_settings::ClientSettings;
use crate::document_text::ColumnUnit;
use crate::open_documents::OpenDocument;
use crate::{completion, hover, inlay_types, layout_edits, navigation, outline, rename, word_docs};

/// How a session ended, which decides the exit status of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// By `shutdown` and `exit`, as the protocol wants: status 0.
    Orderly,
    /// By `exit` without `shutdown`, or because the client has gone: status 1.
    Abrupt,
}

/// Serves one client until it sends `exit` or goes away.
pub fn serve(connection: Connection) -> SessionEnd {
    // Texts of any form are parsed here: trees may be deep.
    engine::with_deep_stack(|| serve_client(connection)).unwrap_or(SessionEnd::Abrupt)
}

fn serve_client(connection: Connection) -> SessionEnd {
    let Some(settings) = initialize(&connection) else {
        return SessionEnd::Abrupt;
    };
    let sender = connection.sender.clone();
    // A client that has gone reads no more messages; the loop below ends then.
    let sink: MessageSink = Arc::new(move |message| drop(sender.send(message)));
    let queue = AnalysisQueue::new(Arc::clone(&sink), settings);
    std::thread::scope(|scope| {
        scope.spawn(|| queue.work());
        let session = ClientSession {
            queue: &queue,
            sink: &sink,
        };
        let end = session.run(&connection);
        queue.stop();
        end
    })
}

/// Answers `initialize`; `None` if the client ends the session before.
fn initialize(connection: &Connection) -> Option<ClientSettings> {
    loop {
        let (id, params) = connection.initialize_start().ok()?;
        match serde_json::from_value::<InitializeParams>(params) {
            Ok(params) => {
                let settings = ClientSettings::new(&params);
                let result = InitializeResult {
                    capabilities: capabilities(settings.unit),
                    server_info: Some(ServerInfo {
                        name: "thalweg".to_owned(),
                        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                    }),
                };
                let response = Response::new_ok(id, result);
                connection.sender.send(response.into()).ok()?;
                return Some(settings);
            }
            Err(error) => {
                let response = Response::new_err(id, INVALID_PARAMS, error.to_string());
                connection.sender.send(response.into()).ok()?;
            }
        }
    }
}

fn capabilities(unit: ColumnUnit) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp_types::TextDocumentSyncSaveOptions::Supported(true)),
        ..TextDocumentSyncOptions::default()
    };
    let triggers = [".", ":", "<", "(", ","].map(str::to_owned);
    ServerCapabilities {
        position_encoding: Some(match unit {
            ColumnUnit::Utf8 => PositionEncodingKind::UTF8,
            ColumnUnit::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(triggers.to_vec()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

const INVALID_PARAMS: i32 = ErrorCode::InvalidParams as i32;

/// The session after `initialize`.
struct ClientSession<'s> {
    queue: &'s AnalysisQueue,
    sink: &'s MessageSink,
}

impl ClientSession<'_> {
    fn run(&self, connection: &Connection) -> SessionEnd {
        let mut is_shut_down = false;
        for message in &connection.receiver {
            match message {
                Message::Request(request) if is_shut_down => {
                    let message = "the server was shut down".to_owned();
                    let code = ErrorCode::InvalidRequest as i32;
                    self.send(Response::new_err(request.id, code, message));
                }
                Message::Request(request) if request.method == "shutdown" => {
                    is_shut_down = true;
                    self.send(Response::new_ok(request.id, Value::Null));
                }
                Message::Request(request) => self.request(request),
                Message::Notification(notification) if notification.method == "exit" => {
                    return match is_shut_down {
                        true => SessionEnd::Orderly,
                        false => SessionEnd::Abrupt,
                    };
                }
                Message::Notification(notification) => self.notification(notification),
                // The server asks nothing.
                Message::Response(_) => {}
            }
        }
        SessionEnd::Abrupt
    }

    fn send(&self, response: Response) {
        (self.sink)(response.into());
    }

    /// Answers a request, now or later.
    fn request(&self, request: Request) {
        let id = request.id.clone();
        let answer = match &*request.method {
            "textDocument/completion" => self.completion(&request),
            "completionItem/resolve" => parsed(request.params)
                .map(completion::resolve)
                .and_then(json),
            "textDocument/formatting" => self.formatting(&request),
            "textDocument/documentSymbol" => self.outline(&request),
            _ => match question(&request) {
                Ok(Some((uri, answer))) => return self.ask(request, uri, answer),
                Ok(None) => {
                    let message = format!("the server has no method `{}`", request.method);
                    Err(failure(ErrorCode::MethodNotFound, message))
                }
                Err(error) => Err(error),
            },
        };
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, error.code, error.message),
        });
    }

    fn ask(&self, request: Request, uri: String, answer: AnswerFunction) {
        let id = request.id;
        match self.open_document(&uri) {
            Ok(_) => self.queue.ask(PendingQuestion {
                id,
                uri,
                can_wait: request.method == "textDocument/inlayHint",
                answer,
            }),
            Err(error) => self.send(Response::new_err(id, error.code, error.message)),
        }
    }

    fn open_document(&self, uri: &str) -> Result<OpenDocument, ResponseError> {
        let document = self.queue.document(uri);
        document.ok_or_else(|| {
            let message = format!("the document {uri} is not open");
            failure(ErrorCode::InvalidParams, message)
        })
    }

    fn completion(&self, request: &Request) -> Answer {
        let params: lsp_types::CompletionParams = parsed(request.params.clone())?;
        let place = params.text_document_position;
        let uri = place.text_document.uri.as_str();
        let document = self.open_document(uri)?;
        let last = self.queue.last_analysis(uri);
        let unit = self.queue.settings().unit;
        json(completion::completions(
            &document,
            last.as_deref(),
            place.position,
            unit,
        ))
    }

    fn formatting(&self, request: &Request) -> Answer {
        let params: DocumentFormattingParams = parsed(request.params.clone())?;
        let document = self.open_document(params.text_document.uri.as_str())?;
        let edits = layout_edits::layout_edits(&document, self.queue.settings().unit);
        edits.map_err(refused).and_then(json)
    }

    fn outline(&self, request: &Request) -> Answer {
        let params: DocumentSymbolParams = parsed(request.params.clone())?;
        let document = self.open_document(params.text_document.uri.as_str())?;
        let symbols = outline::outline(&document, self.queue.settings().unit);
        json(DocumentSymbolResponse::Nested(symbols))
    }

    /// Takes a notification; one that cannot be read has no answer by the protocol.
    fn notification(&self, notification: Notification) {
        let params = notification.params;
        match &*notification.method {
            "textDocument/didOpen" => {
                if let Ok(params) = parsed::<DidOpenTextDocumentParams>(params) {
                    let opened = params.text_document;
                    let document = OpenDocument::new(opened.uri, opened.version, opened.text);
                    self.queue.put(document, Duration::ZERO);
                }
            }
            "textDocument/didChange" => {
                if let Ok(params) = parsed::<DidChangeTextDocumentParams>(params) {
                    self.change(params);
                }
            }
            "textDocument/didClose" => {
                if let Ok(params) = parsed::<DidCloseTextDocumentParams>(params) {
                    self.queue.close(params.text_document.uri.as_str());
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.queue.put_all_due();
            }
            "$/cancelRequest" => {
                let id = params.get("id").cloned().unwrap_or_default();
                if let Ok(id) = serde_json::from_value(id) {
                    self.queue.cancel(&id);
                }
            }
            _ => {}
        }
    }

    fn change(&self, params: DidChangeTextDocumentParams) {
        let changed = params.text_document;
        let Some(document) = self.queue.document(changed.uri.as_str()) else {
            return;
        };
        let unit = self.queue.settings().unit;
        let document = document.changed(changed.version, params.content_changes, unit);
        self.queue.put(document, QUIET_TIME);
    }
}

/// The document that a request is about and the function that answers it; `None` for a request
/// that the server does not know.
fn question(request: &Request) -> Result<Option<(String, AnswerFunction)>, ResponseError> {
    use lsp_types::{
        GotoDefinitionParams, HoverParams, InlayHintParams, ReferenceParams, RenameParams,
        TextDocumentPositionParams,
    };
    let params = request.params.clone();
    let (uri, answer): (lsp_types::Uri, AnswerFunction) = match &*request.method {
        "textDocument/hover" => {
            let place = parsed::<HoverParams>(params)?.text_document_position_params;
            let answer = move |analysed: &AnalysedDocument, _: &_| {
                let unit = analysed.settings.unit;
                let word = || word_docs::word_doc(&analysed.document, place.position, unit);
                json(hover::hover(analysed, place.position).or_else(word))
            };
            (place.text_document.uri, Box::new(answer))
        }
        "textDocument/definition" => {
            let place = parsed::<GotoDefinitionParams>(params)?.text_document_position_params;
            let answer =
                move |analysed: &_, _: &_| json(navigation::definition(analysed, place.position));
            (place.text_document.uri, Box::new(answer))
        }
        "textDocument/references" => {
            let params: ReferenceParams = parsed(params)?;
            let place = params.text_document_position;
            let with_declaration = params.context.include_declaration;
            let answer = move |analysed: &_, _: &_| {
                let found = navigation::references(analysed, place.position, with_declaration);
                json(found)
            };
            (place.text_document.uri, Box::new(answer))
        }
        "textDocument/prepareRename" => {
            let place: TextDocumentPositionParams = parsed(params)?;
            let answer = move |analysed: &_, _: &_| {
                let prepared = rename::prepare(analysed, place.position);
                prepared.map_err(refused).and_then(json)
            };
            (place.text_document.uri, Box::new(answer))
        }
        "textDocument/rename" => {
            let params: RenameParams = parsed(params)?;
            let place = params.text_document_position;
            let name = params.new_name;
            let answer = move |analysed: &_, open: &_| {
                let renamed = rename::rename(analysed, place.position, &name, open);
                renamed.map_err(refused).and_then(json)
            };
            (place.text_document.uri, Box::new(answer))
        }
        "textDocument/inlayHint" => {
            let InlayHintParams {
                text_document,
                range,
                ..
            } = parsed(params)?;
            let answer = move |analysed: &_, _: &_| json(inlay_types::inlay_types(analysed, range));
            (text_document.uri, Box::new(answer))
        }
        _ => return Ok(None),
    };
    Ok(Some((uri.as_str().to_owned(), answer)))
}

fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, ResponseError> {
    serde_json::from_value(params)
        .map_err(|error| failure(ErrorCode::InvalidParams, error.to_string()))
}

fn json(result: impl Serialize) -> Answer {
    serde_json::to_value(result)
        .map_err(|error| failure(ErrorCode::InternalError, error.to_string()))
}

/// The error of a request that is understood and cannot be done, for this reason.
fn refused(reason: String) -> ResponseError {
    failure(ErrorCode::RequestFailed, reason)
}

fn failure(code: ErrorCode, message: String) -> ResponseError {
    ResponseError {
        code: code as i32,
        message,
        data: None,
    }
}
