//! `spl.file` and `spl.XML`.

use std::path::PathBuf;

use tuple::{Type, Value};

use crate::harness::*;

/// A data directory that is removed at the end.
struct Directory {
    path: PathBuf,
    pe: Pe,
}

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("file-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory for files of tests");
        let data_directory = Some(path.to_string_lossy().into_owned());
        Directory {
            path,
            pe: Pe {
                data_directory,
                ..Pe::default()
            },
        }
    }

    /// The number of a file that is opened.
    #[track_caller]
    fn open(&mut self, name: &str, mode: &str) -> Arg {
        let f = "fopen(rstring filename, rstring mode, mutable int32 err)";
        let (file, after) = run(
            &mut self.pe,
            f,
            &[r(name), r(mode), int32(9)],
            &Type::Uint64,
        );
        assert_eq!(after[2].text(), int32(0).text(), "fopen {name} {mode}");
        Arg(Type::Uint64, file)
    }

    /// A call's result and what it makes of its arguments, the last of them the error.
    #[track_caller]
    fn call(&mut self, f: &str, args: &[Arg], result: Type) -> (String, Vec<Arg>, i32) {
        let args = [args, &[int32(9)]].concat();
        let (value, after) = run(&mut self.pe, f, &args, &result);
        let Some(Arg(_, Value::Int32(error))) = after.last() else {
            panic!("{after:?}")
        };
        let error = *error;
        let text = if result == Type::Void {
            String::new()
        } else {
            Arg(result, value).text()
        };
        (text, after, error)
    }

    fn content(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path.join(name)).expect("the file was written");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.path).expect("the directory was made above");
    }
}

const STRING: &str = "fwriteString(T val, uint64 file, mutable int32 err)";
const TXT: &str = "fwriteTxt(T val, uint64 file, mutable int32 err)";
const LINE: &str = "freadLine(uint64 file, mutable int32 err)";
const TOKEN: &str = "freadToken(uint64 file, mutable int32 err)";
const CLOSE: &str = "fclose(uint64 file, mutable int32 err)";

#[test]
fn what_is_written_is_there_at_once() {
    let mut d = Directory::new("write");
    let file = d.open("a.txt", "w");
    assert_eq!(d.call(STRING, &[r("ab\n"), file.clone()], Type::Void).2, 0);
    assert_eq!(d.call(STRING, &[u("é\n"), file.clone()], Type::Void).2, 0);
    assert_eq!(
        d.call(TXT, &[strings(["x"]), file.clone()], Type::Void).2,
        0
    );
    let bytes = list([uint8(b'1'), uint8(b'2'), uint8(b'3')]);
    let fwrite = "fwrite(list<uint8> val, uint64 file, uint64 loffset, uint64 length, \
                  mutable int32 err)";
    assert_eq!(
        d.call(
            fwrite,
            &[bytes.clone(), file.clone(), uint64(1), uint64(2)],
            Type::Void
        )
        .2,
        0
    );
    let blob_args = [blob(b"!"), file.clone()];
    assert_eq!(
        d.call(
            "fwriteblob(blob b, uint64 file, mutable int32 err)",
            &blob_args,
            Type::Void
        )
        .2,
        0
    );
    assert_eq!(d.content("a.txt"), "ab\né\n[\"x\"]23!");
    faults(
        fwrite,
        &[bytes, file.clone(), uint64(2), uint64(2), int32(0)],
        Type::Void,
        "list of 3",
    );
    assert_eq!(
        d.call(
            "fflush(uint64 file, mutable int32 err)",
            std::slice::from_ref(&file),
            Type::Int32
        )
        .2,
        0
    );
    assert_eq!(
        d.call(CLOSE, std::slice::from_ref(&file), Type::Int32).0,
        int32(0).text()
    );
    let again = d.call(CLOSE, &[file], Type::Int32);
    assert_eq!(again.0, int32(-1).text());
    gives("isEBADF(int32 v)", &[int32(again.2)], boolean(true));
}

#[test]
fn modes_of_opening() {
    let mut d = Directory::new("modes");
    let f = "fopen(ustring filename, ustring mode, mutable int32 err)";
    let mut fails = |name: &str, mode: &str| {
        let (file, _, error) = d.call(f, &[u(name), u(mode)], Type::Uint64);
        assert_eq!(file, uint64(0).text());
        int32(error)
    };
    gives("isENOENT(int32 v)", &[fails("none", "r")], boolean(true));
    gives("isEINVAL(int32 v)", &[fails("none", "q")], boolean(true));
    gives("isEINVAL(int32 v)", &[fails("none", "")], boolean(true));
    let file = d.open("a", "wx");
    d.call(STRING, &[r("one\n"), file], Type::Void);
    let error = d.call(f, &[u("a"), u("wx")], Type::Uint64).2;
    assert_ne!(error, 0);
    let file = d.open("a", "a+");
    d.call(STRING, &[r("two\n"), file.clone()], Type::Void);
    run(
        &mut d.pe,
        "rewind(uint64 file)",
        std::slice::from_ref(&file),
        &Type::Void,
    );
    assert_eq!(d.call(LINE, &[file], Type::RString).0, r("one").text());
    let file = d.open("a", "r+");
    assert_eq!(
        d.call(LINE, std::slice::from_ref(&file), Type::RString).0,
        r("one").text()
    );
    d.call(STRING, &[r("TWO"), file], Type::Void);
    assert_eq!(d.content("a"), "one\nTWO\n");
    let file = d.open("a", "r");
    let error = d.call(STRING, &[r("x"), file], Type::Void).2;
    gives("isEBADF(int32 v)", &[int32(error)], boolean(true));
}

#[test]
fn lines_and_tokens() {
    let mut d = Directory::new("lines");
    std::fs::write(d.path.join("a"), "one two\n\n three").expect("a file of the test");
    let file = [d.open("a", "r")];
    let mut next = |f: &str| {
        let (text, _, error) = d.call(f, &file, Type::RString);
        (text, error)
    };
    assert_eq!(next(TOKEN), (r("one").text(), 0));
    assert_eq!(next(LINE), (r(" two").text(), 0));
    assert_eq!(next(LINE), (r("").text(), 0));
    assert_eq!(next(TOKEN), (r("three").text(), 0));
    assert_eq!(next(TOKEN), (r("").text(), -1));
    assert_eq!(next(LINE), (r("").text(), -1));
    gives_with(&mut d.pe, "feof(uint64 file)", &file, boolean(true));
    run(&mut d.pe, "clearerr(uint64 file)", &file, &Type::Void);
    gives_with(&mut d.pe, "feof(uint64 file)", &file, boolean(false));
    gives("isEOF(int32 v)", &[int32(-1)], boolean(true));
}

#[test]
fn long_lines_come_whole() {
    let mut d = Directory::new("long");
    let long = "x".repeat(200_000);
    std::fs::write(d.path.join("a"), format!("{long}\n{long}")).expect("a file of the test");
    let file = [d.open("a", "r")];
    for _ in 0..2 {
        let (line, _, error) = d.call(LINE, &file, Type::RString);
        assert!(error == 0 && line == r(&long).text());
    }
    assert_eq!(d.call(LINE, &file, Type::RString).2, -1);
}

#[test]
fn positions() {
    let mut d = Directory::new("positions");
    std::fs::write(d.path.join("a"), "0123456789").expect("a file of the test");
    let file = d.open("a", "r");
    let tell = "ftell(uint64 file, mutable int32 err)";
    let seek = "fseek(uint64 file, int64 offset, int32 whence, mutable int32 err)";
    let read = "fread(mutable list<uint8> res, uint64 file, uint64 length, mutable int32 err)";
    let mut go = |offset, whence: i32| {
        let error = d
            .call(
                seek,
                &[file.clone(), int64(offset), int32(whence)],
                Type::Void,
            )
            .2;
        let position = d.call(tell, std::slice::from_ref(&file), Type::Int64).0;
        let after = d
            .call(
                read,
                &[empty(Type::Uint8), file.clone(), uint64(2)],
                Type::Uint64,
            )
            .1;
        (error, position, after[0].text())
    };
    let two = |a: u8, b: u8| list([uint8(a), uint8(b)]).text();
    assert_eq!(go(3, 0), (0, int64(3).text(), two(b'3', b'4')));
    assert_eq!(go(1, 1), (0, int64(6).text(), two(b'6', b'7')));
    assert_eq!(go(-2, 2), (0, int64(8).text(), two(b'8', b'9')));
    assert_eq!(go(-1, 0).0, 22);
    for (f, whence) in [
        ("optSEEK_SET()", 0),
        ("optSEEK_CUR()", 1),
        ("optSEEK_END()", 2),
    ] {
        gives(f, &[], int32(whence));
    }
    faults(
        "feof(uint64 file)",
        &[uint64(1 << 60)],
        Type::Boolean,
        "no open file",
    );
}

#[test]
fn whole_files_and_parts() {
    let mut d = Directory::new("whole");
    std::fs::write(d.path.join("a"), "abc").expect("a file of the test");
    let file = d.open("a", "r");
    let whole = "freadfile(mutable blob res, uint64 file, mutable int32 err)";
    let (_, after, error) = d.call(whole, &[blob(b""), file.clone()], Type::Void);
    assert_eq!((after[0].text(), error), (blob(b"abc").text(), 0));
    let read = "fread(mutable list<uint8> res, uint64 file, uint64 length, mutable int32 err)";
    let args = [empty(Type::Uint8), file, uint64(5)];
    let (count, after, error) = d.call(read, &args, Type::Uint64);
    assert_eq!(
        (count, after[0].text(), error),
        (uint64(0).text(), empty(Type::Uint8).text(), -1)
    );
}

#[test]
fn values_as_text_and_bytes() {
    let mut d = Directory::new("values");
    let value = || tuple([("a", int32(1)), ("b", strings(["x\ny", "z"]))]);
    let file = d.open("a", "w+");
    for _ in 0..2 {
        d.call(TXT, &[value(), file.clone()], Type::Void);
        d.call(STRING, &[r("\n"), file.clone()], Type::Void);
    }
    d.call(
        "fwriteBin(T val, uint64 file, mutable int32 err)",
        &[value(), file.clone()],
        Type::Void,
    );
    d.call(STRING, &[r(b"\0"), file.clone()], Type::Void);
    run(
        &mut d.pe,
        "rewind(uint64 file)",
        std::slice::from_ref(&file),
        &Type::Void,
    );
    let nothing = || tuple([("a", int32(0)), ("b", strings([""]))]);
    let txt = "freadTxt(mutable T res, uint64 file, mutable int32 err)";
    let bin = "freadBin(mutable T res, uint64 file, mutable int32 err)";
    let mut next = |f: &str| {
        let (_, after, error) = d.call(f, &[nothing(), file.clone()], Type::Void);
        (after[0].text(), error)
    };
    assert_eq!(next(txt), (value().text(), 0));
    assert_eq!(next(txt), (value().text(), 0));
    assert_eq!(next(txt), (nothing().text(), 5));
    assert_eq!(
        d.call(LINE, std::slice::from_ref(&file), Type::RString).0,
        r("").text()
    );
    let (_, after, error) = d.call(bin, &[nothing(), file.clone()], Type::Void);
    assert_eq!((after[0].text(), error), (value().text(), 0));
    let (_, after, error) = d.call(bin, &[nothing(), file.clone()], Type::Void);
    assert_eq!((after[0].text(), error), (nothing().text(), 5));
}

#[test]
fn directories_and_status() {
    let mut d = Directory::new("status");
    let mkdir = "mkdir(rstring name, uint32 mode, mutable int32 err)";
    assert_eq!(d.call(mkdir, &[r("sub"), uint32(0o755)], Type::Void).2, 0);
    assert_ne!(d.call(mkdir, &[r("sub"), uint32(0o755)], Type::Void).2, 0);
    std::fs::write(d.path.join("sub/a"), "abc").expect("a file of the test");
    let number = "fstat(rstring file, rstring what, mutable uint64 result, mutable int32 err)";
    let (_, after, error) = d.call(number, &[r("sub/a"), r("size"), uint64(0)], Type::Void);
    assert_eq!((after[2].text(), error), (uint64(3).text(), 0));
    assert_eq!(
        d.call(number, &[r("sub/a"), r("colour"), uint64(0)], Type::Void)
            .2,
        22
    );
    assert_eq!(
        d.call(number, &[r("none"), r("size"), uint64(0)], Type::Void)
            .2,
        2
    );
    let file = d.open("sub/a", "r");
    let opened = "fstat(uint64 file, rstring what, mutable uint64 result, mutable int32 err)";
    let (_, after, _) = d.call(opened, &[file.clone(), r("size"), uint64(0)], Type::Void);
    assert_eq!(after[2].text(), uint64(3).text());
    let time = "fstat(uint64 file, ustring what, mutable timestamp result, mutable int32 err)";
    let (_, after, error) = d.call(time, &[file, u("mtime"), ts(0, 0)], Type::Void);
    assert_eq!(error, 0);
    assert!(matches!(after[2].1, Value::Timestamp(t) if t.seconds > 1_600_000_000));
    let remove = "remove(rstring name, mutable int32 err)";
    assert_ne!(d.call(remove, &[r("sub")], Type::Void).2, 0);
    assert_eq!(d.call(remove, &[r("sub/a")], Type::Void).2, 0);
    assert_eq!(
        d.call(
            "remove(ustring name, mutable int32 err)",
            &[u("sub")],
            Type::Void
        )
        .2,
        0
    );
}

#[test]
fn every_error_number_has_one_test_that_knows_it() {
    let tests = toolkit::functions()
        .iter()
        .filter(|f| f.namespace == "spl.file" && f.prototype.starts_with("boolean isE"));
    let mut known = 0;
    for f in tests {
        let signature = f.prototype.strip_prefix("boolean ").expect("filtered so");
        let numbers: Vec<i32> = (-1..200)
            .filter(|&n| {
                let (yes, _) = run(&mut Pe::default(), signature, &[int32(n)], &Type::Boolean);
                matches!(yes, Value::Boolean(true))
            })
            .collect();
        assert_eq!(numbers.len(), 1, "{signature} is true for {numbers:?}");
        known += 1;
    }
    assert_eq!(known, 27);
}

#[test]
fn xml() {
    let document = |text: &str| Arg(Type::Xml(None), r(text).1).into_xml();
    gives("isDefaultValue(X val)", &[document("")], boolean(true));
    gives("isDefaultValue(X val)", &[document("<a/>")], boolean(false));
    let f = "convertToXML(mutable X xmlResult, T str, mutable int32 error)";
    let convert = |text: Arg| {
        let args = [document("<old/>"), text, int32(9)];
        let (good, after) = run(&mut Pe::default(), f, &args, &Type::Boolean);
        (
            Arg(Type::Boolean, good).text(),
            after[0].text(),
            after[2].text(),
        )
    };
    let result = |good, text, error| {
        (
            boolean(good).text(),
            document(text).text(),
            int32(error).text(),
        )
    };
    assert_eq!(
        convert(r("<a b=\"1\">é</a>")),
        result(true, "<a b=\"1\">é</a>", 0)
    );
    assert_eq!(convert(u("<a/>")), result(true, "<a/>", 0));
    assert_eq!(convert(r("<a><b></a>")), result(false, "<old/>", 1));
    gives(
        "convertToXML(mutable X xmlResult, T str)",
        &[document(""), r("text")],
        boolean(false),
    );
}

impl Arg {
    /// An rstring's text as xml.
    fn into_xml(self) -> Arg {
        match self.1 {
            Value::RString(text) => Arg(Type::Xml(None), Value::Xml(text)),
            other => panic!("{other:?}"),
        }
    }
}
