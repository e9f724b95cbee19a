//! Tests of programs: files `NAME.test.toml` beside `NAME.spl`, read, run and judged.

mod comparison;
mod expected_text;
mod scratch_dir;
mod test_file;
mod test_files;
mod test_run;

pub use expected_text::bless;
pub use test_file::{TestCase, TestFile};
pub use test_files::find_test_files;
pub use test_run::{CaseOutcome, run_case};
