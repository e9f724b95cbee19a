//! `spl.utility`.

use eval::FaultKind;
use tuple::Type;

use crate::harness::*;

#[test]
fn printing() {
    let mut pe = Pe::default();
    let mut print = |f: &str, arg: Arg| {
        run(&mut pe, f, &[arg], &Type::Void);
        std::mem::take(&mut pe.printed)
    };
    assert_eq!(print("print(T t)", r("a\"b")), r#""a\"b""#);
    assert_eq!(print("println(T t)", ints([1, 2])), "[1,2]\n|");
    assert_eq!(
        print("println(T t)", tuple([("a", int32(1)), ("b", u("é"))])),
        "{a=1,b=\"é\"}\n|"
    );
    assert_eq!(print("printString(T s)", r("a\"b")), "a\"b");
    assert_eq!(print("printStringLn(T s)", u("é")), "é\n|");
    run(&mut pe, "flushStdio()", &[], &Type::Void);
    assert_eq!(pe.printed, "|");
}

#[test]
fn assertions() {
    let mut pe = Pe::default();
    run(
        &mut pe,
        "assert(boolean condition)",
        &[boolean(true)],
        &Type::Void,
    );
    let condition = list([boolean(true), boolean(false)]);
    let kind = faults(
        "assert(boolean condition)",
        &[boolean(false)],
        Type::Void,
        "failed",
    );
    assert_eq!(kind, FaultKind::Abort);
    faults(
        "assert(list<boolean> condition)",
        &[condition],
        Type::Void,
        "index 1",
    );
    faults(
        "assert(boolean condition, T msg)",
        &[boolean(false), u("why")],
        Type::Void,
        "why",
    );
    faults("abort()", &[], Type::Void, "abort");
    let fault = call(
        &mut pe,
        "assert(boolean condition)",
        &[boolean(false)],
        &Type::Void,
    );
    assert_eq!(
        fault.expect_err("it fails").pos().map(|pos| pos.line),
        Some(7)
    );
    let entries = [(1, true), (2, false)].map(|(k, v)| (int32(k).1, boolean(v).1));
    let ty = Type::Map((Type::Int32, Type::Boolean).into(), None);
    let map = Arg(ty, tuple::Value::Map(entries.into_iter().collect()));
    faults(
        "assert(map<T, boolean> condition)",
        &[map],
        Type::Void,
        "key 2",
    );
}

#[test]
fn messages() {
    let mut pe = Pe::default();
    let trace = |name| enumerator("error warn info debug trace", name);
    let log = |name| enumerator("error warn info", name);
    let void = Type::Void;
    run(
        &mut pe,
        "appTrc(Trace.Level traceLevel, T message)",
        &[trace("info"), r("a")],
        &void,
    );
    run(
        &mut pe,
        "appTrc(Trace.Level traceLevel, T message)",
        &[trace("debug"), r("b")],
        &void,
    );
    let aspect = "appTrc(Trace.Level traceLevel, T message, T aspect)";
    run(&mut pe, aspect, &[trace("error"), u("c"), u("x")], &void);
    run(
        &mut pe,
        "appLog(Log.Level logLevel, T message)",
        &[log("warn"), r("d")],
        &void,
    );
    let aspect = "appLog(Log.Level logLevel, T message, T aspect)";
    run(&mut pe, aspect, &[log("info"), r("e"), r("y")], &void);
    let old = enumerator("error info debug trace", "info");
    run(
        &mut pe,
        "log(Sys.LogLevel logLevel, T message)",
        &[old.clone(), r("f")],
        &void,
    );
    run(
        &mut pe,
        "log(Sys.LogLevel logLevel, T message, T aspect)",
        &[old, r("g"), r("z")],
        &void,
    );
    assert_eq!(
        pe.messages,
        [
            "trace Info a []",
            "trace Error c [x]",
            "log Warn d []",
            "trace Info f []",
            "trace Info g [z]"
        ]
    );
    gives(
        "isTraceable(Trace.Level traceLevel)",
        &[trace("debug")],
        boolean(false),
    );
    gives(
        "isLoggable(Log.Level logLevel)",
        &[log("warn")],
        boolean(true),
    );
}

#[test]
fn hash_codes_are_those_of_the_language() {
    gives("hashCode(T v)", &[int32(-1)], uint64(u64::MAX));
    gives("hashCode(T v)", &[boolean(true)], uint64(1));
    gives("hashCode(T v)", &[enumerator("a b c", "c")], uint64(2));
    gives(
        "hashCode(T v)",
        &[r("")],
        uint64(14_695_981_039_346_656_037),
    );
    gives("hashCode(T v)", &[r("a")], uint64(0xAF63_DC4C_8601_EC8C));
    gives(
        "hashCode(T v)",
        &[ints([1, 2])],
        uint64((17 * 37 + 1) * 37 + 2),
    );
    gives(
        "hashCode(T v)",
        &[tuple([("a", int32(1))])],
        uint64(17 * 37 + 1),
    );
    gives(
        "hashCodeForEach(L l)",
        &[ints([1, 2])],
        list([uint64(1), uint64(2)]),
    );
    let code = |arg| match run(&mut Pe::default(), "hashCode(T v)", &[arg], &Type::Uint64).0 {
        tuple::Value::Uint64(code) => code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(set([1, 2])), code(set([2, 1])));
    assert_eq!(
        code(map([(1, "a"), (2, "b")])),
        code(map([(2, "b"), (1, "a")]))
    );
    assert_eq!(code(float64(0.0)), code(float64(-0.0)));
    assert_eq!(code(ts(1, 2)), code(ts(1, 2)));
    assert_ne!(code(float64(1.0)), code(float64(2.0)));
}

#[test]
fn swapping_and_assigning() {
    let (_, after) = run(
        &mut Pe::default(),
        "swap(mutable T s1, mutable T s2)",
        &[r("a"), r("b")],
        &Type::Void,
    );
    assert_eq!(
        (after[0].text(), after[1].text()),
        (r("b").text(), r("a").text())
    );
    let to = tuple([("a", int32(1)), ("b", r("x")), ("c", int64(5))]);
    let from = tuple([
        ("b", r("y")),
        ("a", int32(2)),
        ("c", int32(9)),
        ("d", int32(3)),
    ]);
    changes("assignFrom(mutable T1 lhs, T2 rhs)", &[to, from], {
        tuple([("a", int32(2)), ("b", r("y")), ("c", int64(5))])
    });
}

#[test]
fn formatting_numbers() {
    gives(
        "formatNumber(int64 value)",
        &[int64(-1234567)],
        r("-1234567"),
    );
    gives(
        "formatNumber(int64 value, uint32 width)",
        &[int64(42), uint32(5)],
        r("   42"),
    );
    gives(
        "formatNumber(int64 value, uint32 width)",
        &[int64(-42), uint32(1)],
        r("-42"),
    );
    let general = |x, text: &str| gives("formatNumber(float64 value)", &[float64(x)], r(text));
    general(0.0, "0");
    general(3.0, "3");
    general(1234567.0, "1.23457e+06");
    general(123456.0, "123456");
    general(0.0001, "0.0001");
    general(0.00001, "1e-05");
    general(999999.5, "1e+06");
    general(f64::NEG_INFINITY, "-inf");
    let f = "formatNumber(float64 value, uint32 width, uint32 precision, boolean scientific)";
    gives(
        f,
        &[float64(1.25), uint32(8), uint32(1), boolean(false)],
        r("     1.2"),
    );
    gives(
        f,
        &[float64(12345.678), uint32(0), uint32(2), boolean(true)],
        r("1.23e+04"),
    );
    gives(
        f,
        &[float64(f64::NAN), uint32(5), uint32(2), boolean(true)],
        r("  nan"),
    );
    gives(
        "strerror(int32 errnum)",
        &[int32(2)],
        r("No such file or directory"),
    );
}

#[test]
fn parsing_integers() {
    let f = "parseNumber(mutable int64 number, rstring text, int32 base)";
    let parse = |text: &str, base| {
        let (count, after) = run(
            &mut Pe::default(),
            f,
            &[int64(7), r(text), int32(base)],
            &Type::Int32,
        );
        (Arg(Type::Int32, count).text(), after[0].text())
    };
    let read = |n, count| (int32(count).text(), int64(n).text());
    assert_eq!(parse("123abc", 10), read(123, 3));
    assert_eq!(parse("  -12", 10), read(-12, 5));
    assert_eq!(parse("0x1F", 0), read(31, 4));
    assert_eq!(parse("0x1F", 16), read(31, 4));
    assert_eq!(parse("017", 0), read(15, 3));
    assert_eq!(parse("0xg", 0), read(0, 1));
    assert_eq!(parse("zz", 36), read(35 * 36 + 35, 2));
    assert_eq!(parse("abc", 10), read(7, -1));
    assert_eq!(parse("", 10), read(7, -1));
    assert_eq!(parse("12", 1), read(7, -1));
    assert_eq!(parse("9223372036854775808", 10), read(7, -1));
    assert_eq!(parse("-9223372036854775808", 10), read(i64::MIN, 20));
    changes(
        "parseNumber(mutable int64 number, rstring text)",
        &[int64(0), r("5")],
        int64(5),
    );
    changes(
        "parseNumber(mutable int64 number, ustring text)",
        &[int64(0), u("5é")],
        int64(5),
    );
}

#[test]
fn strto_functions() {
    gives(
        "strtoll(rstring value, int32 base)",
        &[r("-9999999999999999999"), int32(10)],
        int64(i64::MIN),
    );
    gives(
        "strtoll(rstring value, int32 base)",
        &[r("x"), int32(10)],
        int64(0),
    );
    gives(
        "strtoull(rstring value, int32 base)",
        &[r("-1"), int32(10)],
        uint64(u64::MAX),
    );
    gives(
        "strtoull(rstring value, int32 base)",
        &[r("99999999999999999999"), int32(0)],
        uint64(u64::MAX),
    );
    let count = |f: &str, text: &str, args: &[Arg], at: usize| {
        let args = [&[r(text)], args].concat();
        run(&mut Pe::default(), f, &args, &Type::Int64).1[at].text()
    };
    let ll = "strtoll(rstring value, int32 base, mutable int32 numCharsProcessed)";
    let ull = "strtoull(rstring value, int32 base, mutable int32 numCharsProcessed)";
    let d = "strtod(rstring value, mutable int32 numCharsProcessed)";
    assert_eq!(
        count(ll, " 12x", &[int32(10), int32(0)], 2),
        int32(3).text()
    );
    assert_eq!(count(ull, "x", &[int32(10), int32(9)], 2), int32(0).text());
    assert_eq!(count(d, "1.5e+x", &[int32(0)], 1), int32(3).text());
    assert_eq!(count(d, "e5", &[int32(9)], 1), int32(0).text());
    let float = |text: &str, x| gives("strtod(rstring value)", &[r(text)], float64(x));
    float("1.5e3", 1500.0);
    float("  -.5", -0.5);
    float("5.", 5.0);
    float("inf", f64::INFINITY);
    float("-INFINITY", f64::NEG_INFINITY);
    float("nan", f64::NAN);
    float("0x1.8p3", 12.0);
    float("0x.4", 0.25);
    float("0x1p-1074", f64::from_bits(1));
    float("1e999", f64::INFINITY);
    float("abc", 0.0);
}

#[test]
fn parsing_floats() {
    let f = "parseNumber(mutable float64 number, rstring text)";
    gives(f, &[float64(0.0), r("1.5x")], int32(3));
    changes(f, &[float64(0.0), r("1.5x")], float64(1.5));
    gives(f, &[float64(0.0), r("1e999")], int32(-1));
    gives(f, &[float64(0.0), r("inf")], int32(3));
    gives(f, &[float64(0.0), r("x")], int32(-1));
    changes(
        "parseNumber(mutable float64 number, ustring text)",
        &[float64(0.0), u("-2")],
        float64(-2.0),
    );
}

#[test]
fn the_process() {
    let mut pe = Pe {
        data_directory: Some("data".into()),
        ..Pe::default()
    };
    gives_with(&mut pe, "dataDirectory()", &[], r("data"));
    gives_with(&mut pe, "isShutdown()", &[], boolean(false));
    run(&mut pe, "shutdownPE()", &[], &Type::Void);
    gives_with(&mut pe, "isShutdown()", &[], boolean(true));
    run(&mut pe, "block(float64 time)", &[float64(1.5)], &Type::Void);
    assert_eq!(pe.slept, 1.5);
    gives_with(&mut pe, "jobID()", &[], uint64(0));
    for (name, value) in [
        ("jobID", "12"),
        ("PEID", "3"),
        ("relaunchCount", "4"),
        ("jobName", "J"),
        ("jobGroup", "G"),
        ("applicationName", "A"),
        ("instanceID", "I"),
        ("domainID", "D"),
        ("hostName", "host.example"),
        ("channel", "2"),
        ("allChannels", "2,0"),
    ] {
        pe.properties.insert(name.into(), value.into());
    }
    gives_with(&mut pe, "jobID()", &[], uint64(12));
    gives_with(&mut pe, "PEID()", &[], uint64(3));
    gives_with(&mut pe, "getRelaunchCount()", &[], uint32(4));
    for (f, value) in [
        ("getJobName()", "J"),
        ("getJobGroup()", "G"),
        ("instanceID()", "I"),
        ("getApplicationName()", "A"),
        ("domainID()", "D"),
        ("getHostName()", "host.example"),
        ("getShortHostName()", "host"),
        ("getConfiguredHostName()", "host.example"),
        ("getThisOperatorName()", "Main.Op"),
        ("getThisOperatorLogicalName()", "Main.Op"),
    ] {
        gives_with(&mut pe, f, &[], r(value));
    }
    gives_with(&mut pe, "getChannel()", &[], int32(2));
    gives_with(&mut pe, "getAllChannels()", &[], ints([2, 0]));
    gives("getChannel()", &[], int32(-1));
    gives("getLocalChannel()", &[], int32(-1));
    gives("getMaxChannels()", &[], int32(0));
    gives("getLocalMaxChannels()", &[], int32(0));
    gives("getAllMaxChannels()", &[], ints([]));
    let (address, _) = run(&mut Pe::default(), "getIPAddress()", &[], &Type::RString);
    let tuple::Value::RString(address) = address else {
        panic!("{address:?}")
    };
    assert!(
        address
            .to_string_lossy()
            .parse::<std::net::IpAddr>()
            .is_ok()
    );
}

#[test]
fn the_environment() {
    let f = "getEnvironmentVariable(rstring name)";
    let path = std::env::var("PATH").expect("tests run with a path");
    gives(f, &[r("PATH")], r(path));
    gives(f, &[r("NO_SUCH_VARIABLE")], r(""));
    gives(f, &[r("A=B")], r(""));
    gives(
        "getEnvironmentVariable(rstring name, rstring defaultValue)",
        &[r(""), r("d")],
        r("d"),
    );
    let set = "getEnvironmentVariable(rstring name, mutable boolean isSet)";
    let is_set = |name: &str| {
        run(
            &mut Pe::default(),
            set,
            &[r(name), boolean(true)],
            &Type::RString,
        )
        .1[1]
            .text()
    };
    assert_eq!(is_set("PATH"), boolean(true).text());
    assert_eq!(is_set("NO_SUCH_VARIABLE"), boolean(false).text());
}

#[test]
fn temporary_files_are_new() {
    let directory = std::env::temp_dir().join(format!("functions-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for files of tests");
    let template = directory.join("fileXXXXXX").to_string_lossy().into_owned();
    let make = |template: &str| match run(
        &mut Pe::default(),
        "mktemp(rstring templat)",
        &[r(template)],
        &Type::RString,
    )
    .0
    {
        tuple::Value::RString(name) => name.to_string_lossy().into_owned(),
        other => panic!("{other:?}"),
    };
    let (first, second) = (make(&template), make(&template));
    assert_ne!(first, second);
    assert!(std::fs::metadata(&first).is_ok_and(|m| m.len() == 0));
    assert_eq!(make("no template"), "");
    assert_eq!(make("/no/such/directory/XXXXXX"), "");
    let data_directory = Some(directory.to_string_lossy().into_owned());
    let mut pe = Pe {
        data_directory,
        ..Pe::default()
    };
    let (name, _) = run(
        &mut pe,
        "mktemp(rstring templat)",
        &[r("inXXXXXX")],
        &Type::RString,
    );
    let tuple::Value::RString(name) = name else {
        panic!("{name:?}")
    };
    assert!(directory.join(&*name.to_string_lossy()).exists());
    std::fs::remove_dir_all(&directory).expect("the directory was made above");
}

#[test]
fn metrics() {
    let mut pe = Pe::default();
    let kind = enumerator("Gauge Counter Time", "Counter");
    let create =
        "createCustomMetric(rstring name, rstring description, Sys.Kind kind, int64 value)";
    run(
        &mut pe,
        create,
        &[r("m"), r("text"), kind.clone(), int64(3)],
        &Type::Void,
    );
    let again = call(
        &mut pe,
        create,
        &[r("m"), r("text"), kind, int64(3)],
        &Type::Void,
    );
    assert!(again.is_err_and(|fault| fault.message().contains("already")));
    gives_with(
        &mut pe,
        "hasCustomMetric(ustring name)",
        &[u("m")],
        boolean(true),
    );
    let set = "setCustomMetricValue(rstring name, int64 value)";
    run(&mut pe, set, &[r("m"), int64(9)], &Type::Void);
    let get = "getCustomMetricValue(rstring name, mutable int64 value)";
    let (_, after) = run(&mut pe, get, &[r("m"), int64(0)], &Type::Void);
    assert_eq!(after[1].text(), int64(9).text());
    gives_with(&mut pe, "getCustomMetricNames()", &[], strings(["m"]));
    faults(
        get,
        &[r("x"), int64(0)],
        Type::Void,
        "no custom metric \"x\"",
    );
    faults(
        set,
        &[r("x"), int64(0)],
        Type::Void,
        "no custom metric \"x\"",
    );
    pe.properties
        .insert("inputPortMetric.1.nTuplesProcessed".into(), "77".into());
    let port = "getInputPortMetricValue(uint32 port, Sys.OperatorInputPortMetricName name, \
                mutable int64 value)";
    let name = enumerator("nTuplesProcessed nTuplesDropped", "nTuplesProcessed");
    let (_, after) = run(
        &mut pe,
        port,
        &[uint32(1), name.clone(), int64(0)],
        &Type::Void,
    );
    assert_eq!(after[2].text(), int64(77).text());
    faults(
        port,
        &[uint32(0), name, int64(0)],
        Type::Void,
        "no input port 0",
    );
}

#[test]
fn what_cannot_be_done_says_so() {
    let kind = faults(
        "getSubmissionTimeValue(rstring name)",
        &[r("x")],
        Type::RString,
        "compiler",
    );
    assert_eq!(kind, FaultKind::Limit);
    gives("getThisLine()", &[], int32(7));
    gives("isInConsistentRegion()", &[], boolean(false));
    gives("getConsistentRegionIndex()", &[], int32(-1));
    faults(
        "resetConsistentRegion()",
        &[],
        Type::Void,
        "no consistent region",
    );
    let get = "getApplicationConfigurationProperty(rstring configName, rstring propertyName, \
               rstring defaultValue)";
    gives(get, &[r("c"), r("p"), r("d")], r("d"));
}

#[test]
fn what_a_pe_must_answer_is_no_constant() {
    let text = "dataDirectory() jobID() getJobName() getRelaunchCount() getMaxChannels() random() \
                getThisOperatorName() getMainCompositeName() getHostName() isShutdown() \
                getCustomMetricNames()";
    for f in text.split_whitespace() {
        let result = toolkit::functions()
            .iter()
            .find(|n| n.prototype.ends_with(&format!(" {f}")));
        let prototype = result.expect("declared").prototype;
        let result = match prototype.split(' ').rev().nth(1) {
            Some("list<rstring>") => strings([""]).0,
            _ => Type::RString,
        };
        let mut services = eval::NoServices::default();
        let called = call(&mut services, f, &[], &result);
        assert!(
            called.is_err() || services.ensure_none_refused().is_err(),
            "{f} is folded"
        );
    }
}
