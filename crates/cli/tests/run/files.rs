//! FileSource and FileSink on real files: formats, compression, rotation, moves.

use crate::scratch::Scratch;

/// Numbers and names into a FileSink with these parameters.
fn sink(count: u32, params: &str) -> String {
    format!(
        r#"composite Main {{
            graph
                stream<int32 n, rstring s> In = Beacon() {{
                    param iterations : {count};
                    output In : n = (int32) IterationCount(), s = "s" + (rstring) IterationCount();
                }}
                stream<rstring name> Closed = FileSink(In) {{ param {params} }}
                () as Names = Custom(Closed) {{ logic onTuple Closed : printStringLn(name); }}
        }}"#
    )
}

/// Prints what a FileSource with these parameters reads.
fn source(ty: &str, params: &str) -> String {
    format!(
        r#"composite Main {{
            graph
                stream<{ty}> In = FileSource() {{ param {params} }}
                () as Out = Custom(In) {{
                    logic
                        onTuple In : println(In);
                        onPunct In : println(currentPunct());
                }}
        }}"#
    )
}

#[test]
fn what_one_writes_the_other_reads_in_every_format_and_compression() {
    let expected = "{n=0,s=\"s0\"}\n{n=1,s=\"s1\"}\nWindowMarker\nFinalMarker\n";
    for format in ["csv", "txt", "bin"] {
        for compression in [
            "",
            "compression : gzip;",
            "compression : zlib;",
            "compression : bzip2;",
        ] {
            let scratch = Scratch::new();
            let params = format!("file : \"data\"; format : {format}; {compression}");
            scratch.run(&sink(2, &params), &[]).ok();
            let read = scratch
                .run(&source("int32 n, rstring s", &params), &[])
                .ok();
            assert_eq!(read, expected, "{params}");
        }
    }
}

#[test]
fn files_are_rotated_by_count() {
    let scratch = Scratch::new();
    let params = r#"file : "out_{id}.csv"; closeMode : count; tuplesPerFile : 3u;"#;
    let names = scratch.run(&sink(6, params), &[]).ok();
    assert_eq!(names.lines().count(), 2);
    assert!(
        names.lines().next().unwrap().ends_with("out_0.csv"),
        "{names}"
    );
    assert_eq!(scratch.read("out_1.csv"), "3,\"s3\"\n4,\"s4\"\n5,\"s5\"\n");
    assert!(
        !scratch.path("out_2.csv").exists(),
        "a later file waits for its first tuple"
    );
}

#[test]
fn files_are_rotated_by_size_and_moved() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("done")).unwrap();
    let params = r#"file : "o{id}"; closeMode : size; bytesPerFile : 10u; flush : 1u;
                    moveFileToDirectory : "done";"#;
    let names = scratch.run(&sink(4, params), &[]).ok();
    assert_eq!(scratch.read("done/o0"), "0,\"s0\"\n1,\"s1\"\n");
    assert_eq!(scratch.read("done/o1"), "2,\"s2\"\n3,\"s3\"\n");
    assert!(
        names.lines().next().unwrap().ends_with("done/o0"),
        "{names}"
    );
    assert!(!scratch.path("o0").exists());
}

#[test]
fn dynamic_names_depend_on_the_tuple() {
    let scratch = Scratch::new();
    let params = r#"file : "part" + (rstring) (n / 2); closeMode : dynamic; suppress : s;"#;
    scratch.run(&sink(4, params), &[]).ok();
    assert_eq!(
        (scratch.read("part0"), scratch.read("part1")),
        ("0\n1\n".into(), "2\n3\n".into())
    );
}

#[test]
fn sinks_may_append_and_leave_out_quotes() {
    let scratch = Scratch::new();
    let params = r#"file : "out.csv"; append : true; quoteStrings : false; separator : ";";"#;
    scratch.write("out.csv", "before\n");
    scratch.run(&sink(1, params), &[]).ok();
    assert_eq!(scratch.read("out.csv"), "before\n0;s0\n");
}

#[test]
fn markers_are_written_when_asked() {
    let scratch = Scratch::new();
    scratch
        .run(
            &sink(1, r#"file : "out.csv"; writePunctuations : true;"#),
            &[],
        )
        .ok();
    let expected =
        "0,\"s0\"\nPunctuation received: WindowMarker\nPunctuation received: FinalMarker\n";
    assert_eq!(scratch.read("out.csv"), expected);
}

#[test]
fn lines_blocks_and_other_encodings_are_read() {
    let scratch = Scratch::new();
    scratch.write("in", "a\n\nb");
    let lines = scratch
        .run(&source("rstring l", r#"file : "in"; format : line;"#), &[])
        .ok();
    assert_eq!(
        lines,
        "{l=\"a\"}\n{l=\"\"}\n{l=\"b\"}\nWindowMarker\nFinalMarker\n"
    );
    let params = r#"file : "in"; format : block; blockSize : 3u;"#;
    let blocks = scratch.run(&source("blob b", params), &[]).ok();
    assert_eq!(blocks, "{b=610a0a}\n{b=62}\nWindowMarker\nFinalMarker\n");
    scratch.write("latin", b"gr\xf6\xdfe,1\n");
    let params = r#"file : "latin"; encoding : "ISO_8859-1";"#;
    let latin = scratch.run(&source("rstring s, int32 n", params), &[]).ok();
    assert!(latin.starts_with("{s=\"größe\",n=1}\n"), "{latin}");
}

#[test]
fn header_lines_defaults_and_extra_fields() {
    let scratch = Scratch::new();
    scratch.write("in", "name,value\n# a comment\n\n x ,,extra\n\"y\",7,\n");
    let params = r#"file : "in"; hasHeaderLine : true; ignoreExtraCSVValues : true;
                    defaultTuple : { s = "none", n = 42 };"#;
    let read = scratch.run(&source("rstring s, int32 n", params), &[]).ok();
    assert_eq!(
        read,
        "{s=\"x \",n=42}\n{s=\"y\",n=7}\nWindowMarker\nFinalMarker\n"
    );
}

#[test]
fn file_names_come_from_a_stream_and_reports_go_to_another() {
    let scratch = Scratch::new();
    scratch.write("a", "1\n2\n");
    scratch.write("b", "3\n");
    let program = r#"composite Main {
        graph
            stream<rstring name> Names = Custom() {
                logic onProcess : {
                    for (rstring f in ["a", "missing", "b"]) { submit({ name = f }, Names); }
                }
            }
            (stream<int32 n, rstring file, int64 number> Read;
             stream<rstring file, int32 error> Status) = FileSource(Names) {
                param ignoreOpenErrors : true;
                output Read : file = FileName(), number = TupleNumber();
            }
            () as Out = Custom(Read; Status) {
                logic
                    onTuple Read : println(Read);
                    onPunct Read : println(currentPunct());
                    onTuple Status : printStringLn("status " + (rstring) Status.error);
            }
    }"#;
    let run = scratch.run(program, &[]);
    let expected = "{n=1,file=\"a\",number=1}\n{n=2,file=\"a\",number=2}\nWindowMarker\nstatus 0\n\
                    status 2\n{n=3,file=\"b\",number=1}\nWindowMarker\nstatus 0\nFinalMarker\n";
    assert_eq!(run.ok(), expected);
}

#[test]
fn hot_files_are_followed_until_the_shutdown() {
    let scratch = Scratch::new();
    scratch.write("in", "1\n2\n");
    let params = r#"file : "in"; hotFile : true;"#;
    let read = scratch
        .run(&source("int32 n", params), &["--kill-after", "0.5"])
        .ok();
    assert!(read.starts_with("{n=1}\n{n=2}\n"), "{read}");
}

#[test]
fn the_end_of_a_hot_file_is_not_that_of_its_text() {
    for encoding in ["ISO-8859-15", "GB18030"] {
        let scratch = Scratch::new();
        scratch.write("in", "1\n2\n");
        let params = format!(r#"file : "in"; hotFile : true; encoding : "{encoding}";"#);
        let read = scratch
            .run(&source("int32 n", &params), &["--kill-after", "0.5"])
            .ok();
        assert!(read.starts_with("{n=1}\n{n=2}\n"), "{encoding}: {read}");
    }
}

#[test]
fn files_that_were_read_are_deleted_or_moved() {
    let scratch = Scratch::new();
    scratch.write("in", "1\n");
    std::fs::create_dir(scratch.path("done")).unwrap();
    let params = r#"file : "in"; moveFileToDirectory : "done";"#;
    scratch.run(&source("int32 n", params), &[]).ok();
    assert!(!scratch.path("in").exists() && scratch.path("done/in").exists());
    scratch
        .run(
            &source("int32 n", r#"file : "done/in"; deleteFile : true;"#),
            &[],
        )
        .ok();
    assert!(!scratch.path("done/in").exists());
}
