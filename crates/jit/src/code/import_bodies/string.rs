//! Imported functions on strings.

use std::io::Write;

use eval::ops;
use tuple::{UString, Value};

use super::super::env::Env;
use super::super::parts_reader::RawSlice;
use super::{deref_mut, elements, env};

pub extern "C" fn same_bytes(_: *mut Env, a: *const u8, b: *const u8, len: usize) -> u32 {
    u32::from(tuple::same_bytes(elements(a, len), elements(b, len)))
}

pub extern "C" fn compare_bytes(
    _: *mut Env,
    a: *const u8,
    a_len: usize,
    b: *const u8,
    b_len: usize,
) -> i32 {
    tuple::compare_bytes(elements(a, a_len), elements(b, b_len)) as i32
}

pub extern "C" fn compare_utf16(
    _: *mut Env,
    a: *const u16,
    a_len: usize,
    b: *const u16,
    b_len: usize,
) -> i32 {
    let string = |data, len| UString(elements::<u16>(data, len).to_vec());
    let order = string(a, a_len).partial_cmp(&string(b, b_len));
    order.map_or(0, |order| order as i32)
}

pub extern "C" fn find_bytes(
    _: *mut Env,
    text: *const u8,
    len: usize,
    part: *const u8,
    part_len: usize,
    from: usize,
) -> i64 {
    let found = elements(text, len).get(from..);
    let found = found.and_then(|text| memchr::memmem::find(text, elements(part, part_len)));
    found.map_or(-1, |at| (from + at) as i64)
}

pub extern "C" fn format_signed(e: *mut Env, number: i64) -> RawSlice<u8> {
    format_number(e, format_args!("{number}"))
}

pub extern "C" fn format_unsigned(e: *mut Env, number: u64) -> RawSlice<u8> {
    format_number(e, format_args!("{number}"))
}

fn format_number(e: *mut Env, number: std::fmt::Arguments<'_>) -> RawSlice<u8> {
    let mut text = [0u8; 20];
    let mut rest = &mut text[..];
    let written = rest.write_fmt(number).map(|()| rest.len());
    let len = 20 - written.unwrap_or(20);
    env(e).copy_bytes(&text[..len])
}

pub extern "C" fn append_bytes(_: *mut Env, to: *mut Value, data: *const u8, len: usize) -> u32 {
    let Value::RString(to) = deref_mut(to) else {
        return 1;
    };
    if ops::grown_len(to.0.len(), len, "string").is_err() {
        return 0;
    }
    let start = to.0.as_ptr().addr();
    let inside = data.addr().wrapping_sub(start);
    if data.addr() >= start && inside < to.0.len() {
        to.0.extend_from_within(inside..inside + len);
    } else {
        to.0.extend_from_slice(elements(data, len));
    }
    1
}

pub extern "C" fn count_code_points(_: *mut Env, data: *const u16, len: usize) -> i64 {
    let units = elements(data, len).iter().copied();
    char::decode_utf16(units).count() as i64
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use tuple::RString;

    use super::*;

    #[test]
    fn a_string_that_would_be_too_long_is_left_as_it_is() {
        let mut text = Value::RString(RString::from("ab"));
        let more = b"cd";
        let no_env = ptr::null_mut();
        assert_eq!(append_bytes(no_env, &raw mut text, more.as_ptr(), 2), 1);
        let too_many = ops::LEN_MAX - 3;
        assert_eq!(
            append_bytes(no_env, &raw mut text, more.as_ptr(), too_many),
            0
        );
        assert_eq!(text, Value::RString(RString::from("abcd")));
    }
}
