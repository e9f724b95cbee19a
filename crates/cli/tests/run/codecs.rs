//! Streams that are written field by field give what those that are written as they lie in memory
//! give, whether compiled code or a codec writes and reads them.

use crate::processes::media;
use crate::scratch::{Scratch, thalweg};

/// Two streams of scalars and a third one with strings, which meet at ports of one operator.
const MEET: &str = r#"composite Main {
    graph
        stream<boolean flag, int64 n, int8 small, float64 x, uint16 short, timestamp time> A =
            Beacon() {
            param iterations : 3000;
            output
                A : flag = IterationCount() % 3ul == 0ul, n = (int64) IterationCount() * -1000003l,
                    small = (int8) IterationCount(), x = (float64) IterationCount() / 8.0,
                    short = (uint16) IterationCount(),
                    time = createTimestamp((int64) IterationCount(), 7u);
        }
        stream<A> B = Beacon() {
            param iterations : 2000;
            output
                B : flag = IterationCount() % 5ul != 0ul, n = (int64) IterationCount(),
                    small = (int8) -1, x = 0.5, short = 65535uh,
                    time = createTimestamp(-1l, (uint32) IterationCount());
        }
        stream<rstring text, int64 n> C = Beacon() {
            param iterations : 1000;
            output C : text = "text " + (rstring) IterationCount(), n = 1l << 40l;
        }
        () as Sink = Custom(A, B as In; C) {
            logic
                state : {
                    mutable uint64 count = 0ul;
                    mutable int64 flags = 0l;
                    mutable int64 sum = 0l;
                    mutable float64 xs = 0.0;
                    mutable int64 times = 0l;
                }
                onTuple In : {
                    count++;
                    if (flag) { flags++; }
                    sum += n + (int64) small + (int64) short;
                    xs += x;
                    times += getSeconds(time) + (int64) getNanoseconds(time);
                    if (count == 6000ul) { println([sum, flags, times]); println(xs); }
                }
                onTuple C : {
                    count++;
                    sum += n + (int64) length(text);
                    if (count == 6000ul) { println([sum, flags, times]); println(xs); }
                }
        }
}"#;

#[test]
fn streams_of_both_codecs_meet() {
    let scratch = Scratch::new();
    let program = scratch.write("Main.spl", MEET);
    let program = program.to_str().unwrap();
    let expected = thalweg(&["run", "--interpret", program]).ok();
    assert_eq!(expected.lines().count(), 2, "{expected}");
    let both = [
        ("facade", "normal"),
        ("normal", "facade"),
        ("normal", "normal"),
    ];
    for (medium, a, b) in media().flat_map(|medium| both.map(|(a, b)| (medium, a, b))) {
        let plan = format!(
            "pe 0\n operators A\npe 1\n operators B C\npe 2\n operators Sink\n\
             crossing A.0 -> pe 2 on {medium} codec {a}\n\
             crossing B.0 -> pe 2 on {medium} codec {b}\n\
             crossing C.0 -> pe 2 on {medium} codec {a}\n"
        );
        let plan = scratch.write("meet.plan", plan);
        for backend in [&[][..], &["--interpret"]] {
            let args = ["run", program, "--fuse", plan.to_str().unwrap()];
            let found = thalweg(&[&args, backend].concat()).ok();
            assert_eq!(found, expected, "{medium} {a} {b} {backend:?}");
        }
    }
}
