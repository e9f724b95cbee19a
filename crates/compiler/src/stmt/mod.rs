//! Typing of statements.
