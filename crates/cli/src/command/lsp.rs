//! `thalweg lsp`: the language server, which an editor starts.

use clap::Args as ClapArgs;
use lsp::{SessionEnd, serve_stdio};

use crate::failure::CommandFailure;

/// Arguments of `thalweg lsp`.
#[derive(Debug, ClapArgs)]
pub struct LspArgs {
    /// Serve over standard input and output, as without the option: editors give it
    #[arg(long)]
    pub stdio: bool,
}

/// Serves until the editor ends the session. Fails without a message if it ends otherwise than the
/// protocol says, since nobody reads one then.
pub fn run(_: LspArgs) -> Result<(), CommandFailure> {
    match serve_stdio() {
        SessionEnd::Orderly => Ok(()),
        SessionEnd::Abrupt => Err(CommandFailure::Reported),
    }
}
