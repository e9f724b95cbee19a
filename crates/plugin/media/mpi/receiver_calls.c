/* The table's functions for a receiving end. */

/* Polls without a block after which a receiver tells what it has released. */
#define POLLS_UNTIL_CREDIT 64u

/* Posts the receives and greets the sender, unless there is no number for the end. */
static void begin_receiver(void *end) {
    thalweg_medium_receiver *r = end;
    r->number = new_number();
    if (r->number == 0)
        return;
    r->hello.number = r->number;
    for (uint64_t message = 0; message < RECEIVES_MAX; message++)
        post(r, message);
    if (MPI_Isend(&r->hello, sizeof r->hello, MPI_BYTE, r->sender_rank, r->hello_tag, job.comm,
                  &r->hello_request) != MPI_SUCCESS) {
        r->hello_request = MPI_REQUEST_NULL;
        say(0, r->sentence, "the rank of the sender cannot be reached");
    }
    r->next_receiver = job.receivers;
    job.receivers = r;
}

static thalweg_medium_receiver *new_receiver(uint64_t ring_bytes) {
    thalweg_medium_receiver *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->message_bytes = block_bytes(ring_bytes);
    r->stride = r->message_bytes + STRIDE_BYTES;
    r->tell_bytes = ring_bytes / 8;
    r->memory = aligned_alloc(64, r->stride * RECEIVES_MAX);
    r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->hello_request = MPI_REQUEST_NULL;
    for (uint32_t slot = 0; slot < RECEIVES_MAX; slot++)
        r->requests[slot] = MPI_REQUEST_NULL;
    for (uint32_t at = 0; at < CREDITS_MAX; at++)
        r->credit_requests[at] = MPI_REQUEST_NULL;
    if (r->memory && r->event >= 0)
        return r;
    if (r->event >= 0)
        close(r->event);
    free_receiver(r);
    return NULL;
}

static int mpi_accept(const thalweg_medium_edge *edge, uint32_t receiver, const thalweg_medium_ticket *given,
                      thalweg_medium_receiver **end, char *sentence) {
    struct ticket ticket;
    if (join_once(sentence) != THALWEG_MEDIUM_OK)
        return THALWEG_MEDIUM_SYSTEM;
    memcpy(&ticket, given->bytes, sizeof ticket);
    if (given->byte_count != sizeof ticket || given->fd_count != 0 || receiver >= THALWEG_MEDIUM_RECEIVERS_MAX)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "that is no ticket of the medium mpi");
    if (memcmp(ticket.job, job.job, sizeof ticket.job) || ticket.rank >= (uint32_t)job.size)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "the sender is in another MPI job");
    if (ticket.number == 0 || ticket.number > job.number_max)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "that ticket is of no edge by MPI");
    thalweg_medium_receiver *r = new_receiver(edge->ring_bytes);
    if (!r)
        return no_memory(sentence);
    r->sender_rank = (int)ticket.rank;
    r->credit_tag = tag(ticket.number, TAG_CREDIT);
    r->hello_tag = tag(ticket.number, TAG_HELLO);
    r->hello.receiver = receiver;
    memcpy(r->hello.token, edge->token, sizeof r->hello.token);
    run(begin_receiver, r);
    if (r->number == 0) {
        close(r->event);
        free_receiver(r);
        return say(THALWEG_MEDIUM_SYSTEM, sentence, "this MPI has no tags for more edges");
    }
    fire(job.wake);
    *end = r;
    return THALWEG_MEDIUM_OK;
}

/* Bytes behind the first `skip`, as many as one message has. Whether there are no messages behind. */
static int show(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len) {
    uint64_t at = r->first, offset = r->first_released + skip;
    while (at < r->next && offset >= r->lens[at % RECEIVES_MAX]) {
        offset -= r->lens[at % RECEIVES_MAX];
        at += 1;
    }
    *len = 0;
    if (at < r->next) {
        *bytes = r->memory + at % RECEIVES_MAX * r->stride + offset;
        *len = r->lens[at % RECEIVES_MAX] - offset;
        at += 1;
    }
    uint64_t shown = atomic_load_explicit(&r->released, memory_order_relaxed) + skip + *len;
    r->shown = shown > r->shown ? shown : r->shown;
    return at >= r->next;
}

/* What a receiver does that has found nothing: what can wait until then. */
static void use_pause(thalweg_medium_receiver *r) {
    if (r->unposted_bytes > 0)
        run(give_back, r);
    if (++r->empty_polls == POLLS_UNTIL_CREDIT && untold_bytes(r) > 0)
        run(tell_credit, r);
}

static int mpi_poll(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len, char *sentence) {
    run(receive, r);
    int is_last = show(r, skip, bytes, len);
    if (*len > 0)
        r->empty_polls = 0;
    else
        use_pause(r);
    if (r->is_refused)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "the sender has refused the ticket: it was used before");
    if (!is_last)
        return THALWEG_MEDIUM_OK;
    if (r->sentence[0])
        return say(THALWEG_MEDIUM_LOST, sentence, r->sentence);
    return r->is_ended ? say(THALWEG_MEDIUM_LOST, sentence, "the sender has left the edge") : THALWEG_MEDIUM_OK;
}

static void mpi_release(thalweg_medium_receiver *r, uint64_t bytes) {
    if (bytes == 0)
        return;
    uint64_t released = atomic_load_explicit(&r->released, memory_order_relaxed) + bytes;
    atomic_store_explicit(&r->released, released, memory_order_relaxed);
    r->first_released += bytes;
    r->unposted_bytes += bytes;
    if (r->next - r->first >= RECEIVES_MAX / 2 || untold_bytes(r) >= r->tell_bytes)
        run(give_back, r);
}

static void arm_receiver(void *end) {
    thalweg_medium_receiver *r = end;
    receive(r);
    if (untold_bytes(r) > 0)
        tell(r);
    r->is_armed = !has_news(r);
}

static int mpi_arm_receiver(thalweg_medium_receiver *r, thalweg_medium_waits *waits, char *sentence) {
    (void)sentence;
    run(arm_receiver, r);
    if (!r->is_armed)
        return THALWEG_MEDIUM_AGAIN;
    fire(job.wake);
    waits->readable_count = 1;
    waits->readable[0] = r->event;
    return THALWEG_MEDIUM_OK;
}

static void disarm_receiver(void *end) {
    thalweg_medium_receiver *r = end;
    if (r->has_fired)
        clear(r->event);
    r->is_armed = r->has_fired = 0;
}

static void mpi_disarm_receiver(thalweg_medium_receiver *r) {
    run(disarm_receiver, r);
}

static void close_receiver(void *end) {
    thalweg_medium_receiver *r = end;
    disarm_receiver(r);
    close(r->event);
    r->is_closed = 1;
}

static void mpi_close_receiver(thalweg_medium_receiver *r) {
    run(close_receiver, r);
    fire(job.wake);
}
