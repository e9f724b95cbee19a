//! Which operators the names in a plan's text mean.

use super::draft::DraftPe;
use super::line::Word;
use super::names::Names;
use super::{Place, PlanTextError, did_you_mean};
use crate::Program;

/// By operator: the name that puts it into a PE.
pub(super) fn resolve<'t>(
    pes: &[DraftPe<'t>],
    names: &Names<'_>,
) -> Result<Vec<Claim<'t>>, PlanTextError> {
    let program = names.program;
    let mut claims: Vec<Option<Claim<'_>>> = vec![None; program.operators.len()];
    for (pe, lines) in pes.iter().enumerate() {
        for &word in &lines.operators {
            let claim = Claim { pe, word };
            match word.text.strip_suffix('*') {
                None => claim.put(&mut claims[names.operator(word)?.0 as usize])?,
                Some(prefix) => claim.prefix(prefix, program, &mut claims)?,
            }
        }
    }
    let claims = claims.into_iter().zip(&program.operators);
    let claims = claims.map(|(claim, operator)| claim.ok_or_else(|| homeless(pes, &operator.name)));
    claims.collect()
}

/// A name that means an operator.
#[derive(Clone, Copy)]
pub(super) struct Claim<'t> {
    pub pe: usize,
    pub word: Word<'t>,
}

impl<'t> Claim<'t> {
    /// How much of a name it says; a whole name says more than any beginning.
    fn strength(&self) -> usize {
        let text = self.word.text;
        text.strip_suffix('*').map_or(usize::MAX, str::len)
    }

    /// Takes an operator, from whoever says less of its name.
    fn put(self, place: &mut Option<Claim<'t>>) -> Result<(), PlanTextError> {
        match place {
            Some(other) if other.strength() > self.strength() => Ok(()),
            Some(other) if other.strength() == self.strength() => {
                let (name, pe) = (self.word.text, other.pe);
                let line = other.word.place.line;
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
    fn prefix(
        self,
        prefix: &str,
        program: &Program,
        claims: &mut [Option<Claim<'t>>],
    ) -> Result<(), PlanTextError> {
        let all = program.operators.iter().zip(claims);
        let mut is_empty = true;
        for (_, place) in all.filter(|(operator, _)| operator.name.starts_with(prefix)) {
            self.put(place)?;
            is_empty = false;
        }
        if is_empty && !prefix.is_empty() {
            return Err(unknown(self.word, program));
        }
        Ok(())
    }
}

/// No operator has a name that begins so.
fn unknown(word: Word<'_>, program: &Program) -> PlanTextError {
    let names = program.operators.iter().map(|operator| &*operator.name);
    let composites = names.filter_map(|name| Some(format!("{}.*", name.rsplit_once('.')?.0)));
    let composites: Vec<_> = composites.collect();
    let message = format!("no operator's name begins so: `{}`", word.text);
    let candidates = composites.iter().map(String::as_str);
    word.error(did_you_mean(message, word.text, candidates))
}

fn homeless(pes: &[DraftPe<'_>], name: &str) -> PlanTextError {
    let message = format!("`{name}` is in no pe; name it, or write `operators *` in one of them");
    let last = pes.last().map(|pe| pe.place);
    last.unwrap_or(Place { line: 1, column: 1 }).error(message)
}
