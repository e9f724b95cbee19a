//! Errors of an edge that breaks, and the tuples that still arrive.

use testkit::exprs;
use transport::{ReceivingEnd, SendingEnd};
use tuple::{Type, Value};

use crate::operators::{PeSide, print, receive, send, source, start_two, wait_for};
use crate::pass_limit::PassLimit;
use crate::strict_medium::{Out, Pipe};

const WIDE: Pipe = Pipe {
    frames: 1000,
    payload_bytes_max: 4096,
    holds_back: false,
};

fn numbers() -> testkit::OperatorBuilder {
    source("N", false, &[("count", Value::Int64(3))])
}

/// A PE that receives what a test sends by hand: what it printed, and why it failed.
fn by_hand(
    stream: &testkit::OperatorBuilder,
    is_foreign: bool,
    sends: impl FnOnce(&mut Out),
) -> (String, String) {
    by_hand_to(PeSide::number(1), stream, is_foreign, sends)
}

fn by_hand_to(
    half: PeSide,
    stream: &testkit::OperatorBuilder,
    is_foreign: bool,
    sends: impl FnOnce(&mut Out),
) -> (String, String) {
    let (mut out, inbound) = WIDE.open();
    let program = testkit::build_program([receive(&[(0, stream)]), print(&[(stream, 0, 0)])]);
    let mut half = half.receives(0, 0, inbound);
    if is_foreign {
        half = half.foreign();
    }
    let printed = half.printed.clone();
    sends(&mut out);
    drop(out);
    let report = half.start(&program).join().unwrap_err();
    (printed.text(), report.to_string())
}

#[test]
fn what_a_lost_sender_sent_is_delivered() {
    let (printed, report) = by_hand(&numbers(), false, |out| {
        for n in 0..3i64 {
            assert!(out.try_write(1, 0, &n.to_ne_bytes()).unwrap());
        }
        // The beginning of one that never gets complete.
        assert!(out.try_write(1, 1, &[0; 4]).unwrap());
    });
    assert_eq!(printed, "0 {n=0}\n0 {n=1}\n0 {n=2}\n");
    assert_eq!(
        report,
        "Receive (thalweg.transport::Receive): the stream S0 from PE 0 to PE 1 is broken: \
         PE 0 is gone: it dropped its end"
    );
}

#[test]
fn a_pe_that_fails_sends_no_final_marker() {
    let params = [("count", Value::Int64(3)), ("fails", Value::Boolean(true))];
    let (sender, receiver, printed) = start_two(&source("N", false, &params), Pipe::default());
    let failed = sender.join().unwrap_err();
    assert_eq!(failed.to_string(), "N (t::Numbers): it was told to fail");
    let lost = receiver.join().unwrap_err().to_string();
    assert!(
        lost.contains("the stream S0 from PE 0 to PE 1 is broken: PE 0 is gone"),
        "{lost}"
    );
    assert_eq!(printed.text(), "0 {n=0}\n0 {n=1}\n0 {n=2}\n");
}

#[test]
fn a_failure_downstream_stops_both_sides() {
    let endless = source("N", false, &[]);
    let gate = testkit::OperatorBuilder::new("t::Gate", "Gate")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("fails", [exprs::int64(5)])
        .connect(0, 0, 0);
    let (out, inbound) = Pipe::default().open();
    let sender = testkit::build_program([endless.clone(), send(0, &endless, 0)]);
    let receiver = testkit::build_program([
        receive(&[(0, &endless)]),
        gate.clone(),
        print(&[(&gate, 1, 0)]),
    ]);
    let half = PeSide::number(1).receives(0, 0, inbound);
    let printed = half.printed.clone();
    let running = [
        PeSide::number(0).sends(0, 1, out).start(&sender),
        half.start(&receiver),
    ];
    let [sent, received] = running.map(|pe| pe.join().unwrap_err().to_string());
    assert_eq!(received, "Gate (t::Gate): the gate fails");
    assert_eq!(
        sent,
        "Send0 (thalweg.transport::Send): the stream S0 from PE 0 to PE 1 is broken: \
         PE 1 is gone: it dropped its end"
    );
    assert_eq!(
        printed.text(),
        "0 {n=0}\n0 {n=1}\n0 {n=2}\n0 {n=3}\n0 {n=4}\n"
    );
}

#[test]
fn a_lost_receiver_is_said_once_however_many_threads_send() {
    let (out, inbound) = Pipe::default().open();
    let sources = ["A", "B", "C"].map(|name| source(name, false, &[]));
    let sender = send(0, &sources[0], 0).connect(0, 1, 0).connect(0, 2, 0);
    let program = testkit::build_program(sources.into_iter().chain([sender]));
    let running = PeSide::number(0).sends(0, 1, out).start(&program);
    let sent = running.crossing_counters();
    wait_for("the senders wait for room", || {
        sent[0].blocked_since_ns().is_some()
    });
    drop(inbound);
    let report = running.join().unwrap_err();
    assert_eq!(report.failures.len(), 1, "{report}");
}

#[test]
fn a_failure_elsewhere_in_the_pe_ends_a_wait_for_room() {
    // No end takes frames, and none is gone.
    let (out, _inbound) = Pipe::default().open();
    let endless = source("N", false, &[]);
    let params = [
        ("count", Value::Int64(0)),
        ("fails", Value::Boolean(true)),
        ("sleeps", Value::Boolean(true)),
    ];
    let program = testkit::build_program([
        endless.clone(),
        source("Failing", false, &params),
        send(0, &endless, 0),
    ]);
    let running = PeSide::number(0).sends(0, 1, out).start(&program);
    let sent = running.crossing_counters();
    wait_for("the sender waits for room", || {
        sent[0].blocked_since_ns().is_some()
    });
    running.stop_signal().request();
    let report = running.join().unwrap_err();
    assert_eq!(
        report.to_string(),
        "Failing (t::Numbers): it was told to fail"
    );
}

#[test]
fn nothing_goes_out_behind_a_tuple_that_was_given_up() {
    let limit = PassLimit::closed();
    let (out, mut inbound) = Pipe::default().open();
    let count = ("count", Value::Int64(3));
    let deaf = source(
        "N",
        false,
        &[count, ("deaf", Value::Boolean(true)), limit.param()],
    );
    let params = [
        ("count", Value::Int64(0)),
        ("fails", Value::Boolean(true)),
        ("sleeps", Value::Boolean(true)),
    ];
    let program = testkit::build_program([
        deaf.clone(),
        source("Failing", false, &params),
        send(0, &deaf, 0),
    ]);
    let running = PeSide::number(0).sends(0, 1, out).start(&program);
    let sent = running.crossing_counters();
    limit.lets(2);
    wait_for("the sender waits", || sent[0].blocked_since_ns().is_some());
    running.stop_signal().request();
    wait_for("it has given up", || sent[0].blocked_since_ns().is_none());
    assert_eq!(inbound.poll().unwrap().count(), 1);
    inbound.release();
    // Now there is room, for the third tuple and the final marker.
    limit.opens();
    running.join().unwrap_err();
    assert!(
        inbound.poll().is_err(),
        "the sender is gone, and nothing else came"
    );
}

#[test]
fn a_failure_elsewhere_in_the_pe_ends_a_receive_without_a_final_marker() {
    let (_out, inbound) = Pipe::default().open();
    let params = [("count", Value::Int64(0)), ("fails", Value::Boolean(true))];
    let program = testkit::build_program([
        receive(&[(0, &numbers())]),
        print(&[(&numbers(), 0, 0)]),
        source("Failing", false, &params),
    ]);
    let half = PeSide::number(1).receives(0, 0, inbound);
    let printed = half.printed.clone();
    let report = half.start(&program).join().unwrap_err();
    assert_eq!(
        report.to_string(),
        "Failing (t::Numbers): it was told to fail"
    );
    assert_eq!(printed.text(), "");
}

#[test]
fn bad_frames_are_refused_with_a_sentence() {
    let text = source("T", true, &[]);
    let refused = |is_foreign, kind, flags, bytes: &[u8]| {
        let (printed, report) = by_hand(&text, is_foreign, |out| {
            assert!(out.try_write(kind, flags, bytes).unwrap());
        });
        assert_eq!(printed, "");
        let (before, sentence) = report.split_once("to PE 1 ").unwrap();
        assert!(before.ends_with("the stream S0 from PE 0 "), "{before}");
        sentence.to_owned()
    };
    // A number, then a reference far out of the tuple.
    let mut wild = [0; 16];
    wild[8..].copy_from_slice(&[0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0x7f]);
    let wild = refused(true, 1, 0, &wild);
    assert!(
        wild.starts_with("brought what is no tuple of it: the slot at byte 8 "),
        "{wild}"
    );
    for is_foreign in [false, true] {
        assert_eq!(
            refused(is_foreign, 1, 0, &[0; 8]),
            "brought what is no tuple of it: the tuple has 8 bytes, its fixed part needs 16"
        );
        assert_eq!(
            refused(is_foreign, 1, 3, &[0; 16]),
            "is broken: a last fragment came after no first fragment"
        );
        assert_eq!(
            refused(is_foreign, 77, 0, &[]),
            "is broken: a frame is of kind 77, which means nothing"
        );
    }
    let (_, report) = by_hand(&text, true, |out| {
        assert!(out.try_write(1, 1, &[0; 8]).unwrap());
        assert!(out.try_write(3, 0, &[]).unwrap());
    });
    assert!(
        report.ends_with("is broken: a marker came inside of a tuple"),
        "{report}"
    );
}

#[test]
fn bad_normal_frames_are_refused_with_a_sentence() {
    let text = source("T", true, &[]);
    // A number, then a string of 5 bytes of which there are 2.
    let cut = [0, 0, 0, 0, 0, 0, 0, 1, 5, b'a', b'b'];
    let (printed, report) = by_hand_to(PeSide::number(1).normal(), &text, true, |out| {
        assert!(out.try_write(1, 0, &cut).unwrap());
    });
    assert_eq!(printed, "");
    assert!(
        report.ends_with("brought what is no tuple of it: after 9 bytes: expected more bytes"),
        "{report}"
    );
}

#[test]
fn a_link_that_is_not_there_is_named() {
    let numbers = numbers();
    let mut registry = runtime::crossing::ENTRIES.to_vec();
    registry.push(crate::operators::NUMBERS);
    let program = testkit::build_program([numbers.clone(), send(4, &numbers, 0)]);
    let mut backend = runtime::abi::interpreter_backend::InterpreterBackend::new(&[], &[]);
    let (program, threads) = testkit::planned(&program, &registry, &[]);
    let wired = runtime::Pe::wire(
        &program,
        &threads,
        &registry,
        &mut backend,
        runtime::PeOptions::default(),
    );
    let report = wired.err().unwrap();
    assert!(
        report
            .to_string()
            .contains("crossing 4 has no outbound end in this PE"),
        "{report}"
    );
}
