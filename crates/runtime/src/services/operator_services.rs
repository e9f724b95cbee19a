//! Operator services: what one operator may ask of its PE. Name, random numbers, metrics, levels,
//! and the services of the PE context.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use eval::{ConditionError, Fault, FaultKind, KeptValue, OperatorEventTime, Services, TraceLevel};
use tuple::{TupleType, Value};

use crate::contract::build_context::GaugeReader;
use crate::services::message_log::{self, TraceLevels};
use crate::services::pe_context::PeContext;

/// The services of one operator. Shared by the threads that run it.
pub(crate) struct OperatorServices {
    context: Arc<PeContext>,
    name: Arc<str>,
    levels: TraceLevels,
    /// State of the random number generator. One thread at a time is in the operator; if the
    /// operator's own thread draws too, one number may be given out twice.
    random: AtomicU64,
    metrics: Mutex<Vec<CustomMetric>>,
    /// Values that library functions keep for the operator between their calls.
    kept: Mutex<HashMap<String, KeptValue>>,
    /// Reads further metrics, which the operator's Rust code keeps.
    gauges: OnceLock<GaugeReader>,
    /// Reads metrics of the operator's ports, which the run time counts.
    port_metrics: OnceLock<PortMetricReader>,
    /// Properties of this operator alone: the keys of its annotations `channel` and `boundary`.
    annotation_properties: Vec<(Arc<str>, String)>,
    /// Event time, as the operator's expressions see it.
    pub events: OperatorEventTime,
    /// Whether the operator has no input ports.
    is_source: bool,
    /// Number of sleeps since the shutdown without a look for it.
    sleeps_after_shutdown: AtomicU32,
    /// Whether the source was made to end.
    is_interrupted: AtomicBool,
}

/// Reads a metric of a port: see [`eval::Services::property`].
pub(crate) type PortMetricReader = Box<dyn Fn(&str) -> Option<i64> + Send + Sync>;

/// A metric that the operator created.
pub(crate) struct CustomMetric {
    name: String,
    value: AtomicI64,
}

/// The keys of the annotations that the compiler gives operators in parallel regions, and those
/// whose streams are exported or imported.
fn annotation_properties(operator: &graph::OperatorNode) -> Vec<(Arc<str>, String)> {
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

impl OperatorServices {
    pub fn new(pe_context: &Arc<PeContext>, operator: &graph::OperatorNode) -> OperatorServices {
        let mut levels = pe_context.message_log.levels;
        for entry in &operator.config {
            let level = entry
                .values
                .first()
                .and_then(|v| message_log::parse_level(v));
            match (&*entry.name, level) {
                ("tracing", Some(level)) => levels.trace = level,
                ("logLevel", Some(level)) => levels.log = level,
                _ => {}
            }
        }
        OperatorServices {
            context: pe_context.clone(),
            name: operator.name.clone(),
            levels,
            random: AtomicU64::new(fnv1a(operator.name.bytes().map(u64::from))),
            metrics: Mutex::new(Vec::new()),
            kept: Mutex::default(),
            gauges: OnceLock::new(),
            port_metrics: OnceLock::new(),
            annotation_properties: annotation_properties(operator),
            events: OperatorEventTime::new(operator.clock.as_ref()),
            is_source: operator.inputs.is_empty(),
            sleeps_after_shutdown: AtomicU32::new(0),
            is_interrupted: AtomicBool::new(false),
        }
    }

    /// The fault that ends a source which goes on after a shutdown.
    #[cold]
    pub fn interrupt(&self) -> Fault {
        self.is_interrupted.store(true, Ordering::Relaxed);
        Fault::new(FaultKind::Limit, "the job was shut down")
    }

    /// Whether the source was ended by [`OperatorServices::interrupt`].
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// Name of the operator instance.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Names and values of all metrics.
    pub fn metrics(&self) -> Vec<(String, i64)> {
        let metrics = self.lock();
        let pairs = metrics.iter().map(|m| (m.name.clone(), m.get()));
        let gauges = self.gauges.get().map(|gauges| gauges()).unwrap_or_default();
        pairs.chain(gauges).collect()
    }

    /// Sets the reader of further metrics; once.
    pub fn set_gauges(&self, gauges: GaugeReader) {
        // Only the operator's construction sets it.
        let _ = self.gauges.set(gauges);
    }

    /// Sets the reader of metrics of ports; once.
    pub fn set_port_metrics(&self, counts: PortMetricReader) {
        // Only the start of the PE sets it.
        let _ = self.port_metrics.set(counts);
    }

    /// Adds to a metric, and creates it if need be.
    pub fn add_to_metric(&self, metric: &str, more: i64) {
        let mut metrics = self.lock();
        match metrics.iter().find(|m| m.name == metric) {
            Some(found) => found.value.store(found.get() + more, Ordering::Relaxed),
            None => metrics.push(CustomMetric::new(metric, more)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CustomMetric>> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CustomMetric {
    fn new(name: &str, value: i64) -> CustomMetric {
        CustomMetric {
            name: name.to_owned(),
            value: AtomicI64::new(value),
        }
    }

    fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }
}

/// FNV-1a: a seed that depends on nothing but the name.
fn fnv1a(bytes: impl Iterator<Item = u64>) -> u64 {
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

impl Services for &OperatorServices {
    fn print(&mut self, text: &[u8], flush: bool) -> Result<(), Fault> {
        self.context.print(text, flush)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        self.context.flush()
    }

    fn print_error(&mut self, text: &[u8]) -> io::Result<()> {
        self.context.message_log.print(text)
    }

    fn data_directory(&self) -> Result<String, Fault> {
        let path = self.context.data_directory.to_str().map(str::to_owned);
        path.ok_or_else(|| {
            let message = "the name of the data directory is not UTF-8";
            Fault::new(FaultKind::System, message)
        })
    }

    fn is_shutdown(&self) -> bool {
        self.sleeps_after_shutdown.store(0, Ordering::Relaxed);
        self.context.stop_signal.is_requested()
    }

    fn shutdown(&mut self) {
        self.context.stop_signal.request();
    }

    fn block(&mut self, seconds: f64) {
        self.context.stop_signal.sleep(seconds);
    }

    fn pause(&mut self, seconds: f64) -> Result<(), Fault> {
        if self.is_source && self.context.stop_signal.is_requested() {
            // The first time the source may be on its way to its end.
            if self.sleeps_after_shutdown.fetch_add(1, Ordering::Relaxed) > 0 {
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
            self.context
                .message_log
                .write(level, &self.name, aspect, message);
        }
    }

    fn is_loggable(&self, level: TraceLevel) -> bool {
        level != TraceLevel::Off && level <= self.levels.log
    }

    fn log(&mut self, level: TraceLevel, message: &str, aspect: &str) {
        if self.is_loggable(level) {
            self.context
                .message_log
                .write(level, &self.name, aspect, message);
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
        metrics
            .iter()
            .find(|m| m.name == name)
            .map(CustomMetric::get)
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
            metrics.push(CustomMetric::new(name, value));
        }
        is_new
    }

    fn metric_names(&self) -> Vec<String> {
        self.metrics().into_iter().map(|(name, _)| name).collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = self
            .annotation_properties
            .iter()
            .find(|(known, _)| **known == *name)
        {
            return Some(value.clone());
        }
        let mut properties = self.context.properties.iter();
        let found = properties.find(|(known, _)| known == name);
        let counted = || self.port_metrics.get()?(name).map(|value| value.to_string());
        found.map(|(_, value)| value.clone()).or_else(counted)
    }

    fn event_time(&self) -> Option<&OperatorEventTime> {
        Some(&self.events)
    }

    fn evaluate_condition(
        &mut self,
        condition: &str,
        over: &Arc<TupleType>,
        tuple: &[Value],
    ) -> Result<Result<bool, ConditionError>, Fault> {
        let reader = self.context.conditions.ok_or_else(|| {
            let message = "this PE was started without a reader of conditions that are text";
            Fault::new(FaultKind::Limit, message)
        })?;
        Ok(reader(condition, over, tuple, self))
    }

    fn keep(&mut self, name: &str, value: KeptValue) -> Result<(), Fault> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.get_mut(name) {
            Some(place) => *place = value,
            None => drop(kept.insert(name.to_owned(), value)),
        }
        Ok(())
    }

    fn kept(&self, name: &str) -> Result<Option<KeptValue>, Fault> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(name).cloned())
    }
}
