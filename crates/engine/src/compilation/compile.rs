//! Compiling a request: the call of the compiler, and the compilation that comes of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use compiler::{CompileInput, CompileOptions, NameIndex, NameRecorder, SourceText, StageOutput};
use graph::Program;
use syntax::{Diagnostic, SourceMap};
use transport::media;

use super::operator_models::operator_models;
use crate::error::Error;
use crate::findings::Findings;
use crate::plan::crossing_media;
use crate::sources::{OpenTexts, RecordedSources, SourceRecorder, source_name};

/// A request to compile: the main file, toolkits, and values known when compiling.
///
/// The default has no file. Relative paths are those of the current folder. Values are text, as on
/// the command line; the compiler parses them by the types that the program gives them, and reports
/// a value that does not fit as a finding.
///
/// # Example
/// ```
/// use thalweg_engine::CompileRequest;
///
/// // `thalweg run -D depth=2 Main.spl rate=10`
/// let request = CompileRequest {
///     file: "Main.spl".into(),
///     compile_values: vec![("depth".to_owned(), "2".to_owned())],
///     submission_values: Some(vec![("rate".to_owned(), "10".to_owned())]),
///     ..CompileRequest::default()
/// };
/// assert_eq!(request.main, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompileRequest {
    /// The file that holds the main composite; `-` is standard input.
    pub file: PathBuf,
    /// Name of the main composite, with or without its namespace; `None` if the file has only one.
    pub main: Option<String>,
    /// Root folders of toolkits besides the standard one.
    pub toolkit_path: Vec<PathBuf>,
    /// Folders with libraries that are media, `libthalweg_medium_NAME.so`. Compiling loads them
    /// into the process.
    pub media_path: Vec<PathBuf>,
    /// Compile-time values by name; several of one name make a list.
    pub compile_values: Vec<(String, String)>,
    /// Arguments of the Perl code in `.splmm` files, its `@ARGV`.
    pub mixed_args: Vec<String>,
    /// Submission-time values by name; `None` when the program is only checked.
    pub submission_values: Option<Vec<(String, String)>>,
    /// Whether a warning is an error.
    pub deny_warnings: bool,
}

/// A compiled program, or the findings that say why there is none.
#[derive(Debug)]
pub struct Compilation {
    /// The program; `None` if a finding is an error.
    pub program: Option<Program>,
    /// Errors and warnings of the compiler, with the source lines they are about.
    pub findings: Findings,
    /// Absolute path of the application directory: the folder above those of the main file's
    /// namespace.
    pub application_dir: PathBuf,
    /// The request that was compiled.
    pub request: CompileRequest,
    /// Every file that the compiler read, so that a PE's process can compile the program again.
    pub sources: RecordedSources,
}

/// Compiles a program and its toolkits into operators and streams.
///
/// An error in the program is no `Err`: it is among the findings, and [`Compilation::program`] is
/// `None`.
///
/// # Example
/// ```
/// use thalweg_engine::{CompileRequest, compile};
///
/// let folder = std::env::temp_dir().join(format!("thalweg-doc-compile-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// let file = folder.join("Main.spl");
/// std::fs::write(&file, "composite Main { graph stream<int32 n> A = Beacn() {} }").unwrap();
/// let request = CompileRequest { file, ..CompileRequest::default() };
/// let compilation = compile(&request)?;
/// # std::fs::remove_dir_all(&folder).unwrap();
/// assert!(compilation.program.is_none());
/// assert!(compilation.findings.to_text(false).contains("did you mean `Beacon`?"));
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] if the main file, or a folder of a toolkit, cannot be read.
pub fn compile(request: &CompileRequest) -> Result<Compilation, Error> {
    let recorder = SourceRecorder::open(&request.file, &request.mixed_args)?;
    let output = run_compiler(
        request,
        recorder.main_source(),
        &recorder,
        compiler::compile,
    );
    let findings = findings(request, output.diagnostics, output.sources);
    let sources = recorder.into_sources()?;
    Ok(Compilation {
        program: output.program.filter(|_| !findings.has_errors()),
        findings,
        application_dir: output.application_dir,
        request: request.clone(),
        sources,
    })
}

/// Compiles a program again from recorded sources; `None` if it has errors.
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

/// Checks a file: every composite, function and type in it, used or not.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use thalweg_engine::{CompileRequest, check};
///
/// let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let findings = check(&request)?;
/// assert!(!findings.has_errors());
/// assert!(findings.to_json().is_empty());
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] if the file, or a folder of a toolkit, cannot be read.
pub fn check(request: &CompileRequest) -> Result<Findings, Error> {
    let recorder = SourceRecorder::open(&request.file, &request.mixed_args)?;
    let output = run_compiler(request, recorder.main_source(), &recorder, compiler::check);
    recorder.into_sources()?;
    Ok(findings(request, output.diagnostics, output.sources))
}

/// The findings of a compilation, as the request wants warnings to be taken.
fn findings(
    request: &CompileRequest,
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
) -> Findings {
    let mut findings = Findings::new(diagnostics, sources);
    if request.deny_warnings {
        findings.deny_warnings();
    }
    findings
}

/// Findings on a file, and its names with their meanings: all that editors ask of it.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Errors and warnings of the compiler, those of [`check`].
    pub findings: Findings,
    /// Names in the file and in the files that it needs.
    pub names: NameIndex,
}

/// Checks a file as [`check`] does, with texts that are not saved yet in place of files, and
/// records what its names mean. Runs no Perl code: a mixed-mode file is read as it stands, and
/// those of toolkits count as absent.
///
/// # Example
/// ```
/// use thalweg_engine::{CompileRequest, OpenTexts, analyse};
///
/// let mut open = OpenTexts::default();
/// open.insert("Main.spl".as_ref(), "type Id = int32; type Ids = list<Id>;".into());
/// let request = CompileRequest { file: "Main.spl".into(), ..CompileRequest::default() };
/// let analysis = analyse(&request, &open)?;
/// assert!(!analysis.findings.has_errors());
/// let declared = &analysis.names.declarations()[0];
/// assert_eq!(analysis.names.uses_of(declared.span).count(), 1);
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] if the main file is not open and cannot be read.
pub fn analyse(request: &CompileRequest, open: &OpenTexts) -> Result<Analysis, Error> {
    let text = open.read_or_load(&request.file)?;
    let names = Rc::new(NameRecorder::default());
    let recorder = Some(Rc::clone(&names));
    let output = run_compiler_with(request, text, open, compiler::check, recorder);
    Ok(Analysis {
        findings: findings(request, output.diagnostics, output.sources),
        names: names.take(),
    })
}

/// Has the compiler print a stage of a program: the text, if no finding is an error.
///
/// # Errors
/// [`Error::Read`] if the main file, or a folder of a toolkit, cannot be read.
pub(crate) fn print_stage(
    request: &CompileRequest,
    print: fn(CompileInput<'_>) -> StageOutput<String>,
) -> Result<(Option<String>, Findings), Error> {
    let recorder = SourceRecorder::open(&request.file, &request.mixed_args)?;
    let output = run_compiler(request, recorder.main_source(), &recorder, print);
    recorder.into_sources()?;
    let findings = findings(request, output.diagnostics, output.sources);
    Ok((output.program.filter(|_| !findings.has_errors()), findings))
}

/// Calls `stage` of the compiler on the main file's text.
fn run_compiler<T>(
    request: &CompileRequest,
    text: SourceText,
    loader: &dyn compiler::Loader,
    stage: fn(CompileInput<'_>) -> StageOutput<T>,
) -> StageOutput<T> {
    run_compiler_with(request, text, loader, stage, None)
}

/// Calls `stage` of the compiler on the main file's text, with a collector of names.
fn run_compiler_with<T>(
    request: &CompileRequest,
    text: SourceText,
    loader: &dyn compiler::Loader,
    stage: fn(CompileInput<'_>) -> StageOutput<T>,
    names: Option<Rc<NameRecorder>>,
) -> StageOutput<T> {
    media::search(&request.media_path);
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
        media_search: media::plugin::describe_search().unwrap_or_default(),
        names,
        ..CompileOptions::default()
    };
    stage(CompileInput {
        files: vec![(source_name(&request.file).to_owned(), text)],
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
