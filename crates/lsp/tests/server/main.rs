//! The server as a client sees it: sessions in memory, driven by scripts.

mod client;
mod completion;
mod protocol;
mod random_edits;
mod session;
mod speed;
