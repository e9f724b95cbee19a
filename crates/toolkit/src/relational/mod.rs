//! The operators of `spl.relational`.

pub mod aggregate;
pub mod filter;
pub mod functor;
pub mod join;
mod pane_window;
pub mod punctor;
pub mod sort;
mod verify_sort;
mod window_clock;
mod windowed;
