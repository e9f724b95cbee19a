//! The backend that makes machine code, and its listing.

use graph::Program;
use jit::Jit;
use runtime::{Options, Pe};

use crate::{Error, failure};

/// A form of listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Cranelift's intermediate code.
    Clif,
    /// Instructions of the machine.
    Asm,
}

/// A JIT for a program.
pub fn backend(program: &Program, options: jit::Options) -> Result<Jit, Error> {
    Jit::new(&program.functions, toolkit::functions(), options)
        .map_err(|error| Error::Code(error.to_string()))
}

/// Everything that is compiled for a program, titled by operator and body. The program is wired
/// but not started; its operators are told to touch nothing outside.
pub fn dump(program: &Program, listing: Listing) -> Result<String, Error> {
    let mut jit = backend(
        program,
        jit::Options {
            texts: true,
            ..jit::Options::default()
        },
    )?;
    let properties = vec![("dryRun".to_owned(), "true".to_owned())];
    let options = Options {
        properties,
        ..Options::default()
    };
    let wired = Pe::wire(program, toolkit::operators(), &mut jit, options);
    wired.map_err(|report| failure::error(&program.files, &report))?;
    let texts = jit.texts().iter().map(|text| {
        let body = if listing == Listing::Clif {
            &text.clif
        } else {
            &text.asm
        };
        format!(";; {}\n{}\n", text.title, body.trim_end())
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
}
