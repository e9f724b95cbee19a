//! Programs that no person has written: sums of thousands of terms and chains of `else if` compile
//! and run, nesting without end is refused in a sentence.

use crate::scratch::{Scratch, thalweg};

const TERMS: usize = 5_000;
const LINKS: usize = 2_000;

/// Sums of numbers and of texts, and a chain that is walked to its end.
fn program() -> String {
    let sum = |term: &str| vec![term; TERMS].join(" + ");
    let links: String = (0..LINKS)
        .map(|at| format!("else if (n == {at}) {{ found = \"at {at}\"; }}\n"))
        .collect();
    format!(
        r#"composite Main {{
            graph
                stream<int32 n, float64 x, rstring s> In = Beacon() {{
                    param iterations : 2u;
                    output In : n = (int32) IterationCount() * {last}, x = 0.5, s = "a";
                }}
                () as Out = Custom(In) {{
                    logic onTuple In : {{
                        println({ints});
                        println({floats});
                        println(length({texts}));
                        mutable rstring found = "";
                        if (n < 0) {{ found = "below"; }} {links} else {{ found = "none"; }}
                        printStringLn(found);
                    }}
                }}
        }}"#,
        last = LINKS - 1,
        ints = sum("n"),
        floats = sum("x"),
        texts = sum("s"),
    )
}

#[test]
fn long_sums_and_chains_run() {
    let scratch = Scratch::new();
    let program = program();
    let last = LINKS - 1;
    let sum = last * TERMS;
    let expected = format!("0\n2500\n5000\nat 0\n{sum}\n2500\n5000\nat {last}\n");
    for options in [&[][..], &["--interpret"], &["--fuse", "none"]] {
        assert_eq!(scratch.run(&program, options).ok(), expected, "{options:?}");
    }
    let file = scratch.path("Main.spl");
    let file = file.to_str().unwrap();
    assert_eq!(thalweg(&["check", file]).ok(), "");
    thalweg(&["fmt", file]).ok();
    thalweg(&["fmt", "--check", file]).ok();
    for stage in ["typed", "graph"] {
        assert!(thalweg(&["dump", "--stage", stage, file]).ok().len() > 20);
    }
}

#[test]
fn parentheses_without_end_are_refused() {
    const DEPTH: usize = 100_000;
    let scratch = Scratch::new();
    let nested = format!("{}1{}", "(".repeat(DEPTH), ")".repeat(DEPTH));
    let program = format!(
        "composite Main {{ graph () as S = Custom() {{ logic onProcess : println({nested}); }} }}"
    );
    let stderr = scratch.run(&program, &[]).fails(1);
    assert!(
        stderr.starts_with("error[too-deep]: this is nested too deeply"),
        "{stderr:.200}"
    );
}
