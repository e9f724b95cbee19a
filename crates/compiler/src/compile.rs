//! One compilation from text to graph: the table of contents of this crate.
//!
//! ```text
//!   files  -load->  units  -index->  symbols  -expand->  instances  -connect->  edges
//!         -check->  -assemble->  program
//! ```
//! [`print_symbols`] and [`print_instances`] show what comes out in between. Expressions are typed
//! while composites are expanded, since a composite is typed for each of its invocations. Each
//! stage reports its findings to the session and goes on.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use eval::NativeFn;
use graph::{Function, OperatorModel, OperatorNode, Program};
use syntax::ast::{Composite, Item, QName};
use syntax::{DeclarationKind, Diagnostic, Severity, SourceMap, Span};

use crate::check::check_graph;
use crate::connect::connect_operators;
use crate::expand::Expander;
use crate::load::{self, LoadedProgram, Loader, SourceText};
use crate::main_composite::{self, can_be_main};
use crate::name_index::NameDeclaration;
use crate::names::{Definition, DefinitionKind, SymbolTable, UnitId};
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
pub type CompileOutput = StageOutput<Program>;

/// Result of the stages of a compilation up to one of them, and the findings.
#[derive(Debug)]
pub struct StageOutput<T> {
    /// The program, or what an earlier stage makes; only if there is no error.
    pub program: Option<T>,
    /// The absolute path of the application: the root above the folders of the main file's
    /// namespace.
    pub application_dir: PathBuf,
    /// Findings, sorted by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts of all files that were read.
    pub sources: SourceMap,
}

impl<T> StageOutput<T> {
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
    run(&input, |symbols, diagnostics| {
        compile_indexed(&input, symbols, diagnostics, true)
    })
}

/// Checks the main files without a main composite: every composite, function and type in them.
pub fn check(input: CompileInput<'_>) -> CompileOutput {
    run(&input, |symbols, diagnostics| {
        compile_indexed(&input, symbols, diagnostics, false)
    })
}

/// Prints what stage `index` makes: the definitions of all files, a line each. Without the text if
/// a file has a syntax error, or defines a name twice.
pub fn print_symbols(input: CompileInput<'_>) -> StageOutput<String> {
    // Which files of mixed mode the program needs is known when it is compiled.
    let compiled = |symbols: &SymbolTable, found| compile_indexed(&input, symbols, found, true);
    let printed = |symbols: &SymbolTable, found| (Some(symbols.to_text()), found);
    let loaded = load(&input, false);
    let generates = loaded.has_more && lacks_definition(&run_loaded(&input, loaded, compiled));
    run_loaded(&input, load(&input, generates), printed)
}

/// Prints what stage `expand` makes: the operator instances of the program with the types of their
/// ports, before they are connected.
pub fn print_instances(input: CompileInput<'_>) -> StageOutput<String> {
    run(&input, |symbols, diagnostics| {
        let (session, root) = begin(&input, symbols, diagnostics, true);
        let text = expand(&session, root).to_text();
        (root.map(|_| text), session.diagnostics)
    })
}

/// Loads and compiles. Files of mixed mode are generated only if a definition is missing without
/// them; the program is compiled again then.
fn run<T>(
    input: &CompileInput<'_>,
    stages: impl Fn(&SymbolTable, Diagnostics) -> (Option<T>, Diagnostics),
) -> StageOutput<T> {
    let loaded = load(input, false);
    let has_more = loaded.has_more;
    let output = run_loaded(input, loaded, &stages);
    match has_more && lacks_definition(&output) {
        true => run_loaded(input, load(input, true), &stages),
        false => output,
    }
}

/// Stage `load`: the main files and those that they need, of mixed mode if `generates` is set.
fn load(input: &CompileInput<'_>, generates: bool) -> LoadedProgram {
    load::load(&input.files, &input.toolkits, input.loader, generates)
}

/// Whether a program names something that none of its files defines.
fn lacks_definition<T>(output: &StageOutput<T>) -> bool {
    let is_lack = |d: &Diagnostic| {
        d.severity == Severity::Error && UNKNOWN_DEFINITION_CODES.contains(&d.code)
    };
    output.diagnostics.iter().any(is_lack)
}

/// The stages from the loaded files on: `index`, then those that are given.
fn run_loaded<T>(
    input: &CompileInput<'_>,
    mut loaded: LoadedProgram,
    stages: impl Fn(&SymbolTable, Diagnostics) -> (Option<T>, Diagnostics),
) -> StageOutput<T> {
    let failed = std::mem::take(&mut loaded.failed);
    let is_generated = !loaded.is_not_generated;
    let (symbols, diagnostics) = index(input, loaded);
    let (program, diagnostics) = match is_generated {
        true => stages(&symbols, diagnostics),
        false => (None, diagnostics),
    };
    if diagnostics.has_errors() {
        diagnostics.extend(failed);
    }
    StageOutput {
        program: program.filter(|_| !diagnostics.has_errors()),
        application_dir: PathBuf::from(symbols.application_dir()),
        diagnostics: diagnostics.into_sorted(),
        sources: symbols.into_sources(),
    }
}

/// Stage `index`: enters all definitions into the symbol table. Of a main file that could not be
/// generated nothing further is found: all of it would follow from that.
fn index(input: &CompileInput<'_>, mut loaded: LoadedProgram) -> (SymbolTable, Diagnostics) {
    loaded.add_prelude();
    let (mut symbols, found_in_names) =
        SymbolTable::new(loaded.sources, loaded.units, input.natives, input.models);
    symbols.misplaced = loaded.misplaced;
    let mut found = loaded.generation;
    if !loaded.is_not_generated {
        found.extend(loaded.diagnostics);
    }
    let diagnostics = Diagnostics::new(found, Rc::clone(&symbols.poison));
    if !loaded.is_not_generated {
        let explain = |finding: Diagnostic| match finding.code {
            "unknown-use" => {
                let name = symbols.sources().text(finding.span).to_owned();
                symbols.explain_misplaced(finding, &name)
            }
            _ => finding,
        };
        diagnostics.extend(found_in_names.into_iter().map(explain));
    }
    (symbols, diagnostics)
}

/// The stages from the symbol table on.
fn compile_indexed(
    input: &CompileInput<'_>,
    symbols: &SymbolTable,
    diagnostics: Diagnostics,
    needs_main: bool,
) -> (Option<Program>, Diagnostics) {
    let (session, root) = begin(input, symbols, diagnostics, needs_main);
    let mut expanded = expand(&session, root);
    connect_operators(&mut expanded);
    check_graph(&mut expanded);
    check_rest(&session, &expanded);
    let functions = finish(&session, &expanded);
    let program = root.map(|(_, main)| Program {
        config: expanded.main_config,
        ..assemble(&session, main, expanded.operators, functions)
    });

    (program.filter(|_| needs_main), session.diagnostics)
}

/// The session of the stages from the symbol table on, and the main composite.
fn begin<'w>(
    input: &'w CompileInput<'_>,
    symbols: &'w SymbolTable,
    diagnostics: Diagnostics,
    needs_main: bool,
) -> (Session<'w>, Option<(UnitId, &'w Composite)>) {
    let main = choose_main(input, symbols, needs_main, &diagnostics);
    let root = main
        .as_deref()
        .and_then(|main| main_composite::find(symbols, main));
    let mut session = Session::new(symbols, &input.options, main.clone().unwrap_or_default());
    session.diagnostics = diagnostics;
    if session.name_recorder().is_some() {
        note_definitions(&session);
        note_imports(&session);
    }
    session.values_pending.set(!needs_main);
    (session, root)
}

/// Begins the index of names, if one is wanted, with the composites and functions of all files.
fn note_definitions(session: &Session<'_>) {
    let Some(names) = session.name_recorder() else {
        return;
    };
    // A program that is compiled twice has the index of the second time.
    names.take();
    for item in session
        .symbols
        .units()
        .flat_map(|(_, unit)| &unit.unit.items)
    {
        match item {
            Item::Composite(composite) => names.add_declaration(NameDeclaration {
                head: composite.span,
                doc: composite.doc.clone(),
                ..NameDeclaration::new(DeclarationKind::Composite, &composite.name, None)
            }),
            Item::Function(function) => names.add_declaration(NameDeclaration {
                head: Span {
                    end: function.body.span.start,
                    ..function.span
                },
                doc: function.doc.clone(),
                ..NameDeclaration::new(DeclarationKind::Function, &function.name, None)
            }),
            Item::Type(definition) => names.add_declaration(NameDeclaration {
                head: definition.span,
                ..NameDeclaration::new(DeclarationKind::Type, &definition.name, None)
            }),
        }
    }
}

/// Notes the names in the `use` directives of all files.
fn note_imports(session: &Session<'_>) {
    let kinds = [
        DefinitionKind::Operator,
        DefinitionKind::Type,
        DefinitionKind::Function,
    ];
    for (id, unit) in session.symbols.units() {
        for import in &unit.unit.uses {
            let Some(name) = import.name.clone() else {
                continue;
            };
            let place = name.span;
            let name = QName {
                namespace: Some(import.namespace.clone()),
                name,
                span: import.span,
            };
            for kind in kinds {
                let declared = match session.symbols.search(id, &name, kind) {
                    Ok(Definition::Composite(_, composite)) => composite.name.span,
                    Ok(Definition::Type(_, definition)) => definition.name.span,
                    Ok(Definition::Function(_, function)) => function.name.span,
                    _ => continue,
                };
                session.note_use(place, declared, None);
            }
        }
    }
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
    session.outside_program(|| check_unused(session, expanded));
}

fn check_unused(session: &Session<'_>, expanded: &Expander<'_, '_>) {
    let symbols = session.symbols;
    let units = symbols.units().filter(|(_, unit)| unit.is_checked);
    units.for_each(|(id, _)| session.check_unit(id));
    let mut rest: Vec<_> = main_composite::all_composites(symbols)
        .filter(|(_, composite)| !expanded.has_expanded(composite))
        .collect();
    // Composites that invoke others come before those: they give them actuals, which a check of
    // these alone lacks, and say once that all of them together are too large.
    let invoked = main_composite::invoked_names(symbols);
    let mut sizes = Expander::new(session);
    rest.sort_by_cached_key(|(unit, composite)| {
        let is_invoked = invoked.contains(&*composite.name.text);
        let instances = sizes.count_instances(*unit, composite);
        (!can_be_main(composite), is_invoked, Reverse(instances))
    });
    let mut reached = HashSet::new();
    for (unit, composite) in rest {
        if !reached.contains(&std::ptr::from_ref(composite)) {
            reached.extend(check_composite(session, unit, composite).into_reached());
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
        config: Vec::new(),
    }
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
