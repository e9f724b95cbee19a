//! The set of readers that the writer waits for, shared by a writer and its admission.

use std::sync::Arc;

use crate::sync::AtomicU64;

/// A bit for each reader that the writer waits for. Written by the admission, and by a writer that
/// dismisses a reader; read by the writer. Loads and stores pair where the memory barrier orders
/// them: `[admission]`.
pub(crate) type LiveReaders = Arc<AtomicU64>;
