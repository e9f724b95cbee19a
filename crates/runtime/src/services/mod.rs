//! Services of a PE: output, messages, metrics, failures and reports, which all operators share.

pub(crate) mod flusher;
pub(crate) mod message_log;
pub(crate) mod operator_services;
pub(crate) mod pe_context;
pub(crate) mod report;
pub(crate) mod stdout;
pub(crate) mod tapped_tuples;
pub(crate) mod window_leftover;
