//! Help for programs whose windows never fire.

use graph::{Policy, Window, WindowKind};

/// A sentence that says how a program gets results of windows that do not become full.
pub fn incomplete_help(window: &Window) -> &'static str {
    match (window.kind, &window.evict) {
        (WindowKind::Sliding, _) => {
            "`aggregateIncompleteWindows : true` gives results before a window is full"
        }
        (_, Policy::Punct) => {
            "a window marker has to follow: Punctor sends some, and so does a Custom that calls \
             `submit(Sys.WindowMarker, ...)`"
        }
        _ => {
            "a smaller window fires earlier, and `tumbling, punct()` gives results at each window marker, \
             as FileSource sends one at the end of a file"
        }
    }
}
