//! Statements other than loops and submissions.

mod branchless_if;
mod stmt;
