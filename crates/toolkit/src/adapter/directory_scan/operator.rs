//! The running DirectoryScan.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use graph::{Fault, FaultKind};
use runtime::{Build, Operator, Outlet, Row, Source};
use std::sync::Arc;
use tuple::{Layout, TupleRef, Value};

use super::entry::{Entry, Said, files};
use crate::adapter::{file_name, record};
use crate::calls::Calls;
use crate::function::regex;

/// The operator: all it does it does on its own thread.
struct DirectoryScan(Option<Scans>);

struct Scans {
    /// As the program names it.
    directory: PathBuf,
    full_directory: PathBuf,
    /// Where files are moved, as the program names it and below the data directory.
    destination: Option<(PathBuf, PathBuf)>,
    pattern: Option<Vec<u8>>,
    sleep_time: f64,
    init_delay: f64,
    by_name: bool,
    descending: bool,
    ignores_dot_files: bool,
    ignores_existing: bool,
    calls: Calls<Said>,
    /// Attributes that get the path.
    paths: Vec<usize>,
    layout: Arc<Layout>,
    /// When each file that was sent had last changed.
    known: HashMap<PathBuf, (i64, i64)>,
}

/// Makes the operator.
pub fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let data_directory = build.services.data_directory()?;
    let mut folder = |param| -> Result<_, Fault> {
        let name = build.value(param)?.map(file_name::text);
        Ok(name.map(|name| {
            (
                PathBuf::from(&name),
                file_name::below(&data_directory, &name),
            )
        }))
    };
    let directory = folder("directory")?;
    let (directory, full_directory) =
        directory.ok_or_else(|| crate::lower::missing("directory"))?;
    let destination = folder("moveToDirectory")?;
    let pattern = build.value("pattern")?.map(file_name::text);
    if let Some(pattern) = &pattern {
        regex::is_match(b"", pattern.as_bytes())?;
    }
    Ok(Box::new(DirectoryScan(Some(Scans {
        directory,
        full_directory,
        destination,
        pattern: pattern.map(String::into_bytes),
        sleep_time: build.number("sleepTime")?.unwrap_or(5.0),
        init_delay: build.number("initDelay")?.unwrap_or(0.0),
        by_name: build.literal("sortBy") == Some("name"),
        descending: build.literal("order") == Some("descending"),
        ignores_dot_files: build.flag("ignoreDotFiles", false)?,
        ignores_existing: build.flag("ignoreExistingFilesAtStartup", false)?,
        calls: Calls::new(build, 0, Said::of)?,
        paths: record::read_attributes(build.operator),
        layout: build.outputs[0].clone(),
        known: HashMap::new(),
    }))))
}

impl Operator for DirectoryScan {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.take()?))
    }
}

impl Source for Scans {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.services().block(self.init_delay);
        let mut is_first = true;
        while !out.services().is_shutdown() {
            let entries = self.scan()?;
            out.services().count("nScans", 1);
            for entry in entries {
                self.known.insert(entry.name.clone(), entry.changed());
                if out.services().is_shutdown() {
                    break;
                }
                if !(is_first && self.ignores_existing) {
                    self.send(&entry, out)?;
                }
            }
            is_first = false;
            out.services().block(self.sleep_time);
        }
        Ok(())
    }
}

impl Scans {
    /// The files that are new or have changed, in order.
    fn scan(&mut self) -> Result<Vec<Entry>, Fault> {
        let found = files(&self.full_directory);
        let found = found.map_err(|error| failure("read", &self.full_directory, &error))?;
        // What is gone may come back.
        self.known
            .retain(|name, _| found.iter().any(|(other, _)| other == name));
        let mut entries = Vec::new();
        for (name, metadata) in found {
            let entry = Entry {
                directory: self.directory.clone(),
                full_directory: self.full_directory.clone(),
                destination: self.destination.clone(),
                name,
                metadata,
            };
            let is_known = self.known.get(&entry.name) == Some(&entry.changed());
            if !is_known && self.counts(&entry.name)? {
                entries.push(entry);
            }
        }
        entries.sort_by(|a, b| {
            let by_name = a.name.cmp(&b.name);
            let order = match self.by_name {
                true => by_name,
                false => a.written().cmp(&b.written()).then(by_name),
            };
            if self.descending {
                order.reverse()
            } else {
                order
            }
        });
        Ok(entries)
    }

    fn counts(&self, name: &Path) -> Result<bool, Fault> {
        let name = name.as_os_str().as_bytes();
        if self.ignores_dot_files && name.starts_with(b".") {
            return Ok(false);
        }
        match &self.pattern {
            Some(pattern) => regex::is_match(name, pattern),
            None => Ok(true),
        }
    }

    fn send(&mut self, entry: &Entry, out: &mut dyn Outlet) -> Result<(), Fault> {
        if let Some((_, to)) = &entry.destination {
            std::fs::create_dir_all(to).map_err(|error| failure("make", to, &error))?;
            file_name::moved(&entry.full_directory.join(&entry.name), to)?;
        }
        let answer = |said: &Said, arguments: &[Value]| {
            Ok(match (said, arguments) {
                (Said::AsIs, [value, ..]) => value.clone(),
                (said, _) => entry.say(*said),
            })
        };
        let whole = self.calls.write(&Row::default(), out, answer)?;
        let path = entry.say(Said::AsIs);
        for &at in &self.paths {
            whole.set(&self.layout, at, &path);
        }
        out.submit(0, self.calls.tuple())
    }
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Fault {
    let message = format!("cannot {what} directory {}: {error}", path.display());
    Fault::new(FaultKind::System, message)
}
