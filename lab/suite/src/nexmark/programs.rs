//! The programs of `examples/nexmark`, and the file that replaces their sources from memory.

/// Names and texts of files.
pub type ProgramFiles = &'static [(&'static str, &'static str)];

macro_rules! programs {
    ($($name:literal),*) => {
        &[$((
            concat!($name, ".spl"),
            include_str!(concat!("../../../../examples/nexmark/", $name, ".spl")),
        )),*]
    };
}

/// All files of the example.
pub const PROGRAMS: ProgramFiles = programs!(
    "Calendar",
    "Events",
    "Q0",
    "Q1",
    "Q2",
    "Q3",
    "Q4",
    "Q5",
    "Q6",
    "Q7",
    "Q8",
    "Q9",
    "Q10",
    "Q11",
    "Q12",
    "Q13",
    "Q14",
    "Q15",
    "Q16",
    "Q17",
    "Q18",
    "Q19",
    "Q20",
    "Q21",
    "Q22",
    "Sources",
    "Statistics",
    "WinningBids"
);

/// `Sources.spl` that reads all events into a list, then submits them and says how long that took.
pub const MEMORY_SOURCES: &str = include_str!("../../programs/nexmark_memory.spl");
