//! Language server: what editors ask of SPL programs, answered by the compiler's own stages.
//!
//! ```text
//!   editor ──messages──> server ──changes, questions──> analysis ──text──> engine::analyse
//!     ▲                    │ completion, format,          │ diagnostics, hover,
//!     └────────────────────┴ outline: at once             ┴ definition, rename: when analysed
//! ```
//! The server's thread only reads messages and answers what needs no analysis. One more thread has
//! the compiler check documents, a moment after the last change, and answers questions about
//! meanings with the analysis of the text as it is then. Versions that were typed over are never
//! analysed.
//!
//! Nothing is resolved here: [`compiler::NameIndex`] says what every name means.
//!
//! # Example
//! ```
//! use lsp_server::{Connection, Message, Notification};
//! use thalweg_lsp::{SessionEnd, serve};
//!
//! let (client, server) = Connection::memory();
//! let exit = Notification::new("exit".to_owned(), ());
//! client.sender.send(Message::Notification(exit)).unwrap();
//! // Without `shutdown` before it, the session did not end as the protocol wants.
//! assert_eq!(serve(server), SessionEnd::Abrupt);
//! ```

mod analysed_document;
mod analysis_queue;
mod client_settings;
mod completion;
mod document_text;
mod file_uri;
mod finding_conversion;
mod hover;
mod inlay_types;
mod layout_edits;
mod library_docs;
mod navigation;
mod open_documents;
mod outline;
mod rename;
mod server;
mod stdio;
mod word_docs;

pub use server::{SessionEnd, serve};
pub use stdio::serve_stdio;
