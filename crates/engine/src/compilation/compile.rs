//! From a file to a program.

use std::collections::HashMap;
use std::path::PathBuf;

use compiler::{CompileInput, CompileOptions, CompileOutput, SourceText};
use graph::Program;

use super::operator_models::operator_models;
use crate::error::Error;
use crate::findings::Findings;
use crate::plan::crossing_media;
use crate::sources::{RecordedSources, SourceRecorder};

/// What is to be compiled, and with what.
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// The file that holds the main composite.
    pub file: PathBuf,
    /// The main composite, with or without its namespace; `None` if the file has only one.
    pub main: Option<String>,
    /// Roots of further toolkits.
    pub toolkit_path: Vec<PathBuf>,
    /// Compile-time values; several of one name make a list.
    pub compile_values: Vec<(String, String)>,
    /// Arguments of the Perl code in `.splmm` files.
    pub mixed_args: Vec<String>,
    /// Submission-time values; `None` when the program is only checked.
    pub submission_values: Option<Vec<(String, String)>>,
}

/// A compiled program, or why there is none.
#[derive(Debug)]
pub struct Compilation {
    /// Only if there is no error.
    pub program: Option<Program>,
    /// Errors and warnings.
    pub findings: Findings,
    /// Where the application lies: the root above the folders of the main file's namespace. Its
    /// absolute path.
    pub application_dir: PathBuf,
    /// What was to be compiled.
    pub request: CompileRequest,
    /// Every file that was read for it.
    pub sources: RecordedSources,
}

/// Compiles a program.
///
/// # Errors
/// If the main file cannot be read. What is wrong with the program is among the findings.
pub fn compile(request: &CompileRequest) -> Result<Compilation, Error> {
    let recorder = SourceRecorder::open(&request.file, &request.mixed_args)?;
    let output = run_compiler(
        request,
        recorder.main_source(),
        &recorder,
        compiler::compile,
    );
    let findings = Findings::new(output.diagnostics, output.sources);
    let sources = recorder.into_sources()?;
    Ok(Compilation {
        program: output.program,
        findings,
        application_dir: output.application_dir,
        request: request.clone(),
        sources,
    })
}

/// Compiles a program again from what was read the first time; `None` if it has errors.
pub(crate) fn compile_again(
    request: &CompileRequest,
    sources: &RecordedSources,
) -> Option<Program> {
    run_compiler(
        request,
        sources.main.to_source(),
        sources,
        compiler::compile,
    )
    .program
}

/// Checks a file: every composite, function and type in it, whether a program uses it or not.
///
/// # Errors
/// If the file cannot be read.
pub fn check(request: &CompileRequest) -> Result<Findings, Error> {
    let recorder = SourceRecorder::open(&request.file, &request.mixed_args)?;
    let output = run_compiler(request, recorder.main_source(), &recorder, compiler::check);
    recorder.into_sources()?;
    Ok(Findings::new(output.diagnostics, output.sources))
}

fn run_compiler(
    request: &CompileRequest,
    text: SourceText,
    loader: &dyn compiler::Loader,
    stage: fn(CompileInput<'_>) -> CompileOutput,
) -> CompileOutput {
    let mut compile_time_values: HashMap<String, Vec<String>> = HashMap::new();
    for (name, value) in &request.compile_values {
        compile_time_values
            .entry(name.clone())
            .or_default()
            .push(value.clone());
    }
    let toolkits = request.toolkit_path.iter();
    let toolkit_dirs = toolkits.filter_map(|root| {
        let root = loader.canonical(root);
        let name = root.file_name()?.to_string_lossy().into_owned();
        Some((name, root.to_string_lossy().into_owned()))
    });
    let options = CompileOptions {
        submission_values: request
            .submission_values
            .iter()
            .flatten()
            .cloned()
            .collect(),
        compile_time_values,
        toolkit_dirs: toolkit_dirs.collect(),
        media: crossing_media().map(str::to_owned).collect(),
        ..CompileOptions::default()
    };
    stage(CompileInput {
        files: vec![(request.file.clone(), text)],
        main: request.main.as_deref(),
        loader,
        toolkits: request.toolkit_path.clone(),
        natives: toolkit::functions(),
        models: operator_models(),
        options,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_edit_after_the_first_compilation_changes_nothing() {
        let folder = std::env::temp_dir().join(format!("thalweg-again-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let main = "composite Main { graph stream<int32 n> A = Inner() {} }";
        let inner = "composite Inner(output B) { graph stream<int32 n> B = Beacon() {} }";
        let edited = "composite Inner(output B) { graph stream<int64 n> B = Beacon() {} }";
        fs::write(folder.join("Main.spl"), main).unwrap();
        fs::write(folder.join("Inner.spl"), inner).unwrap();
        let request = CompileRequest {
            file: folder.join("Main.spl"),
            submission_values: Some(Vec::new()),
            ..CompileRequest::default()
        };
        let first = compile(&request).unwrap();
        fs::write(folder.join("Inner.spl"), edited).unwrap();
        fs::remove_file(folder.join("Main.spl")).unwrap();
        let again = compile_again(&request, &first.sources).unwrap();
        fs::remove_dir_all(folder).unwrap();
        let typed = crate::dump_typed(&first.program.unwrap());
        assert!(typed.contains("int32"), "{typed}");
        assert_eq!(crate::dump_typed(&again), typed);
    }
}
