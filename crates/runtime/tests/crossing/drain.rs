//! Ends in order: a shutdown drains, nothing is held back, everything that was sent is taken.

use std::sync::mpsc::channel;

use transport::{ReceivingEnd, SendingEnd};
use tuple::Value;

use crate::operators::{PeSide, print, receive, send, source, start_two, wait_for};
use crate::strict_medium::Pipe;

#[test]
fn a_shutdown_drains() {
    let endless = source("N", false, &[]);
    let (sender, receiver, printed) = start_two(&endless, Pipe::default());
    let sent = sender.crossing_counters();
    wait_for("tuples crossed", || sent[0].frames() > 100);
    // Both PEs are asked to stop, as SIGINT reaches all processes of a terminal.
    receiver.stop_signal().request();
    sender.stop_signal().request();
    let tallies = sender.join().unwrap();
    receiver.join().unwrap();
    let text = printed.text();
    let tuples = text.lines().filter(|line| line.contains('{')).count();
    assert_eq!(tuples as u64, tallies[0].submitted[0]);
    assert!(text.ends_with("0 final\n"));
}

#[test]
fn a_receive_goes_on_long_after_a_shutdown() {
    let numbers = source("N", false, &[("count", Value::Int64(1))]);
    let deaf = source("Deaf", false, &[("deaf", Value::Boolean(true))]);
    let (mut out, inbound) = Pipe::default().open();
    let program =
        testkit::build_program([receive(&[(0, &numbers)]), deaf, print(&[(&numbers, 0, 0)])]);
    let half = PeSide::number(1).receives(0, 0, inbound);
    let printed = half.printed.clone();
    let receiver = half.start(&program);
    let tallies = receiver.operator_counts_handle();
    receiver.stop_signal().request();
    // The deaf source is interrupted, so the receive would have been too.
    let submitted = || tallies()[1].submitted[0];
    let mut last = 0;
    wait_for("the deaf source ended", || {
        std::mem::replace(&mut last, submitted()) == submitted() && last > 0
    });
    let tuple = 7i64.to_ne_bytes();
    assert!(out.try_write(1, 0, &tuple).unwrap());
    wait_for("there is room", || out.try_write(3, 0, &[]).unwrap());
    receiver.join().unwrap();
    assert_eq!(printed.text(), "0 {n=7}\n0 final\n");
}

#[test]
fn what_is_held_back_gets_out_before_a_thread_sleeps() {
    let once = [("count", Value::Int64(3)), ("sleeps", Value::Boolean(true))];
    let numbers = source("N", false, &once);
    let pipe = Pipe {
        frames: 1000,
        holds_back: true,
        ..Pipe::default()
    };
    let (sender, receiver, printed) = start_two(&numbers, pipe);
    let received = receiver.crossing_counters();
    wait_for("the tuples have come", || received[0].frames() == 3);
    sender.stop_signal().request();
    sender.join().unwrap();
    receiver.join().unwrap();
    assert_eq!(printed.text(), "0 {n=0}\n0 {n=1}\n0 {n=2}\n0 final\n");
}

#[test]
fn a_receive_without_work_sleeps_until_there_is_some() {
    let numbers = source("N", false, &[("count", Value::Int64(1))]);
    let (mut out, inbound) = Pipe::default().open();
    let seen = inbound.seen();
    let program = testkit::build_program([receive(&[(0, &numbers)]), print(&[(&numbers, 0, 0)])]);
    let half = PeSide::number(1).receives(0, 0, inbound);
    let printed = half.printed.clone();
    let receiver = half.start(&program);
    wait_for("it sleeps", || seen.is_armed());
    let polls = seen.polls();
    // Another pair of PEs runs for a while; nothing wakes the first one.
    let (other_sender, other_receiver, _) = start_two(&numbers, Pipe::default());
    other_sender.join().unwrap();
    other_receiver.join().unwrap();
    assert_eq!(seen.polls(), polls);
    assert!(out.try_write(1, 0, &5i64.to_ne_bytes()).unwrap());
    wait_for("there is room", || out.try_write(3, 0, &[]).unwrap());
    receiver.join().unwrap();
    assert_eq!(printed.text(), "0 {n=5}\n0 final\n");
}

#[test]
fn a_pe_lingers_until_all_is_taken() {
    let numbers = source("N", false, &[("count", Value::Int64(3))]);
    let pipe = Pipe {
        frames: 1000,
        ..Pipe::default()
    };
    let (out, mut inbound) = pipe.open();
    let program = testkit::build_program([numbers.clone(), send(0, &numbers, 0)]);
    let sender = PeSide::number(0).sends(0, 1, out).start(&program);
    let sent = sender.crossing_counters();
    let (tell, stopped) = channel();
    let joining = std::thread::spawn(move || {
        let ended = sender.join();
        tell.send(()).unwrap();
        ended
    });
    wait_for("all is sent", || sent[0].frames() == 4);
    let mut frames = 0;
    while frames < 4 {
        assert!(stopped.try_recv().is_err(), "not everything is taken");
        frames += inbound.poll().unwrap().count();
    }
    assert!(stopped.try_recv().is_err(), "polled is not released");
    inbound.release();
    joining.join().unwrap().unwrap();
}

#[test]
fn a_receiver_that_is_gone_before_it_took_all_is_named() {
    let numbers = source("N", false, &[("count", Value::Int64(3))]);
    let pipe = Pipe {
        frames: 1000,
        ..Pipe::default()
    };
    let (out, inbound) = pipe.open();
    let program = testkit::build_program([numbers.clone(), send(0, &numbers, 0)]);
    let sender = PeSide::number(0).sends(0, 1, out).start(&program);
    let sent = sender.crossing_counters();
    wait_for("all is sent", || sent[0].frames() == 4);
    drop(inbound);
    assert_eq!(
        sender.join().unwrap_err().to_string(),
        "Send0 (thalweg.transport::Send): the stream S0 from PE 0 to PE 1 is broken: \
         PE 1 is gone: it dropped its end, and had not taken all of it"
    );
}
