//! All lock-free code: rings between threads and between processes.
//!
//! A ring has one writer and one or more readers; every reader gets every frame, and the slowest
//! one holds the writer up. What lies in it is frames, [`frame`], the same on every medium.

#![warn(missing_docs)]

pub mod frame;
