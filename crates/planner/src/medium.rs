//! The media that a choice has, by name.

use super::{MediumCapabilities, PlanError};
use syntax::nearest;

/// The medium of a name, in capitals or not, if it can carry a stream from one process to another.
///
/// # Errors
/// There is none of that name, or it does not cross processes.
pub(super) fn find<'a>(
    name: &str,
    media: &[MediumCapabilities<'a>],
) -> Result<MediumCapabilities<'a>, PlanError> {
    let found = media.iter().find(|m| m.name.eq_ignore_ascii_case(name));
    match found {
        Some(medium) if medium.crosses_processes => Ok(*medium),
        Some(medium) => {
            let message = format!("medium `{}` does not cross processes", medium.name);
            Err(PlanError::new(message).with_help(those("those that do:", media)))
        }
        None => {
            let help = match nearest(name, crossing(media).map(|m| m.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => those("there are", media),
            };
            Err(PlanError::new(format!("there is no medium `{name}`")).with_help(help))
        }
    }
}

/// Why a plan's text cannot name this medium, in one line: for [`graph::Plan::parse_with`].
///
/// # Errors
/// There is none of that name, or it does not cross processes.
pub fn check_medium(name: &str, media: &[MediumCapabilities<'_>]) -> Result<(), String> {
    let found = find(name, media).map(|_| ());
    found.map_err(|error| format!("{}; {}", error.message, error.help))
}

/// Those that cross processes and are not for tests only.
pub(super) fn crossing<'a>(
    media: &[MediumCapabilities<'a>],
) -> impl Iterator<Item = MediumCapabilities<'a>> {
    let media = media.iter().copied();
    media.filter(|m| m.crosses_processes && !m.is_for_tests)
}

/// That a medium does not get to another host.
pub(super) fn stays_on_host(
    medium: MediumCapabilities<'_>,
    media: &[MediumCapabilities<'_>],
) -> PlanError {
    let far = crossing(media).filter(|m| m.crosses_hosts);
    let names: Vec<_> = far.map(|m| m.name).collect();
    let message = format!("medium `{}` does not cross hosts", medium.name);
    PlanError::new(message).with_help(format!("those that do: {}", names.join(", ")))
}

/// The media that cross processes, behind some words.
fn those(words: &str, media: &[MediumCapabilities<'_>]) -> String {
    let names: Vec<_> = crossing(media).map(|m| m.name).collect();
    match names[..] {
        [] => "no medium crosses processes here".to_owned(),
        _ => format!("{words} {}", names.join(", ")),
    }
}
