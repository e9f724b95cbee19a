//! Statements other than loops and submissions.

mod branchless_if;
mod elements;
mod entry;
mod event_time;
mod seldom_arm;
mod stmt;
mod watermark;
