//! Configuration of a publisher, read from files: a small TOML.
//!
//! ```toml
//! ring_bytes = 8388608      # bytes of unreleased messages; rounded up to a power of two
//! receivers = 4             # most subscribers at once
//! huge_pages = "auto"       # "always": reserved huge pages, or opening fails; "never"
//! ```
//! Files are read one after the other, and a later one overrides an earlier one.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use ring::{PagePolicy, READERS_MAX};
use toml::de::{DeTable, DeValue};

/// Most bytes of a configuration file, so that a file without an end is refused.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// Keys of a configuration, in the order in which they are explained.
pub const CONFIG_KEYS: [&str; 3] = ["ring_bytes", "receivers", "huge_pages"];

/// Values of the key `huge_pages`, and the page policy that each means.
pub const HUGE_PAGES_VALUES: [(&str, PagePolicy); 3] = [
    ("auto", PagePolicy::Auto),
    ("always", PagePolicy::Huge),
    ("never", PagePolicy::Small),
];

/// Range of `ring_bytes`: from one page to the largest ring.
const RING_BYTES_RANGE: Range<i64> = 4096..(1 << 31) + 1;

/// Settings of a publisher's ring.
///
/// # Example
/// ```
/// use thalweg_topic::PublisherConfig;
///
/// let mut config = PublisherConfig::default();
/// config.apply("prices.toml", "receivers = 4")?;
/// assert_eq!((config.receivers, config.ring_bytes), (4, 1 << 20));
/// let error = config.apply("prices.toml", "receivers = 0").unwrap_err();
/// assert_eq!((error.line, error.column), (1, 13));
/// # Ok::<(), thalweg_topic::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublisherConfig {
    /// Bytes of messages that the ring holds; a message has at most half of them.
    pub ring_bytes: usize,
    /// Most subscribers at once, 1 to 64.
    pub receivers: u32,
    /// Page policy of the ring's memory.
    pub huge_pages: PagePolicy,
}

/// A mistake in a configuration, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Name of the file, as it was given.
    pub file: String,
    /// Line of the mistake, from 1 on; 0: the file as a whole.
    pub line: usize,
    /// Column of the mistake in characters, from 1 on; 0: the file as a whole.
    pub column: usize,
    /// Sentence that says what is wrong, and what would be right.
    pub message: String,
}

impl Default for PublisherConfig {
    fn default() -> PublisherConfig {
        PublisherConfig {
            ring_bytes: 1 << 20,
            receivers: READERS_MAX,
            huge_pages: PagePolicy::Auto,
        }
    }
}

impl PublisherConfig {
    /// Applies the settings of a file.
    ///
    /// # Errors
    /// The file cannot be read, is no TOML, or has an unknown key or an invalid value.
    pub fn read(&mut self, file: &Path) -> Result<(), ConfigError> {
        let name = file.display().to_string();
        let text = read_text(file).map_err(|error| ConfigError {
            message: format!("cannot be read: {error}"),
            file: name.clone(),
            line: 0,
            column: 0,
        })?;
        self.apply(&name, &text)
    }

    /// Applies the settings of a text; `name` is used in errors.
    ///
    /// # Errors
    /// Like [`PublisherConfig::read`]; no setting is applied then.
    pub fn apply(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
        let fails = |span: Range<usize>, what: String| error_at(name, text, span.start, what);
        let table = DeTable::parse(text).map_err(|error| {
            let keys = CONFIG_KEYS.join("`, `");
            let what = format!("{}; this is to be a TOML with `{keys}`", error.message());
            fails(error.span().unwrap_or_default(), what)
        })?;
        let mut config = *self;
        for (key, value) in table.get_ref().iter() {
            let known = CONFIG_KEYS.contains(&key.get_ref().as_ref());
            let span = if known { value.span() } else { key.span() };
            let set = config.set(key.get_ref(), value.get_ref());
            set.map_err(|what| fails(span, what))?;
        }
        *self = config;
        Ok(())
    }

    fn set(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), String> {
        match key {
            "ring_bytes" => self.ring_bytes = parse_integer(key, value, RING_BYTES_RANGE)? as usize,
            "receivers" => {
                self.receivers = parse_integer(key, value, 1..i64::from(READERS_MAX) + 1)? as u32;
            }
            "huge_pages" => self.huge_pages = parse_pages(value)?,
            _ => {
                let keys = CONFIG_KEYS.join("`, `");
                return Err(format!("there is no key `{key}`; there are `{keys}`"));
            }
        }
        Ok(())
    }
}

/// Reads a file, which may have no end.
fn read_text(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(file)?.take(CONFIG_BYTES_MAX + 1);
    file.read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_BYTES_MAX {
        let message = format!("it has more than {} MB, or no end", CONFIG_BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

fn parse_integer(key: &str, value: &DeValue<'_>, range: Range<i64>) -> Result<i64, String> {
    let (from, to) = (range.start, range.end - 1);
    let number = match value {
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok(),
        _ => None,
    };
    let number = number.filter(|number| range.contains(number));
    number.ok_or_else(|| format!("`{key}` must be an integer from {from} to {to}"))
}

fn parse_pages(value: &DeValue<'_>) -> Result<PagePolicy, String> {
    let found = match value {
        DeValue::String(word) => HUGE_PAGES_VALUES.iter().find(|(name, _)| name == word),
        _ => None,
    };
    found
        .map(|(_, pages)| *pages)
        .ok_or_else(|| "`huge_pages` must be \"auto\", \"always\" or \"never\"".to_owned())
}

/// An error at the byte offset `at` of a text.
fn error_at(name: &str, text: &str, at: usize, what: String) -> ConfigError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    ConfigError {
        file: name.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: what,
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConfigError {
            file,
            line,
            column,
            message: what,
        } = self;
        match line {
            0 => write!(f, "{file}: {what}"),
            _ => write!(f, "{file}:{line}:{column}: {what}"),
        }
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        let mut config = PublisherConfig::default();
        let error = config.apply("smx.cfg", text).unwrap_err();
        assert_eq!(config, PublisherConfig::default(), "nothing of it counts");
        error.to_string()
    }

    #[test]
    fn a_file_without_an_end_is_given_up() {
        let error = PublisherConfig::default()
            .read(Path::new("/dev/zero"))
            .unwrap_err();
        let why = "cannot be read: it has more than 1 MB, or no end";
        assert!(error.to_string().contains(why), "{error}");
    }

    #[test]
    fn the_last_word_counts() {
        let mut config = PublisherConfig::default();
        let first = "ring_bytes = 0x10_0000\nreceivers = 4 # as many as there are cores\n";
        config.apply("first", first).unwrap();
        config
            .apply("second", "receivers = 3\nhuge_pages = 'never'")
            .unwrap();
        config.apply("third", "").unwrap();
        let expected = PublisherConfig {
            ring_bytes: 1 << 20,
            receivers: 3,
            huge_pages: PagePolicy::Small,
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            wrong("receivers = 2\n  rong_bytes = 1"),
            "smx.cfg:2:3: there is no key `rong_bytes`; there are `ring_bytes`, `receivers`, `huge_pages`"
        );
        assert_eq!(
            wrong("# ü\nring_bytes = 100"),
            "smx.cfg:2:14: `ring_bytes` must be an integer from 4096 to 2147483648"
        );
        assert_eq!(
            wrong("ring_bytes = 8e6"),
            "smx.cfg:1:14: `ring_bytes` must be an integer from 4096 to 2147483648"
        );
        for receivers in ["0", "65", "-1", "99999999999999999999", "true"] {
            assert_eq!(
                wrong(&format!("receivers = {receivers}")),
                "smx.cfg:1:13: `receivers` must be an integer from 1 to 64"
            );
        }
        assert_eq!(
            wrong("huge_pages = true"),
            "smx.cfg:1:14: `huge_pages` must be \"auto\", \"always\" or \"never\""
        );
    }

    #[test]
    fn what_is_no_toml_is_said_with_its_place() {
        // Written like the configuration of another system.
        let error = wrong("context resolver_multicast_address 239.101.3.1\n");
        assert!(error.starts_with("smx.cfg:1:"), "{error}");
        assert!(wrong("receivers = 1\nreceivers = 2").starts_with("smx.cfg:2:1: "));
        assert!(wrong("receivers =").starts_with("smx.cfg:1:"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = PublisherConfig::default().read(Path::new("no/such/file"));
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("no/such/file: cannot be read: "),
            "{error}"
        );
    }
}
