//! The functions that compiled code may call: one list, each with its name, signature and address.
//!
//! Compiled code reaches the rest of the program through these and nothing else. Every one takes
//! the environment first. A `u32` result named a status is 0 if all went well; else the fault is in
//! the environment and the code has to return at once. Nothing here unwinds.

use cranelift_codegen::ir::{self, types};
use eval::TableState;
use graph::{EventTimeUnits, NumberedPanes, PortIndex, Pos};
use tuple::{Layout, Type, Value};

use super::env::Env;
use super::fallback_site::FallbackSite;
use super::import_bodies::{list, map, number, string, submit, table, value};
use super::parts_reader::RawSlice;

/// A type of an argument or result of an imported function, as compiled code passes it.
trait AbiType {
    fn ir_types() -> Vec<ir::Type>;
}

macro_rules! passed {
    ($($rust:ty => [$($ir:ident),*];)+) => { $(
        impl AbiType for $rust {
            fn ir_types() -> Vec<ir::Type> {
                vec![$(types::$ir),*]
            }
        }
    )+ };
}

passed! {
    u32 => [I32];
    i32 => [I32];
    u64 => [I64];
    i64 => [I64];
    usize => [I64];
    PortIndex => [I32];
    f32 => [F32];
    f64 => [F64];
    RawSlice<u8> => [I64, I64];
    WordPair => [I64, I64];
}

impl<T> AbiType for *const T {
    fn ir_types() -> Vec<ir::Type> {
        vec![types::I64]
    }
}

impl<T> AbiType for *mut T {
    fn ir_types() -> Vec<ir::Type> {
        vec![types::I64]
    }
}

/// Two words as a result.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct WordPair(pub u64, pub u64);

/// Name, signature and address of an imported function.
pub struct ImportDeclaration {
    /// Name of the function in listings.
    pub name: &'static str,
    /// Types of the arguments, the environment first.
    pub params: Vec<ir::Type>,
    /// Types of the results.
    pub results: Vec<ir::Type>,
    /// Address of the function in this process.
    pub address: *const u8,
}

macro_rules! imports {
    ($($(#[$doc:meta])* $name:ident = $function:path as ($($arg:ty),*) $(-> $result:ty)?;)+) => {
        /// A function that compiled code may call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ImportedFunction {
            $($(#[$doc])* $name),+
        }

        impl ImportedFunction {
            /// All functions of the list, in its order.
            pub const ALL: &'static [ImportedFunction] = &[$(ImportedFunction::$name),+];

            /// Name, signature and address of the function.
            pub fn declaration(self) -> ImportDeclaration {
                match self {
                    $(ImportedFunction::$name => {
                        let function: extern "C" fn(*mut Env $(, $arg)*) $(-> $result)? = $function;
                        let params = [types::I64].into_iter();
                        let params = params $(.chain(<$arg as AbiType>::ir_types()))*.collect();
                        let results = [].into_iter() $(.chain(<$result as AbiType>::ir_types()))?;
                        let results = results.collect();
                        let address = function as *const u8;
                        ImportDeclaration { name: stringify!($name), params, results, address }
                    })+
                }
            }
        }
    };
}

imports! {
    /// Takes bytes of the arena.
    Allocate = value::allocate as (usize) -> *mut u8;
    /// Gives back the bytes and values taken since the marks.
    ResetTemps = value::reset_temps as (usize, usize);
    /// Copies bytes between ranges that do not overlap.
    CopyBytes = value::copy_bytes as (*mut u8, *const u8, usize);
    /// Sets a range of bytes to zero.
    ZeroBytes = value::zero_bytes as (*mut u8, usize);
    /// Prefetches cache lines some way behind a frame: as many lines as `bytes` bytes have, at most
    /// those that are left.
    Prefetch = value::prefetch as (*const u8, usize, usize);
    /// Runs a site on operands given as words. Returns the result, or null after a fault.
    RunSite = value::run_site as (*const FallbackSite, *const u64) -> *mut Value;
    /// Makes a value of its parts.
    BuildValue = value::build_value as (*const Type, *const u64) -> *mut Value;
    /// Overwrites a value by one given as parts.
    AssignValue = value::assign_value as (*const Type, *const u64, *mut Value);
    /// Makes a value the default of its type.
    ClearValue = value::clear_value as (*const Type, *mut Value);
    /// Copies a value, which is kept until temporaries are given back.
    CloneValue = value::clone_value as (*const Value) -> *mut Value;
    /// Makes a value of a slot of an input tuple.
    FromFlat = value::from_flat as (*const Type, *const u8) -> *mut Value;
    /// Takes the local variables of a function; marks its frame.
    EnterFrame = value::enter_frame as (*const Type, usize) -> *mut Value;
    /// Gives back the local variables of a function.
    ExitFrame = value::exit_frame as ();

    /// Whether two strings of equal length are equal.
    SameBytes = string::same_bytes as (*const u8, *const u8, usize) -> u32;
    /// Compares two strings: below, at or above 0 as the first one is before, at or after the
    /// second.
    CompareBytes = string::compare_bytes as (*const u8, usize, *const u8, usize) -> i32;
    /// Like `CompareBytes`, for the UTF-16 units of ustrings.
    CompareUtf16 = string::compare_utf16 as (*const u16, usize, *const u16, usize) -> i32;
    /// Index of a string's first occurrence in another from an index on; -1 if there is none.
    FindBytes = string::find_bytes as (*const u8, usize, *const u8, usize, usize) -> i64;
    /// The decimal digits of a signed integer.
    FormatSigned = string::format_signed as (i64) -> RawSlice<u8>;
    /// The decimal digits of an unsigned integer.
    FormatUnsigned = string::format_unsigned as (u64) -> RawSlice<u8>;
    /// Appends to a string value in place. Returns 0 if the string would be too long.
    AppendBytes = string::append_bytes as (*mut Value, *const u8, usize) -> u32;
    /// Number of code points of a ustring.
    CountCodePoints = string::count_code_points as (*const u16, usize) -> i64;

    /// The value of an integer key, extended to a word, or null.
    MapGetWord = map::get_word as (*const Value, u64) -> *mut Value;
    /// The value of an rstring or blob key, or null.
    MapGetBytes = map::get_bytes as (*const Value, *const u8, usize) -> *mut Value;
    /// The value of any key, or null.
    MapGet = map::get as (*const Value, *const Value) -> *mut Value;
    /// The value of a key, made with a default if there is none, or null if the map is full.
    MapEntry = map::entry as (*mut Value, *const Type, *const u64) -> *mut Value;
    /// Like `MapEntry`, for an integer key given as a word.
    MapEntryWord = map::entry_word as (*mut Value, *const Type, u64) -> *mut Value;
    /// Like `MapEntry`, for an rstring key given as bytes.
    MapEntryBytes = map::entry_bytes as (*mut Value, *const Type, *const u8, usize) -> *mut Value;
    /// Whether a set has an integer.
    SetHasWord = map::set_has_word as (*const Value, u64) -> u32;
    /// Whether a set has an rstring.
    SetHasBytes = map::set_has_bytes as (*const Value, *const u8, usize) -> u32;
    /// Whether a set has a value.
    SetHas = map::set_has as (*const Value, *const Value) -> u32;

    /// Appends an element given by its parts to a list, unless a bound leaves no room. Returns 0 if
    /// the list would be too long.
    ListAppend = list::list_append as (*mut Value, *const Type, *const u64) -> u32;
    /// Adds an element given by its parts to a set, unless a bound leaves no room.
    SetInsert = list::set_insert as (*mut Value, *const Type, *const u64);
    /// Removes all elements of a list or set.
    ClearElements = list::clear_elements as (*mut Value);

    /// Adds two decimal64 values, given as their bits.
    AddDecimal64 = number::add_decimal64 as (u64, u64) -> u64;
    /// Subtracts the second decimal64 from the first; both are given as their bits.
    SubtractDecimal64 = number::subtract_decimal64 as (u64, u64) -> u64;
    /// Multiplies two decimal64 values, given as their bits.
    MultiplyDecimal64 = number::multiply_decimal64 as (u64, u64) -> u64;
    /// Divides the first decimal64 by the second; both are given as their bits.
    DivideDecimal64 = number::divide_decimal64 as (u64, u64) -> u64;
    /// `decimal32` arithmetic by operator: 0 add, 1 subtract, 2 multiply, 3 divide.
    Decimal32 = number::decimal32 as (u32, u32, u32) -> u32;
    /// `decimal128` arithmetic: two numbers of two halves.
    Decimal128 = number::decimal128 as (u32, *const u64) -> WordPair;
    /// Casts a number from or to a decimal: codes of both kinds, and the words of the number.
    CastDecimal = number::cast_decimal as (u32, u32, u64, u64) -> WordPair;
    /// Order of two decimals: -1, 0, 1, or 2 if unordered.
    CompareDecimal64 = number::compare_decimal64 as (u64, u64) -> i32;
    /// Order of two decimals of 32 bits.
    CompareDecimal32 = number::compare_decimal32 as (u32, u32) -> i32;
    /// Order of two decimals of 128 bits.
    CompareDecimal128 = number::compare_decimal128 as (*const u64) -> i32;

    /// Makes the entry current whose key is the tuple that was written. Returns 0 if there was one,
    /// 1 if it was added, 2 after a fault.
    FindEntry = table::find_entry as (*mut TableState, *const Pos) -> u32;
    /// Like `FindEntry`, for a key of integers, given its words and their number.
    FindEntryWords = table::find_entry_words as (*mut TableState, *const u64, usize, *const Pos) -> u32;
    /// Adds an entry to a table without keys and makes it current. Returns 0, or 2 after a fault.
    AddEntry = table::add_entry as (*mut TableState, *const Pos) -> u32;
    /// Makes the entry with an id current.
    SelectEntry = table::select_entry as (*mut TableState, u32);
    /// Removes the current entry.
    RemoveEntry = table::remove_entry as (*mut TableState);
    /// Puts the current entry into the queue. Returns 0, or 2 after a fault.
    EnqueueEntry = table::enqueue_entry as (*mut TableState, *const Pos) -> u32;
    /// Takes the first entry out of the queue and makes it current.
    DequeueEntry = table::dequeue_entry as (*mut TableState);
    /// Notes that the current entry is used.
    UseEntry = table::use_entry as (*mut TableState);
    /// Makes the entry current that was not used for the longest time.
    SelectLeastUsed = table::select_least_used as (*mut TableState);

    /// Starts the tuple that is written: its fixed part zeroed, room for a tail. Returns its
    /// address.
    BeginTuple = submit::begin_tuple as (*const Layout, usize) -> *mut u8;
    /// Adds bytes to the tail at an alignment, and sets the reference at an offset to them, with a
    /// number of elements.
    PutBlock = submit::put_block as (u64, *const u8, usize, usize, usize);
    /// Writes a slot of the tuple from a value.
    PutValue = submit::put_value as (*const Type, usize, *const Value);
    /// Copies a slot of an input tuple with its tail.
    PutFlat = submit::put_flat as (*const Type, usize, *const u8);
    /// Submits the tuple that was written. Returns a status.
    SubmitTuple = submit::submit_tuple as (PortIndex, *const Pos) -> u32;
    /// Submits an input tuple as it is. Returns a status.
    SubmitInput = submit::submit_input as (PortIndex, *const u8, usize, *const Pos) -> u32;
    /// Submits the tuple to the consumers of a port from one place to before another.
    SubmitTupleTo = submit::submit_tuple_to as (PortIndex, u32, u32, *const Pos) -> u32;
    /// Submits a whole input tuple to the consumers of a port from one place to before another.
    SubmitInputTo = submit::submit_input_to as (PortIndex, u32, u32, *const u8, usize, *const Pos) -> u32;
    /// Shows the tuple that was written to who taps the port's stream.
    TapTuple = submit::tap_tuple as (PortIndex);
    /// Shows an input tuple as it is to who taps the port's stream.
    TapInput = submit::tap_input as (PortIndex, *const u8, usize);
    /// Submits a marker. Returns a status.
    Punctuate = submit::punctuate as (PortIndex, u32, *const Pos) -> u32;
    /// Advances the watermark of an operator, which may be an inlined one, by an event time, given
    /// by its parts. Returns a status.
    AdvanceWatermark = submit::advance_watermark as (*const Type, *const u64, u32, *const Pos) -> u32;
    /// Number of the unit that an event time lies in, given by its parts.
    CountUnits = submit::count_units as (*const Type, *const u64, *const EventTimeUnits) -> i64;
    /// Makes a pane the one that functions tell of, given its number and how often it has fired.
    BeginPane = submit::begin_pane as (*const NumberedPanes, i64, u64);
    /// Wakes a reader that sleeps, after a frame was written for it.
    WakeReader = submit::wake_reader as (PortIndex, u32);
    /// Blocks the thread for a number of seconds, but not beyond a shutdown.
    Sleep = submit::sleep as (f64);
    /// Seconds on the exact clock.
    ExactClockSeconds = submit::exact_clock_seconds as () -> f64;
    /// Seconds on the clock of ticks.
    TickClockSeconds = submit::tick_clock_seconds as () -> f64;
    /// Whether a shutdown was asked for.
    IsShutdown = submit::is_shutdown as () -> u32;
}

impl ImportedFunction {
    /// Whether the function can fault, or asks something of the outlet, for the operator that the
    /// environment names.
    pub fn reaches_outside(self) -> bool {
        use ImportedFunction::{
            AddEntry, AdvanceWatermark, BeginPane, EnqueueEntry, FindEntry, FindEntryWords,
            IsShutdown, Punctuate, RunSite, Sleep, SubmitInput, SubmitInputTo, SubmitTuple,
            SubmitTupleTo, WakeReader,
        };
        let outside = [
            AddEntry,
            AdvanceWatermark,
            BeginPane,
            EnqueueEntry,
            FindEntry,
            FindEntryWords,
            IsShutdown,
            Punctuate,
            RunSite,
            Sleep,
            SubmitInput,
            SubmitInputTo,
            SubmitTuple,
            SubmitTupleTo,
            WakeReader,
        ];
        outside.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::ImportedFunction;

    #[test]
    fn every_helper_takes_the_environment_and_is_somewhere() {
        for &import in ImportedFunction::ALL {
            let entry = import.declaration();
            assert!(!entry.address.is_null(), "{}", entry.name);
            assert!(!entry.params.is_empty(), "{}", entry.name);
        }
    }
}
