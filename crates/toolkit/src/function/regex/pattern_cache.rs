//! The compiled patterns of a thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use eval::Fault;

use super::compiled_pattern::{CompiledPattern, RegexFlavour, compile};

/// Number of compiled patterns that a thread keeps at most. Programs have a few; a bound is needed
/// for patterns that tuples bring.
const CACHE_SIZE: usize = 128;

/// The compiled pattern, from the thread's cache if it is there.
///
/// # Errors
/// A fault that names the pattern and what is wrong with it.
pub(in crate::function) fn cached_pattern(
    flavour: RegexFlavour,
    pattern: &[u8],
) -> Result<Rc<CompiledPattern>, Fault> {
    thread_local! {
        static CACHE: RefCell<RegexCache> = RefCell::default();
    }
    CACHE.with_borrow_mut(|cache| cache.get(flavour, pattern))
}

/// Whether a POSIX pattern matches somewhere in a text.
///
/// # Errors
/// A fault that names the pattern and what is wrong with it.
pub fn is_match(text: &[u8], pattern: &[u8]) -> Result<bool, Fault> {
    let pattern = cached_pattern(RegexFlavour::Posix, pattern)?;
    pattern.is_match(text)
}

type RegexCacheKey = (RegexFlavour, Box<[u8]>);

#[derive(Default)]
struct RegexCache {
    /// Compiled patterns with the time of their last use.
    patterns: HashMap<RegexCacheKey, (Rc<CompiledPattern>, u64)>,
    /// Number of look-ups, the time of the cache.
    use_count: u64,
    /// The pattern used last: most programs use few, one after the other on every tuple.
    last: Option<(RegexCacheKey, Rc<CompiledPattern>)>,
}

impl RegexCache {
    fn get(&mut self, flavour: RegexFlavour, text: &[u8]) -> Result<Rc<CompiledPattern>, Fault> {
        if let Some(((last, key), pattern)) = &self.last
            && (*last, &**key) == (flavour, text)
        {
            return Ok(Rc::clone(pattern));
        }
        self.use_count += 1;
        let key = (flavour, Box::from(text));
        let pattern = match self.patterns.get_mut(&key) {
            Some((pattern, used)) => {
                *used = self.use_count;
                Rc::clone(pattern)
            }
            None => self.add(key.clone())?,
        };
        self.last = Some((key, Rc::clone(&pattern)));
        Ok(pattern)
    }

    fn add(&mut self, key: RegexCacheKey) -> Result<Rc<CompiledPattern>, Fault> {
        let pattern = compile(key.0, &key.1).map_err(|why| {
            let text = String::from_utf8_lossy(&key.1);
            Fault::value(format!("the regular expression \"{text}\" is wrong: {why}"))
        })?;
        if self.patterns.len() >= CACHE_SIZE {
            let oldest = self.patterns.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.patterns.remove(&oldest);
            }
        }
        let pattern = Rc::new(pattern);
        self.patterns
            .insert(key, (Rc::clone(&pattern), self.use_count));
        Ok(pattern)
    }
}
