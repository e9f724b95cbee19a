//! The backend that makes machine code, and its listing.

use graph::Program;
use jit::Jit;
use runtime::{Pe, PeOptions};

use super::pe_ending::job_error;
use crate::error::Error;

/// A form of listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingFormat {
    /// Cranelift's intermediate code.
    Clif,
    /// Instructions of the machine.
    Asm,
}

/// A JIT for a program.
pub fn jit_backend(program: &Program, options: jit::JitOptions) -> Result<Jit, Error> {
    Jit::new(&program.functions, toolkit::functions(), options)
        .map_err(|error| Error::Codegen(error.to_string()))
}

/// Everything that is compiled for a program, titled by operator and body. The program is wired
/// but not started; its operators are told to touch nothing outside.
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
    let wired = Pe::wire(program, toolkit::operators(), &mut jit, options);
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
