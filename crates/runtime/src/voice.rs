//! What one operator may ask of its PE: its name, random numbers, metrics, levels, and the house's
//! services.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use graph::{BadCondition, Events, Fault, FaultKind, Services, TraceLevel};
use tuple::{TupleType, Value};

use crate::house::House;
use crate::journal::{self, Levels};

/// The services of one operator. Shared by the threads that run it.
pub(crate) struct Voice {
    house: Arc<House>,
    name: Arc<str>,
    levels: Levels,
    /// State of the generator. One thread at a time is in the operator; if its own thread draws
    /// too, one number may be given out twice.
    random: AtomicU64,
    metrics: Mutex<Vec<Metric>>,
    /// Metrics that somebody else keeps.
    gauges: OnceLock<Gauges>,
    /// What the run time counts at its ports.
    counts: OnceLock<Counts>,
    /// What can be asked of this operator alone: the keys of its annotations `channel` and `boundary`.
    own: Vec<(Arc<str>, String)>,
    /// What its expressions may ask about event time.
    pub events: Events,
    /// It has no input ports.
    is_source: bool,
    /// How often it has slept since the shutdown without looking for one.
    slept: AtomicU32,
    /// It was made to end.
    is_interrupted: AtomicBool,
}

/// Reads metrics.
pub(crate) type Gauges = Box<dyn Fn() -> Vec<(String, i64)> + Send + Sync>;

/// Reads a metric of a port: see [`crate::wiring::Wiring::port_metric`].
pub(crate) type Counts = Box<dyn Fn(&str) -> Option<i64> + Send + Sync>;

/// A custom metric.
pub(crate) struct Metric {
    name: String,
    value: AtomicI64,
}

/// The keys of the annotations that the compiler gives operators in parallel regions, and those whose
/// streams are exported or imported.
fn own(operator: &graph::Operator) -> Vec<(Arc<str>, String)> {
    let annotations = operator.annotations.iter();
    let keys = annotations
        .filter(|(name, _)| matches!(&**name, "channel" | "boundary"))
        .flat_map(|(_, keys)| keys);
    let text = |value: &Value| match value {
        Value::RString(text) => text.to_string_lossy().into_owned(),
        other => format!("{other:?}"),
    };
    keys.map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

impl Voice {
    pub fn new(house: &Arc<House>, operator: &graph::Operator) -> Voice {
        let mut levels = house.journal.levels;
        for entry in &operator.config {
            let level = entry.values.first().and_then(|v| journal::level(v));
            match (&*entry.name, level) {
                ("tracing", Some(level)) => levels.trace = level,
                ("logLevel", Some(level)) => levels.log = level,
                _ => {}
            }
        }
        Voice {
            house: house.clone(),
            name: operator.name.clone(),
            levels,
            random: AtomicU64::new(fold(operator.name.bytes().map(u64::from))),
            metrics: Mutex::new(Vec::new()),
            gauges: OnceLock::new(),
            counts: OnceLock::new(),
            own: own(operator),
            events: Events::new(operator.clock.as_ref()),
            is_source: operator.inputs.is_empty(),
            slept: AtomicU32::new(0),
            is_interrupted: AtomicBool::new(false),
        }
    }

    /// The fault that ends a source which goes on after a shutdown.
    #[cold]
    pub fn interrupt(&self) -> Fault {
        self.is_interrupted.store(true, Ordering::Relaxed);
        Fault::new(FaultKind::Limit, "the job was shut down")
    }

    /// Whether it was ended so.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// The operator's name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The metrics and their values.
    pub fn metrics(&self) -> Vec<(String, i64)> {
        let metrics = self.lock();
        let pairs = metrics.iter().map(|m| (m.name.clone(), m.get()));
        let gauges = self.gauges.get().map(|gauges| gauges()).unwrap_or_default();
        pairs.chain(gauges).collect()
    }

    /// Where more metrics are read; once.
    pub fn set_gauges(&self, gauges: Gauges) {
        // Only its wiring sets it.
        let _ = self.gauges.set(gauges);
    }

    /// Where metrics of its ports are read; once.
    pub fn set_counts(&self, counts: Counts) {
        // Only the start of its PE sets it.
        let _ = self.counts.set(counts);
    }

    /// Adds to a metric, which it creates if need be.
    pub fn add(&self, metric: &str, more: i64) {
        let mut metrics = self.lock();
        match metrics.iter().find(|m| m.name == metric) {
            Some(found) => found.value.store(found.get() + more, Ordering::Relaxed),
            None => metrics.push(Metric::new(metric, more)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Metric>> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Metric {
    fn new(name: &str, value: i64) -> Metric {
        Metric {
            name: name.to_owned(),
            value: AtomicI64::new(value),
        }
    }

    fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }
}

/// FNV-1a: a seed that depends on nothing but the name.
fn fold(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ byte).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// SplitMix64 (Steele, Lea, Flood 2014): the state advances by a constant, the output mixes it.
fn next_random(state: &AtomicU64) -> u64 {
    let now = state
        .load(Ordering::Relaxed)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    state.store(now, Ordering::Relaxed);
    let mixed = (now ^ (now >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Services for &Voice {
    fn print(&mut self, text: &[u8], flush: bool) -> Result<(), Fault> {
        self.house.print(text, flush)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        self.house.flush()
    }

    fn print_error(&mut self, text: &[u8]) -> io::Result<()> {
        self.house.journal.print(text)
    }

    fn data_directory(&self) -> Result<String, Fault> {
        let path = self.house.data_directory.to_str().map(str::to_owned);
        path.ok_or_else(|| {
            let message = "the name of the data directory is not UTF-8";
            Fault::new(FaultKind::System, message)
        })
    }

    fn is_shutdown(&self) -> bool {
        self.slept.store(0, Ordering::Relaxed);
        self.house.stop.is_requested()
    }

    fn shutdown(&mut self) {
        self.house.stop.request();
    }

    fn block(&mut self, seconds: f64) {
        self.house.stop.sleep(seconds);
    }

    fn pause(&mut self, seconds: f64) -> Result<(), Fault> {
        if self.is_source && self.house.stop.is_requested() {
            // The first time it may be on its way to the end.
            if self.slept.fetch_add(1, Ordering::Relaxed) > 0 {
                return Err(self.interrupt());
            }
        }
        self.block(seconds);
        Ok(())
    }

    fn is_traceable(&self, level: TraceLevel) -> bool {
        level != TraceLevel::Off && level <= self.levels.trace
    }

    fn trace(&mut self, level: TraceLevel, message: &str, aspect: &str) {
        if self.is_traceable(level) {
            self.house.journal.write(level, &self.name, aspect, message);
        }
    }

    fn is_loggable(&self, level: TraceLevel) -> bool {
        level != TraceLevel::Off && level <= self.levels.log
    }

    fn log(&mut self, level: TraceLevel, message: &str, aspect: &str) {
        if self.is_loggable(level) {
            self.house.journal.write(level, &self.name, aspect, message);
        }
    }

    fn random(&mut self) -> f64 {
        // 53 bits: every multiple of 2^-53 in [0, 1).
        (next_random(&self.random) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn seed(&mut self, seed: i32) {
        self.random.store(seed as u64, Ordering::Relaxed);
    }

    fn operator_name(&self) -> &str {
        &self.name
    }

    fn metric(&self, name: &str) -> Option<i64> {
        let metrics = self.lock();
        metrics.iter().find(|m| m.name == name).map(Metric::get)
    }

    fn set_metric(&mut self, name: &str, value: i64) -> bool {
        let metrics = self.lock();
        let found = metrics.iter().find(|m| m.name == name);
        found
            .inspect(|m| m.value.store(value, Ordering::Relaxed))
            .is_some()
    }

    fn create_metric(&mut self, name: &str, _: &str, _: u32, value: i64) -> bool {
        let mut metrics = self.lock();
        let is_new = metrics.iter().all(|m| m.name != name);
        if is_new {
            metrics.push(Metric::new(name, value));
        }
        is_new
    }

    fn metric_names(&self) -> Vec<String> {
        self.metrics().into_iter().map(|(name, _)| name).collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = self.own.iter().find(|(known, _)| **known == *name) {
            return Some(value.clone());
        }
        let mut properties = self.house.properties.iter();
        let found = properties.find(|(known, _)| known == name);
        let counted = || self.counts.get()?(name).map(|value| value.to_string());
        found.map(|(_, value)| value.clone()).or_else(counted)
    }

    fn events(&self) -> Option<&Events> {
        Some(&self.events)
    }

    fn holds(
        &mut self,
        condition: &str,
        over: &Arc<TupleType>,
        tuple: &[Value],
    ) -> Result<Result<bool, BadCondition>, Fault> {
        let reader = self.house.conditions.ok_or_else(|| {
            let message = "this PE was started without a reader of conditions that are text";
            Fault::new(FaultKind::Limit, message)
        })?;
        Ok(reader(condition, over, tuple, self))
    }
}
