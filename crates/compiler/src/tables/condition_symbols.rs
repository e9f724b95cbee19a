//! Symbols that conditions in texts may use besides the attributes of their tuples.

use std::path::Path;

use eval::NativeFn;
use syntax::FileId;

use crate::load::LoadedProgram;
use crate::names::{LoadedUnit, SymbolTable};

/// Path that messages show for places in a condition.
const PATH: &str = "condition";

/// The symbols of conditions, made once for many of them: the prelude and the library functions.
#[derive(Debug)]
pub(crate) struct ConditionSymbols {
    symbols: SymbolTable,
    /// The file that holds the text of the condition.
    file: FileId,
}

impl ConditionSymbols {
    /// Symbols with these library functions.
    pub fn new(natives: &'static [NativeFn]) -> ConditionSymbols {
        let (program, file) = empty_program();
        let (symbols, _) = SymbolTable::new(program.sources, program.units, natives, &[]);
        ConditionSymbols { symbols, file }
    }

    /// The symbols, with `text` as that of the condition.
    pub fn with_text(&mut self, text: &str) -> &SymbolTable {
        self.symbols.replace_text(self.file, text);
        &self.symbols
    }
}

/// An empty file, which gets the texts of conditions, and the prelude.
fn empty_program() -> (LoadedProgram, FileId) {
    let mut program = LoadedProgram::default();
    // The first file: it is what `parse_expr` takes the text for.
    let file = program.sources.add(Path::new(PATH), "");
    program.units.push(LoadedUnit {
        file,
        unit: syntax::parse(file, "").unit,
        path: "".into(),
        toolkit_dir: "".into(),
        is_checked: false,
    });
    program.add_prelude();
    (program, file)
}
