//! From SPL trees to a typed program: operators joined by streams.
//!
//! Source texts come in, a [`graph::Program`] goes out. This crate does no IO and knows no operator
//! or library function by name: its caller passes a [`Loader`], models and prototypes.
//!
//! `compile.rs` is the table of contents: the stages stand there one under the other. The folders
//! are tiers, listed in `Cargo.toml` from the bottom up; each uses only those before it.
//!
//! | folders | contents |
//! | --- | --- |
//! | `poison` | names and places about which nothing further is said |
//! | [`NameIndex`] | names with their meanings, for editors |
//! | [`names`], `load` | source files, symbol table, scopes |
//! | `tables`, [`Session`] | data that several stages share |
//! | [`types`], [`fold`], [`expr`], [`stmt`], [`function`] | typing |
//! | `instance`, `annotation`, `config`, `invoke`, `expand` | from composites to operators |
//! | `connect`, `check` | from operators to a graph, and its checks |
//! | [`codes`] | explanations of all diagnostic codes |

mod annotation;
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
mod instance_trail;
mod invoke;
mod load;
mod main_composite;
mod name_index;
pub mod names;
mod options;
mod poison;
pub mod prelude;
mod session;
pub mod stmt;
mod subscription;
mod tables;
pub mod types;

pub use compile::{
    CompileInput, CompileOutput, StageOutput, check, compile, print_instances, print_symbols,
};
pub use condition::{CONDITION_BYTES_MAX, compile_condition};
pub use config::CONFIG_KINDS;
pub use diagnostics::Diagnostics;
pub use invoke::without_channels;
pub use load::{EmptyLoader, GeneratedOrigin, GenerationProblem, Loader, SourceText};
pub use name_index::{NameDeclaration, NameIndex, NameMeaning, NameRecorder, NameUse};
pub use options::{CompileOptions, SideEffectRule};
pub use session::Session;
