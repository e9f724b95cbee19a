/* broken.c: the pipe of examples/media, broken in one way: by the function that BREAK names. */
#define thalweg_medium_table whole_table
#include "../../../../examples/media/pipe.c"
#undef thalweg_medium_table

thalweg_medium thalweg_medium_table;

static int opener;

/* Faults of calls. */

static void commit_crashes(thalweg_medium_sender *s, uint64_t bytes) {
    *(volatile uint64_t *)(bytes - bytes) = s->queued;
}

static void commit_loses(thalweg_medium_sender *s, uint64_t bytes) {
    static int count;
    if (++count % 100 != 0)
        pipe_commit(s, bytes);
}

static int poll_exits(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                      char *sentence) {
    (void)r, (void)skip, (void)bytes, (void)len, (void)sentence;
    exit(3);
}

static int poll_garbles(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                        char *sentence) {
    int status = pipe_poll(r, skip, bytes, len, sentence);
    memset(r->buffer + skip, 0, *len < 8 ? *len : 8);
    return status;
}

static int poll_is_crooked(thalweg_medium_receiver *r, uint64_t skip, const void **bytes,
                           uint64_t *len, char *sentence) {
    int status = pipe_poll(r, skip, bytes, len, sentence);
    *bytes = (const char *)*bytes + 4;
    return status;
}

static int flush_blocks(thalweg_medium_sender *s, char *sentence) {
    pause();
    return pipe_flush(s, sentence);
}

static int claim_is_odd(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    (void)s, (void)bytes, (void)room, (void)sentence;
    return -77;
}

static int arm_waits_for_nothing(thalweg_medium_receiver *r, thalweg_medium_waits *waits,
                                 char *sentence) {
    int status = pipe_arm_receiver(r, waits, sentence);
    waits->readable_count = 0;
    return status;
}

static int arm_never_wakes(thalweg_medium_receiver *r, thalweg_medium_waits *waits, char *sentence) {
    static int silent[2] = {-1, -1};
    int status = pipe_arm_receiver(r, waits, sentence);
    if (silent[0] < 0 && pipe2(silent, O_CLOEXEC) < 0)
        return THALWEG_MEDIUM_SYSTEM;
    waits->readable[0] = silent[0];
    return status;
}

static int open_notes(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                      uint64_t *block_bytes_max, thalweg_medium_ticket *tickets, char *sentence) {
    int status = pipe_open(edge, sender, block_bytes_max, tickets, sentence);
    int process = getpid();
    memcpy(tickets[0].bytes + tickets[0].byte_count, &process, sizeof process);
    tickets[0].byte_count += sizeof process;
    return status;
}

static int accept_stays(const thalweg_medium_edge *edge, uint32_t receiver,
                        const thalweg_medium_ticket *ticket, thalweg_medium_receiver **end,
                        char *sentence) {
    thalweg_medium_ticket plain = *ticket;
    plain.byte_count -= sizeof opener;
    memcpy(&opener, plain.bytes + plain.byte_count, sizeof opener);
    if (opener != getpid())
        return say(THALWEG_MEDIUM_REFUSED, sentence, "the sender is in another process");
    return pipe_accept(edge, receiver, &plain, end, sentence);
}

static int open_gives_nothing(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                              uint64_t *block_bytes_max, thalweg_medium_ticket *tickets,
                              char *sentence) {
    (void)edge, (void)sender, (void)block_bytes_max, (void)tickets, (void)sentence;
    return THALWEG_MEDIUM_OK;
}

static int open_doubles(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                        uint64_t *block_bytes_max, thalweg_medium_ticket *tickets, char *sentence) {
    int status = pipe_open(edge, sender, block_bytes_max, tickets, sentence);
    tickets[0].fds[tickets[0].fd_count++] = tickets[0].fds[0];
    return status;
}

/* What BREAK names. */

static void crashes(thalweg_medium *table) {
    table->commit = commit_crashes;
}

static void loses(thalweg_medium *table) {
    table->commit = commit_loses;
}

static void exits(thalweg_medium *table) {
    table->poll = poll_exits;
}

static void garbles(thalweg_medium *table) {
    table->poll = poll_garbles;
}

static void is_crooked(thalweg_medium *table) {
    table->poll = poll_is_crooked;
}

static void blocks(thalweg_medium *table) {
    table->flush = flush_blocks;
}

static void returns_oddly(thalweg_medium *table) {
    table->claim = claim_is_odd;
}

static void waits_for_nothing(thalweg_medium *table) {
    table->arm_receiver = arm_waits_for_nothing;
}

static void never_wakes(thalweg_medium *table) {
    table->arm_receiver = arm_never_wakes;
}

/* Says that it crosses processes. */
static void stays(thalweg_medium *table) {
    table->open = open_notes;
    table->accept = accept_stays;
}

/* Says that it has two receivers. */
static void has_one(thalweg_medium *table) {
    table->caps.receivers_max = 2;
}

static void gives_nothing(thalweg_medium *table) {
    table->open = open_gives_nothing;
}

static void doubles(thalweg_medium *table) {
    table->open = open_doubles;
}

static void contradicts_itself(thalweg_medium *table) {
    table->caps.crosses_hosts = 1;
}

static void is_newer(thalweg_medium *table) {
    table->version = 2;
}

static void is_short(thalweg_medium *table) {
    table->bytes -= 8;
}

static void is_older(thalweg_medium *table) {
    table->bytes = THALWEG_MEDIUM_BYTES_WITHOUT_RUNS;
    table->wake = pipe_disarm_sender; /* not read */
    table->polls_whole_blocks = 2;
}

static void has_half(thalweg_medium *table) {
    table->wake = pipe_disarm_sender;
}

static void is_unsure(thalweg_medium *table) {
    table->polls_whole_blocks = 2;
}

static void has_no_poll(thalweg_medium *table) {
    table->poll = NULL;
}

static void blocks_at_once(thalweg_medium *table) {
    (void)table;
    pause();
}

static void crashes_at_once(thalweg_medium *table) {
    (void)table;
    abort();
}

__attribute__((constructor)) static void make_table(void) {
    thalweg_medium_table = whole_table;
    BREAK(&thalweg_medium_table);
}
