//! Statements other than loops and submissions.

mod branchless_if;
mod entry;
mod stmt;
mod watermark;
