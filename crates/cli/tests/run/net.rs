//! Operators that speak TCP and UDP, with each other and with peers of the test's own. All of it
//! stays on the loopback interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use flate2::write::GzEncoder;
use rustix::net::sockopt::{set_socket_linger, set_socket_recv_buffer_size};
use rustix::process::Signal;

use crate::processes::{Live, until};
use crate::scratch::{Run, Scratch, command};

const PLANS: [&[&str]; 3] = [&[], &["--interpret"], &["--fuse", "none"]];

/// How long a test waits for a program to listen.
const PATIENCE: Duration = Duration::from_secs(300);

/// A port that nobody uses now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

pub fn start(scratch: &Scratch, program: &str, port: u16, plan: &[&str]) -> Child {
    let file = scratch.write("Main.spl", program);
    let port = format!("port={port}");
    let args = [&["run"], plan, &[file.to_str().unwrap(), &port]].concat();
    let mut command = command(&args);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn start_live(scratch: &Scratch, program: &str, port: u16) -> Live {
    let file = scratch.write("Main.spl", program);
    let port = format!("port={port}");
    let value = program.contains("getSubmissionTimeValue").then_some(&*port);
    let args = ["run", file.to_str().unwrap()].into_iter().chain(value);
    Live::start(scratch, &args.collect::<Vec<_>>())
}

fn end(child: Child) -> Run {
    let output: Output = child.wait_with_output().unwrap();
    output.into()
}

/// A sink and a source of one program; `SINK` and `SOURCE` are their roles.
const PAIR: &str = r#"composite Main {
    param
        expression<rstring> $port : getSubmissionTimeValue("port");
    graph
        stream<int32 n, rstring s> Numbers = Beacon() {
            param iterations : 3;
            output Numbers : n = (int32) IterationCount(), s = "a,\"b";
        }
        () as Out = TCPSink(Numbers) {
            param SINK port : $port; compression : gzip;
        }
        stream<int32 n, rstring s, rstring from, int64 at> In = TCPSource() {
            param SOURCE port : $port; compression : gzip;
            output In : from = RemoteIP(), at = TupleNumber();
        }
        () as Print = Custom(In) {
            logic onTuple In : println(In);
                  onPunct In : println(currentPunct());
        }
}"#;

const CLIENT: &str = r#"role : client; address : "127.0.0.1";"#;
pub const SERVER: &str = r#"role : server; interface : "127.0.0.1";"#;

#[test]
fn what_a_sink_writes_a_source_reads_whoever_connects() {
    let expected = "{n=0,s=\"a,\\\"b\",from=\"127.0.0.1\",at=1}\n\
                    {n=1,s=\"a,\\\"b\",from=\"127.0.0.1\",at=2}\n\
                    {n=2,s=\"a,\\\"b\",from=\"127.0.0.1\",at=3}\n\
                    WindowMarker\nFinalMarker\n";
    let source = |role: &str| format!("{role} reconnectionPolicy : NoRetry;");
    for plan in PLANS {
        for (sink, source) in [(CLIENT, source(SERVER)), (SERVER, source(CLIENT))] {
            let scratch = Scratch::new();
            let program = PAIR.replace("SINK", sink).replace("SOURCE", &source);
            let run = end(start(&scratch, &program, free_port(), plan));
            assert_eq!(run.ok(), expected, "{plan:?} {source}");
        }
    }
}

/// Both ends say with `--trace info` what happens to their connections.
#[test]
fn connections_are_traced() {
    let port = free_port();
    let program = PAIR
        .replace("SINK", &format!("{CLIENT} reconnectionPolicy : NoRetry;"))
        .replace("SOURCE", &format!("{SERVER} reconnectionPolicy : NoRetry;"));
    let run = end(start(&Scratch::new(), &program, port, &["--trace", "info"]));
    let count = |said: &str| run.stderr.matches(said).count();
    let waits = format!("waits for a client on 127.0.0.1:{port}");
    assert!(count(&waits) > 0, "{}", run.stderr);
    // One line of the server, one of the client.
    assert_eq!(count("is connected with 127.0.0.1:"), 2, "{}", run.stderr);
    let to_server = format!("is connected with 127.0.0.1:{port}");
    assert_eq!(count(&to_server), 1, "{}", run.stderr);
    assert_eq!(count(" has ended"), 2, "{}", run.stderr);
    run.ok();
}

const JSON_PAIR: &str = r#"composite Main {
    param
        expression<rstring> $port : getSubmissionTimeValue("port");
    type
        Item = int32 n, rstring s, list<float64> prices, tuple<boolean b> inner;
    graph
        stream<Item> Items = Beacon() {
            param iterations : 3;
            output Items :
                n = (int32) IterationCount(),
                s = "a\n\"b",
                prices = [0.5, (float64) IterationCount()],
                inner = { b = true };
        }
        () as Out = TCPSink(Items) {
            param CLIENT port : $port; format : json;
        }
        stream<Item> Back = TCPSource() {
            param SERVER port : $port; format : json; reconnectionPolicy : NoRetry;
        }
        () as Printer = Custom(Back) {
            logic
                onTuple Back : println(Back);
        }
}"#;

#[test]
fn json_crosses_tcp_as_csv_does() {
    let expected: String = (0..3)
        .map(|n| format!("{{n={n},s=\"a\\n\\\"b\",prices=[0.5,{n}],inner={{b=true}}}}\n"))
        .collect();
    for plan in PLANS {
        let program = JSON_PAIR
            .replace("CLIENT", CLIENT)
            .replace("SERVER", SERVER);
        let run = end(start(&Scratch::new(), &program, free_port(), plan));
        assert_eq!(run.ok(), expected, "{plan:?}");
    }
}

#[test]
fn both_ends_compare_their_formats_if_they_are_to() {
    let expected = "{n=0,s=\"a,\\\"b\",from=\"127.0.0.1\",at=1}\n\
                    {n=1,s=\"a,\\\"b\",from=\"127.0.0.1\",at=2}\n\
                    {n=2,s=\"a,\\\"b\",from=\"127.0.0.1\",at=3}\n\
                    WindowMarker\nFinalMarker\n";
    let same = [
        "confirmWireFormat : true; encoding : \"cp437\";",
        "confirmWireFormat : true; encoding : \"IBM00437\"; reconnectionPolicy : NoRetry;",
    ];
    let plain = "confirmWireFormat : true; encoding : \"utf8\";";
    let other = [plain, "confirmWireFormat : true; separator : \";\";"]
        .map(|params| format!("{params} reconnectionPolicy : NoRetry;"));
    for (sink, source) in [(CLIENT, SERVER), (SERVER, CLIENT)] {
        let run = |params: [&str; 2]| {
            let program = PAIR
                .replace("SINK", &format!("{sink} {}", params[0]))
                .replace("SOURCE", &format!("{source} {}", params[1]));
            end(start(&Scratch::new(), &program, free_port(), &[]))
        };
        assert_eq!(run(same).ok(), expected);
        let differs = run([&other[0], &other[1]]);
        let (ours, theirs) = (
            "csv, separated by \",\", compressed by gzip: int32, rstring",
            "csv, separated by \";\", compressed by gzip: int32, rstring",
        );
        for (here, there) in [(ours, theirs), (theirs, ours)] {
            let said = format!("the formats differ: {here} here, {there} there");
            assert!(differs.stderr.contains(&said), "{}", differs.stderr);
        }
        assert_eq!(differs.ok(), "FinalMarker\n");
    }
}

#[test]
fn a_peer_that_does_not_say_its_format_is_sent_away() {
    let scratch = Scratch::new();
    let port = free_port();
    let program = line_server("confirmWireFormat : true;");
    let live = start_live(&scratch, &program, port);
    let mut peer = BufReader::new(connect(port));
    let mut said = String::new();
    peer.read_line(&mut said).unwrap();
    let expected = "thalweg reads and writes line, ended by \"\\n\": rstring\n";
    assert_eq!(said, expected);
    peer.get_mut().write_all(b"one\n").unwrap();
    // Until it hangs up: what it has not read makes that a reset.
    let _ = peer.read_line(&mut said);
    live.signal(Signal::TERM);
    let run = live.end();
    let expected = "the peer does not say its format";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(run.ok(), "FinalMarker\n");
}

#[test]
fn a_server_takes_one_connection_after_the_other() {
    let program = r#"composite Main {
        graph
            stream<rstring line, int64 at> In = TCPSource() {
                param
                    role : server;
                    interface : "127.0.0.1";
                    port : getSubmissionTimeValue("port");
                    format : line;
                    encoding : "ISO-8859-1";
                    reconnectionPolicy : BoundedRetry;
                    reconnectionBound : 1u;
                output In : at = TupleNumber();
            }
            () as Print = Custom(In) {
                logic onTuple In : println(In);
                      onPunct In : println(currentPunct());
            }
    }"#;
    for plan in PLANS {
        let scratch = Scratch::new();
        let port = free_port();
        let child = start(&scratch, program, port, plan);
        for bytes in [&b"one\ntwo"[..], b"\xE9\n"] {
            connect(port).write_all(bytes).unwrap();
        }
        let expected = "{line=\"one\",at=1}\n{line=\"two\",at=2}\nWindowMarker\n\
                        {line=\"é\",at=1}\nWindowMarker\nFinalMarker\n";
        assert_eq!(end(child).ok(), expected, "{plan:?}");
    }
}

/// Connects to a port that is listened on soon.
pub fn connect(port: u16) -> TcpStream {
    let start = Instant::now();
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_sink_sends_again_what_a_broken_connection_did_not_take() {
    let program = r#"composite Main {
        graph
            stream<int32 n> Numbers = Beacon() {
                param period : 0.01; iterations : 100;
                output Numbers : n = (int32) IterationCount();
            }
            () as Out = TCPSink(Numbers) {
                param
                    role : client;
                    address : "127.0.0.1";
                    port : getSubmissionTimeValue("port");
                    retryFailedSends : true;
                    detectDisconnectsBeforeSends : true;
            }
    }"#;
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let child = start(&scratch, program, port, &[]);
    let mut first = listener.accept().unwrap().0;
    let mut two = [0; 4];
    first.read_exact(&mut two).unwrap();
    assert_eq!(&two, b"0\n1\n");
    drop(first);
    let mut rest = String::new();
    listener
        .accept()
        .unwrap()
        .0
        .read_to_string(&mut rest)
        .unwrap();
    assert!(rest.ends_with("98\n99\n"), "{rest}");
    end(child).ok();
}

#[test]
fn datagrams_come_and_go() {
    let program = r#"composite Main {
        graph
            stream<int32 n, rstring from, uint32 own> In = UDPSource() {
                param
                    port : getSubmissionTimeValue("port");
                    interface : "127.0.0.1";
                    format : bin;
                    readPunctuations : true;
                output In : from = RemoteIP(), own = ServerPort();
            }
            () as Out = UDPSink(In) {
                param
                    address : "127.0.0.1";
                    port : PEER;
                    format : txt;
                    writePunctuations : true;
            }
    }"#;
    for plan in PLANS {
        let scratch = Scratch::new();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let peer = socket.local_addr().unwrap().port().to_string();
        let port = free_port();
        let child = start(&scratch, &program.replace("PEER", &peer), port, plan);
        // Whatever comes before there is a socket is lost: the first datagram comes again.
        let pause = Duration::from_millis(50);
        socket.set_read_timeout(Some(pause)).unwrap();
        let tuple = [0, 0, 0, 0, 7];
        let mut bytes = [0; 100];
        let answer = (0..6000).find_map(|_| {
            let _ = socket.send_to(&tuple, ("127.0.0.1", port));
            let (count, _) = socket.recv_from(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes[..count]).into_owned())
        });
        let expected = format!("{{n=7,from=\"127.0.0.1\",own={port}}}\n");
        assert_eq!(answer, Some(expected), "{plan:?}");
        let final_marker = [2];
        socket.send_to(&final_marker, ("127.0.0.1", port)).unwrap();
        end(child).ok();
    }
}

#[test]
fn datagrams_are_compressed_one_by_one() {
    let program = r#"composite Main {
        graph
            stream<rstring line> In = UDPSource() {
                param
                    port : getSubmissionTimeValue("port");
                    interface : "127.0.0.1";
                    compression : gzip;
                    parsing : permissive;
            }
            () as Out = UDPSink(In) {
                param
                    address : "127.0.0.1";
                    port : PEER;
                    quoteStrings : false;
                    compression : zlib;
            }
    }"#;
    let scratch = Scratch::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let peer = socket.local_addr().unwrap().port().to_string();
    let port = free_port();
    let live = start_live(&scratch, &program.replace("PEER", &peer), port);
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all("h\u{e9} ".repeat(50).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let pause = Duration::from_millis(50);
    socket.set_read_timeout(Some(pause)).unwrap();
    let mut bytes = [0; 1000];
    // Whatever comes before there is a socket is lost: the first datagram comes again.
    let answer = (0..6000).find_map(|_| {
        // What is no compressed datagram harms no other one.
        let _ = socket.send_to(b"plain", ("127.0.0.1", port));
        let _ = socket.send_to(&packed, ("127.0.0.1", port));
        let (count, _) = socket.recv_from(&mut bytes).ok()?;
        Some(bytes[..count].to_vec())
    });
    let answer = answer.expect("a datagram");
    assert!(answer.len() < 50, "{} bytes", answer.len());
    let mut line = String::new();
    let mut decoder = flate2::read::ZlibDecoder::new(&answer[..]);
    decoder.read_to_string(&mut line).unwrap();
    assert_eq!(line, "h\u{e9} ".repeat(50) + "\n");
    live.signal(Signal::TERM);
    let run = live.end();
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stderr.contains("cannot decompress a datagram"),
        "{run:?}"
    );
}

/// Prints the lines that come over connections, and markers.
pub fn line_server(params: &str) -> String {
    format!(
        r#"composite Main {{
            graph
                stream<rstring line> In = TCPSource() {{
                    param
                        {SERVER}
                        port : getSubmissionTimeValue("port");
                        format : line;
                        {params}
                }}
                () as Print = Custom(In) {{
                    logic onTuple In : println(In);
                          onPunct In : println(currentPunct());
                }}
        }}"#
    )
}

#[test]
fn a_connection_may_end_within_a_character() {
    let scratch = Scratch::new();
    let port = free_port();
    let program = line_server(
        r#"encoding : "GB18030"; reconnectionPolicy : BoundedRetry; reconnectionBound : 1u;"#,
    );
    let child = start(&scratch, &program, port, &[]);
    for bytes in [&b"one\n\x81"[..], b"two\n"] {
        connect(port).write_all(bytes).unwrap();
    }
    let expected = "{line=\"one\"}\n{line=\"\u{fffd}\"}\nWindowMarker\n\
                    {line=\"two\"}\nWindowMarker\nFinalMarker\n";
    assert_eq!(end(child).ok(), expected);
}

#[test]
fn a_compressed_connection_may_be_cut_off_or_outlive_a_shutdown() {
    let scratch = Scratch::new();
    let port = free_port();
    let mut live = start_live(&scratch, &line_server("compression : gzip;"), port);
    // It says nothing at all.
    drop(connect(port));
    assert_eq!(live.line(), "WindowMarker\n");
    let mut cut = GzEncoder::new(connect(port), flate2::Compression::default());
    cut.write_all(b"one\ntw").unwrap();
    cut.flush().unwrap();
    // The encoder would write an end when it is dropped.
    cut.get_ref().shutdown(Shutdown::Both).unwrap();
    assert_eq!(live.line(), "{line=\"one\"}\n");
    assert_eq!(live.line(), "WindowMarker\n");
    let mut open = GzEncoder::new(connect(port), flate2::Compression::default());
    open.write_all(b"three\n").unwrap();
    open.flush().unwrap();
    assert_eq!(live.line(), "{line=\"three\"}\n");
    live.signal(Signal::INT);
    assert_eq!(live.end().ok(), "FinalMarker\n");
}

#[test]
fn a_record_that_a_reset_cuts_off_is_none() {
    let scratch = Scratch::new();
    let port = free_port();
    let program = line_server("reconnectionPolicy : NoRetry;");
    let mut live = start_live(&scratch, &program, port);
    let mut stream = connect(port);
    stream.write_all(b"one\ntw").unwrap();
    assert_eq!(live.line(), "{line=\"one\"}\n");
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    let run = live.end();
    assert!(
        run.stderr.contains("cannot read 127.0.0.1:"),
        "{}",
        run.stderr
    );
    assert_eq!(run.ok(), "WindowMarker\nFinalMarker\n");
}

/// Each tuple goes to the port that it says.
const DYNAMIC: &str = r#"composite Main {
    graph
        stream<int32 to> Ports = Custom() {
            logic onProcess : {
                submit(Sys.WindowMarker, Ports);
                SUBMIT
            }
        }
        () as Out = TCPSink(Ports) {
            param
                role : client;
                closeMode : dynamic;
                address : "127.0.0.1";
                port : Ports.to;
                writePunctuations : true;
                format : txt;
                reconnectionPolicy : BoundedRetry;
                reconnectionBound : 1u;
        }
}"#;

#[test]
fn a_marker_before_the_first_tuple_goes_nowhere() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let program = DYNAMIC.replace("SUBMIT", &format!("submit({{to={port}}}, Ports);"));
    let mut live = start_live(&scratch, &program, port);
    let mut sent = String::new();
    let mut stream = listener.accept().unwrap().0;
    stream.read_to_string(&mut sent).unwrap();
    assert!(sent.starts_with(&format!("{{to={port}}}\n")), "{sent}");
    assert_eq!(live.line(), "");
    let run = live.end();
    assert_eq!(run.stderr, "");
    run.ok();
}

#[test]
fn each_destination_is_tried_as_often_as_the_bound_allows() {
    let scratch = Scratch::new();
    let ports = [free_port(), free_port()];
    let submit = ports.map(|port| format!("submit({{to={port}}}, Ports);"));
    let program = DYNAMIC.replace("SUBMIT", &submit.concat());
    let stderr = start_live(&scratch, &program, 0).end().stderr;
    for port in ports {
        let refused = format!("cannot connect to 127.0.0.1:{port}");
        assert_eq!(stderr.matches(&refused).count(), 2, "{stderr}");
    }
}

#[test]
fn a_peer_that_does_not_read_holds_up_no_shutdown() {
    let program = r#"composite Main {
        graph
            stream<uint64 n> Numbers = Beacon() { output Numbers : n = IterationCount(); }
            () as Out = TCPSink(Numbers) {
                param
                    role : client;
                    address : "127.0.0.1";
                    port : getSubmissionTimeValue("port");
                    sendBufferSize : 4096u;
            }
    }"#;
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // Small buffers are full at once.
    set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let port = listener.local_addr().unwrap().port();
    let live = start_live(&scratch, program, port);
    let stream = listener.accept().unwrap().0;
    wait_until_full(&live, &stream);
    live.signal(Signal::INT);
    let run = live.end();
    assert!(run.stderr.contains("does not read"), "{}", run.stderr);
    run.ok();
}

/// Waits until nobody adds anything any more to what lies there unread.
fn wait_until_full(live: &Live, stream: &TcpStream) {
    let unread = || rustix::io::ioctl_fionread(stream).unwrap();
    until("the sink waits for room", || {
        let before = unread();
        live.rests();
        before > 0 && unread() == before
    });
}
