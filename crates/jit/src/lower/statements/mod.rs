//! Statements other than loops and submissions.

mod branchless_if;
mod entry;
mod event_time;
mod stmt;
mod watermark;
