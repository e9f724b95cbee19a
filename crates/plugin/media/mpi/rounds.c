/* Rounds of the MPI thread over all ends: it sends what senders leave behind, wakes ends that sleep,
 * tells the credit of receivers that are busy, and ends what was closed.
 *
 * MPI moves messages while it is called, and has no descriptor on which a thread could sleep. So the
 * thread looks soon after it has moved something for an end that needs it, and less often after that.
 * An end that calls MPI by itself needs no round. */

/* What a round has found. */
struct round {
    int has_moved; /* whether it has got something for an end that needs it */
    int is_needed; /* whether it has to come again soon */
    int is_last;   /* whether the process leaves the job after it */
};

/* Whether every receiver has everything, the end included. */
static int is_finished(const thalweg_medium_sender *s) {
    for (int at = 0; at < s->receivers; at++) {
        const struct peer *p = &s->peers[at];
        if (p->rank < 0 || !p->is_end_sent || p->send_count > 0)
            return 0;
    }
    return 1;
}

/* Cancels the receives of credit, which no message will come to. */
static void free_sender(thalweg_medium_sender *s) {
    for (int at = 0; at < s->receivers; at++) {
        MPI_Request *request = &s->peers[at].credit_request;
        if (*request != MPI_REQUEST_NULL) {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE); /* local: no receive of credit is large */
        }
    }
    free_memory(s);
}

/* Looks after a sender. Whether it was closed and nothing is left to do. */
static int visit_sender(thalweg_medium_sender *s, struct round *round) {
    uint64_t limit = atomic_load(&s->limit);
    for (int at = 0; at < s->receivers; at++)
        if (s->peers[at].rank >= 0)
            take_hello(s, &s->peers[at]); /* of a ticket that was used before */
    int is_flushed = look_and_send(s);
    int is_asleep = s->is_armed && !s->has_fired;
    if (is_asleep && may_claim(s)) {
        s->has_fired = 1;
        fire(s->event);
    }
    round->has_moved |= (is_asleep || s->is_closed) && limit != atomic_load(&s->limit);
    round->is_needed |= is_asleep || s->is_closed || !is_flushed || has_unfinished(s);
    return s->is_closed && is_finished(s);
}

static void visit_senders(struct round *round) {
    for (thalweg_medium_sender **at = &job.senders; *at;) {
        thalweg_medium_sender *s = *at;
        if (visit_sender(s, round)) {
            *at = s->next;
            free_sender(s);
        } else {
            at = &s->next;
        }
    }
}

/* Looks after a receiver. Whether it was closed and nothing is left to do. */
static int visit_receiver(thalweg_medium_receiver *r, struct round *round) {
    int is_asleep = r->is_armed && !r->has_fired;
    round->is_needed |= is_asleep || r->is_closed;
    if (r->is_closed)
        return finish_receiver(r, round->is_last);
    if (is_asleep) {
        receive(r);
        if (has_news(r)) {
            r->has_fired = round->has_moved = 1;
            fire(r->event);
        }
    }
    if (untold_bytes(r) > 0)
        tell(r);
    return 0;
}

static void visit_receivers(struct round *round) {
    for (thalweg_medium_receiver **at = &job.receivers; *at;) {
        thalweg_medium_receiver *r = *at;
        if (visit_receiver(r, round)) {
            *at = r->next_receiver;
            free_receiver(r);
        } else {
            at = &r->next_receiver;
        }
    }
}

static void go_round(void *end) {
    struct round *round = end;
    int has_come;
    visit_senders(round);
    visit_receivers(round);
    if (job.senders || job.receivers) /* MPI moves large messages only while it is called */
        MPI_Iprobe(MPI_ANY_SOURCE, 0, job.comm, &has_come, MPI_STATUS_IGNORE);
}

/* Sleeps until something is to be done, at most for a time.
 *
 * A block that is committed after the last round and before `is_napping` is set wakes nobody: it is
 * found after the nap. So the nap that sets it is a short one, and only those behind it, with a round
 * between that finds such blocks, may be long. */
static void nap(int64_t us) {
    if (us <= ROUND_US_MAX)
        atomic_store(&job.is_napping, 0);
    else if (!atomic_exchange(&job.is_napping, 1))
        us = ROUND_US_MAX;
    struct pollfd wake = {.fd = job.wake, .events = POLLIN};
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    if (ppoll(&wake, 1, &time, NULL) > 0)
        clear(job.wake);
}

/* Goes round until the process leaves the job. */
static void go_rounds(void) {
    int64_t us = ROUND_US_MIN;
    while (!atomic_load(&job.is_leaving)) {
        struct round round = {0, 0, 0};
        make_remote_calls();
        run(go_round, &round);
        int64_t us_max = round.is_needed ? ROUND_US_MAX : ROUND_US_IDLE;
        us = round.has_moved ? ROUND_US_MIN : us * 2 > us_max ? us_max : us * 2;
        nap(us);
    }
}
