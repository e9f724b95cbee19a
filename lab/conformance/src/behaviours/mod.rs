//! The behaviours that every medium shows, by name.

mod claims;
mod ends;
mod frames;
mod granted;
mod processes;
mod receivers;
mod room;
mod tickets;
mod waking;
mod warm;

pub use granted::grants_lone_frames;
pub use processes::role;

use crate::child::TestOutcome;
use crate::rig::Rig;

/// A behaviour that a medium must show.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// Name of the behaviour: a sentence with `_` for spaces.
    pub name: &'static str,
    /// Capabilities that a medium must have to be asked for it.
    pub needs: Needs,
    /// Function that tests the behaviour.
    pub run: fn(Rig) -> TestOutcome,
}

/// Capabilities that a behaviour needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// The medium serves more than one receiver.
    pub several: bool,
    /// The medium crosses processes.
    pub processes: bool,
    /// The medium grants room that compiled code may fill.
    pub grant: bool,
    /// The medium grants room also for a frame with no other near.
    pub lone_grant: bool,
}

impl Needs {
    const NOTHING: Needs = Needs {
        several: false,
        processes: false,
        grant: false,
        lone_grant: false,
    };
    const SEVERAL: Needs = Needs {
        several: true,
        ..Needs::NOTHING
    };
    const PROCESSES: Needs = Needs {
        processes: true,
        ..Needs::NOTHING
    };
    const SEVERAL_PROCESSES: Needs = Needs {
        several: true,
        ..Needs::PROCESSES
    };
    const GRANT: Needs = Needs {
        grant: true,
        ..Needs::NOTHING
    };
    const LONE_GRANT: Needs = Needs {
        lone_grant: true,
        ..Needs::GRANT
    };
    const SEVERAL_GRANT: Needs = Needs {
        several: true,
        ..Needs::GRANT
    };
    const PROCESSES_GRANT: Needs = Needs {
        processes: true,
        ..Needs::GRANT
    };

    /// Whether a medium with these capabilities has all that are needed.
    pub fn are_met_by(self, capable: Needs) -> bool {
        (capable.several || !self.several)
            && (capable.processes || !self.processes)
            && (capable.grant || !self.grant)
            && (capable.lone_grant || !self.lone_grant)
    }
}

/// Lists functions with their names, so that no name can differ from its function.
macro_rules! behaviours {
    ($needs:expr; $($file:ident::$name:ident,)+) => {
        [$(Behaviour {
            name: stringify!($name),
            needs: $needs,
            run: $file::$name,
        }),+]
    };
}

/// Every behaviour of the suite.
pub fn all() -> Vec<Behaviour> {
    let alone = behaviours![Needs::NOTHING;
        frames::frames_arrive_once_and_in_order,
        frames::boundaries_are_kept,
        frames::the_largest_frame_passes,
        frames::the_largest_frame_passes_at_any_place,
        frames::an_empty_frame_passes,
        frames::every_length_around_8_and_64_passes,
        frames::kinds_and_flags_are_kept,
        frames::frames_wrap_round_the_end,
        frames::two_threads_at_full_speed,
        frames::edges_do_not_mix,
        claims::a_second_claim_replaces_the_first,
        claims::a_frame_may_be_shorter_than_its_claim,
        claims::an_oversized_claim_is_refused,
        claims::what_is_not_committed_is_never_seen,
        claims::put_is_claim_copy_and_commit,
        room::a_full_edge_says_so_and_has_room_again,
        room::a_full_edge_drains_without_a_flush,
        room::a_slow_receiver_gets_everything,
        room::what_is_polled_holds_its_room_until_release,
        room::release_gives_back_only_what_was_polled,
        room::queued_bytes_grow_and_shrink,
        room::a_lone_frame_is_seen_without_a_flush,
        room::a_flush_makes_everything_visible,
        ends::a_sender_that_is_drained_and_dropped_is_lost,
        ends::a_sender_that_is_dropped_loses_no_tail,
        ends::a_lost_sender_stays_lost,
        ends::a_dropped_receiver_is_noticed,
        ends::claims_alone_tell_of_the_last_receivers_end,
        ends::a_lost_receiver_stays_lost,
        ends::an_edge_without_receivers_is_drained,
        ends::nothing_is_left_behind,
        waking::a_frame_wakes_the_receiver,
        waking::room_wakes_the_sender,
        waking::the_senders_end_wakes_the_receiver,
        waking::the_receivers_end_wakes_the_sender,
        waking::work_keeps_an_end_awake,
        waking::an_end_without_work_sleeps,
        waking::no_wake_up_is_lost,
        tickets::a_garbled_ticket_is_refused,
        tickets::a_ticket_works_once,
        tickets::another_jobs_ticket_is_refused,
        warm::a_warm_edge_allocates_nothing,
    ];
    let several = behaviours![Needs::SEVERAL;
        receivers::every_receiver_gets_every_frame,
        receivers::the_slowest_receiver_sets_the_pace,
        receivers::a_dead_receiver_is_not_waited_for,
        receivers::the_last_receivers_end_is_said,
        receivers::every_sleeping_receiver_is_woken,
        receivers::the_slowest_receiver_wakes_the_sender,
    ];
    let processes = behaviours![Needs::PROCESSES;
        processes::a_child_receives,
        processes::a_child_sends,
        processes::a_child_is_woken_and_wakes,
        processes::a_killed_sender_loses_no_tail,
        processes::a_killed_receiver_is_noticed,
        processes::claims_alone_tell_of_a_killed_receiver,
    ];
    let both = behaviours![Needs::SEVERAL_PROCESSES; processes::one_of_two_children_is_killed,];
    [&alone[..], &several, &processes, &both, &granted()].concat()
}

/// Behaviours with frames that compiled code writes in place.
fn granted() -> Vec<Behaviour> {
    let alone = behaviours![Needs::GRANT;
        granted::granted_frames_arrive_once_and_in_order,
        granted::a_grant_ends_where_the_room_ends,
        granted::granted_frames_hold_their_room_until_release,
        granted::no_wake_up_is_lost_by_grants,
        granted::a_grant_stays_where_it_is,
        granted::a_sender_that_is_dropped_loses_no_granted_tail,
        granted::the_receivers_end_ends_the_grant,
    ];
    let lone = behaviours![Needs::LONE_GRANT;
        granted::a_granted_frame_wakes_the_receiver,
        granted::a_sleeper_is_seen_by_compiled_code,
    ];
    let several = behaviours![Needs::SEVERAL_GRANT; granted::every_receiver_gets_granted_frames,];
    let processes =
        behaviours![Needs::PROCESSES_GRANT; processes::a_child_receives_what_is_granted,];
    [&alone[..], &lone, &several, &processes].concat()
}
