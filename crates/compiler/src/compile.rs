//! One compilation from text to graph: the table of contents of this crate.

use std::collections::HashSet;
use std::path::PathBuf;

use eval::NativeFn;
use graph::{OperatorModel, Program};
use syntax::{Diagnostic, Severity, SourceMap};

use crate::broken_syntax::BrokenSyntax;
use crate::expand::Expander;
use crate::load::{self, Loader, SourceText};
use crate::names::{SymbolTable, UnitId};
use crate::{CompileOptions, Session, main_composite};

/// What is to be compiled, and with what.
pub struct CompileInput<'a> {
    /// The main files: path, as diagnostics show it, and text.
    pub files: Vec<(PathBuf, SourceText)>,
    /// The main composite, with or without its namespace; `None` if there is only one candidate.
    pub main: Option<&'a str>,
    /// Reads further files.
    pub loader: &'a dyn Loader,
    /// Toolkit roots besides that of the main file.
    pub toolkits: Vec<PathBuf>,
    /// The library functions.
    pub natives: &'static [NativeFn],
    /// The models of the primitive operators.
    pub models: &'static [&'static OperatorModel],
    /// Values and wishes of the user.
    pub options: CompileOptions,
}

/// What comes out.
#[derive(Debug)]
pub struct CompileOutput {
    /// The program; only if there is no error.
    pub program: Option<Program>,
    /// The absolute path of the application: the root above the folders of the main file's
    /// namespace.
    pub application_dir: PathBuf,
    /// What there is to say, by file and place.
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
pub fn compile(input: CompileInput<'_>) -> CompileOutput {
    run(input, true)
}

/// Checks the main files without asking for a main composite: whatever can be said of every
/// composite, function and type in them.
pub fn check(input: CompileInput<'_>) -> CompileOutput {
    run(input, false)
}

fn run(input: CompileInput<'_>, needs_main: bool) -> CompileOutput {
    let load = |generates| load::load(&input.files, &input.toolkits, input.loader, generates);
    let loaded = load(false);
    let has_more = loaded.has_more;
    let output = run_loaded(&input, loaded, needs_main);
    let lacks_definition = |d: &Diagnostic| {
        d.severity == Severity::Error && UNKNOWN_DEFINITION_CODES.contains(&d.code)
    };
    match has_more && output.diagnostics.iter().any(lacks_definition) {
        true => run_loaded(&input, load(true), needs_main),
        false => output,
    }
}

fn run_loaded(
    input: &CompileInput<'_>,
    mut loaded: load::LoadedProgram,
    needs_main: bool,
) -> CompileOutput {
    loaded.add_prelude();
    let load::LoadedProgram {
        sources,
        units,
        diagnostics,
        is_not_generated,
        failed,
        ..
    } = loaded;
    let (symbols, duplicates) = SymbolTable::new(sources, units, input.natives, input.models);
    let broken = BrokenSyntax::new(&diagnostics, &duplicates, &symbols);
    let found = crate::Diagnostics::default();
    found.extend(diagnostics);
    found.extend(duplicates);
    let main = match (needs_main, input.main) {
        // What a main composite alone can be told is said too, if it is clear which one it is.
        (false, None) => main_composite::choose(&symbols, None, &crate::Diagnostics::default()),
        (_, wanted) => main_composite::choose(&symbols, wanted, &found),
    };
    let mut session = Session::new(&symbols, &input.options, main.clone().unwrap_or_default());
    session.diagnostics = found;
    session.values_pending.set(!needs_main);
    let program = build(&session, main.as_deref());
    let has_errors = session.diagnostics.has_errors();
    if has_errors {
        session.diagnostics.extend(failed);
    }
    let mut diagnostics = session.diagnostics.into_sorted();
    diagnostics.retain(|finding| {
        let is_premature = has_errors && finding.code == UNUSED_CODE;
        let follows = is_not_generated && finding.code != MIXED_MODE_CODE;
        !is_premature && !follows && !broken.explains(finding, symbols.sources())
    });
    CompileOutput {
        program: program.filter(|_| needs_main && !has_errors),
        application_dir: PathBuf::from(symbols.application_dir()),
        diagnostics,
        sources: symbols.into_sources(),
    }
}

/// What is said of definitions that are nowhere: files that were left out may have them. Errors
/// only: a program that can do without them needs no file that was left out.
const UNKNOWN_DEFINITION_CODES: [&str; 7] = [
    "unknown-enumerator",
    "unknown-function",
    "unknown-name",
    "unknown-namespace",
    "unknown-operator",
    "unknown-type",
    "unknown-use",
];

/// What is said of the Perl code in a file.
const MIXED_MODE_CODE: &str = "mixed-mode";

/// What is said of a variable whose uses may be among what is wrong.
const UNUSED_CODE: &str = "unused-variable";

/// Expands the main composite, then checks what it did not reach.
fn build(session: &Session<'_>, main: Option<&str>) -> Option<Program> {
    let mut main_expander = Expander::new(session);
    let found = main.and_then(|main| main_composite::find(session.symbols, main));
    if let Some((unit, composite)) = found {
        main_expander.expand_main(unit, composite);
        session.seal_functions();
    }
    crate::check::check_graph(&mut main_expander);
    let pending = session.values_pending.replace(true);
    session.outside_program(|| check_rest(session, &main_expander));
    session.values_pending.set(pending);
    main_expander.report_untyped();
    let functions = session.finish_functions();
    session.report_untyped();
    let (_, composite) = found?;
    if !session.values_pending.get() && !session.diagnostics.has_errors() {
        let unasked = session
            .requested_values
            .warn_unrequested(session.options, composite.name.span);
        session.diagnostics.extend(unasked);
    }
    let files = session.symbols.sources().files();
    Some(Program {
        name: session.main.clone(),
        files: files
            .map(|(_, file)| file.path.to_string_lossy().into())
            .collect(),
        functions,
        operators: main_expander.operators,
    })
}

/// Checks the composites of the main files that the program does not use, and their types.
fn check_rest(session: &Session<'_>, expanded: &Expander<'_, '_>) {
    let units = session.symbols.units().filter(|(_, unit)| unit.is_checked);
    for (id, unit) in units {
        session.check_unit(id);
        let mut rest: Vec<_> = main_composite::composites(&unit.unit)
            .filter(|composite| !expanded.has_expanded(composite))
            .collect();
        // A main composite knows best what its parts are given: it comes first.
        rest.sort_by_key(|composite| !main_composite::can_be_main(composite));
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
    composite: &'w syntax::ast::Composite,
) -> Expander<'e, 'w> {
    let mut expander = Expander::new(session);
    expander.check_uninvoked(unit, composite);
    if main_composite::can_be_main(composite) {
        crate::check::check_graph(&mut expander);
    }
    expander
}
