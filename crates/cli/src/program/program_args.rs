//! Arguments that name a program and the values it is compiled with.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use engine::CompileRequest;

use super::shell_words::{ShellWords, shell_words};
use crate::output::write_stderr;

/// Arguments that name a program and the values it is compiled with.
#[derive(Debug, ClapArgs)]
pub struct ProgramArgs {
    /// The file that holds the main composite
    pub file: PathBuf,

    /// The main composite, NAMESPACE::NAME or NAME; needed if the file has several
    #[arg(short = 'M', long, value_name = "NS::COMPOSITE")]
    pub main: Option<String>,

    /// Values that the program is compiled with.
    #[command(flatten)]
    pub compilation: CompilationArgs,
}

/// Options that say where used units are found and what a program is compiled with.
#[derive(Debug, ClapArgs)]
pub struct CompilationArgs {
    /// Toolkit directories, separated by colons
    #[arg(short = 't', long, value_name = "DIRS", env = "THALWEG_TOOLKIT_PATH")]
    pub toolkit_path: Vec<String>,

    /// A compile-time value; can be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = name_value)]
    pub define: Vec<(String, String)>,

    /// Arguments of the Perl code in `.splmm` files, its @ARGV: words, those with blanks in quotes
    #[arg(long, value_name = "WORDS", value_parser = shell_words, allow_hyphen_values = true)]
    pub mm_args: Vec<ShellWords>,
}

impl ProgramArgs {
    /// The request that compiles the program with these submission-time values.
    pub fn into_request(self, values: Vec<(String, String)>) -> CompileRequest {
        CompileRequest {
            submission_values: Some(values),
            ..self.compilation.into_request(self.file, self.main)
        }
    }
}

impl CompilationArgs {
    /// The request that compiles a file without submission-time values.
    pub fn into_request(self, file: PathBuf, main: Option<String>) -> CompileRequest {
        CompileRequest {
            file,
            main,
            toolkit_path: toolkit_path(&self.toolkit_path),
            compile_values: self.define,
            mixed_args: mixed_args(self.mm_args),
            submission_values: None,
        }
    }
}

/// Parses `NAME=VALUE`; the name may not be empty.
pub fn name_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must have the form NAME=VALUE".to_owned()),
    }
}

/// Splits lists of directories at colons, and warns of directories that do not exist. Without the
/// warning, only undefined names in the program would show it.
fn toolkit_path(lists: &[String]) -> Vec<PathBuf> {
    let path: Vec<PathBuf> = lists.iter().flat_map(std::env::split_paths).collect();
    let is_named = |root: &&PathBuf| !root.as_os_str().is_empty();
    for root in path.iter().filter(is_named).filter(|root| !root.is_dir()) {
        let root = root.display();
        write_stderr(&format!(
            "thalweg: warning: there is no toolkit directory {root}\n"
        ));
    }
    path
}

/// Joins the Perl arguments of all `--mm-args` options, in their order.
fn mixed_args(given: Vec<ShellWords>) -> Vec<String> {
    given.into_iter().flat_map(|words| words.0).collect()
}
