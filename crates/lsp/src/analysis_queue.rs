//! Analysis queue: documents that the compiler is to check, and questions about them, for a thread
//! of their own.
//!
//! The server's thread puts changes and questions into the queue and goes on. The analysis thread
//! takes questions first, in their order. The document of a question is analysed before the answer,
//! unless it is analysed already, or the question can wait for that. Otherwise the thread analyses
//! the document that was changed longest ago, once no change has come for [`QUIET_TIME`]. A change
//! while a document is analysed makes it due again, and what was found is not published.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lsp_server::{ErrorCode, Message, Notification, RequestId, Response, ResponseError};
use lsp_types::PublishDiagnosticsParams;
use serde_json::Value;

use crate::analysed_document::AnalysedDocument;
use crate::client_settings::ClientSettings;
use crate::finding_conversion;
use crate::open_documents::{OpenDocument, OpenDocuments};

/// Time without a change after which a document is analysed: shorter than a pause for thought, and
/// longer than the time between two letters.
pub const QUIET_TIME: Duration = Duration::from_millis(120);

/// Sends a message to the client.
pub type MessageSink = Arc<dyn Fn(Message) + Send + Sync>;

/// Result of a request.
pub type Answer = Result<Value, ResponseError>;

/// Function that answers a question from an analysed document, and all open ones.
pub type AnswerFunction = Box<dyn FnOnce(&AnalysedDocument, &OpenDocuments) -> Answer + Send>;

/// A request about a document that has to be analysed first.
pub struct PendingQuestion {
    /// Id of the request.
    pub id: RequestId,
    /// URI of the document.
    pub uri: String,
    /// Whether the answer may come when the document is analysed anyhow: editors ask some questions
    /// again with every letter.
    pub can_wait: bool,
    /// Function that gives the answer.
    pub answer: AnswerFunction,
}

/// Queue between the server's thread and the analysis thread.
pub struct AnalysisQueue {
    state: Mutex<AnalysisState>,
    /// Notified when there is work, or the analysis thread shall stop.
    wake: Condvar,
    sink: MessageSink,
    settings: Arc<ClientSettings>,
}

/// State behind the lock of the queue.
#[derive(Default)]
struct AnalysisState {
    documents: OpenDocuments,
    /// Documents that are to be analysed, and when.
    due: BTreeMap<String, Instant>,
    questions: VecDeque<PendingQuestion>,
    /// The last analysis of each document.
    analysed: HashMap<String, Arc<AnalysedDocument>>,
    is_stopped: bool,
}

/// Work that the analysis thread has taken from the queue.
enum QueuedWork {
    /// Analyse the document of this URI.
    Analyse(String),
    /// Answer a question, whose document is analysed.
    Answer(PendingQuestion, Arc<AnalysedDocument>),
}

impl AnalysisQueue {
    /// A queue without documents and questions.
    pub fn new(sink: MessageSink, settings: ClientSettings) -> AnalysisQueue {
        AnalysisQueue {
            state: Mutex::default(),
            wake: Condvar::new(),
            sink,
            settings: Arc::new(settings),
        }
    }

    /// Settings of the client.
    pub fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    fn lock(&self) -> MutexGuard<'_, AnalysisState> {
        // No invariant spans several fields in a way that a panic could break.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a document or replaces its text; it is analysed after `delay`.
    pub fn put(&self, document: OpenDocument, delay: Duration) {
        let mut state = self.lock();
        let now = Instant::now();
        let uri = document.uri.as_str().to_owned();
        let path = document.path.clone();
        state.documents.insert(document);
        state.due.insert(uri.clone(), now + delay);
        let depends = |analysed: &AnalysedDocument| {
            let findings = &analysed.analysis.findings;
            let mut files = findings.sources().files();
            findings.has_errors() || files.any(|(_, file)| path.ends_with(&file.path))
        };
        let others = state.analysed.iter();
        let others = others.filter(|(other, analysed)| **other != uri && depends(analysed));
        let others: Vec<String> = others.map(|(other, _)| other.clone()).collect();
        for other in others {
            state.due.entry(other).or_insert(now + delay);
        }
        drop(state);
        self.wake.notify_one();
    }

    /// The last version of a document.
    pub fn document(&self, uri: &str) -> Option<OpenDocument> {
        self.lock().documents.get(uri).cloned()
    }

    /// The last analysis of a document, which may be of an earlier version.
    pub fn last_analysis(&self, uri: &str) -> Option<Arc<AnalysedDocument>> {
        self.lock().analysed.get(uri).cloned()
    }

    /// Closes a document, clears its diagnostics, and refuses the questions about it.
    pub fn close(&self, uri: &str) {
        let mut state = self.lock();
        let closed = state.documents.remove(uri);
        state.due.remove(uri);
        state.analysed.remove(uri);
        let (refused, kept) = state
            .questions
            .drain(..)
            .partition(|question| question.uri == uri);
        state.questions = kept;
        if let Some(closed) = closed {
            self.publish(PublishDiagnosticsParams::new(closed.uri, Vec::new(), None));
        }
        drop(state);
        let refused: VecDeque<PendingQuestion> = refused;
        for question in refused {
            self.refuse(question.id, "the document was closed");
        }
    }

    /// Makes all documents due: files that they need may have changed on disk.
    pub fn put_all_due(&self) {
        let mut state = self.lock();
        let uris: Vec<String> = state
            .documents
            .iter()
            .map(|document| document.uri.as_str().to_owned())
            .collect();
        for uri in uris {
            state.due.insert(uri, Instant::now());
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Asks a question, to be answered in its turn.
    pub fn ask(&self, question: PendingQuestion) {
        self.lock().questions.push_back(question);
        self.wake.notify_one();
    }

    /// Takes a question back, and answers that it was cancelled. One that is being answered or has
    /// been is answered all the same.
    pub fn cancel(&self, id: &RequestId) {
        let mut state = self.lock();
        let found = state.questions.iter().position(|asked| asked.id == *id);
        let question = found.and_then(|at| state.questions.remove(at));
        drop(state);
        if let Some(question) = question {
            self.refuse(question.id, "the client has cancelled the request");
        }
    }

    /// Has the analysis thread stop after what it is at.
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.wake.notify_all();
    }

    fn refuse(&self, id: RequestId, why: &str) {
        let code = ErrorCode::RequestCanceled as i32;
        (self.sink)(Response::new_err(id, code, why.to_owned()).into());
    }

    fn publish(&self, params: PublishDiagnosticsParams) {
        let method = "textDocument/publishDiagnostics".to_owned();
        (self.sink)(Notification::new(method, params).into());
    }

    /// Works until the queue is stopped.
    pub fn work(&self) {
        while let Some(work) = self.next() {
            match work {
                QueuedWork::Analyse(uri) => self.analyse(&uri),
                QueuedWork::Answer(question, analysed) => self.answer(question, &analysed),
            }
        }
    }

    /// Waits for work; `None` when the queue is stopped.
    fn next(&self) -> Option<QueuedWork> {
        let mut state = self.lock();
        loop {
            if state.is_stopped {
                return None;
            }
            if let Some(work) = state.next_question() {
                return Some(work);
            }
            let next = state.due.iter().min_by_key(|(_, due)| **due);
            let Some((uri, &due)) = next else {
                let woken = self.wake.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(QueuedWork::Analyse(uri.clone()));
            }
            let woken = self.wake.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Analyses a document, and publishes what was found unless it was changed meanwhile.
    fn analyse(&self, uri: &str) {
        let mut state = self.lock();
        state.due.remove(uri);
        let Some(document) = state.documents.get(uri).cloned() else {
            drop(state);
            return self.refuse_all(uri);
        };
        let open = state.documents.clone();
        drop(state);
        let work = || AnalysedDocument::new(&document, &open, &self.settings);
        let analysed = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(analysed)) => Arc::new(analysed),
            // A fault of the compiler, or of the system: the next change tries again.
            Ok(Err(_)) | Err(_) => {
                self.refuse_all(uri);
                return;
            }
        };
        let mut state = self.lock();
        let current = state.documents.get(uri).map(|document| document.version);
        if current.is_none() {
            return;
        }
        let analyses = &mut state.analysed;
        analyses.insert(uri.to_owned(), Arc::clone(&analysed));
        if current == Some(document.version) && !state.due.contains_key(uri) {
            self.publish(finding_conversion::published(&analysed));
        }
    }

    /// Refuses the questions about a document that cannot be analysed.
    fn refuse_all(&self, uri: &str) {
        let mut state = self.lock();
        state.analysed.remove(uri);
        let questions = std::mem::take(&mut state.questions);
        let (refused, kept): (VecDeque<_>, VecDeque<_>) = questions
            .into_iter()
            .partition(|question| question.uri == uri);
        state.questions = kept;
        drop(state);
        for question in refused {
            let code = ErrorCode::InternalError as i32;
            let message = "the document cannot be analysed".to_owned();
            (self.sink)(Response::new_err(question.id, code, message).into());
        }
    }

    fn answer(&self, question: PendingQuestion, analysed: &AnalysedDocument) {
        let open = self.lock().documents.clone();
        let PendingQuestion { id, answer, .. } = question;
        let answered = catch_unwind(AssertUnwindSafe(|| answer(analysed, &open)));
        let response = match answered {
            Ok(Ok(value)) => Response::new_ok(id, value),
            Ok(Err(error)) => Response::new_err(id, error.code, error.message),
            Err(_) => {
                let message = "answering failed, which is a fault of the server".to_owned();
                Response::new_err(id, ErrorCode::InternalError as i32, message)
            }
        };
        (self.sink)(response.into());
    }
}

impl AnalysisState {
    /// The first question that can be answered, or the analysis that an earlier one needs.
    fn next_question(&mut self) -> Option<QueuedWork> {
        for at in 0..self.questions.len() {
            let question = &self.questions[at];
            if let Some(analysed) = self.current_analysis(&question.uri) {
                let question = self.questions.remove(at)?;
                return Some(QueuedWork::Answer(question, analysed));
            }
            if !question.can_wait {
                return Some(QueuedWork::Analyse(question.uri.clone()));
            }
        }
        None
    }

    /// The analysis of the document as it is now.
    fn current_analysis(&self, uri: &str) -> Option<Arc<AnalysedDocument>> {
        let version = self.documents.get(uri).map(|document| document.version);
        let analysed = self
            .analysed
            .get(uri)
            .filter(|_| !self.due.contains_key(uri));
        let current = analysed.filter(|analysed| Some(analysed.document.version) == version);
        current.cloned()
    }
}
