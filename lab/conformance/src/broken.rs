//! Broken media, each with the behaviours that must catch it: a suite that cannot fail proves
//! nothing.

use std::time::Duration;

use transport::Medium;

use crate::behaviours;
use crate::child::TestOutcome;
use crate::granting::Granting;
use crate::reference::Reference;
use crate::rig::Rig;

/// A medium with a fault, and the behaviours that it does not show.
type Broken = (&'static dyn Medium, &'static [&'static str]);

/// Lists the faults with the behaviours that catch them, and makes the enum, so that every fault
/// has one.
macro_rules! faults {
    ($broken:ident, $medium:ident with $faults:ident $(or $nothing:ident)?:
        $($fault:ident: $($behaviour:ident)+,)+) => {
        /// A fault of the reference medium.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $faults {
            $(/// Nothing is.
            $nothing,)?
            $(/// As it says.
            $fault,)+
        }

        const $broken: &[Broken] = &[
            $((
                &$medium { name: stringify!($fault), fault: $faults::$fault },
                &[$(stringify!($behaviour)),+],
            ),)+
        ];
    };
}

faults! { BROKEN, Reference with Fault or Nothing:
    Reorders: frames_arrive_once_and_in_order two_threads_at_full_speed,
    Duplicates: frames_arrive_once_and_in_order,
    Loses: frames_arrive_once_and_in_order frames_wrap_round_the_end,
    LosesWhenFull: a_full_edge_says_so_and_has_room_again a_slow_receiver_gets_everything,
    Tears: boundaries_are_kept two_threads_at_full_speed,
    RoundsLengths: boundaries_are_kept every_length_around_8_and_64_passes,
    CutsLargest: the_largest_frame_passes the_largest_frame_passes_at_any_place,
    LosesEmpty: an_empty_frame_passes every_length_around_8_and_64_passes,
    LosesFlags: kinds_and_flags_are_kept,
    LosesKinds: kinds_and_flags_are_kept,
    LiesCrooked: boundaries_are_kept,
    MixesEdges: edges_do_not_mix,
    PublishesClaims: a_second_claim_replaces_the_first what_is_not_committed_is_never_seen,
    KeepsClaimLength: a_frame_may_be_shorter_than_its_claim,
    PutsHalf: put_is_claim_copy_and_commit,
    AcceptsOversized: an_oversized_claim_is_refused,
    NeverFull: a_full_edge_says_so_and_has_room_again room_wakes_the_sender,
    StaysFull: a_full_edge_says_so_and_has_room_again a_full_edge_drains_without_a_flush,
    HoldsLastBack: a_lone_frame_is_seen_without_a_flush a_flush_makes_everything_visible,
    FlushesNothing: a_lone_frame_is_seen_without_a_flush a_flush_makes_everything_visible,
    PollsAgain: what_is_polled_holds_its_room_until_release,
    ReleasesOnPoll: what_is_polled_holds_its_room_until_release,
    ReleasesUnpolled: release_gives_back_only_what_was_polled,
    CountsNothing: queued_bytes_grow_and_shrink,
    DrainsTooSoon: what_is_polled_holds_its_room_until_release,
    LosesTail: a_sender_that_is_dropped_loses_no_tail,
    LosesUnpolled: a_sender_that_is_dropped_loses_no_tail,
    NeverSeesTheSenderGo: a_sender_that_is_drained_and_dropped_is_lost a_lost_sender_stays_lost,
    SaysLostOnce: a_lost_sender_stays_lost,
    NeverSeesReceiversGo: a_dropped_receiver_is_noticed an_edge_without_receivers_is_drained,
    SaysReceiverLostOnce: a_lost_receiver_stays_lost,
    ClaimsInSilence: claims_alone_tell_of_the_last_receivers_end,
    NamesNobody: a_dropped_receiver_is_noticed the_last_receivers_end_is_said,
    LeavesDescriptors: nothing_is_left_behind,
    NeverWakesReceivers: a_frame_wakes_the_receiver no_wake_up_is_lost,
    NeverWakesSender: room_wakes_the_sender no_wake_up_is_lost,
    DiesInSilence: the_senders_end_wakes_the_receiver the_receivers_end_wakes_the_sender,
    SleepsOverWork: work_keeps_an_end_awake,
    ArmsTooLate: no_wake_up_is_lost,
    NeverSleeps: an_end_without_work_sleeps,
    RingsForever: an_end_without_work_sleeps,
    AcceptsGarbled: a_garbled_ticket_is_refused,
    AcceptsTwice: a_ticket_works_once,
    AcceptsAny: another_jobs_ticket_is_refused,
    Allocates: a_warm_edge_allocates_nothing,
    SkipsSecond: every_receiver_gets_every_frame,
    FastestDecides: the_slowest_receiver_sets_the_pace,
    StopsWithOne: a_dead_receiver_is_not_waited_for,
    WakesOne: every_sleeping_receiver_is_woken,
    WakesForTheFirst: the_slowest_receiver_wakes_the_sender,
    WaitsForTheDead: a_dead_receiver_is_not_waited_for,
}

faults! { BROKEN_GRANTS, Granting with GrantFault:
    GrantsElsewhere: granted_frames_arrive_once_and_in_order every_receiver_gets_granted_frames
        a_sender_that_is_dropped_loses_no_granted_tail,
    GrantsOverFrames: a_grant_ends_where_the_room_ends every_receiver_gets_granted_frames,
    MovesGrant: a_grant_stays_where_it_is,
    HoldsCallsBack: granted_frames_arrive_once_and_in_order,
    CountsOnlyCalls: granted_frames_hold_their_room_until_release,
    WakesNobody: a_granted_frame_wakes_the_receiver no_wake_up_is_lost_by_grants
        a_sleeper_is_seen_by_compiled_code every_receiver_gets_granted_frames,
    HidesLosses: the_receivers_end_ends_the_grant,
}

/// The reference medium without a fault.
pub static WHOLE: Reference = Reference {
    name: "reference",
    fault: Fault::Nothing,
};

/// Time that a step may take. Short, because most faults show as something that never comes.
const PATIENCE: Duration = Duration::from_millis(500);

/// A broken medium by the name of its fault.
pub fn find(name: &str) -> Option<&'static dyn Medium> {
    let mut media = every().map(|(medium, _)| *medium);
    media.find(|medium| medium.name() == name)
}

fn every() -> impl Iterator<Item = &'static Broken> {
    BROKEN.iter().chain(BROKEN_GRANTS)
}

/// The faults and the behaviours that catch them.
pub fn all() -> impl Iterator<Item = (&'static dyn Medium, &'static str)> {
    let pairs = |(medium, behaviours): &Broken| {
        let medium = *medium;
        behaviours.iter().map(move |behaviour| (medium, *behaviour))
    };
    every().flat_map(pairs)
}

/// Succeeds if the behaviour fails on the broken medium.
pub fn is_caught(medium: &'static dyn Medium, behaviour: &str) -> TestOutcome {
    let known = behaviours::all();
    let known = known.iter().find(|known| known.name == behaviour);
    let run = known.ok_or("no behaviour has that name")?.run;
    let rig = Rig {
        medium,
        patience: PATIENCE,
    };
    match run(rig) {
        Err(_) => Ok(()),
        Ok(()) => Err(format!("{} is not caught", medium.name()).into()),
    }
}

/// Checks that each behaviour within one process catches some fault. The others run the same checks
/// on two processes.
pub fn every_behaviour_can_fail() -> TestOutcome {
    let caught: Vec<_> = all().map(|(_, behaviour)| behaviour).collect();
    let behaviours = behaviours::all().into_iter();
    let harmless = behaviours
        .filter(|behaviour| !behaviour.needs.processes && !caught.contains(&behaviour.name));
    let harmless: Vec<_> = harmless.map(|behaviour| behaviour.name).collect();
    crate::ensure!(harmless.is_empty(), "nothing is caught by {harmless:?}");
    Ok(())
}
