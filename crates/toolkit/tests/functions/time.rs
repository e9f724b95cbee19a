//! `spl.time` and `spl.eventtime`.

use tuple::{Decimal128, Timestamp, Type, Value};

use crate::harness::*;

/// 2009-02-13 23:31:30 UTC, a Friday.
pub const MOMENT: i64 = 1_234_567_890;

/// An argument of type `Sys.tm`.
fn tm(numbers: [i32; 10], zone: &str) -> Arg {
    let [sec, min, hour, mday, mon, year, wday, yday, isdst, gmtoff] = numbers.map(int32);
    tuple([
        ("sec", sec),
        ("min", min),
        ("hour", hour),
        ("mday", mday),
        ("mon", mon),
        ("year", year),
        ("wday", wday),
        ("yday", yday),
        ("isdst", isdst),
        ("gmtoff", gmtoff),
        ("zone", r(zone)),
    ])
}

fn no_tm() -> Arg {
    tm([0; 10], "")
}

fn decimal(text: &str) -> Arg {
    let value = Decimal128::from_text(text.as_bytes()).expect("a decimal");
    Arg(Type::Decimal128, Value::Decimal128(value))
}

fn on(machine: i32, seconds: i64, nanos: u32) -> Arg {
    Arg(
        Type::Timestamp,
        Value::Timestamp(Timestamp {
            seconds,
            nanos,
            machine,
        }),
    )
}

#[test]
fn making_and_taking_apart() {
    gives(
        "createTimestamp(int64 secs, uint32 nanos)",
        &[int64(5), uint32(7)],
        ts(5, 7),
    );
    gives(
        "createTimestamp(int64 secs, uint32 nanos)",
        &[int64(5), uint32(2_000_000_001)],
        ts(7, 1),
    );
    gives(
        "createTimestamp(int64 secs, uint32 nanos, int32 mid)",
        &[int64(-5), uint32(7), int32(3)],
        on(3, -5, 7),
    );
    gives("getSeconds(timestamp t)", &[ts(-5, 7)], int64(-5));
    gives("getNanoseconds(timestamp t)", &[ts(-5, 7)], uint32(7));
    gives("getMachineId(timestamp t)", &[on(3, 0, 0)], int32(3));
}

#[test]
fn differences_and_sums() {
    gives(
        "diffAsNanos(timestamp ts1, timestamp ts2)",
        &[ts(2, 1), ts(1, 3)],
        int64(999_999_998),
    );
    gives(
        "diffAsSecs(timestamp ts1, timestamp ts2)",
        &[ts(1, 0), ts(2, 500_000_000)],
        float64(-1.5),
    );
    gives(
        "add(timestamp ts, float64 diff)",
        &[on(4, 1, 600_000_000), float64(0.5)],
        on(4, 2, 100_000_000),
    );
    gives(
        "add(timestamp ts, float64 diff)",
        &[ts(1, 0), float64(-0.25)],
        ts(0, 750_000_000),
    );
    gives(
        "add(timestamp ts, int64 diff)",
        &[ts(1, 5), int64(-10)],
        ts(0, 999_999_995),
    );
    gives(
        "add(timestamp ts, int64 diff)",
        &[ts(1, 5), int64(3_000_000_000)],
        ts(4, 5),
    );
}

#[test]
fn decimals() {
    gives(
        "toDecimal128(timestamp ts)",
        &[ts(12, 5)],
        decimal("12.000000005"),
    );
    gives(
        "toDecimal128(timestamp ts)",
        &[ts(-2, 500_000_000)],
        decimal("-1.500000000"),
    );
    gives(
        "fromDecimal128(decimal128 t)",
        &[decimal("12.0000000049")],
        ts(12, 5),
    );
    gives(
        "fromDecimal128(decimal128 t)",
        &[decimal("-1.5")],
        ts(-2, 500_000_000),
    );
}

#[test]
fn clocks() {
    let now = || match run(&mut Pe::default(), "getTimestamp()", &[], &Type::Timestamp).0 {
        Value::Timestamp(now) => now,
        other => panic!("{other:?}"),
    };
    let (first, second) = (now(), now());
    assert!(
        first.seconds > 1_600_000_000 && first.nanos.is_multiple_of(1000),
        "{first:?}"
    );
    assert!((first.seconds - second.seconds).abs() < 60);
    let counter = || match run(
        &mut Pe::default(),
        "getCPUCounterInNanoSeconds()",
        &[],
        &Type::Int64,
    )
    .0
    {
        Value::Int64(n) => n,
        other => panic!("{other:?}"),
    };
    assert!(counter() <= counter());
    match run(
        &mut Pe::default(),
        "getTimestampInSecs()",
        &[],
        &Type::Float64,
    )
    .0
    {
        Value::Float64(seconds) => assert!((seconds - first.seconds as f64).abs() < 60.0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fields_in_utc() {
    let at = || [ts(MOMENT, 0)];
    let fields = [
        ("gmyear(timestamp time)", 2009),
        ("gmmonth(timestamp time)", 1),
        ("gmday(timestamp time)", 13),
        ("gmhour(timestamp time)", 23),
        ("gmminute(timestamp time)", 31),
        ("gmsecond(timestamp time)", 30),
        ("gmdayOfYear(timestamp time)", 43),
        ("gmdayOfWeek(timestamp time)", 5),
    ];
    for (f, expected) in fields {
        gives(f, &at(), uint32(expected));
    }
    gives("gmyear(timestamp time)", &[ts(-1, 0)], uint32(1969));
    gives(
        "gmyear(timestamp time)",
        &[ts(400_000_000_000, 0)],
        uint32(14645),
    );
}

#[test]
fn local_fields_agree_with_the_local_tm() {
    let (_, after) = run(
        &mut Pe::default(),
        "time(timestamp time, mutable Sys.tm result)",
        &[ts(MOMENT, 0), no_tm()],
        &Type::Void,
    );
    let Value::Tuple(fields) = &after[1].1 else {
        panic!("{:?}", after[1])
    };
    let fields: Vec<u32> = fields[..8]
        .iter()
        .map(|v| match v {
            Value::Int32(n) => *n as u32,
            other => panic!("{other:?}"),
        })
        .collect();
    let names = [
        "second",
        "minute",
        "hour",
        "day",
        "month",
        "year",
        "dayOfWeek",
        "dayOfYear",
    ];
    for (name, field) in names.into_iter().zip(fields) {
        let expected = if name == "year" { field + 1900 } else { field };
        gives(
            &format!("{name}(timestamp time)"),
            &[ts(MOMENT, 0)],
            uint32(expected),
        );
    }
}

#[track_caller]
fn in_zone(seconds: i64, zone: &str, expected: Arg) {
    let f = "time(timestamp time, rstring tzone, mutable Sys.tm result)";
    let (_, after) = run(
        &mut Pe::default(),
        f,
        &[ts(seconds, 0), r(zone), no_tm()],
        &Type::Void,
    );
    assert_eq!(after[2].text(), expected.text());
    gives(
        "toTimestamp(Sys.tm time)",
        &[after[2].clone()],
        ts(seconds, 0),
    );
}

#[test]
fn civil_time_in_zones() {
    let (_, after) = run(
        &mut Pe::default(),
        "gmtime(timestamp time, mutable Sys.tm result)",
        &[ts(MOMENT, 5), no_tm()],
        &Type::Void,
    );
    assert_eq!(
        after[1].text(),
        tm([30, 31, 23, 13, 1, 109, 5, 43, 0, 0], "GMT").text()
    );
    in_zone(
        MOMENT,
        "Europe/Berlin",
        tm([30, 31, 0, 14, 1, 109, 6, 44, 0, 3600], "CET"),
    );
    in_zone(
        1_246_406_400,
        "Europe/Berlin",
        tm([0, 0, 2, 1, 6, 109, 3, 181, 1, 7200], "CEST"),
    );
    in_zone(
        MOMENT,
        "UTC-7",
        tm([30, 31, 6, 14, 1, 109, 6, 44, 0, 25200], "UTC"),
    );
    in_zone(
        MOMENT,
        "EST5EDT",
        tm([30, 31, 18, 13, 1, 109, 5, 43, 0, -18000], "EST"),
    );
    let f = "time(timestamp time, rstring tzone, mutable Sys.tm result)";
    faults(
        f,
        &[ts(0, 0), r("Mars/Phobos"), no_tm()],
        Type::Void,
        "Mars/Phobos",
    );
}

#[test]
fn civil_time_to_instants() {
    let f = "toTimestamp(Sys.tm time)";
    gives(
        f,
        &[tm([30, 31, 23, 13, 1, 109, 0, 0, -1, 0], "")],
        ts(MOMENT, 0),
    );
    gives(
        f,
        &[tm([30, 31, 24, 13, 1, 109, 0, 0, -1, 3600], "UTC")],
        ts(MOMENT, 0),
    );
    gives(
        f,
        &[tm([30, 31, 0, 45, 0, 109, 0, 0, -1, 0], "Europe/Berlin")],
        ts(MOMENT, 0),
    );
    // The hour from 2 to 3 comes twice on 2009-10-25, and not at all on 2009-03-29.
    let twice = |isdst| tm([0, 30, 2, 25, 9, 109, 0, 0, isdst, 0], "Europe/Berlin");
    gives(f, &[twice(-1)], ts(1_256_430_600, 0));
    gives(f, &[twice(1)], ts(1_256_430_600, 0));
    gives(f, &[twice(0)], ts(1_256_434_200, 0));
    let never = tm([0, 30, 2, 29, 2, 109, 0, 0, -1, 0], "Europe/Berlin");
    gives(f, &[never], ts(1_238_290_200, 0));
    let with_default = "toTimestamp(Sys.tm time, boolean defaultZone)";
    let plain = || tm([30, 31, 23, 13, 1, 109, 0, 0, -1, 0], "");
    gives(with_default, &[plain(), boolean(false)], ts(MOMENT, 0));
    let (local, _) = run(
        &mut Pe::default(),
        with_default,
        &[plain(), boolean(true)],
        &Type::Timestamp,
    );
    gives(
        "hour(timestamp time)",
        &[Arg(Type::Timestamp, local)],
        uint32(23),
    );
}

const FORMATS: &str = "YYYYMMDDhhmmss YYYY_MM_DD_hh_mm_ss MM_DD_YYYY_hh_mm_ss DD_MM_YYYY_hh_mm_ss \
    YYYY_MM_DD_hh_mm_ss_mmm MM_DD_YYYY_hh_mm_ss_mmm DD_MM_YYYY_hh_mm_ss_mmm";

#[test]
fn fixed_formats() {
    let f = "toTimestamp(Sys.TimestampFormat ftype, T str, T tmzone)";
    let case = |format, text: &str| [enumerator(FORMATS, format), r(text), r("UTC")];
    gives(f, &case("YYYYMMDDhhmmss", "20090213233130"), ts(MOMENT, 0));
    gives(
        f,
        &case("YYYY_MM_DD_hh_mm_ss", "2009-02-13T23:31:30"),
        ts(MOMENT, 0),
    );
    gives(
        f,
        &case("MM_DD_YYYY_hh_mm_ss", "02/13/2009 23:31:30"),
        ts(MOMENT, 0),
    );
    gives(
        f,
        &case("DD_MM_YYYY_hh_mm_ss", "13.02.2009 23:31:30"),
        ts(MOMENT, 0),
    );
    gives(
        f,
        &case("YYYY_MM_DD_hh_mm_ss_mmm", "2009-02-13 23:31:30.045"),
        ts(MOMENT, 45_000_000),
    );
    gives(
        f,
        &case("MM_DD_YYYY_hh_mm_ss_mmm", "02-13-2009 23:31:30.045"),
        ts(MOMENT, 45_000_000),
    );
    gives(
        f,
        &case("DD_MM_YYYY_hh_mm_ss_mmm", "13-02-2009 23:31:30.045"),
        ts(MOMENT, 45_000_000),
    );
    let berlin = [
        enumerator(FORMATS, "YYYYMMDDhhmmss"),
        u("20090214003130"),
        u("Europe/Berlin"),
    ];
    gives(f, &berlin, ts(MOMENT, 0));
    faults(
        f,
        &case("YYYYMMDDhhmmss", "2009"),
        Type::Timestamp,
        "YYYYMMDDhhmmss",
    );
    faults(
        f,
        &case("YYYYMMDDhhmmss", "2009021323313x"),
        Type::Timestamp,
        "not a time",
    );
    let local = "toTimestamp(Sys.TimestampFormat ftype, T str)";
    let args = [enumerator(FORMATS, "YYYYMMDDhhmmss"), r("20090213120000")];
    let (noon, _) = run(&mut Pe::default(), local, &args, &Type::Timestamp);
    gives(
        "hour(timestamp time)",
        &[Arg(Type::Timestamp, noon)],
        uint32(12),
    );
}

#[track_caller]
fn formatted(format: &str, expected: &str) {
    let friday = tm([5, 3, 14, 3, 3, 109, 5, 92, 0, -18000], "EST");
    gives(
        "strftime(Sys.tm time, rstring format)",
        &[friday, r(format)],
        r(expected),
    );
}

#[test]
fn strftime() {
    formatted("%Y-%m-%d %H:%M:%S", "2009-04-03 14:03:05");
    formatted("%a %A %b %B %h", "Fri Friday Apr April Apr");
    formatted("%c|%x|%X|%D|%F|%T|%R|%r", {
        "Fri Apr  3 14:03:05 2009|04/03/09|14:03:05|04/03/09|2009-04-03|14:03:05|14:03|02:03:05 PM"
    });
    formatted("%C %y %e %j %k %I %l %p %P", "20 09  3 093 14 02  2 PM pm");
    formatted("%u %w %U %W %V %G %g", "5 5 13 13 14 2009 09");
    formatted("%z %Z %s", "-0500 EST 1238785385");
    formatted("%n%t%%", "\n\t%");
    formatted(
        "%-d %_m %05d %^a %#Z %10b|",
        "3  4 00003 FRI est        Apr|",
    );
    formatted("%Ey %Od %Q %", "09 03 %Q %");
    formatted("é", "é");
    let first = tm([0, 0, 0, 1, 0, 110, 5, 0, 0, 0], "UTC");
    gives(
        "strftime(Sys.tm time, rstring format)",
        &[first, r("%G-W%V %U")],
        r("2009-W53 00"),
    );
    let last = tm([0, 0, 0, 31, 11, 107, 1, 364, 0, 0], "UTC");
    gives(
        "strftime(Sys.tm time, rstring format)",
        &[last, r("%G-W%V")],
        r("2008-W01"),
    );
}

#[track_caller]
fn parsed(text: &str, format: &str, expected: [i32; 10], count: u32) {
    let f = "strptime(rstring dateTime, rstring format, mutable Sys.tm result, \
             mutable uint32 numCharsProcessed)";
    let args = [r(text), r(format), tm([7; 10], "old"), uint32(99)];
    let (_, after) = run(&mut Pe::default(), f, &args, &Type::Void);
    let expected = if count == 0 {
        tm([7; 10], "old")
    } else {
        tm(expected, "")
    };
    assert_eq!(
        (after[2].text(), after[3].text()),
        (expected.text(), uint32(count).text())
    );
}

#[test]
fn strptime() {
    let friday = [30, 31, 23, 13, 1, 109, 5, 43, -1, 0];
    parsed("2009-02-13 23:31:30 rest", "%Y-%m-%d %H:%M:%S", friday, 19);
    parsed(
        "Fri Feb 13 23:31:30 2009",
        "%a %b %d %H:%M:%S %Y",
        friday,
        24,
    );
    parsed(
        "february 13, 09 11:31:30 pm",
        "%B %d, %y %I:%M:%S %p",
        friday,
        27,
    );
    parsed("20090213233130", "%Y%m%d%H%M%S", friday, 14);
    parsed("2009 044 23:31:30", "%Y %j %T", friday, 17);
    parsed("2009 06 5 23:31:30", "%Y %U %w %T", friday, 18);
    parsed("23:31", "%H:%M", [0, 31, 23, 0, 0, 0, 0, 0, -1, 0], 5);
    parsed("12 AM", "%I %p", [0, 0, 0, 0, 0, 0, 0, 0, -1, 0], 5);
    parsed(
        "2009-02-13T23:31:30+0130",
        "%FT%T%z",
        [30, 31, 23, 13, 1, 109, 5, 43, -1, 5400],
        24,
    );
    parsed("69 70", "%y", [0, 0, 0, 0, 0, 69, 0, 0, -1, 0], 2);
    parsed("68", "%y", [0, 0, 0, 0, 0, 168, 0, 0, -1, 0], 2);
    parsed("100%", "%H0%%", [0, 0, 10, 0, 0, 0, 0, 0, -1, 0], 4);
    for (text, format) in [
        ("2009-13-01", "%Y-%m-%d"),
        ("x", "%Y"),
        ("", "%d"),
        ("Foo", "%b"),
        ("25", "%H"),
        ("12 XM", "%I %p"),
        ("1", "%Q"),
        ("1", "%"),
        ("é", "%a"),
    ] {
        parsed(text, format, [0; 10], 0);
    }
}

#[test]
fn ctime_is_that_of_c() {
    let args = [tm([30, 31, 23, 13, 1, 109, 0, 0, -1, 0], ""), boolean(true)];
    let with_default = "toTimestamp(Sys.tm time, boolean defaultZone)";
    let (local, _) = run(&mut Pe::default(), with_default, &args, &Type::Timestamp);
    gives(
        "ctime(timestamp time)",
        &[Arg(Type::Timestamp, local)],
        r("Fri Feb 13 23:31:30 2009"),
    );
}

#[test]
fn ticks() {
    let resolution = |name| enumerator("Milliseconds Microseconds Nanoseconds", name);
    let signed = "toTimestamp(int64 ticks, Sys.Resolution resolution)";
    gives(
        signed,
        &[int64(1500), resolution("Milliseconds")],
        ts(1, 500_000_000),
    );
    gives(
        signed,
        &[int64(-1), resolution("Microseconds")],
        ts(-1, 999_999_000),
    );
    let unsigned = "toTimestamp(uint64 ticks, Sys.Resolution resolution)";
    gives(unsigned, &[uint64(7), resolution("Nanoseconds")], ts(0, 7));
    let back = "int64TicksFromTimestamp(timestamp ts, Sys.Resolution resolution)";
    gives(
        back,
        &[ts(1, 999_999_999), resolution("Milliseconds")],
        int64(1999),
    );
    gives(
        back,
        &[ts(i64::MAX, 0), resolution("Nanoseconds")],
        int64(i64::MAX),
    );
    let back = "uint64TicksFromTimestamp(timestamp ts, Sys.Resolution resolution)";
    gives(
        back,
        &[ts(1, 2000), resolution("Microseconds")],
        uint64(1_000_002),
    );
    gives(back, &[ts(-1, 0), resolution("Milliseconds")], uint64(0));
    faults("paneIndex()", &[], Type::Uint64, "no pane fires here");
    gives("getWatermark()", &[], ts(0, 0));
}
