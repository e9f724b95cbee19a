//! Sets of readers that a writer shares with others of its process: with its admission, and with
//! the readers.

use std::sync::Arc;

use crate::sync::AtomicU64;

/// A bit for each reader that the writer waits for. Written by the admission, and by a writer that
/// dismisses a reader; read by the writer. Loads and stores pair where the memory barrier orders
/// them: `[admission]`.
pub(crate) type LiveReaders = Arc<AtomicU64>;

/// A bit for each reader that this process has and that was made together with the writer, not
/// joined. Set before the reader exists, cleared by it when it is dropped, read by the writer: even
/// a reader that was dismissed keeps its frames as long as it can look at them. Clearing and
/// loading pair as release and acquire: `[in process]`.
pub(crate) type ReadersInProcess = Arc<AtomicU64>;
