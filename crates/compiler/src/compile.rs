//! One compilation from text to graph: the table of contents of this crate.
//!
//! ```text
//!   files  -load->  units  -index->  symbols  -expand->  operators  -connect->  edges
//!         -check->  -assemble->  program
//! ```
//! Expressions are typed while composites are expanded, since a composite is typed for each of its
//! invocations. Each stage reports its findings to the session and goes on.

use std::collections::HashSet;
use std::path::PathBuf;

use eval::NativeFn;
use graph::{Function, OperatorModel, OperatorNode, Program};
use syntax::ast::Composite;
use syntax::{Diagnostic, Severity, SourceMap};

use crate::broken_syntax::BrokenSyntax;
use crate::check::check_graph;
use crate::connect::connect_operators;
use crate::expand::Expander;
use crate::load::{self, LoadedProgram, Loader, SourceText};
use crate::main_composite::{self, can_be_main};
use crate::names::{SymbolTable, UnitId};
use crate::{CompileOptions, Diagnostics, Session};

/// Files, library and options of one compilation.
pub struct CompileInput<'a> {
    /// The main files: path, as diagnostics show it, and text.
    pub files: Vec<(PathBuf, SourceText)>,
    /// The main composite, with or without its namespace; `None` if there is only one candidate.
    pub main: Option<&'a str>,
    /// Lists and reads the files of toolkits.
    pub loader: &'a dyn Loader,
    /// Toolkit roots besides that of the main file.
    pub toolkits: Vec<PathBuf>,
    /// Library functions that the program may call.
    pub natives: &'static [NativeFn],
    /// The models of the primitive operators.
    pub models: &'static [&'static OperatorModel],
    /// Values and options of the user.
    pub options: CompileOptions,
}

/// Result of one compilation: the program and the findings.
#[derive(Debug)]
pub struct CompileOutput {
    /// The program; only if there is no error.
    pub program: Option<Program>,
    /// The absolute path of the application: the root above the folders of the main file's
    /// namespace.
    pub application_dir: PathBuf,
    /// Findings, sorted by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts of all files that were read.
    pub sources: SourceMap,
}

impl CompileOutput {
    /// Whether there is an error (and so no program).
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

/// Compiles a program. Composites and functions of the main files are checked even if the program
/// does not use them.
///
/// # Example
/// ```
/// use thalweg_compiler::{CompileInput, CompileOptions, EmptyLoader, compile};
///
/// let models: Vec<_> = toolkit::operators().iter().map(|entry| entry.model).collect();
/// let text = "composite Main { graph stream<int32 a> A = Beacon() {} () as S = Custom(B) {} }";
/// let output = compile(CompileInput {
///     files: vec![("Main.spl".into(), text.into())],
///     main: None,
///     loader: &EmptyLoader,
///     toolkits: Vec::new(),
///     natives: toolkit::functions(),
///     models: models.leak(),
///     options: CompileOptions::default(),
/// });
/// assert!(output.program.is_none());
/// assert_eq!(output.diagnostics[0].code, "unknown-stream");
/// ```
pub fn compile(input: CompileInput<'_>) -> CompileOutput {
    run(input, true)
}

/// Checks the main files without a main composite: every composite, function and type in them.
pub fn check(input: CompileInput<'_>) -> CompileOutput {
    run(input, false)
}

/// Loads and compiles. Files of mixed mode are generated only if a definition is missing without
/// them; the program is compiled again then.
fn run(input: CompileInput<'_>, needs_main: bool) -> CompileOutput {
    let load = |generates| load::load(&input.files, &input.toolkits, input.loader, generates);
    let loaded = load(false);
    let has_more = loaded.has_more;
    let output = compile_loaded(&input, loaded, needs_main);
    let lacks_definition = |d: &Diagnostic| {
        d.severity == Severity::Error && UNKNOWN_DEFINITION_CODES.contains(&d.code)
    };
    match has_more && output.diagnostics.iter().any(lacks_definition) {
        true => compile_loaded(&input, load(true), needs_main),
        false => output,
    }
}

/// The stages, one after the other.
fn compile_loaded(
    input: &CompileInput<'_>,
    loaded: LoadedProgram,
    needs_main: bool,
) -> CompileOutput {
    let (indexed, diagnostics) = index(input, loaded);
    let symbols = &indexed.symbols;
    let main = choose_main(input, symbols, needs_main, &diagnostics);
    let root = main
        .as_deref()
        .and_then(|main| main_composite::find(symbols, main));
    let mut session = Session::new(symbols, &input.options, main.clone().unwrap_or_default());
    session.diagnostics = diagnostics;
    session.values_pending.set(!needs_main);

    let mut expanded = expand(&session, root);
    connect_operators(&mut expanded);
    check_graph(&mut expanded);
    check_rest(&session, &expanded);
    let functions = finish(&session, &expanded);
    let program = root.map(|(_, main)| assemble(&session, main, expanded.operators, functions));

    let has_errors = session.diagnostics.has_errors();
    let diagnostics = report(&indexed, session.diagnostics);
    CompileOutput {
        program: program.filter(|_| needs_main && !has_errors),
        application_dir: PathBuf::from(indexed.symbols.application_dir()),
        diagnostics,
        sources: indexed.symbols.into_sources(),
    }
}

/// The definitions of all files by name, and what is known of files that are broken.
struct IndexedProgram {
    symbols: SymbolTable,
    /// Broken syntax and lost definitions, which explain later findings.
    broken: BrokenSyntax,
    /// Whether a main file could not be generated, from which all other findings follow.
    is_not_generated: bool,
    /// Findings on files of toolkits that could not be generated; reported if errors remain.
    failed: Vec<Diagnostic>,
}

/// Stage `index`: enters all definitions into the symbol table.
fn index(input: &CompileInput<'_>, mut loaded: LoadedProgram) -> (IndexedProgram, Diagnostics) {
    loaded.add_prelude();
    let (symbols, duplicates) =
        SymbolTable::new(loaded.sources, loaded.units, input.natives, input.models);
    let broken = BrokenSyntax::new(&loaded.diagnostics, &duplicates, &symbols);
    let diagnostics = Diagnostics::default();
    diagnostics.extend(loaded.diagnostics);
    diagnostics.extend(duplicates);
    let indexed = IndexedProgram {
        symbols,
        broken,
        is_not_generated: loaded.is_not_generated,
        failed: loaded.failed,
    };
    (indexed, diagnostics)
}

/// The qualified name of the main composite. A check needs none: it takes the only candidate, so
/// that the rules for main composites are checked too, and reports nothing if there is none.
fn choose_main(
    input: &CompileInput<'_>,
    symbols: &SymbolTable,
    needs_main: bool,
    diagnostics: &Diagnostics,
) -> Option<String> {
    match (needs_main, input.main) {
        (false, None) => main_composite::choose(symbols, None, &Diagnostics::default()),
        (_, wanted) => main_composite::choose(symbols, wanted, diagnostics),
    }
}

/// Stage `expand`, which binds names and types what it meets: the main composite becomes a flat
/// list of operators.
fn expand<'e, 'w>(
    session: &'e Session<'w>,
    root: Option<(UnitId, &'w Composite)>,
) -> Expander<'e, 'w> {
    let mut expanded = Expander::new(session);
    if let Some((unit, composite)) = root {
        expanded.expand_main(unit, composite);
        session.seal_functions();
    }
    expanded
}

/// Checks the composites of the main files that the program does not use, and their types.
fn check_rest(session: &Session<'_>, expanded: &Expander<'_, '_>) {
    let pending = session.values_pending.replace(true);
    session.outside_program(|| check_unused(session, expanded));
    session.values_pending.set(pending);
}

fn check_unused(session: &Session<'_>, expanded: &Expander<'_, '_>) {
    let units = session.symbols.units().filter(|(_, unit)| unit.is_checked);
    for (id, unit) in units {
        session.check_unit(id);
        let mut rest: Vec<_> = main_composite::composites(&unit.unit)
            .filter(|composite| !expanded.has_expanded(composite))
            .collect();
        // A main composite comes first: it invokes others with actuals, which a check of them alone
        // lacks.
        rest.sort_by_key(|composite| !can_be_main(composite));
        let mut reached = HashSet::new();
        for composite in rest {
            if !reached.contains(&std::ptr::from_ref(composite)) {
                reached.extend(check_composite(session, id, composite).expanded);
            }
        }
    }
}

fn check_composite<'e, 'w>(
    session: &'e Session<'w>,
    unit: UnitId,
    composite: &'w Composite,
) -> Expander<'e, 'w> {
    let mut expander = Expander::new(session);
    expander.check_uninvoked(unit, composite);
    if can_be_main(composite) {
        connect_operators(&mut expander);
        check_graph(&mut expander);
    }
    expander
}

/// The functions that the program needs, all other functions of the main files checked.
fn finish(session: &Session<'_>, expanded: &Expander<'_, '_>) -> Vec<Function> {
    expanded.report_untyped();
    let functions = session.finish_functions();
    session.report_untyped();
    functions
}

/// Stage `assemble`: the program from its operators and functions. Warns of values that the user
/// gave and a whole program has not asked for.
fn assemble(
    session: &Session<'_>,
    main: &Composite,
    operators: Vec<OperatorNode>,
    functions: Vec<Function>,
) -> Program {
    if !session.values_pending.get() && !session.diagnostics.has_errors() {
        let unasked = session
            .requested_values
            .warn_unrequested(session.options, main.name.span);
        session.diagnostics.extend(unasked);
    }
    let files = session.symbols.sources().files();
    Program {
        name: session.main.clone(),
        files: files
            .map(|(_, file)| file.path.to_string_lossy().into())
            .collect(),
        functions: functions.into(),
        operators,
    }
}

/// The findings that the user is shown: without those that follow from others.
fn report(indexed: &IndexedProgram, diagnostics: Diagnostics) -> Vec<Diagnostic> {
    let has_errors = diagnostics.has_errors();
    if has_errors {
        diagnostics.extend(indexed.failed.iter().cloned());
    }
    let mut shown = diagnostics.into_sorted();
    shown.retain(|finding| {
        let is_premature = has_errors && finding.code == UNUSED_CODE;
        let follows = indexed.is_not_generated && finding.code != MIXED_MODE_CODE;
        let sources = indexed.symbols.sources();
        !is_premature && !follows && !indexed.broken.explains(finding, sources)
    });
    shown
}

/// Errors about definitions that do not exist; files that were left out may have them. A warning
/// does not count: a program that can do without a definition needs no further file.
const UNKNOWN_DEFINITION_CODES: [&str; 7] = [
    "unknown-enumerator",
    "unknown-function",
    "unknown-name",
    "unknown-namespace",
    "unknown-operator",
    "unknown-type",
    "unknown-use",
];

/// Code of findings that report on the Perl code in a file.
const MIXED_MODE_CODE: &str = "mixed-mode";

/// Code of the warning about unused variables, whose uses may be in code that is wrong.
const UNUSED_CODE: &str = "unused-variable";
