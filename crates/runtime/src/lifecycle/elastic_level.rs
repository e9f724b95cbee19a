//! The elastic level: how many threads of a pool look for work, by measured throughput.
//!
//! Samples come in, a level comes out; no clock and no thread is involved.
//!
//! ```text
//!   explore: measure the level that is; double it while that pays; else halve it while that costs
//!            nothing; keep the best level
//!   steady:  keep it until the load has changed, then explore again
//! ```
//! # No oscillation
//! While the level is explored each level is measured once: first upwards, then downwards, and the
//! walk ends. In the steady state only a change of throughput by [`LOAD_CHANGE`] over
//! [`NOISE_SAMPLES`] samples starts another walk. If such changes come soon after a walk, because
//! they are the work of the walk itself, the time to the next one doubles.

/// Gain of throughput for which a higher level is kept, and loss for which a lower one is not: 5 %.
const TOLERANCE: f64 = 0.05;

/// Change of throughput that counts as a change of the load: 20 %.
const LOAD_CHANGE: f64 = 0.2;

/// Number of samples that a level is measured by, and that a change has to last: 5.
const NOISE_SAMPLES: usize = 5;

/// Number of samples after which a halved level is given up if each has lost [`LOAD_CHANGE`]: 2.
const HOPELESS_SAMPLES: usize = 2;

/// Share of the cores in use above which no thread is added: nothing is left for it to run on.
const USAGE_MAX: f64 = 0.8;

/// Least and greatest number of samples from the end of a walk to the next one.
const REST_SAMPLES: (u32, u32) = (20, 1280);

/// Measure of what a pool has done since the sample before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThroughputSample {
    /// Tuples per second that all operators have processed.
    pub rate: f64,
    /// Share of the cores that the process has used, from 0 to 1.
    pub usage: f64,
}

/// The number of threads of a pool that look for work.
#[derive(Debug)]
pub(super) struct ElasticLevel {
    level: u32,
    max: u32,
    phase: LevelPhase,
    /// The best level of the walk, and its throughput.
    best: Option<(u32, f64)>,
    /// Samples of the present level. The first one after a change is distrusted: queues fill or
    /// drain.
    samples: Vec<ThroughputSample>,
    is_first_due: bool,
    /// Number of samples since the last walk has ended.
    rested: u32,
    /// Number of samples that have to pass before the next walk.
    rest: u32,
    /// Number of samples in a row that differ from the throughput of the steady state.
    changed: usize,
}

/// Part of a walk over the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LevelPhase {
    /// The level at which the walk begins is measured.
    Begin,
    /// A doubled level is measured; whether one before was kept.
    Up { was_kept: bool },
    /// A halved level is measured.
    Down,
    /// The walk is over, and the throughput of the level that was kept is measured.
    Settle,
    /// The walk is over.
    Steady,
}

impl ElasticLevel {
    /// A level that begins at `level` and has 1 to `max` threads.
    pub fn new(level: u32, max: u32) -> ElasticLevel {
        let max = max.max(1);
        ElasticLevel {
            level: level.clamp(1, max),
            max,
            phase: LevelPhase::Begin,
            best: None,
            samples: Vec::with_capacity(NOISE_SAMPLES),
            is_first_due: true,
            rested: 0,
            rest: REST_SAMPLES.0,
            changed: 0,
        }
    }

    /// The level that is wanted now.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The level after another sample. A sample without any tuple says nothing.
    pub fn next(&mut self, sample: ThroughputSample) -> u32 {
        if sample.rate <= 0.0 || std::mem::take(&mut self.is_first_due) {
            return self.level;
        }
        if self.phase == LevelPhase::Steady {
            self.watch(sample.rate);
            return self.level;
        }
        self.samples.push(sample);
        if self.samples.len() == NOISE_SAMPLES || self.is_hopeless() {
            let rate = median(self.samples.iter().map(|sample| sample.rate));
            let usage = median(self.samples.iter().map(|sample| sample.usage));
            self.samples.clear();
            self.decide(rate, usage);
        }
        self.level
    }

    /// Whether a halved level loses so much that it need not be measured to the end.
    fn is_hopeless(&self) -> bool {
        let (_, best_rate) = self.best.unwrap_or_default();
        let loses = |sample: &ThroughputSample| sample.rate < best_rate * (1.0 - LOAD_CHANGE);
        self.phase == LevelPhase::Down
            && self.samples.len() >= HOPELESS_SAMPLES
            && self.samples.iter().all(loses)
    }

    /// Decides on the level that has been measured.
    fn decide(&mut self, rate: f64, usage: f64) {
        let (best_level, best_rate) = self.best.unwrap_or((self.level, rate));
        match self.phase {
            LevelPhase::Begin => {
                self.best = Some((self.level, rate));
                self.go_up(usage, false);
            }
            LevelPhase::Up { .. } if rate > best_rate * (1.0 + TOLERANCE) => {
                self.best = Some((self.level, rate));
                self.go_up(usage, true);
            }
            LevelPhase::Up { was_kept: true } => self.settle(best_level),
            LevelPhase::Up { was_kept: false } => self.go_down(best_level),
            LevelPhase::Down if rate >= best_rate * (1.0 - TOLERANCE) => {
                // The greater rate stays the measure, or small losses would add up.
                self.best = Some((self.level, rate.max(best_rate)));
                self.go_down(self.level);
            }
            LevelPhase::Down => self.settle(best_level),
            LevelPhase::Settle | LevelPhase::Steady => {
                self.best = Some((self.level, rate));
                self.phase = LevelPhase::Steady;
                (self.rested, self.changed) = (0, 0);
            }
        }
    }

    fn go_up(&mut self, usage: f64, was_kept: bool) {
        if self.level < self.max && usage <= USAGE_MAX {
            self.phase = LevelPhase::Up { was_kept };
            self.set_level(self.level.saturating_mul(2).min(self.max));
        } else if was_kept {
            self.settle(self.level);
        } else {
            self.go_down(self.level);
        }
    }

    /// Measures half of a level, or settles at it.
    fn go_down(&mut self, from: u32) {
        if from > 1 {
            self.phase = LevelPhase::Down;
            self.set_level(from / 2);
        } else {
            self.settle(from);
        }
    }

    fn settle(&mut self, level: u32) {
        self.phase = LevelPhase::Settle;
        self.set_level(level);
    }

    fn set_level(&mut self, level: u32) {
        self.is_first_due = self.level != level;
        self.level = level;
    }

    /// Watches the throughput of the steady state, and begins another walk if the load has changed.
    fn watch(&mut self, rate: f64) {
        self.rested = self.rested.saturating_add(1);
        let (_, kept) = self.best.unwrap_or((self.level, rate));
        let has_changed = (rate - kept).abs() > kept * LOAD_CHANGE;
        self.changed = if has_changed { self.changed + 1 } else { 0 };
        if self.changed < NOISE_SAMPLES || self.rested < self.rest {
            return;
        }
        let (least, most) = REST_SAMPLES;
        // A change that came long after the walk is the load's own.
        self.rest = match self.rested >= 2 * self.rest {
            true => least,
            false => (self.rest * 2).min(most),
        };
        self.phase = LevelPhase::Begin;
        self.best = None;
    }
}

/// The middle value of some numbers.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator of noise that gives the same numbers each time.
    struct Noise(u64);

    impl Noise {
        /// A number from -1 to 1.
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as f64 / f64::from(1 << 30) - 1.0
        }
    }

    /// Feeds samples, made from the level and the sample's number; the levels that they lead to.
    fn levels(
        elastic: &mut ElasticLevel,
        samples: usize,
        mut sample: impl FnMut(u32, usize) -> (f64, f64),
    ) -> Vec<u32> {
        let feed = |at| {
            let (rate, usage) = sample(elastic.level(), at);
            elastic.next(ThroughputSample { rate, usage })
        };
        (0..samples).map(feed).collect()
    }

    /// Number of changes in a list of levels.
    fn changes(levels: &[u32]) -> usize {
        levels.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn it_climbs_while_that_pays_and_stays() {
        let mut elastic = ElasticLevel::new(1, 16);
        let all = levels(&mut elastic, 200, |level, _| {
            (f64::from(level.min(8)) * 1e6, f64::from(level) / 32.0)
        });
        assert_eq!(elastic.level(), 8);
        // 1, 2, 4, 8, 16 and back.
        assert_eq!(changes(&all), 5);
        assert_eq!(changes(&all[100..]), 0);
    }

    #[test]
    fn it_gives_threads_back_that_bring_nothing() {
        let mut elastic = ElasticLevel::new(8, 16);
        let all = levels(&mut elastic, 200, |level, _| {
            (f64::from(level.min(2)) * 1e6, 0.9)
        });
        // No thread is added while all cores are in use.
        assert_eq!(all.iter().max(), Some(&8));
        assert_eq!(elastic.level(), 2);
        assert_eq!(changes(&all[100..]), 0);
    }

    #[test]
    fn a_level_that_loses_much_is_given_up_soon() {
        let mut elastic = ElasticLevel::new(2, 2);
        let all = levels(&mut elastic, 100, |level, _| (f64::from(level) * 1e6, 0.9));
        let lower = all.iter().filter(|&&level| level == 1).count();
        assert_eq!((lower, elastic.level()), (1 + HOPELESS_SAMPLES, 2));
    }

    #[test]
    fn small_losses_do_not_add_up() {
        let mut elastic = ElasticLevel::new(16, 16);
        // Each halving costs 4 %, which is within the tolerance once.
        levels(&mut elastic, 200, |level, _| {
            (1e6 * 0.96_f64.powi(4 - level.ilog2() as i32), 1.0)
        });
        assert_eq!(elastic.level(), 8);
    }

    /// Millions of tuples a second of a chain of 40 Functors on two cores that other processes used
    /// as well, with one and with two threads: recorded run by run.
    const RECORDED: [[f64; 7]; 2] = [
        [99.0, 95.8, 102.5, 117.8, 109.9, 124.2, 133.1],
        [88.2, 114.5, 116.8, 92.6, 76.1, 105.1, 96.5],
    ];

    #[test]
    fn a_recorded_load_that_gains_nothing_by_a_second_thread_has_one() {
        for begin in [1, 2] {
            let mut elastic = ElasticLevel::new(begin, 2);
            let all = levels(&mut elastic, 2000, |level, at| {
                (RECORDED[level as usize - 1][at % 7] * 1e6, 0.7)
            });
            assert_eq!(changes(&all[20..]), 0, "{:?}", &all[..40]);
            assert_eq!(elastic.level(), 1);
        }
    }

    #[test]
    fn noise_within_the_tolerance_changes_nothing() {
        let mut noise = Noise(7);
        let mut elastic = ElasticLevel::new(2, 8);
        let all = levels(&mut elastic, 2000, |level, _| {
            let rate = f64::from(level.min(4)) * 1e6 * (1.0 + 0.15 * noise.next());
            (rate, f64::from(level) / 10.0)
        });
        assert_eq!(changes(&all[100..]), 0, "{:?}", &all[100..]);
    }

    #[test]
    fn single_samples_that_are_far_off_change_nothing() {
        let mut noise = Noise(3);
        let mut elastic = ElasticLevel::new(1, 4);
        let all = levels(&mut elastic, 2000, |level, at| {
            let spike = if at % 7 == 3 { 0.1 } else { 1.0 };
            let rate = f64::from(level.min(2)) * 1e6 * spike * (1.0 + 0.02 * noise.next());
            (rate, f64::from(level) / 8.0)
        });
        assert_eq!(elastic.level(), 2);
        assert_eq!(changes(&all[100..]), 0);
    }

    #[test]
    fn it_follows_a_load_that_has_changed() {
        let mut elastic = ElasticLevel::new(1, 8);
        let useful = |at: usize| if at < 300 { 2 } else { 8 };
        let all = levels(&mut elastic, 600, |level, at| {
            // More work for each tuple, which more threads share.
            let cost = if at < 300 { 1.0 } else { 3.0 };
            (f64::from(level.min(useful(at))) * 1e6 / cost, 0.5)
        });
        assert_eq!((all[299], all[599]), (2, 8));
    }

    /// The first sample after each change is three times the others: full queues run empty.
    #[test]
    fn a_load_that_rewards_every_change_for_a_sample_is_not_followed() {
        let mut elastic = ElasticLevel::new(2, 8);
        let mut before = 0;
        let all = levels(&mut elastic, 1000, |level, _| {
            let is_new = std::mem::replace(&mut before, level) != level;
            (if is_new { 3e6 } else { 1e6 }, 0.5)
        });
        assert_eq!(changes(&all[100..]), 0);
        assert_eq!(elastic.level(), 1, "nothing is gained by more");
    }

    /// Each level is rewarded for as long as it is measured, and loses the gain when it is kept.
    #[test]
    fn a_load_that_rewards_every_measurement_once_brings_ever_rarer_changes() {
        let mut elastic = ElasticLevel::new(2, 8);
        let (mut before, mut age, mut gain) = (0, 0, 1.0);
        let all = levels(&mut elastic, 20_000, |level, _| {
            age += 1;
            if std::mem::replace(&mut before, level) != level {
                (age, gain) = (0, gain * 1.5);
            }
            if age > 3 * NOISE_SAMPLES {
                gain = 1.0;
            }
            (1e6 * gain, 0.5)
        });
        let early = changes(&all[..1000]);
        assert!(early < 40, "{early}");
        let late = changes(&all[19_000..]);
        assert!(late <= 8, "{late}");
    }

    #[test]
    fn a_pause_says_nothing() {
        let mut elastic = ElasticLevel::new(1, 4);
        levels(&mut elastic, 100, |level, _| (f64::from(level) * 1e6, 0.1));
        let all = levels(&mut elastic, 1000, |_, _| (0.0, 0.0));
        assert_eq!(changes(&all), 0);
        assert_eq!(elastic.level(), 4);
    }
}
