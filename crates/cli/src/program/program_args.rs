//! Arguments that name a program and the values it is compiled with.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use engine::CompileRequest;

use super::shell_words::{ShellWords, shell_words};
use crate::output;

/// Arguments that name a program and the values it is compiled with.
#[derive(Debug, ClapArgs)]
pub struct ProgramArgs {
    /// The file that holds the main composite; `-` for standard input
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

    /// Folders with libraries that are media.
    #[command(flatten)]
    pub media: MediaPathArgs,

    /// A compile-time value; can be repeated
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = name_value)]
    pub define: Vec<(String, String)>,

    /// Arguments of the Perl code in `.splmm` files, its @ARGV: words, those with blanks in quotes
    #[arg(long, value_name = "WORDS", value_parser = shell_words, allow_hyphen_values = true)]
    pub mm_args: Vec<ShellWords>,

    /// Whether a warning of the compiler is shown, or is an error
    #[arg(short = 'W', long, value_name = "LEVEL", default_value = "show")]
    pub warnings: WarningLevel,
}

/// Treatment of warnings of the compiler: the values of `--warnings`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WarningLevel {
    /// Warnings are shown, and nothing else
    Show,
    /// A warning is an error
    Error,
}

/// Option that says where libraries of media are.
#[derive(Debug, ClapArgs)]
pub struct MediaPathArgs {
    /// Folders with libraries that are media, separated by colons; can be repeated
    #[arg(long, value_name = "DIRS", env = "THALWEG_MEDIA_PATH")]
    media_path: Vec<String>,
}

impl MediaPathArgs {
    /// The folders, in the order in which libraries are looked for. Warns of those that are not
    /// there.
    pub fn folders(&self) -> Vec<PathBuf> {
        folders(&self.media_path, "media")
    }
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
            toolkit_path: toolkit_folders(&self.toolkit_path),
            media_path: self.media.folders(),
            compile_values: self.define,
            mixed_args: mixed_args(self.mm_args),
            submission_values: None,
            deny_warnings: self.warnings == WarningLevel::Error,
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

/// The folders of toolkits in lists with colons between them. Warns of those that are not there.
pub fn toolkit_folders(lists: &[String]) -> Vec<PathBuf> {
    folders(lists, "toolkit")
}

/// Splits lists of directories at colons, and warns of directories that do not exist. Without the
/// warning, only names that are not known in the program would show it.
fn folders(lists: &[String], kind: &str) -> Vec<PathBuf> {
    let folders = lists.iter().flat_map(std::env::split_paths);
    let folders: Vec<PathBuf> = folders.filter(|f| !f.as_os_str().is_empty()).collect();
    for folder in folders.iter().filter(|folder| !folder.is_dir()) {
        let folder = folder.display();
        output::warn(&format!("there is no {kind} directory {folder}"));
    }
    folders
}

/// Joins the Perl arguments of all `--mm-args` options, in their order.
fn mixed_args(given: Vec<ShellWords>) -> Vec<String> {
    given.into_iter().flat_map(|words| words.0).collect()
}
