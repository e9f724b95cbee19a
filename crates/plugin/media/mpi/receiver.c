/* The receiving end: receives that are posted ahead, and credit for what was released.
 *
 * A message that is expected goes to its place at once. What comes while no posted receive is left
 * waits in MPI, for no more bytes than the ring has. Credit is told after an eighth of the ring, when
 * the receiver has polled in vain for a while, before it sleeps, and otherwise by the MPI thread.
 *
 * Everything here is called while no other thread uses MPI. */

/* Most receives that a receiver posts ahead. */
#define RECEIVES_MAX 8u

/* Credit messages of a receiver that have not ended. */
#define CREDITS_MAX 4u

/* Bytes between two receive buffers, so that they do not share the sets of a cache. */
#define STRIDE_BYTES (4096u + 64u)

struct thalweg_medium_receiver {
    /* Of the receiver's own thread, or of the MPI thread while the receiver is armed or closed. */
    char *memory;
    uint64_t message_bytes, stride;
    MPI_Request requests[RECEIVES_MAX];
    uint64_t lens[RECEIVES_MAX];
    uint64_t first, next;    /* numbers of the oldest message, and of the one to come */
    uint64_t first_released; /* bytes of the oldest message that were released */
    uint64_t come, shown;    /* bytes that have come, and that a poll has shown */
    uint64_t unposted_bytes; /* bytes of released messages, before their receives are posted again */
    uint64_t tell_bytes;     /* bytes after which the sender is told */
    uint32_t empty_polls;
    int is_ended, is_refused;
    char sentence[THALWEG_MEDIUM_SENTENCE_BYTES]; /* why the receiver has failed */
    /* Written by the own thread, read by the MPI thread. */
    _Atomic uint64_t released; /* bytes that were released */
    /* Used while no other thread uses MPI. */
    _Atomic uint64_t told; /* released bytes that the sender knows of; read at any time */
    int is_armed, has_fired, is_closed, is_close_told, is_cancelled;
    uint32_t number; /* of this end */
    int sender_rank, credit_tag, hello_tag;
    struct hello hello;
    MPI_Request hello_request;
    struct credit credits[CREDITS_MAX];
    MPI_Request credit_requests[CREDITS_MAX];
    int event;
    thalweg_medium_receiver *next_receiver;
};

static void post(thalweg_medium_receiver *r, uint64_t message) {
    uint64_t slot = message % RECEIVES_MAX;
    int failed = MPI_Irecv(r->memory + slot * r->stride, (int)r->message_bytes, MPI_BYTE, r->sender_rank,
                           tag(r->number, TAG_DATA), job.comm, &r->requests[slot]);
    if (failed != MPI_SUCCESS)
        say_mpi(r->sentence, "receive a message", failed);
}

/* Whether no message is to come any more, or there is no place for one. */
static int is_full(const thalweg_medium_receiver *r) {
    return r->is_ended || r->is_refused || r->sentence[0] || r->next >= r->first + RECEIVES_MAX;
}

/* Takes the next message, if it has come. */
static void receive(void *end) {
    thalweg_medium_receiver *r = end;
    MPI_Status status;
    int has_come = 0, bytes = 0;
    uint64_t slot = r->next % RECEIVES_MAX;
    if (is_full(r))
        return;
    int failed = MPI_Test(&r->requests[slot], &has_come, &status);
    if (failed != MPI_SUCCESS) {
        /* Such as a message that is longer than its place: the sender has other sizes. */
        say_mpi(r->sentence, "receive a message", failed);
        return;
    }
    if (!has_come)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    r->is_ended = bytes == 0;
    r->is_refused = bytes == 1;
    int is_block = bytes >= 8 && bytes % 8 == 0 && (uint64_t)bytes <= r->message_bytes;
    if (!is_block && bytes > 1)
        say(0, r->sentence, "the sender has sent what is no block");
    if (!is_block)
        return;
    r->lens[slot] = (uint64_t)bytes;
    r->come += (uint64_t)bytes;
    r->next += 1;
}

static int has_news(const thalweg_medium_receiver *r) {
    return r->come > r->shown || r->is_ended || r->is_refused || r->sentence[0];
}

static uint64_t untold_bytes(const thalweg_medium_receiver *r) {
    uint64_t released = atomic_load_explicit(&r->released, memory_order_relaxed);
    return released - atomic_load_explicit(&r->told, memory_order_relaxed);
}

/* Tells the sender what was released, and whether the receiver was closed. 0: too many earlier
 * messages have not ended. */
static int tell(thalweg_medium_receiver *r) {
    for (uint32_t at = 0; at < CREDITS_MAX; at++) {
        if (!is_over(&r->credit_requests[at]))
            continue;
        uint64_t released = atomic_load_explicit(&r->released, memory_order_relaxed);
        r->credits[at] = (struct credit){released, (uint64_t)r->is_closed};
        if (MPI_Isend(&r->credits[at], sizeof r->credits[at], MPI_BYTE, r->sender_rank, r->credit_tag, job.comm,
                      &r->credit_requests[at]) != MPI_SUCCESS)
            r->credit_requests[at] = MPI_REQUEST_NULL;
        atomic_store_explicit(&r->told, released, memory_order_relaxed);
        return 1;
    }
    return 0;
}

static void tell_credit(void *end) {
    tell(end);
}

/* Posts receives again for the messages that were released, and tells of it if they were many. */
static void give_back(void *end) {
    thalweg_medium_receiver *r = end;
    while (r->first < r->next && r->first_released >= r->lens[r->first % RECEIVES_MAX]) {
        r->first_released -= r->lens[r->first % RECEIVES_MAX];
        post(r, r->first + RECEIVES_MAX);
        r->first += 1;
    }
    r->unposted_bytes = 0;
    if (untold_bytes(r) >= r->tell_bytes)
        tell(r);
}

/* Takes what comes to a closed receiver, as if it had been read. */
static void drain(thalweg_medium_receiver *r) {
    uint64_t before;
    do {
        before = r->next;
        receive(r);
        atomic_store(&r->released, r->come);
        for (; r->first < r->next && !r->is_ended; r->first++)
            post(r, r->first + RECEIVES_MAX);
    } while (r->next != before);
    r->first_released = 0;
}

/* Cancels the receives that nothing will come to. Whether MPI needs none of the memory any more. */
static int cancel(thalweg_medium_receiver *r) {
    int is_done = is_over(&r->hello_request);
    for (uint32_t slot = 0; slot < RECEIVES_MAX; slot++)
        if (!r->is_cancelled && r->requests[slot] != MPI_REQUEST_NULL)
            MPI_Cancel(&r->requests[slot]);
    r->is_cancelled = 1;
    for (uint32_t slot = 0; slot < RECEIVES_MAX; slot++)
        is_done &= is_over(&r->requests[slot]);
    for (uint32_t at = 0; at < CREDITS_MAX; at++)
        is_done &= is_over(&r->credit_requests[at]);
    return is_done;
}

/* Looks after a closed receiver; `is_last`: nothing more will come. Whether nothing is left to do. */
static int finish_receiver(thalweg_medium_receiver *r, int is_last) {
    if (!r->is_close_told)
        r->is_close_told = r->is_refused || tell(r);
    drain(r);
    int is_over = r->is_ended || r->is_refused || r->sentence[0] || is_last;
    return is_over && cancel(r);
}

static void free_receiver(thalweg_medium_receiver *r) {
    free(r->memory), free(r);
}
