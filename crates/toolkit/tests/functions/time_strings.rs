//! `timeStringToTimestamp`: dates with the names of months.

use tuple::Type;

use crate::harness::*;
use crate::time::MOMENT;

#[test]
fn month_names() {
    let tail = "(rstring dmy, rstring hmsmilli, rstring tmzone, boolean useLocaleMonth)";
    for name in ["timeStringToTimestamp", "timeStringtoTimestamp"] {
        let f = format!("{name}{tail}");
        let case = |date: &str, time: &str| [r(date), r(time), r("UTC"), boolean(false)];
        gives(
            &f,
            &case("13-FEB-2009", "23:31:30.045"),
            ts(MOMENT, 45_000_000),
        );
        gives(&f, &case("13-feb-2009", "23:31:30.000"), ts(MOMENT, 0));
        faults(
            &f,
            &case("13-XXX-2009", "23:31:30.045"),
            Type::Timestamp,
            "04-OCT-2005",
        );
        faults(
            &f,
            &case("13-FEB-2009", "23:31:30"),
            Type::Timestamp,
            "04-OCT-2005",
        );
        faults(
            &f,
            &case("1é-FEB-2009", "23:31:30.045"),
            Type::Timestamp,
            "04-OCT-2005",
        );
    }
    let f = "timeStringToTimestamp(ustring dmy, ustring hmsmilli, boolean useLocaleMonth)";
    let args = [u("13-Feb-2009"), u("12:00:00.000"), boolean(true)];
    let (noon, _) = run(&mut Pe::default(), f, &args, &Type::Timestamp);
    gives(
        "hour(timestamp time)",
        &[Arg(Type::Timestamp, noon)],
        uint32(12),
    );
}

/// With `useLocaleMonth` what does not fit gives a timestamp of zeros and ends nothing.
#[test]
fn month_names_of_the_locale() {
    let zoned = "(rstring dmy, rstring hmsmilli, rstring tmzone, boolean useLocaleMonth)";
    let fits = [
        ("13-FEB-2009", "23:31:30.045", 45_000_000),
        ("13-February-2009", "23:31:30.5", 500_000_000),
        ("13-feb-2009", "23:31:30.", 0),
        ("13-feb-2009", "23:31:30.123456789123", 123_456_789),
        ("13-feb-2009", "23:31:30.045 or so", 45_000_000),
    ];
    let wrong = [
        ("4-OCT-2005", "14:18:19"),
        ("13-XXX-2009", "23:31:30.045"),
        ("0-FEB-2009", "23:31:30.045"),
        ("32-FEB-2009", "23:31:30.045"),
        ("1é-FEB-2009", "23:31:30.045"),
        ("13-FEB-2009", "24:31:30.045"),
        ("2009-02-13", "23:31:30.045"),
        ("", ""),
    ];
    for name in ["timeStringToTimestamp", "timeStringtoTimestamp"] {
        let f = format!("{name}{zoned}");
        let case = |date: &str, time: &str| [r(date), r(time), r("UTC"), boolean(true)];
        for (date, time, nanos) in fits {
            gives(&f, &case(date, time), ts(MOMENT, nanos));
        }
        // 2005-10-04 14:18:19
        let day = ts(1_128_435_499, 324_000_000);
        gives(&f, &case("4-OCT-2005", "14:18:19.324"), day.clone());
        gives(&f, &case("04-OCT-2005", "14:18:19.324"), day);
        for (date, time) in wrong {
            gives(&f, &case(date, time), ts(0, 0));
        }
        let lost = [
            r("4-OCT-2005"),
            r("14:18:19.324"),
            r("No/Where"),
            boolean(true),
        ];
        gives(&f, &lost, ts(0, 0));
        let short = [r("4-OCT-2005"), r("14:18:19.324"), r("UTC"), boolean(false)];
        faults(&f, &short, Type::Timestamp, "04-OCT-2005");
    }
    for string in ["rstring", "ustring"] {
        let f = format!(
            "timeStringToTimestamp({string} dmy, {string} hmsmilli, boolean useLocaleMonth)"
        );
        let text = |text: &str| {
            if string == "rstring" {
                r(text)
            } else {
                u(text)
            }
        };
        gives(
            &f,
            &[text("never"), text("14:18:19.324"), boolean(true)],
            ts(0, 0),
        );
    }
}
