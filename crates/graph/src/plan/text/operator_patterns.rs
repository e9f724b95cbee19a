//! Which operators the names in a plan's text mean.

use super::line::PlanTextWord;
use super::operator_lookup::OperatorLookup;
use super::plan_draft::PeDraft;
use super::{PlanTextError, PlanTextPos, did_you_mean};
use crate::Program;

/// By operator: the name that puts it into a PE.
pub(super) fn resolve<'t>(
    pes: &[PeDraft<'t>],
    names: &OperatorLookup<'_>,
) -> Result<Vec<OperatorPattern<'t>>, PlanTextError> {
    let program = names.program;
    let mut claims: Vec<Option<OperatorPattern<'_>>> = vec![None; program.operators.len()];
    for (pe, lines) in pes.iter().enumerate() {
        for &word in &lines.operators {
            let claim = OperatorPattern { pe, word };
            match word.text.strip_suffix('*') {
                None => claim.assign(&mut claims[names.operator(word)?.0 as usize])?,
                Some(prefix) => claim.assign_prefix(prefix, program, &mut claims)?,
            }
        }
    }
    let claims = claims.into_iter().zip(&program.operators);
    let claims = claims
        .map(|(claim, operator)| claim.ok_or_else(|| unassigned_operator(pes, &operator.name)));
    claims.collect()
}

/// A name that means an operator.
#[derive(Clone, Copy)]
pub(super) struct OperatorPattern<'t> {
    pub pe: usize,
    pub word: PlanTextWord<'t>,
}

impl<'t> OperatorPattern<'t> {
    /// How much of a name it says; a whole name says more than any beginning.
    fn specificity(&self) -> usize {
        let text = self.word.text;
        text.strip_suffix('*').map_or(usize::MAX, str::len)
    }

    /// Takes an operator, from whoever says less of its name.
    fn assign(self, place: &mut Option<OperatorPattern<'t>>) -> Result<(), PlanTextError> {
        match place {
            Some(other) if other.specificity() > self.specificity() => Ok(()),
            Some(other) if other.specificity() == self.specificity() => {
                let (name, pe) = (self.word.text, other.pe);
                let line = other.word.pos.line;
                let message = format!("`{name}` is in pe {pe} already, by line {line}");
                Err(self.word.error(message))
            }
            _ => {
                *place = Some(self);
                Ok(())
            }
        }
    }

    /// Takes all operators whose names begin so. There has to be one, unless all others are meant.
    fn assign_prefix(
        self,
        prefix: &str,
        program: &Program,
        claims: &mut [Option<OperatorPattern<'t>>],
    ) -> Result<(), PlanTextError> {
        let all = program.operators.iter().zip(claims);
        let mut is_empty = true;
        for (_, place) in all.filter(|(operator, _)| operator.name.starts_with(prefix)) {
            self.assign(place)?;
            is_empty = false;
        }
        if is_empty && !prefix.is_empty() {
            return Err(unknown_prefix(self.word, program));
        }
        Ok(())
    }
}

/// No operator has a name that begins so.
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
