//! Clients of one server that come while it serves another.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};

use crate::net::{SERVER, connect, free_port, line_server, start};
use crate::scratch::Scratch;

/// Programs whose server a second client comes to while the first one stays.
fn servers_of_two_clients() -> [String; 2] {
    let sink = format!(
        r#"composite Main {{
            graph
                stream<int32 n> Numbers = Beacon() {{
                    param
                        period : 0.05;
                    output
                        Numbers : n = (int32) IterationCount();
                }}
                () as Out = TCPSink(Numbers) {{
                    param
                        {SERVER}
                        port : getSubmissionTimeValue("port");
                }}
        }}"#
    );
    [line_server(""), sink]
}

#[test]
fn a_client_that_waits_for_another_is_traced_once() {
    for program in servers_of_two_clients() {
        let port = free_port();
        let scratch = Scratch::new();
        let mut child = start(&scratch, &program, port, &["--trace", "info"]);
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        // The lines up to one that says this.
        let mut lines_until = |said: String| -> Vec<String> {
            let mut seen = Vec::new();
            loop {
                let line = lines.next();
                let line = line.unwrap_or_else(|| panic!("{said:?} is not in {seen:?}"));
                seen.push(line.clone());
                if line.contains(&said) {
                    return seen;
                }
            }
        };
        let first = connect(port);
        let address = first.local_addr().unwrap();
        lines_until(format!("is connected with {address}"));
        let second = connect(port);
        lines_until(format!(
            "another client waits until the connection with {address} has ended"
        ));
        drop(first);
        let seen = lines_until(format!(
            "is connected with {}",
            second.local_addr().unwrap()
        ));
        let is_said_again = seen
            .iter()
            .any(|line| line.contains("another client waits"));
        assert!(!is_said_again, "{seen:?}");
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap();
    }
}
