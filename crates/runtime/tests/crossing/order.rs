//! Tuples that cross an edge arrive whole and in order.

use testkit::OperatorBuilder;
use tuple::Value;

use crate::operators::{PeSide, print, receive, run_fused, send, source, start_two};
use crate::strict_medium::Pipe;

fn count(n: i64) -> (&'static str, Value) {
    ("count", Value::Int64(n))
}

fn both(source: &OperatorBuilder, pipe: Pipe) -> String {
    let (sender, receiver, printed) = start_two(source, pipe);
    sender.join().unwrap();
    receiver.join().unwrap();
    printed.text()
}

#[test]
fn tuples_and_markers_cross_in_order() {
    let numbers = source("N", false, &[count(57)]);
    let expected = run_fused(&numbers);
    assert!(expected.ends_with("0 {n=56}\n0 final\n"), "{expected}");
    for frames in [1, 3, 1000] {
        let pipe = Pipe {
            frames,
            ..Pipe::default()
        };
        assert_eq!(both(&numbers, pipe), expected);
    }
}

#[test]
fn tuples_larger_than_a_frame_cross_in_pieces() {
    let numbers = source("N", true, &[count(40), ("text", Value::Int64(7))]);
    let expected = run_fused(&numbers);
    for payload_bytes_max in [1, 16, 33, 4096] {
        let pipe = Pipe {
            frames: 2,
            payload_bytes_max,
            ..Pipe::default()
        };
        assert_eq!(both(&numbers, pipe), expected, "{payload_bytes_max}");
    }
}

#[test]
fn normal_tuples_cross_field_by_field() {
    let numbers = source("N", true, &[count(40), ("text", Value::Int64(7))]);
    let (out, inbound) = Pipe::default().open();
    let sender = testkit::build_program([numbers.clone(), send(0, &numbers, 0)]);
    let receiver = testkit::build_program([receive(&[(0, &numbers)]), print(&[(&numbers, 0, 0)])]);
    let sending = PeSide::number(0).normal().sends(0, 1, out).start(&sender);
    let receiving = PeSide::number(1).normal().receives(0, 0, inbound).foreign();
    let printed = receiving.printed.clone();
    let receiving = receiving.start(&receiver);
    sending.join().unwrap();
    receiving.join().unwrap();
    assert_eq!(printed.text(), run_fused(&numbers));
}

#[test]
fn what_a_medium_holds_back_gets_out_before_the_end() {
    let pipe = Pipe {
        frames: 7,
        holds_back: true,
        ..Pipe::default()
    };
    let numbers = source("N", false, &[count(57)]);
    assert_eq!(both(&numbers, pipe), run_fused(&numbers));
}

#[test]
fn one_receive_serves_several_streams() {
    let first = source("A", false, &[count(300)]);
    let second = source("B", true, &[count(30), ("text", Value::Int64(3))]);
    let (a_out, a_in) = Pipe::default().open();
    let (b_out, b_in) = Pipe::default().open();
    let a = testkit::build_program([first.clone(), send(0, &first, 0)]);
    let b = testkit::build_program([second.clone(), send(1, &second, 0)]);
    let c = testkit::build_program([
        receive(&[(0, &first), (1, &second)]),
        print(&[(&first, 0, 0), (&second, 0, 1)]),
    ]);
    let receiving = PeSide::number(2).receives(0, 0, a_in).receives(1, 1, b_in);
    let printed = receiving.printed.clone();
    let running = [
        PeSide::number(0).sends(0, 2, a_out).start(&a),
        PeSide::number(1).sends(1, 2, b_out).start(&b),
        receiving.start(&c),
    ];
    for pe in running {
        pe.join().unwrap();
    }
    let text = printed.text();
    let port = |port: &str| {
        let lines = text.lines().filter(|line| line.starts_with(port));
        lines
            .map(|line| format!("0{}\n", &line[1..]))
            .collect::<String>()
    };
    assert_eq!(port("0"), run_fused(&first));
    assert_eq!(port("1"), run_fused(&second));
}

#[test]
fn a_stream_through_three_pes() {
    let numbers = source("N", false, &[count(100)]);
    let (first_out, first_in) = Pipe::default().open();
    let (second_out, second_in) = Pipe::default().open();
    let begin = testkit::build_program([numbers.clone(), send(0, &numbers, 0)]);
    let middle = testkit::build_program([receive(&[(0, &numbers)]), send(1, &numbers, 0)]);
    let end = testkit::build_program([receive(&[(1, &numbers)]), print(&[(&numbers, 0, 0)])]);
    let last = PeSide::number(2).receives(1, 1, second_in);
    let printed = last.printed.clone();
    let running = [
        PeSide::number(0).sends(0, 1, first_out).start(&begin),
        PeSide::number(1)
            .receives(0, 0, first_in)
            .sends(1, 2, second_out)
            .start(&middle),
        last.start(&end),
    ];
    for pe in running {
        pe.join().unwrap();
    }
    assert_eq!(printed.text(), run_fused(&numbers));
}

#[test]
fn links_are_counted_on_both_sides() {
    let numbers = source("N", false, &[count(57)]);
    let (sender, receiver, _) = start_two(&numbers, Pipe::default());
    let flows = [sender.crossing_counters(), receiver.crossing_counters()].concat();
    sender.join().unwrap();
    receiver.join().unwrap();
    // Five window markers and the final one.
    let counts: Vec<_> = flows.iter().map(|f| (f.frames(), f.bytes())).collect();
    assert_eq!(counts, [(57 + 6, 57 * 16 + 6 * 8); 2]);
    assert!(flows.iter().all(|f| f.blocked_since_ns().is_none()));
    assert!(flows[0].waits.get() > 0, "one frame fits at a time");
}
