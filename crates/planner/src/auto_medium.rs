//! The choice of `auto`: the medium of streams for which neither program nor user names one.
//!
//! ```text
//!   calibrated?  the medium of the least predicted time for a tuple
//!   else         between hosts that a fabric joins: the medium that needs one
//!   else         the fastest medium by rank that gets there
//! ```
//! With several receivers a medium that serves all of them by one write comes first.

use std::sync::Arc;

use graph::PlanComment;
use tuple::TupleType;

use crate::calibration::{MediumCost, MediumReach};
use crate::choice::{
    MediumCapabilities, PlanError, PlanOptions, SharedFabric, process_crossing_media,
};
use crate::schema_bytes::tuple_bytes;

/// A stream that needs a medium, to receivers that are all reached in one way.
pub(crate) struct UnroutedStream<'s> {
    pub schema: &'s Arc<TupleType>,
    pub receivers: usize,
    pub has_rails: bool,
    pub joins: StreamJoins,
}

/// The way from the sender of a stream to its receivers.
#[derive(PartialEq)]
pub(crate) enum StreamJoins {
    /// All are on one host.
    SameHost,
    /// The receivers are on other hosts, joined by the fabric, or by none and why.
    OtherHost(Result<SharedFabric, String>),
}

/// The chosen medium of a stream.
#[derive(Clone)]
pub(crate) struct ChosenMedium<'a> {
    pub medium: MediumCapabilities<'a>,
    /// Settings of the medium; empty for those of the job.
    pub settings: String,
    pub reason: PlanComment,
}

impl<'a> ChosenMedium<'a> {
    /// A medium that program or user have named.
    pub fn requested(medium: MediumCapabilities<'a>) -> ChosenMedium<'a> {
        ChosenMedium {
            medium,
            settings: String::new(),
            reason: PlanComment::default(),
        }
    }

    /// Whether one crossing can have both: medium and settings are equal.
    pub fn is_same(&self, other: &ChosenMedium<'_>) -> bool {
        self.medium == other.medium && self.settings == other.settings
    }
}

/// Chooses the medium of a stream.
///
/// # Errors
/// No medium reaches the receivers.
pub(crate) fn choose<'a>(
    options: &PlanOptions<'a>,
    stream: &UnroutedStream<'_>,
) -> Result<ChosenMedium<'a>, PlanError> {
    let choice = AutoChoice { options, stream };
    let chosen = choice.by_calibration().or_else(|| choice.by_fabric());
    let chosen = chosen.or_else(|| choice.by_rank());
    chosen.ok_or_else(|| {
        let what = if choice.is_far() {
            "hosts"
        } else {
            "processes"
        };
        PlanError::new(format!("there is no medium that crosses {what}"))
    })
}

struct AutoChoice<'c, 'a> {
    options: &'c PlanOptions<'a>,
    stream: &'c UnroutedStream<'c>,
}

impl<'a> AutoChoice<'_, 'a> {
    fn is_far(&self) -> bool {
        matches!(self.stream.joins, StreamJoins::OtherHost(_))
    }

    /// The fabric that joins the hosts of the stream, if they have one.
    fn fabric(&self) -> Option<&SharedFabric> {
        match &self.stream.joins {
            StreamJoins::OtherHost(Ok(fabric)) => Some(fabric),
            _ => None,
        }
    }

    /// The media that reach the receivers.
    fn candidates(&self) -> impl Iterator<Item = MediumCapabilities<'a>> {
        let (is_far, has_rails) = (self.is_far(), self.stream.has_rails);
        let media = process_crossing_media(self.options.media);
        let media = media.filter(move |m| m.crosses_hosts || !is_far);
        // A fabric joins two hosts by one port of each, and rails are several.
        let media = media.filter(move |m| m.rails_max > 1 && !m.needs_fabric || !has_rails);
        media.filter(|m| !m.needs_fabric || self.is_medium_of_fabric(m))
    }

    fn is_medium_of_fabric(&self, medium: &MediumCapabilities<'_>) -> bool {
        let fabric = self.fabric();
        fabric.is_some_and(|fabric| fabric.medium == medium.name)
    }

    /// Whether a write would go out for each of several receivers.
    fn writes_several(&self, medium: MediumCapabilities<'_>) -> bool {
        self.stream.receivers > 1 && !medium.is_one_to_many
    }

    fn by_calibration(&self) -> Option<ChosenMedium<'a>> {
        let calibration = self.options.calibration?;
        let reach = match self.is_far() {
            true => MediumReach::BetweenHosts,
            false => MediumReach::WithinHost,
        };
        let bytes = tuple_bytes(self.stream.schema);
        let mut measured: Vec<(MediumCapabilities<'a>, &MediumCost, String)> = Vec::new();
        for medium in self.candidates() {
            let costs = calibration.costs(reach);
            for cost in costs.filter(|cost| cost.medium == medium.name) {
                if let Some(settings) = self.settings(medium, cost) {
                    measured.push((medium, cost, settings));
                }
            }
        }
        measured.sort_by(|(a, of_a, _), (b, of_b, _)| {
            let writes = self.writes_several(*a).cmp(&self.writes_several(*b));
            let costs = of_a.tuple_ns(bytes).total_cmp(&of_b.tuple_ns(bytes));
            writes.then(costs).then(a.rank.cmp(&b.rank))
        });
        let costs = measured.iter();
        let costs = costs.map(|(medium, cost, _)| (*cost, self.writes_several(*medium)));
        let reason = calibrated_reason(costs, self.where_to(), self.stream);
        let (medium, _, settings) = measured.into_iter().next()?;
        Some(ChosenMedium {
            medium,
            settings,
            reason: PlanComment::new(&reason),
        })
    }

    /// The settings with which a stream crosses at a measured cost: those that were measured, of
    /// the fabric and of the job. `None`: they contradict each other.
    fn settings(&self, medium: MediumCapabilities<'_>, cost: &MediumCost) -> Option<String> {
        let fabric = self.fabric().filter(|_| medium.needs_fabric);
        let fabric = fabric.map_or("", |fabric| &fabric.settings);
        let all = [&*cost.settings, fabric, self.job_settings(medium)];
        join_settings(&all)
    }

    /// The settings that the job has for a medium.
    fn job_settings(&self, medium: MediumCapabilities<'_>) -> &'a str {
        self.options.settings_of(medium.name)
    }

    fn by_fabric(&self) -> Option<ChosenMedium<'a>> {
        let fabric = self.fabric()?;
        let medium = self.candidates().find(|medium| medium.needs_fabric)?;
        let settings = join_settings(&[&fabric.settings, self.job_settings(medium)])?;
        Some(ChosenMedium {
            medium,
            settings,
            reason: PlanComment::new(&format!("other host, on the fabric {}", fabric.name)),
        })
    }

    fn by_rank(&self) -> Option<ChosenMedium<'a>> {
        let media = self.candidates();
        let media = media.filter(|m| !m.is_by_name_only && !m.needs_fabric);
        let medium = media.min_by_key(|m| (self.writes_several(*m), m.rank))?;
        let why_no_fabric = match &self.stream.joins {
            StreamJoins::OtherHost(Err(why)) if !why.is_empty() => format!("; {why}"),
            _ => String::new(),
        };
        Some(ChosenMedium {
            medium,
            settings: String::new(),
            reason: PlanComment::new(&(self.where_to().to_owned() + &why_no_fabric)),
        })
    }

    /// Where the receivers are, in words for a comment.
    fn where_to(&self) -> &'static str {
        match (self.is_far(), self.stream.has_rails) {
            (false, false) => "same host",
            (false, true) => "same host, rails",
            (true, false) => "other host",
            (true, true) => "other host, rails",
        }
    }
}

/// The predicted times of media, the chosen one first, in words for a comment. Each medium comes
/// with whether it writes once for each of several receivers.
fn calibrated_reason<'m>(
    mut costs: impl Iterator<Item = (&'m MediumCost, bool)>,
    where_to: &str,
    stream: &UnroutedStream<'_>,
) -> String {
    let bytes = tuple_bytes(stream.schema);
    let time = |cost: &MediumCost| match cost.tuple_ns(bytes) {
        ns @ 10.0.. => format!("{ns:.0} ns"),
        ns => format!("{ns:.1} ns"),
    };
    let Some((chosen, is_for_each)) = costs.next() else {
        return String::new();
    };
    let others = costs.map(|(cost, writes_several)| {
        let (medium, ns) = (&cost.medium, time(cost));
        // Its cost may be less than that of the chosen one.
        match writes_several && !is_for_each {
            true => format!(", {medium} {ns} for each of {} receivers", stream.receivers),
            false => format!(", {medium} {ns}"),
        }
    });
    let (chosen, others) = (time(chosen), others.collect::<String>());
    format!("{where_to}, calibrated: {chosen} a tuple of {bytes} bytes{others}")
}

/// All settings, each key once; `None` if two of them have different values for a key.
fn join_settings(all: &[&str]) -> Option<String> {
    let mut joined: Vec<&str> = Vec::new();
    for word in all.iter().flat_map(|settings| settings.split_whitespace()) {
        let name = word.split('=').next();
        match joined.iter().find(|other| other.split('=').next() == name) {
            Some(other) if *other != word => return None,
            Some(_) => {}
            None => joined.push(word),
        }
    }
    Some(joined.join(" "))
}
