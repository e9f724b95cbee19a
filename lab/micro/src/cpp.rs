//! C++ programs to compare with, compiled by the system's compiler when a bench starts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiled C++ program, removed when it is dropped.
pub struct CppProgram {
    path: PathBuf,
}

impl CppProgram {
    /// Compiles a file of `lab/micro/cpp` with `-O2`. Prints why and returns `None` if that fails.
    pub fn compile(file: &str) -> Option<CppProgram> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("cpp").join(file);
        let name = format!("thalweg-{}-{}", std::process::id(), file.replace('.', "-"));
        let path = std::env::temp_dir().join(name);
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let status = Command::new(&compiler)
            .args(["-std=c++17", "-O2", "-o"])
            .arg(&path)
            .arg(&source)
            .status();
        match status {
            Ok(status) if status.success() => Some(CppProgram { path }),
            other => {
                println!(
                    "no C++ to compare with: {compiler} {}: {other:?}",
                    source.display()
                );
                None
            }
        }
    }

    /// Runs the program with arguments; the nanoseconds and the result that it prints.
    ///
    /// # Panics
    /// If it prints something else; the bench is broken then.
    pub fn run(&self, args: &[&str]) -> (f64, String) {
        let output = Command::new(&self.path)
            .args(args)
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace();
        let time = words.next().and_then(|word| word.parse().ok());
        let result = words.next().unwrap_or_default().to_owned();
        (
            time.unwrap_or_else(|| panic!("{args:?} printed {text:?}")),
            result,
        )
    }
}

impl Drop for CppProgram {
    fn drop(&mut self) {
        // What stays behind lies in the directory for temporary files.
        let _ = std::fs::remove_file(&self.path);
    }
}
