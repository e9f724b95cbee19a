//! The operators that names in a plan's text mean, stars included.

use super::line::PlanTextWord;
use super::operator_lookup::OperatorLookup;
use super::pe_draft::PeDraft;
use super::plan_text_error::{PlanTextError, PlanTextPos, did_you_mean};
use crate::Program;

/// By operator: the name that puts it into a PE.
///
/// # Errors
/// The first name that means no operator, or one that an equal name has put into a PE; an operator
/// that no name means.
pub(super) fn resolve<'t>(
    pes: &[PeDraft<'t>],
    names: &OperatorLookup<'_>,
) -> Result<Vec<OperatorPattern<'t>>, PlanTextError> {
    let program = names.program;
    let mut patterns: Vec<Option<OperatorPattern<'_>>> = vec![None; program.operators.len()];
    for (pe, lines) in pes.iter().enumerate() {
        for &word in &lines.operators {
            let pattern = OperatorPattern { pe, word };
            match word.text.strip_suffix('*') {
                None => pattern.assign(&mut patterns[names.operator(word)?.0 as usize])?,
                Some(prefix) => pattern.assign_prefix(prefix, program, &mut patterns)?,
            }
        }
    }
    let patterns = patterns.into_iter().zip(&program.operators);
    let patterns = patterns
        .map(|(pattern, operator)| pattern.ok_or_else(|| unassigned_operator(pes, &operator.name)));
    patterns.collect()
}

/// A name that means an operator, or several if a star ends it.
#[derive(Clone, Copy)]
pub(super) struct OperatorPattern<'t> {
    pub pe: usize,
    pub word: PlanTextWord<'t>,
}

impl<'t> OperatorPattern<'t> {
    /// The length of the name in bytes; a name without a star counts more than any with one.
    fn specificity(&self) -> usize {
        let text = self.word.text;
        text.strip_suffix('*').map_or(usize::MAX, str::len)
    }

    /// Takes an operator from names that are less specific.
    fn assign(self, slot: &mut Option<OperatorPattern<'t>>) -> Result<(), PlanTextError> {
        match slot {
            Some(other) if other.specificity() > self.specificity() => Ok(()),
            Some(other) if other.specificity() == self.specificity() => {
                let (name, pe) = (self.word.text, other.pe);
                let line = other.word.pos.line;
                let message = format!("`{name}` is in pe {pe} already, by line {line}");
                Err(self.word.error(message))
            }
            _ => {
                *slot = Some(self);
                Ok(())
            }
        }
    }

    /// Takes all operators whose names begin with `prefix`. There has to be one, unless the prefix
    /// is empty.
    fn assign_prefix(
        self,
        prefix: &str,
        program: &Program,
        patterns: &mut [Option<OperatorPattern<'t>>],
    ) -> Result<(), PlanTextError> {
        let all = program.operators.iter().zip(patterns);
        let mut is_empty = true;
        for (_, slot) in all.filter(|(operator, _)| operator.name.starts_with(prefix)) {
            self.assign(slot)?;
            is_empty = false;
        }
        if is_empty && !prefix.is_empty() {
            return Err(unknown_prefix(self.word, program));
        }
        Ok(())
    }
}

/// The mistake that no operator's name begins as a word says.
fn unknown_prefix(word: PlanTextWord<'_>, program: &Program) -> PlanTextError {
    let names = program.operators.iter().map(|operator| &*operator.name);
    let composites = names.filter_map(|name| Some(format!("{}.*", name.rsplit_once('.')?.0)));
    let composites: Vec<_> = composites.collect();
    let message = format!("no operator's name begins so: `{}`", word.text);
    let candidates = composites.iter().map(String::as_str);
    word.error(did_you_mean(message, word.text, candidates))
}

fn unassigned_operator(pes: &[PeDraft<'_>], name: &str) -> PlanTextError {
    let message = format!("`{name}` is in no pe; name it, or write `operators *` in one of them");
    let last = pes.last().map(|pe| pe.pos);
    last.unwrap_or(PlanTextPos { line: 1, column: 1 })
        .error(message)
}
