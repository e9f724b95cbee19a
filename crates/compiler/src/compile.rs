//! One compilation from text to graph: the table of contents of this crate.

use std::collections::HashSet;
use std::path::PathBuf;

use graph::{NativeFn, OperatorModel, Program};
use syntax::{Diagnostic, Severity, SourceMap};

use crate::broken::Broken;
use crate::expand::{Expander, can_be_main};
use crate::load::{self, Loader, Source};
use crate::names::{UnitId, World};
use crate::{Options, Session, entry};

/// What is to be compiled, and with what.
pub struct Input<'a> {
    /// The main files: path, as diagnostics show it, and text.
    pub files: Vec<(PathBuf, Source)>,
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
    pub options: Options,
}

/// What comes out.
#[derive(Debug)]
pub struct Output {
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

impl Output {
    /// Whether there is an error (and so no program).
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

/// Compiles a program. Composites and functions of the main files are checked even if the program
/// does not use them.
pub fn compile(input: Input<'_>) -> Output {
    run(input, true)
}

/// Checks the main files without asking for a main composite: whatever can be said of every
/// composite, function and type in them.
pub fn check(input: Input<'_>) -> Output {
    run(input, false)
}

fn run(input: Input<'_>, needs_main: bool) -> Output {
    let load = |generates| load::load(&input.files, &input.toolkits, input.loader, generates);
    let loaded = load(false);
    let has_more = loaded.has_more;
    let output = run_loaded(&input, loaded, needs_main);
    let lacks_definition =
        |d: &Diagnostic| d.severity == Severity::Error && OF_DEFINITIONS.contains(&d.code);
    match has_more && output.diagnostics.iter().any(lacks_definition) {
        true => run_loaded(&input, load(true), needs_main),
        false => output,
    }
}

fn run_loaded(input: &Input<'_>, mut loaded: load::Program, needs_main: bool) -> Output {
    loaded.add_prelude();
    let load::Program {
        sources,
        units,
        diagnostics,
        is_not_generated,
        failed,
        ..
    } = loaded;
    let (world, duplicates) = World::new(sources, units, input.natives, input.models);
    let broken = Broken::of(&diagnostics, &duplicates, &world);
    let found = crate::Diagnostics::default();
    found.extend(diagnostics);
    found.extend(duplicates);
    let main = match (needs_main, input.main) {
        // What a main composite alone can be told is said too, if it is clear which one it is.
        (false, None) => entry::choose(&world, None, &crate::Diagnostics::default()),
        (_, wanted) => entry::choose(&world, wanted, &found),
    };
    let mut session = Session::new(&world, &input.options, main.clone().unwrap_or_default());
    session.diagnostics = found;
    session.values_pending.set(!needs_main);
    let program = build(&session, main.as_deref());
    let has_errors = session.diagnostics.has_errors();
    if has_errors {
        session.diagnostics.extend(failed);
    }
    let mut diagnostics = session.diagnostics.into_sorted();
    diagnostics.retain(|finding| {
        let is_premature = has_errors && finding.code == OF_USES;
        let follows = is_not_generated && finding.code != OF_MIXED_MODE;
        !is_premature && !follows && !broken.explains(finding, world.sources())
    });
    Output {
        program: program.filter(|_| needs_main && !has_errors),
        application_dir: PathBuf::from(world.application_dir()),
        diagnostics,
        sources: world.into_sources(),
    }
}

/// What is said of definitions that are nowhere: files that were left out may have them. Errors only:
/// a program that can do without them needs no file that was left out.
const OF_DEFINITIONS: [&str; 7] = [
    "unknown-enumerator",
    "unknown-function",
    "unknown-name",
    "unknown-namespace",
    "unknown-operator",
    "unknown-type",
    "unknown-use",
];

/// What is said of the Perl code in a file.
const OF_MIXED_MODE: &str = "mixed-mode";

/// What is said of a variable whose uses may be among what is wrong.
const OF_USES: &str = "unused-variable";

/// Expands the main composite, then checks what it did not reach.
fn build(session: &Session<'_>, main: Option<&str>) -> Option<Program> {
    let mut main_expander = Expander::new(session);
    let found = main.and_then(|main| entry::find(session.world, main));
    if let Some((unit, composite)) = found {
        main_expander.main(unit, composite);
        session.seal_functions();
    }
    crate::check::graph(&mut main_expander);
    let pending = session.values_pending.replace(true);
    session.beside_the_program(|| check_rest(session, &main_expander));
    session.values_pending.set(pending);
    main_expander.report_untyped();
    let functions = session.finish_functions();
    session.report_untyped();
    let (_, composite) = found?;
    if !session.values_pending.get() && !session.diagnostics.has_errors() {
        let unasked = session.asked.unasked(session.options, composite.name.span);
        session.diagnostics.extend(unasked);
    }
    let files = session.world.sources().files();
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
    let units = session.world.units().filter(|(_, unit)| unit.is_checked);
    for (id, unit) in units {
        session.check_unit(id);
        let mut rest: Vec<_> = entry::composites(&unit.unit)
            .filter(|composite| !expanded.has_expanded(composite))
            .collect();
        // A main composite knows best what its parts are given: it comes first.
        rest.sort_by_key(|composite| !can_be_main(composite));
        let mut reached = HashSet::new();
        for composite in rest {
            if !reached.contains(&std::ptr::from_ref(composite)) {
                reached.extend(check_one(session, id, composite).expanded);
            }
        }
    }
}

fn check_one<'e, 'w>(
    session: &'e Session<'w>,
    unit: UnitId,
    composite: &'w syntax::ast::Composite,
) -> Expander<'e, 'w> {
    let mut expander = Expander::new(session);
    expander.check(unit, composite);
    if can_be_main(composite) {
        crate::check::graph(&mut expander);
    }
    expander
}
