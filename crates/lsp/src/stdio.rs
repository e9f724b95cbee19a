//! Transport over standard input and output: messages with a header that has their length.
//!
//! ```text
//!   Content-Length: 46\r\n
//!   \r\n
//!   {"jsonrpc":"2.0","method":"exit","params":{}}
//! ```
//! `lsp-server` has such a transport too, but ends it with the first message that is no JSON. This
//! one answers with an error, as JSON-RPC wants, and goes on: the length says where the next
//! message begins.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

use crate::server::{SessionEnd, serve};

/// Bytes of a message at most: a header with a greater length is taken for noise.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// A message as it was read.
enum ReadMessage {
    /// A message of the protocol.
    Message(Message),
    /// An answer to what is no message.
    Refused(Value),
}

/// Serves the client at standard input and output.
pub fn serve_stdio() -> SessionEnd {
    serve_over(io::BufReader::new(io::stdin()), io::stdout())
}

/// Serves the client at these two ends. The thread that reads may outlive the session: it waits
/// for input.
fn serve_over(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> SessionEnd {
    let (server, transport) = Connection::memory();
    let output = Arc::new(Mutex::new(output));
    let errors = Arc::clone(&output);
    let (incoming, outgoing) = (transport.sender, transport.receiver);
    thread::spawn(move || {
        while let Ok(Some(read)) = read_message(&mut input) {
            let is_sent = match read {
                ReadMessage::Message(message) => incoming.send(message).is_ok(),
                ReadMessage::Refused(answer) => {
                    let mut output = errors.lock().unwrap_or_else(PoisonError::into_inner);
                    write_text(&mut *output, &answer.to_string()).is_ok()
                }
            };
            if !is_sent {
                break;
            }
        }
    });
    let writer = thread::spawn(move || {
        for message in outgoing {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            if message.write(&mut *output).is_err() {
                break;
            }
        }
    });
    let end = serve(server);
    // All answers are out when the writer has ended; its panic would be a fault of its own.
    let _ = writer.join();
    end
}

fn write_text(output: &mut impl Write, text: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Reads a message; `None` at the end of the input.
///
/// # Errors
/// The input cannot be read, or has a header without a length: where the next message begins is
/// not known then.
fn read_message(input: &mut impl BufRead) -> io::Result<Option<ReadMessage>> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut bytes)?;
    if read < length {
        return Ok(None);
    }
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => {
            let refused = refusal(Value::Null, ErrorCode::ParseError, &error.to_string());
            return Ok(Some(ReadMessage::Refused(refused)));
        }
    };
    let id = value.get("id").cloned().unwrap_or_default();
    Ok(Some(match serde_json::from_value(value) {
        Ok(message) => ReadMessage::Message(message),
        Err(_) => {
            let why = "this is no message of JSON-RPC";
            ReadMessage::Refused(refusal(id, ErrorCode::InvalidRequest, why))
        }
    }))
}

/// Reads the lines of a header; answers with the length of the message.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        // A line of a header is short: more is noise.
        if input.by_ref().take(1 << 12).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            let no_length = || io::Error::new(io::ErrorKind::InvalidData, "no Content-Length");
            return length.map(Some).ok_or_else(no_length);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            let value = value.trim().parse().ok();
            length = value.filter(|&length: &usize| length <= MESSAGE_BYTES_MAX);
        }
    }
}

fn refusal(id: Value, code: ErrorCode, message: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": { "code": code as i32, "message": message },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    /// The codes of the errors that the messages are refused with; 0 for those that are not.
    fn codes(input: &str) -> Vec<i64> {
        let mut input = input.as_bytes();
        let mut codes = Vec::new();
        while let Ok(Some(read)) = read_message(&mut input) {
            codes.push(match read {
                ReadMessage::Message(_) => 0,
                ReadMessage::Refused(answer) => answer["error"]["code"].as_i64().unwrap_or(1),
            });
        }
        codes
    }

    #[test]
    fn reading_goes_on_behind_what_is_no_message() {
        let exit = framed("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}");
        let input = [&framed("{nonsense"), &framed("[1]"), &*exit].concat();
        assert_eq!(codes(&input), [-32700, -32600, 0]);
        // Without a length, or with one past the end, there is nothing to go on with.
        assert_eq!(codes("Content-Type: x\r\n\r\n{}"), [0i64; 0]);
        assert_eq!(codes("Content-Length: 99\r\n\r\n{}"), [0i64; 0]);
        assert_eq!(codes("Content-Length: 999999999999\r\n\r\n{}"), [0i64; 0]);
    }
}
