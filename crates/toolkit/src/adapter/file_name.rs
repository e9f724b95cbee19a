//! Names of files: replacement of modifiers, and paths relative to the data directory.

use std::fs;
use std::path::{Path, PathBuf};

use eval::{Fault, FaultKind};
use jiff::Zoned;
use jiff::tz::TimeZone;
use tuple::{RString, Value};

/// Fills in `{id}`, `{localtime:format}` and `{gmtime:format}` (formats of strftime). Braces around
/// anything else stand as they are.
///
/// # Errors
/// If a modifier has a wrong format.
pub fn expand_modifiers(name: &str, id: u64, now: impl Fn() -> Zoned) -> Result<String, Fault> {
    let mut filled = String::new();
    let mut rest = name;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else {
            break;
        };
        let (before, modifier) = (&rest[..open], &rest[open + 1..open + length]);
        filled += before;
        match modifier.split_once(':') {
            _ if modifier == "id" => filled += &id.to_string(),
            Some(("localtime", format)) => filled += &format_time(&now(), format)?,
            Some(("gmtime", format)) => {
                filled += &format_time(&now().with_time_zone(TimeZone::UTC), format)?;
            }
            _ => filled += &rest[open..=open + length],
        }
        rest = &rest[open + length + 1..];
    }
    Ok(filled + rest)
}

fn format_time(now: &Zoned, format: &str) -> Result<String, Fault> {
    jiff::fmt::strtime::format(format, now).map_err(|error| {
        Fault::new(
            FaultKind::Limit,
            format!("{format:?} is not a time format: {error}"),
        )
    })
}

/// A path below the data directory, unless it is absolute.
pub fn resolve_path(data_directory: &str, name: &str) -> PathBuf {
    Path::new(data_directory).join(name)
}

/// The text of an rstring value; empty for anything else.
pub fn rstring_text(value: Value) -> String {
    if let Value::RString(RString(bytes)) = value {
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        String::new()
    }
}

/// Moves a file into a folder, also to another file system; its new path.
///
/// # Errors
/// The error of the system.
pub fn move_into(path: &Path, folder: &Path) -> Result<PathBuf, Fault> {
    let target = folder.join(path.file_name().unwrap_or_default());
    let moved = fs::rename(path, &target)
        .or_else(|_| fs::copy(path, &target).and_then(|_| fs::remove_file(path)));
    moved.map(|()| target).map_err(|error| {
        let (path, folder) = (path.display(), folder.display());
        let message = format!("cannot move {path} to {folder}: {error}");
        Fault::new(FaultKind::System, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(name: &str) -> String {
        let now: Zoned = "2026-03-01T04:05:06+02:00[+02:00]".parse().unwrap();
        expand_modifiers(name, 7, || now.clone()).unwrap()
    }

    #[test]
    fn modifiers_are_filled_in() {
        assert_eq!(filled("out_{id}.csv"), "out_7.csv");
        assert_eq!(
            filled("{localtime:%Y%m%d-%H}/{gmtime:%H%M}"),
            "20260301-04/0205"
        );
    }

    #[test]
    fn other_braces_stand_as_they_are() {
        assert_eq!(filled("a{b}c{id"), "a{b}c{id");
        assert_eq!(filled("{}"), "{}");
    }
}
