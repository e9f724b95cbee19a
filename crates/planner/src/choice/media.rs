//! The media that a job may use, by name.

use syntax::nearest;

use super::plan_error::PlanError;
use super::plan_options::MediumCapabilities;

/// Names that IBM Streams has for transports, and what they are here.
const STREAMS_NAMES: [(&str, &str); 2] = [("llm_rum_tcp", "rum"), ("llm_rum_ib", "rum-rdma")];

/// Names that IBM Streams has for transports, which are accepted as the media that they mean.
pub fn streams_medium_names() -> impl Iterator<Item = &'static str> {
    STREAMS_NAMES.into_iter().map(|(name, _)| name)
}

/// The name of a medium that a name means: its own, or that of a transport of IBM Streams.
pub fn own_medium_name(name: &str) -> &str {
    let of_streams = STREAMS_NAMES.into_iter();
    let mut of_streams = of_streams.filter(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
    of_streams.next().map_or(name, |(_, own)| own)
}

/// The medium of a name, in capitals or not, if it can carry a stream between processes.
///
/// # Errors
/// No medium has that name, or it does not cross processes.
pub(crate) fn find_medium<'a>(
    name: &str,
    media: &[MediumCapabilities<'a>],
) -> Result<MediumCapabilities<'a>, PlanError> {
    let own = own_medium_name(name);
    let found = media.iter().find(|m| m.name.eq_ignore_ascii_case(own));
    match found {
        Some(medium) if medium.crosses_processes => Ok(*medium),
        Some(medium) => {
            let message = format!("medium `{}` does not cross processes", medium.name);
            Err(PlanError::new(message).with_help(list_media("those that do:", media)))
        }
        None => {
            let help = match nearest(name, process_crossing_media(media).map(|m| m.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => list_media("there are", media),
            };
            Err(PlanError::new(format!("there is no medium `{name}`")).with_help(help))
        }
    }
}

/// Checks that a plan's text may name a medium: the check for
/// [`parse_plan_with_media`](crate::parse_plan_with_media).
///
/// # Errors
/// One line: there is no medium of that name, or it does not cross processes.
pub fn check_medium(name: &str, media: &[MediumCapabilities<'_>]) -> Result<(), String> {
    let found = find_medium(name, media);
    found
        .map(|_| ())
        .map_err(|error| format!("{}; {}", error.message, error.help))
}

/// The media that cross processes and are not for tests only.
pub(crate) fn process_crossing_media<'a>(
    media: &[MediumCapabilities<'a>],
) -> impl Iterator<Item = MediumCapabilities<'a>> {
    let media = media.iter().copied();
    media.filter(|m| m.crosses_processes && !m.is_for_tests)
}

/// The error that a medium does not reach another host.
pub(crate) fn stays_on_host(
    medium: MediumCapabilities<'_>,
    media: &[MediumCapabilities<'_>],
) -> PlanError {
    let far = process_crossing_media(media).filter(|m| m.crosses_hosts);
    let names: Vec<_> = far.map(|m| m.name).collect();
    let message = format!("medium `{}` does not cross hosts", medium.name);
    PlanError::new(message).with_help(format!("those that do: {}", names.join(", ")))
}

/// The names of the media that cross processes, after some words.
fn list_media(words: &str, media: &[MediumCapabilities<'_>]) -> String {
    let names: Vec<_> = process_crossing_media(media).map(|m| m.name).collect();
    match names[..] {
        [] => "no medium crosses processes here".to_owned(),
        _ => format!("{words} {}", names.join(", ")),
    }
}
