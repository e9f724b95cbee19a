//! SPL trees to a typed program, a logical graph and a physical plan.
//!
//! Parsed units come in, a [`graph::Program`] goes out. This crate does no IO and knows no operator
//! or library function by name: it is handed tables of models and prototypes.
//!
//! [`names`] says what a name means, [`types`] resolves types, [`expr`] and [`stmt`] type
//! expressions and statements, [`function`] chooses overloads and types user functions, [`fold`]
//! evaluates what is known when compiling.

mod annotation;
mod broken_syntax;
mod check;
pub mod codes;
mod compile;
mod condition;
mod config;
mod connect;
mod diagnostics;
mod expand;
pub mod expr;
pub mod fold;
pub mod function;
mod instance;
mod invoke;
mod load;
mod main_composite;
pub mod names;
mod options;
pub mod prelude;
mod session;
pub mod stmt;
mod subscription;
mod tables;
pub mod types;

pub use compile::{CompileInput, CompileOutput, check, compile};
pub use condition::{CONDITION_BYTES_MAX, compile_condition};
pub use diagnostics::Diagnostics;
pub use invoke::without_channels;
pub use load::{EmptyLoader, GeneratedOrigin, GenerationProblem, Loader, SourceText};
pub use options::{CompileOptions, SideEffectRule};
pub use session::Session;
