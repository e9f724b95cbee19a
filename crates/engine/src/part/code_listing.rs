//! Listings of the code that is compiled for a program.

use graph::Program;
use runtime::{Pe, PeOptions};

use super::codegen::jit_backend;
use super::pe_ending::job_error;
use super::wiring::{fuse_all, registry};
use crate::error::Error;

/// The form of a code listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingFormat {
    /// Cranelift's intermediate representation, before optimisation for the machine.
    Clif,
    /// Instructions of this machine, as assembly text.
    Asm,
}

/// Lists all code that is compiled for a program, titled by operator and body. The program is wired
/// as one PE by the default plan, but not started; with the property `dryRun`, its operators open
/// no files and connections.
///
/// # Errors
/// [`Error::Codegen`], [`Error::Plan`], or [`Error::Program`] if an operator cannot be set up.
pub fn code_listing(program: &Program, listing: ListingFormat) -> Result<String, Error> {
    let (program, part) = fuse_all(program)?;
    let mut jit = jit_backend(
        &program,
        jit::JitOptions {
            listings: true,
            ..jit::JitOptions::default()
        },
    )?;
    let options = PeOptions {
        properties: vec![("dryRun".to_owned(), "true".to_owned())],
        crossing_ends: part.crossing_ends,
        ..PeOptions::default()
    };
    let threads = planner::pe_threads(&program, &part.pins);
    let wired = Pe::wire(&program, &threads, registry(), &mut jit, options);
    wired.map_err(|report| job_error(&program.files, &report))?;
    let texts = jit.listings().iter().map(|text| {
        let body = if listing == ListingFormat::Clif {
            &text.clif
        } else {
            &text.asm
        };
        format!(";; {}\n{}\n", text.title, body.trim_end())
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
}
