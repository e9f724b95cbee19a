//! The backend that makes machine code, and listings of its code.

use graph::Program;
use jit::Jit;
use runtime::{Pe, PeOptions};

use super::pe_ending::job_error;
use crate::error::Error;

/// The form of a code listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingFormat {
    /// Cranelift's intermediate representation, before optimisation for the machine.
    Clif,
    /// Instructions of this machine, as assembly text.
    Asm,
}

/// Makes the JIT backend of a program.
///
/// # Errors
/// [`Error::Codegen`] if the machine is not supported or a function cannot be compiled.
pub fn jit_backend(program: &Program, options: jit::JitOptions) -> Result<Jit, Error> {
    Jit::new(&program.functions, toolkit::functions(), options)
        .map_err(|error| Error::Codegen(error.to_string()))
}

/// Lists all code that is compiled for a program, titled by operator and body. The program is wired
/// but not started; with the property `dryRun`, its operators open no files and connections.
///
/// # Errors
/// [`Error::Codegen`], or [`Error::Program`] if an operator cannot be set up.
pub fn code_listing(program: &Program, listing: ListingFormat) -> Result<String, Error> {
    let mut jit = jit_backend(
        program,
        jit::JitOptions {
            listings: true,
            ..jit::JitOptions::default()
        },
    )?;
    let properties = vec![("dryRun".to_owned(), "true".to_owned())];
    let options = PeOptions {
        properties,
        ..PeOptions::default()
    };
    let threads = planner::pe_threads(program, &[]);
    let wired = Pe::wire(program, &threads, toolkit::operators(), &mut jit, options);
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
