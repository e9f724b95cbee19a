//! The empty module: for which machine, with which flags, and where imports are.

use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};

use crate::code::ImportedFunction;
use crate::error::Error;
use crate::options::JitOptions;

/// An empty module for the machine that this process runs on.
///
/// # Errors
/// If Cranelift does not support the machine.
pub fn new_module(options: &JitOptions) -> Result<JITModule, Error> {
    let mut flags = settings::builder();
    let choices = [
        ("opt_level", "speed"),
        (
            "enable_verifier",
            if options.verify { "true" } else { "false" },
        ),
        ("preserve_frame_pointers", "true"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in choices {
        flags
            .set(name, value)
            .map_err(|error| Error::new(format!("flag {name}: {error}")))?;
    }
    let machine = cranelift_native::builder()
        .map_err(|error| Error::new(format!("no code can be made for this machine: {error}")))?;
    let isa = machine
        .finish(settings::Flags::new(flags))
        .map_err(|error| Error::new(format!("no code can be made for this machine: {error}")))?;
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    for &import in ImportedFunction::ALL {
        let entry = import.declaration();
        builder.symbol(entry.name, entry.address);
    }
    Ok(JITModule::new(builder))
}
