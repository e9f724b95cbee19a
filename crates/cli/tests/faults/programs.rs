//! The programs that are run while a call fails, and what they have to give.

use std::net::TcpListener;
use std::path::Path;

/// A program and the plan that it is run on.
pub struct Program {
    pub name: &'static str,
    text: &'static str,
    args: &'static [&'static str],
    /// How many processes it has.
    pub processes: u32,
    /// Connections of its operators may break: what is lost then is warned of.
    pub may_lose: bool,
}

/// Reads and writes files, compressed ones too, lists a directory, and prints.
const FILES: &str = r#"composite Main { graph
    stream<uint64 n, rstring s> In = FileSource() { param file : "in.csv"; format : csv; }
    stream<In> Odd = Functor(In) { param filter : n % 2ul == 1ul; }
    () as Packed = FileSink(Odd) { param file : "packed"; compression : zlib; }
    OUT
}"#;

/// Sends tuples to itself by TCP and prints them.
const NET: &str = r#"composite Main {
    param expression<rstring> $port : getSubmissionTimeValue("port");
    graph
        stream<uint64 n, rstring s> In = FileSource() { param file : "in.csv"; format : csv; }
        () as Sink = TCPSink(In) {
            param role : client; address : "127.0.0.1"; port : $port; reconnectionPolicy : NoRetry;
        }
        stream<In> Back = TCPSource() {
            param role : server; interface : "127.0.0.1"; port : $port; reconnectionPolicy : NoRetry;
        }
        stream<Back> Odd = Functor(Back) { param filter : n % 2ul == 1ul; }
        OUT
}"#;

/// Sinks of the odd tuples: a file, and their number.
const OUT: &str = r#"() as Out = FileSink(Odd) { param file : "out.csv"; }
    () as Said = Custom(Odd) {
        logic
            state : mutable uint64 count = 0ul;
            onTuple Odd : count++;
            onPunct Odd : if (currentPunct() == Sys.FinalMarker) { println(count); }
    }"#;

/// All programs that calls fail in.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "files",
        text: FILES,
        args: &[],
        processes: 1,
        may_lose: false,
    },
    Program {
        name: "net",
        text: NET,
        args: &["--kill-after", "5"],
        processes: 1,
        may_lose: true,
    },
    Program {
        name: "shm",
        text: FILES,
        args: &["--fuse", "none", "-F", "shm"],
        processes: 6,
        may_lose: false,
    },
    Program {
        name: "rum",
        text: FILES,
        args: &["--fuse", "none", "-F", "rum"],
        processes: 6,
        may_lose: false,
    },
    Program {
        name: "tcp",
        text: FILES,
        args: &["--fuse", "none", "-F", "tcp"],
        processes: 6,
        may_lose: false,
    },
];

/// Tuples that go in.
const TUPLES: u32 = 1000;

impl Program {
    /// Writes the program and its data; the arguments that run it.
    pub fn set_up(&self, folder: &Path) -> Vec<String> {
        let lines = lines(0..TUPLES);
        std::fs::write(folder.join("in.csv"), lines).unwrap();
        let main = folder.join("Main.spl");
        std::fs::write(&main, self.text.replace("OUT", OUT)).unwrap();
        let folder = folder.to_str().unwrap();
        let fixed = ["run", main.to_str().unwrap(), "--data-dir", folder];
        let mut args: Vec<_> = fixed
            .iter()
            .chain(self.args)
            .map(|&s| s.to_owned())
            .collect();
        if self.text.contains("$port") {
            args.push(format!("port={}", free_port()));
        }
        args
    }

    /// Whether a run has given what it has to.
    pub fn is_right(&self, folder: &Path, stdout: &str) -> bool {
        let lines = lines((0..TUPLES).filter(|n| n % 2 == 1));
        let written = std::fs::read_to_string(folder.join("out.csv"));
        stdout == format!("{}\n", TUPLES / 2) && written.is_ok_and(|written| written == lines)
    }
}

/// Tuples as a file has them.
fn lines(numbers: impl Iterator<Item = u32>) -> String {
    numbers.map(|n| format!("{n},\"name {n}\"\n")).collect()
}

/// A port that nobody uses now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
