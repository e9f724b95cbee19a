/* mpi.c: a medium over MPI, for processing elements that are ranks of one MPI job.
 *
 *   thalweg medium build mpi      compiles this file with the site's mpicc
 *   mpirun -n 2 thalweg run -F mpi --fuse none --media-path . examples/hello/Hello.spl
 *
 *     sender                                               receiver
 *       | <------ hello: token, number of the data tag -------|
 *       | ==== data: the bytes of whole blocks, no header ==> | receives that are posted ahead
 *       | <------ credit: bytes released so far, closed ------|
 *       | ---- end: a message of no bytes ------------------> |
 *       | ---- refusal: a message of 1 byte ----------------> | of a ticket that was used before
 *
 * Every end of an edge has a number of its own in its process, and tags are made of these numbers, so
 * that messages of two edges never meet. Ranks are of the same job and may lie only by a mistake; the
 * hello shows the job's token all the same.
 *
 * Memory. A sender fills buffers one behind the other. A message is a part of one buffer, from a
 * multiple of 8 on, and goes to each receiver from there. Credit is an absolute number of bytes, so
 * that a later one replaces those before. A receiver has posted receives for some messages ahead; what
 * else comes waits in MPI, for no more bytes than the ring has.
 *
 * Batches. A block goes out at once unless the last message went out just now: no longer ago than it
 * took to send, for each of its blocks up to PAUSES_MAX. Then the block waits for others, up to
 * BATCH_BYTES: the more blocks come, the larger the messages. What a sender leaves behind, the MPI
 * thread sends.
 *
 * Threads. The MPI thread joins the job, looks after ends that sleep, that were closed, or that keep
 * something back, and leaves the job. The threads of the ends call MPI by themselves, under one lock
 * (MPI_THREAD_SERIALIZED), or without it if the site asks for MPI_THREAD_MULTIPLE; with less the MPI
 * thread makes all calls, and they wait for it. A sender's state is under its lock but for the fields that its own thread alone
 * uses. A receiver belongs to its own thread, except while it is armed and after it was closed.
 *
 * No call blocks: MPI_Isend, MPI_Irecv, MPI_Test and MPI_Improbe are all that an end uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "thalweg_medium.h"

/* Most bytes of a block, and of a message. */
#define BLOCK_BYTES_MAX (64u << 10)

/* Bytes at which a batch goes out: MPI libraries send up to 4 KiB with their own header at once. */
#define BATCH_BYTES 4000u

/* Most receives that a receiver posts ahead, and sends to a receiver that have not ended. */
#define RECEIVES_MAX 16u
#define SENDS_MAX 64u

/* Sends that are not asked for their end: most have ended when they return. */
#define SENDS_UNTESTED 8u

/* Credit messages of a receiver that have not ended. */
#define CREDITS_MAX 4u

/* Bytes between two receive buffers, so that they do not share the sets of a cache. */
#define STRIDE_BYTES (4096u + 64u)

/* Polls without a block after which a receiver tells what it has released. */
#define POLLS_UNTIL_CREDIT 64u

/* Times of the MPI thread between two rounds, in microseconds: at first, at most while an end sleeps
 * or keeps something back, and at most without that. */
#define ROUND_US_MIN 20
#define ROUND_US_MAX 1000
#define ROUND_US_IDLE 10000

/* Longest time in microseconds for which blocks wait for others in the sender's own thread. */
#define PAUSE_US_MAX 50

/* Most times that the last message took to send for which blocks wait. */
#define PAUSES_MAX 16

/* Milliseconds that leaving the job may take, of which the first part is for messages under way. Ranks
 * that leave together need few; this is for a rank that never comes. */
#define LEAVE_MS 10000
#define LINGER_MS 300

/* Milliseconds that rank 0 has for the bytes that it gives to all ranks. */
#define SHARE_MS 60000

/* Kinds of messages, in the lower bits of tags. The rest is the number of the end that receives. */
enum { TAG_DATA, TAG_HELLO, TAG_CREDIT, TAG_SHARE, TAG_KINDS };

enum stage { APART, JOINING, JOINED, FAILED, LEFT };

/* What a receiver says first. */
struct hello {
    uint8_t token[16];
    uint32_t receiver;
    uint32_t number; /* of the receiver's end, for data tags */
};

/* What a receiver has released, and whether it was closed. */
struct credit {
    uint64_t released;
    uint64_t is_closed;
};

/* Content of a ticket. */
struct ticket {
    uint8_t job[16]; /* of the MPI job */
    uint32_t rank;
    uint32_t number; /* of the sender's end, for hello and credit tags */
};

/* This process in the MPI job. */
static struct {
    pthread_mutex_t lock; /* for the stage, `sentence` and `left` */
    pthread_cond_t changed;
    enum stage stage;
    char sentence[THALWEG_MEDIUM_SENTENCE_BYTES];
    pthread_t thread;
    int level; /* MPI_THREAD_... */
    int rank, size;
    MPI_Comm comm;
    uint8_t job[16];
    uint32_t number_max;
    _Atomic uint32_t next_number;
    uint64_t pause_max; /* ticks */
    int is_ours; /* whether this library has initialised MPI */
    int wake;    /* eventfd: the MPI thread has something to do */
    _Atomic int is_napping, is_leaving;
    pthread_mutex_t calls; /* held for calls of MPI if they must not overlap */
    pthread_mutex_t ends;  /* for the two lists */
    thalweg_medium_sender *senders;
    thalweg_medium_receiver *receivers;
    /* A call for the MPI thread, if it makes all of them. */
    pthread_mutex_t remote;
    pthread_cond_t remote_done;
    void (*call)(void *);
    void *call_end;
} job = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .calls = PTHREAD_MUTEX_INITIALIZER,
    .ends = PTHREAD_MUTEX_INITIALIZER,
    .remote = PTHREAD_MUTEX_INITIALIZER,
    .remote_done = PTHREAD_COND_INITIALIZER,
    .wake = -1,
};

static int say(int status, char *sentence, const char *words) {
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "%s", words);
    return status;
}

/* The sentence for an error of MPI. */
static int say_mpi(char *sentence, const char *tried, int error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(error, text, &len);
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "MPI cannot %s: %.200s", tried, text);
    return THALWEG_MEDIUM_SYSTEM;
}

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A clock that is cheap to read; its ticks are counted when the job is joined. */
static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static void wake_thread(void) {
    uint64_t one = 1;
    if (write(job.wake, &one, sizeof one) < 0)
        return; /* the counter is full: the thread wakes anyway */
}

/* Makes calls of MPI for an end, as the library's level of threads allows. */
static void run(void (*call)(void *), void *end) {
    if (job.level == MPI_THREAD_MULTIPLE || pthread_equal(pthread_self(), job.thread)) {
        int is_alone = job.level == MPI_THREAD_SERIALIZED;
        if (is_alone)
            pthread_mutex_lock(&job.calls);
        call(end);
        if (is_alone)
            pthread_mutex_unlock(&job.calls);
    } else if (job.level == MPI_THREAD_SERIALIZED) {
        pthread_mutex_lock(&job.calls);
        call(end);
        pthread_mutex_unlock(&job.calls);
    } else {
        pthread_mutex_lock(&job.remote);
        while (job.call)
            pthread_cond_wait(&job.remote_done, &job.remote);
        job.call = call, job.call_end = end;
        wake_thread();
        while (job.call == call && job.call_end == end)
            pthread_cond_wait(&job.remote_done, &job.remote);
        pthread_mutex_unlock(&job.remote);
    }
}

/* Makes the calls that other threads have handed over. */
static void make_remote_calls(void) {
    pthread_mutex_lock(&job.remote);
    if (job.call) {
        job.call(job.call_end);
        job.call = NULL;
        pthread_cond_broadcast(&job.remote_done);
    }
    pthread_mutex_unlock(&job.remote);
}

static int tag(uint32_t number, int kind) {
    return (int)(number * TAG_KINDS) + kind;
}

/* A number for a new end, or 0 if this MPI has no more tags. */
static uint32_t new_number(void) {
    uint32_t number = atomic_fetch_add(&job.next_number, 1) + 1;
    return number <= job.number_max ? number : 0;
}

/* The sender. */

/* A message that MPI has not finished sending. */
struct sending {
    MPI_Request request;
    uint64_t end; /* position in the stream behind it */
};

/* A receiver, as its sender sees it. */
struct peer {
    uint32_t number; /* of the sender's end, for the tags of this receiver's messages */
    int rank;        /* -1: no hello has come */
    int data_tag;
    int is_lost, is_end_sent;
    uint64_t buffer; /* buffer that is being sent, and how many of its bytes are */
    uint64_t offset;
    uint64_t sent, done, released; /* bytes that were sent, that MPI has sent, that were released */
    struct sending sends[SENDS_MAX];
    uint32_t send_count;
    MPI_Request credit_request;
    struct credit credit;
};

struct thalweg_medium_sender {
    /* Of the sender's own thread. */
    char *room;         /* end of what the current buffer has */
    uint64_t fill;      /* bytes in the current buffer */
    uint64_t committed; /* bytes of the stream */
    uint64_t waiting;   /* bytes and blocks since the last send of this thread */
    uint64_t waiting_blocks;
    uint64_t sent_at, pause; /* ticks */
    uint64_t buffer_bytes, buffer_count;
    uint64_t *buffer_ends; /* position in the stream behind each full buffer */
    char *memory;
    /* Written by the sender's own thread. */
    _Atomic uint64_t buffer; /* number of the current buffer */
    _Atomic uint64_t *fills; /* bytes in each buffer */
    /* Written under the lock. */
    _Atomic uint64_t limit; /* most bytes that may be committed now; 0: no receiver is left */
    _Atomic uint64_t freed; /* bytes whose memory may be used again */
    _Atomic uint64_t lost;  /* receivers that are gone */
    _Atomic int lock;
    int is_armed, has_fired, is_closed, is_flushed;
    uint64_t wanted;
    int event;
    uint64_t ring_bytes;
    uint8_t token[16];
    int receivers;
    thalweg_medium_sender *next;
    struct peer peers[];
};

static int lock_sender(thalweg_medium_sender *s, int is_try) {
    while (atomic_exchange_explicit(&s->lock, 1, memory_order_acquire)) {
        if (is_try)
            return 0;
        sched_yield();
    }
    return 1;
}

static void unlock_sender(thalweg_medium_sender *s) {
    atomic_store_explicit(&s->lock, 0, memory_order_release);
}

static void lose(thalweg_medium_sender *s, int at) {
    s->peers[at].is_lost = 1;
    atomic_fetch_or(&s->lost, (uint64_t)1 << at);
}

/* Sends `bytes` bytes to a receiver; there is a free place for the request. */
static void send_to(thalweg_medium_sender *s, struct peer *p, const void *from, uint64_t bytes) {
    struct sending *sending = &p->sends[p->send_count];
    int failed = MPI_Isend(from, (int)bytes, MPI_BYTE, p->rank, p->data_tag, job.comm, &sending->request);
    if (failed != MPI_SUCCESS) {
        lose(s, (int)(p - s->peers));
        return;
    }
    p->sent += bytes;
    sending->end = p->sent;
    p->send_count += 1;
}

/* Notes which messages MPI has sent; a large one waits for its receiver, and later ones need not. */
static void test_sends(thalweg_medium_sender *s, struct peer *p) {
    uint32_t kept = 0;
    for (uint32_t at = 0; at < p->send_count; at++) {
        int is_done = 0;
        struct sending *sending = &p->sends[at];
        if (MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            lose(s, (int)(p - s->peers));
            is_done = 1;
        }
        if (!is_done)
            p->sends[kept++] = *sending;
        else if (kept > 0)
            p->sends[kept - 1].end = sending->end;
        else
            p->done = sending->end;
    }
    p->send_count = kept;
}

/* Sends what the buffers have to a receiver, as far as there are places for requests. */
static void send_buffers(thalweg_medium_sender *s, struct peer *p) {
    if (p->rank < 0 || p->is_end_sent)
        return;
    uint64_t current = atomic_load_explicit(&s->buffer, memory_order_acquire);
    while (!p->is_lost && p->send_count < SENDS_MAX) {
        uint64_t slot = p->buffer % s->buffer_count;
        uint64_t fill = atomic_load_explicit(&s->fills[slot], memory_order_acquire);
        if (p->offset < fill) {
            const char *from = s->memory + slot * s->buffer_bytes + p->offset;
            send_to(s, p, from, fill - p->offset);
            p->offset = fill;
        } else if (p->buffer < current) {
            p->buffer += 1;
            p->offset = 0;
        } else {
            break;
        }
    }
    if ((p->is_lost || s->is_closed) && p->send_count < SENDS_MAX && (p->is_lost || p->buffer == current)) {
        p->is_end_sent = 1;
        send_to(s, p, s->memory, 0);
    }
}

/* Takes the hello of a receiver. One that comes later is of a ticket that was used before. */
static void take_hello(thalweg_medium_sender *s, struct peer *p) {
    static const char refusal;
    MPI_Message message;
    MPI_Status status;
    int has_come = 0, bytes = 0;
    struct hello hello;
    int kind = tag(p->number, TAG_HELLO);
    if (MPI_Improbe(MPI_ANY_SOURCE, kind, job.comm, &has_come, &message, &status) != MPI_SUCCESS || !has_come)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Mrecv(&hello, bytes == sizeof hello ? bytes : 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (bytes != sizeof hello)
        return;
    int is_wrong = memcmp(hello.token, s->token, sizeof hello.token) || p != &s->peers[hello.receiver % 64];
    if (p->rank >= 0 || is_wrong) {
        MPI_Request request;
        if (MPI_Isend(&refusal, 1, MPI_BYTE, status.MPI_SOURCE, tag(hello.number, TAG_DATA), job.comm, &request) ==
            MPI_SUCCESS)
            MPI_Request_free(&request);
        return;
    }
    p->rank = status.MPI_SOURCE;
    p->data_tag = tag(hello.number, TAG_DATA);
    if (MPI_Irecv(&p->credit, sizeof p->credit, MPI_BYTE, p->rank, tag(p->number, TAG_CREDIT), job.comm,
                  &p->credit_request) != MPI_SUCCESS)
        lose(s, (int)(p - s->peers));
}

/* Takes what a receiver says of its credit. */
static void take_credit(thalweg_medium_sender *s, struct peer *p) {
    int has_come = 1;
    while (p->credit_request != MPI_REQUEST_NULL) {
        if (MPI_Test(&p->credit_request, &has_come, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            lose(s, (int)(p - s->peers));
        if (!has_come || p->is_lost)
            return;
        if (p->credit.released >= p->released && p->credit.released <= p->sent)
            p->released = p->credit.released;
        if (p->credit.is_closed) {
            lose(s, (int)(p - s->peers));
            return;
        }
        if (MPI_Irecv(&p->credit, sizeof p->credit, MPI_BYTE, p->rank, tag(p->number, TAG_CREDIT), job.comm,
                      &p->credit_request) != MPI_SUCCESS)
            lose(s, (int)(p - s->peers));
    }
}

/* Learns how far the receivers are. Under the lock. */
static void look(thalweg_medium_sender *s, int is_round) {
    uint64_t released = UINT64_MAX, freed = UINT64_MAX;
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        if (p->rank < 0 || is_round)
            take_hello(s, p);
        if (p->rank >= 0)
            take_credit(s, p);
        test_sends(s, p);
        if (p->is_lost) {
            freed = p->done < freed && p->send_count > 0 ? p->done : freed;
            continue;
        }
        released = p->released < released ? p->released : released;
        uint64_t usable = p->released < p->done ? p->released : p->done;
        freed = usable < freed ? usable : freed;
    }
    uint64_t limit = released == UINT64_MAX ? 0 : released + s->ring_bytes;
    atomic_store_explicit(&s->freed, freed, memory_order_release);
    atomic_store_explicit(&s->limit, limit, memory_order_release);
}

/* Looks, and sends what is there. Under the lock. */
static void look_and_send(void *end) {
    thalweg_medium_sender *s = end;
    look(s, 0);
    s->is_flushed = 1;
    for (int at = 0; at < s->receivers; at++) {
        struct peer *p = &s->peers[at];
        send_buffers(s, p);
        test_sends(s, p);
        uint64_t current = atomic_load_explicit(&s->buffer, memory_order_acquire);
        uint64_t fill = atomic_load_explicit(&s->fills[current % s->buffer_count], memory_order_acquire);
        int is_all = p->buffer == current && p->offset == fill;
        s->is_flushed &= p->is_lost || is_all;
    }
}

/* Sends without a look at what has come; MPI is called as little as possible. Under the lock. */
static void send_only(void *end) {
    thalweg_medium_sender *s = end;
    for (int at = 0; at < s->receivers; at++) {
        if (s->peers[at].rank < 0)
            take_hello(s, &s->peers[at]);
        send_buffers(s, &s->peers[at]);
        if (s->peers[at].send_count > SENDS_UNTESTED)
            test_sends(s, &s->peers[at]);
    }
}

static void call_sender(thalweg_medium_sender *s, void (*call)(void *)) {
    lock_sender(s, 0);
    run(call, s);
    unlock_sender(s);
}

/* The receiver. */

/* Who uses a receiver: its thread, the MPI thread while it is armed, the MPI thread right now, or the
 * MPI thread for good. */
enum user { OWN, ARMED, VISITED, CLOSED };

struct thalweg_medium_receiver {
    char *memory;
    uint32_t receive_count; /* receives that are posted ahead */
    uint64_t message_bytes, stride;
    MPI_Request requests[RECEIVES_MAX];
    uint64_t lens[RECEIVES_MAX];
    uint64_t first, next;     /* numbers of the oldest message, and of the one to come */
    uint64_t first_released;  /* bytes of the oldest message that were released */
    uint64_t come, shown;     /* bytes that have come, and that a poll has shown */
    uint64_t unposted_bytes;   /* bytes of released messages, before their receives are posted again */
    _Atomic uint64_t released; /* bytes that were released: written by the own thread */
    _Atomic uint64_t told;     /* released bytes that the sender knows of */
    _Atomic int is_telling;    /* guards the credit messages */
    uint64_t tell_bytes;      /* bytes after which it is told */
    uint32_t empty_polls;
    uint32_t number; /* of this end */
    int sender_rank, credit_tag;
    int is_ended, is_refused, is_cancelled, is_close_told;
    struct hello hello;
    MPI_Request hello_request;
    struct credit credits[CREDITS_MAX];
    MPI_Request credit_requests[CREDITS_MAX];
    char sentence[THALWEG_MEDIUM_SENTENCE_BYTES]; /* why the receiver has failed */
    _Atomic int user;
    _Atomic int has_fired;
    int event;
    thalweg_medium_receiver *next_receiver;
};

static void post(thalweg_medium_receiver *r, uint64_t message) {
    uint64_t slot = message % r->receive_count;
    int failed = MPI_Irecv(r->memory + slot * r->stride, (int)r->message_bytes, MPI_BYTE, r->sender_rank,
                           tag(r->number, TAG_DATA), job.comm, &r->requests[slot]);
    if (failed != MPI_SUCCESS)
        say_mpi(r->sentence, "receive a message", failed);
}

/* Takes the next message, if it has come. */
static void receive(void *end) {
    thalweg_medium_receiver *r = end;
    MPI_Status status;
    int has_come = 0, bytes = 0;
    uint64_t slot = r->next % r->receive_count;
    if (r->is_ended || r->is_refused || r->sentence[0] || r->next >= r->first + r->receive_count)
        return;
    int failed = MPI_Test(&r->requests[slot], &has_come, &status);
    if (failed != MPI_SUCCESS)
        say_mpi(r->sentence, "receive a message", failed);
    if (!has_come)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    r->is_ended = bytes == 0;
    r->is_refused = bytes == 1;
    if (bytes % 8 != 0 && bytes != 1)
        say(0, r->sentence, "the sender has sent what is no block");
    if (bytes < 8 || bytes % 8 != 0)
        return;
    r->lens[slot] = (uint64_t)bytes;
    r->come += (uint64_t)bytes;
    r->next += 1;
}

static int tell_alone(thalweg_medium_receiver *r, int is_closed) {
    for (uint32_t at = 0; at < CREDITS_MAX; at++) {
        int is_free = 1;
        if (r->credit_requests[at] != MPI_REQUEST_NULL)
            MPI_Test(&r->credit_requests[at], &is_free, MPI_STATUS_IGNORE);
        if (!is_free)
            continue;
        uint64_t released = atomic_load_explicit(&r->released, memory_order_relaxed);
        r->credits[at] = (struct credit){released, (uint64_t)is_closed};
        if (MPI_Isend(&r->credits[at], sizeof r->credits[at], MPI_BYTE, r->sender_rank, r->credit_tag, job.comm,
                      &r->credit_requests[at]) != MPI_SUCCESS)
            r->credit_requests[at] = MPI_REQUEST_NULL;
        atomic_store_explicit(&r->told, released, memory_order_relaxed);
        return 1;
    }
    return 0;
}

/* Tells the sender what was released, unless another thread does so right now, or too many earlier
 * messages have not ended. */
static int tell(thalweg_medium_receiver *r, int is_closed) {
    if (atomic_exchange_explicit(&r->is_telling, 1, memory_order_acquire))
        return 0;
    int is_told = tell_alone(r, is_closed);
    atomic_store_explicit(&r->is_telling, 0, memory_order_release);
    return is_told;
}

static int is_untold(const thalweg_medium_receiver *r) {
    uint64_t released = atomic_load_explicit(&r->released, memory_order_relaxed);
    return released != atomic_load_explicit(&r->told, memory_order_relaxed);
}

static void tell_credit(void *end) {
    tell(end, 0);
}

/* Posts receives again for the messages that were released, and tells of it if they were many. */
static void give_back(void *end) {
    thalweg_medium_receiver *r = end;
    while (r->first < r->next && r->first_released >= r->lens[r->first % r->receive_count]) {
        r->first_released -= r->lens[r->first % r->receive_count];
        post(r, r->first + r->receive_count);
        r->first += 1;
    }
    r->unposted_bytes = 0;
    if (r->released - r->told >= r->tell_bytes)
        tell(r, 0);
}

static int has_news(const thalweg_medium_receiver *r) {
    return r->come > r->shown || r->is_ended || r->is_refused || r->sentence[0];
}

/* Looks after a closed receiver. Whether nothing of it is left to do. */
static int finish_receiver(thalweg_medium_receiver *r, int is_last) {
    int is_done = 1;
    if (!r->is_close_told)
        r->is_close_told = r->is_refused || tell(r, 1);
    uint64_t before;
    do {
        before = r->next;
        receive(r);
        atomic_store(&r->released, r->come);
        for (; r->first < r->next && !r->is_ended; r->first++)
            post(r, r->first + r->receive_count);
    } while (r->next != before);
    r->first_released = 0;
    if (!r->is_ended && !r->is_refused && !r->sentence[0] && !is_last)
        return 0;
    for (uint64_t slot = 0; slot < r->receive_count; slot++)
        if (!r->is_cancelled && r->requests[slot] != MPI_REQUEST_NULL)
            MPI_Cancel(&r->requests[slot]);
    r->is_cancelled = 1;
    for (uint64_t slot = 0; slot < r->receive_count; slot++) {
        int is_over = 1;
        if (r->requests[slot] != MPI_REQUEST_NULL)
            MPI_Test(&r->requests[slot], &is_over, MPI_STATUS_IGNORE);
        is_done &= is_over;
    }
    for (uint32_t at = 0; at < CREDITS_MAX; at++) {
        int is_over = 1;
        if (r->credit_requests[at] != MPI_REQUEST_NULL)
            MPI_Test(&r->credit_requests[at], &is_over, MPI_STATUS_IGNORE);
        is_done &= is_over;
    }
    int is_over = 1;
    if (r->hello_request != MPI_REQUEST_NULL)
        MPI_Test(&r->hello_request, &is_over, MPI_STATUS_IGNORE);
    return is_done && is_over;
}

static void free_receiver(thalweg_medium_receiver *r) {
    free(r->memory), free(r);
}

/* The MPI thread. */

/* A round over all ends: whether it has moved something, and whether it has to come again soon. */
struct round {
    int has_moved, is_needed, is_last;
};

static void fire(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0)
        return; /* it is readable anyway */
}

/* Whether every receiver that has come has everything, the end included. */
static int is_finished(const thalweg_medium_sender *s) {
    for (int at = 0; at < s->receivers; at++) {
        const struct peer *p = &s->peers[at];
        if (p->rank < 0 || !p->is_end_sent || p->send_count > 0)
            return 0;
    }
    return 1;
}

/* Cancels the receive of a lost or finished receiver's credit. */
static void free_sender(thalweg_medium_sender *s) {
    for (int at = 0; at < s->receivers; at++) {
        MPI_Request *request = &s->peers[at].credit_request;
        if (*request != MPI_REQUEST_NULL) {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE); /* local: no receive of credit is large */
        }
    }
    free(s->memory), free((void *)s->fills), free(s->buffer_ends), free(s);
}

/* Whether MPI has not finished a message to a receiver. */
static int has_unfinished(const thalweg_medium_sender *s) {
    int count = 0;
    for (int at = 0; at < s->receivers; at++)
        count += (int)s->peers[at].send_count;
    return count > 0;
}

static void round_of_senders(struct round *round) {
    for (thalweg_medium_sender **at = &job.senders; *at;) {
        thalweg_medium_sender *s = *at;
        if (!lock_sender(s, 1)) {
            at = &s->next;
            continue;
        }
        uint64_t limit = atomic_load(&s->limit);
        look(s, 1);
        look_and_send(s);
        round->has_moved |= limit != atomic_load(&s->limit);
        round->is_needed |= !s->is_flushed || has_unfinished(s) || (s->is_armed && !s->has_fired) || s->is_closed;
        int has_room = atomic_load(&s->limit) >= s->wanted || atomic_load(&s->limit) == 0;
        if (s->is_armed && !s->has_fired && has_room) {
            s->has_fired = 1;
            fire(s->event);
        }
        int is_over = s->is_closed && is_finished(s);
        unlock_sender(s);
        if (is_over) {
            *at = s->next;
            free_sender(s);
        } else {
            at = &s->next;
        }
    }
}

static void round_of_receivers(struct round *round) {
    for (thalweg_medium_receiver **at = &job.receivers; *at;) {
        thalweg_medium_receiver *r = *at;
        int armed = ARMED;
        if (atomic_load(&r->user) == CLOSED) {
            if (finish_receiver(r, round->is_last)) {
                *at = r->next_receiver;
                free_receiver(r);
                continue;
            }
            round->is_needed = 1;
        } else if (atomic_compare_exchange_strong(&r->user, &armed, VISITED)) {
            receive(r);
            if (has_news(r) && !atomic_load(&r->has_fired)) {
                atomic_store(&r->has_fired, 1);
                round->has_moved = 1;
                fire(r->event);
            }
            round->is_needed |= !atomic_load(&r->has_fired);
            atomic_store(&r->user, ARMED);
        }
        if (is_untold(r)) {
            tell(r, 0);
            round->is_needed = 1;
        }
        at = &r->next_receiver;
    }
}

static void go_round(void *end) {
    struct round *round = end;
    int has_come;
    pthread_mutex_lock(&job.ends);
    round_of_senders(round);
    round_of_receivers(round);
    int is_used = job.senders || job.receivers;
    pthread_mutex_unlock(&job.ends);
    if (is_used) /* MPI moves large messages only while it is called */
        MPI_Iprobe(MPI_ANY_SOURCE, 0, job.comm, &has_come, MPI_STATUS_IGNORE);
}

/* Sleeps until something is to be done, at most for a time. */
static void nap(int64_t us) {
    uint64_t count;
    struct pollfd wake = {.fd = job.wake, .events = POLLIN};
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    atomic_store(&job.is_napping, us > ROUND_US_MAX);
    if (ppoll(&wake, 1, &time, NULL) > 0 && read(job.wake, &count, sizeof count) < 0)
        sched_yield();
    atomic_store(&job.is_napping, 0);
}

static void set_stage(enum stage stage) {
    pthread_mutex_lock(&job.lock);
    job.stage = stage;
    pthread_cond_broadcast(&job.changed);
    pthread_mutex_unlock(&job.lock);
}

/* Gives all ranks the same 16 random bytes, which name this job. */
static int name_job(void) {
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int is_read = source >= 0 && read(source, job.job, sizeof job.job) == sizeof job.job;
    if (source >= 0)
        close(source);
    MPI_Bcast(job.job, sizeof job.job, MPI_BYTE, 0, job.comm);
    return is_read;
}

/* The level of threads to ask for. With MPI_THREAD_MULTIPLE, OpenMPI takes locks of its own in each
 * call, and over sockets a thread of its own besides: a message took twice as long there. */
static int wanted_level(void) {
    const char *word = getenv("THALWEG_MPI_THREADS");
    if (word && !strcmp(word, "multiple"))
        return MPI_THREAD_MULTIPLE;
    if (word && !strcmp(word, "funneled"))
        return MPI_THREAD_FUNNELED;
    return MPI_THREAD_SERIALIZED;
}

/* Plug-ins of some MPI libraries need its symbols, which those who load this file need not show. */
static void show_symbols(void) {
    Dl_info info;
    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* Initialises MPI. Signal handlers stay as they were: MPI libraries install some for crashes. */
static int initialise(void) {
    struct sigaction handlers[NSIG];
    int is_initialised = 0, provided = MPI_THREAD_SINGLE, failed;
    MPI_Initialized(&is_initialised);
    if (is_initialised) {
        MPI_Query_thread(&job.level);
        return job.level < MPI_THREAD_SERIALIZED ? MPI_ERR_OTHER : MPI_SUCCESS;
    }
    show_symbols();
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &handlers[number]);
    failed = MPI_Init_thread(NULL, NULL, wanted_level(), &provided);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &handlers[number], NULL);
    job.is_ours = failed == MPI_SUCCESS;
    job.level = provided < wanted_level() ? provided : wanted_level();
    return failed;
}

/* Becomes a rank. Waits for the other ranks. */
static int join_job(void) {
    int64_t begin_us = now_us();
    uint64_t begin = ticks();
    int *bound = NULL, is_set = 0;
    int failed = initialise();
    if (failed != MPI_SUCCESS)
        return say_mpi(job.sentence, "be initialised", failed);
    MPI_Comm_dup(MPI_COMM_WORLD, &job.comm);
    MPI_Comm_set_errhandler(job.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(job.comm, &job.rank);
    MPI_Comm_size(job.comm, &job.size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &is_set);
    job.number_max = (uint32_t)((is_set ? *bound : 32767) / TAG_KINDS - 1);
    if (!name_job())
        return say(THALWEG_MEDIUM_SYSTEM, job.sentence, "cannot read /dev/urandom");
    while (now_us() - begin_us < 1000)
        sched_yield();
    job.pause_max = (ticks() - begin) * PAUSE_US_MAX / (uint64_t)(now_us() - begin_us);
    return THALWEG_MEDIUM_OK;
}

/* Ends what is under way, for a while, and leaves the job. */
static void leave_job(void) {
    int64_t deadline = now_us() + LINGER_MS * 1000;
    struct round round = {0, 1, 0};
    while (round.is_needed && now_us() < deadline) {
        round = (struct round){0, 0, 0};
        run(go_round, &round);
        make_remote_calls();
    }
    round.is_last = 1;
    run(go_round, &round);
    int is_finalised = 1;
    if (job.level == MPI_THREAD_SERIALIZED)
        pthread_mutex_lock(&job.calls); /* for good: no other thread may call MPI any more */
    MPI_Finalized(&is_finalised);
    if (job.is_ours && !is_finalised)
        MPI_Finalize();
}

static void *mpi_thread(void *unused) {
    (void)unused;
    int64_t us = ROUND_US_MIN;
    prctl(PR_SET_NAME, "mpi");
    prctl(PR_SET_TIMERSLACK, 1);
    int status = join_job();
    set_stage(status == THALWEG_MEDIUM_OK ? JOINED : FAILED);
    while (status == THALWEG_MEDIUM_OK && !atomic_load(&job.is_leaving)) {
        struct round round = {0, 0, 0};
        make_remote_calls();
        run(go_round, &round);
        int64_t us_max = round.is_needed ? ROUND_US_MAX : ROUND_US_IDLE;
        us = round.has_moved ? ROUND_US_MIN : us * 2 > us_max ? us_max : us * 2;
        nap(us);
    }
    if (status == THALWEG_MEDIUM_OK)
        leave_job();
    set_stage(LEFT);
    return NULL;
}

/* Leaves the job when the process exits, and does not wait longer than LEAVE_MS for that. */
static void leave_at_exit(int status, void *unused) {
    struct timespec deadline;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += LEAVE_MS / 1000;
    atomic_store(&job.is_leaving, 1);
    wake_thread();
    pthread_mutex_lock(&job.lock);
    int is_late = 0;
    while (job.stage != LEFT && !is_late)
        is_late = pthread_cond_timedwait(&job.changed, &job.lock, &deadline) == ETIMEDOUT;
    pthread_mutex_unlock(&job.lock);
    if (is_late) {
        fflush(NULL);
        _exit(status);
    }
}

/* Starts the MPI thread, and waits until it has joined. */
static int join_once(char *sentence) {
    pthread_mutex_lock(&job.lock);
    if (job.stage == APART) {
        job.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        job.stage = JOINING;
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int failed = job.wake < 0 ? errno : pthread_create(&job.thread, NULL, mpi_thread, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (failed) {
            say(0, job.sentence, "cannot start a thread for MPI");
            job.stage = FAILED;
        } else {
            on_exit(leave_at_exit, NULL);
        }
    }
    while (job.stage == JOINING)
        pthread_cond_wait(&job.changed, &job.lock);
    int is_joined = job.stage == JOINED;
    if (!is_joined)
        say(0, sentence, job.sentence[0] ? job.sentence : "this process has left the MPI job");
    pthread_mutex_unlock(&job.lock);
    return is_joined ? THALWEG_MEDIUM_OK : THALWEG_MEDIUM_SYSTEM;
}

/* The table's functions for a sender. */

static void add_sender(thalweg_medium_sender *s) {
    pthread_mutex_lock(&job.ends);
    s->next = job.senders;
    job.senders = s;
    pthread_mutex_unlock(&job.ends);
}

/* Bytes of the largest block for a ring of this size. */
static uint64_t block_bytes(uint64_t ring_bytes) {
    uint64_t bytes = ring_bytes / 4 / 64 * 64;
    return bytes < 64 ? 64 : bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX : bytes;
}

static int no_memory(char *sentence) {
    return say(THALWEG_MEDIUM_SYSTEM, sentence, "there is no memory or descriptor for an edge by MPI");
}

static int mpi_open(const thalweg_medium_edge *edge, thalweg_medium_sender **sender, uint64_t *block_bytes_max,
                    thalweg_medium_ticket *tickets, char *sentence) {
    if (join_once(sentence) != THALWEG_MEDIUM_OK)
        return THALWEG_MEDIUM_SYSTEM;
    thalweg_medium_sender *s = calloc(1, sizeof *s + edge->receivers * sizeof(struct peer));
    if (!s)
        return no_memory(sentence);
    s->buffer_bytes = block_bytes(edge->ring_bytes);
    s->buffer_count = edge->ring_bytes / s->buffer_bytes + 2;
    s->memory = aligned_alloc(64, s->buffer_count * s->buffer_bytes);
    s->fills = calloc(s->buffer_count, sizeof *s->fills);
    s->buffer_ends = calloc(s->buffer_count, sizeof *s->buffer_ends);
    s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!s->memory || !s->fills || !s->buffer_ends || s->event < 0) {
        free(s->memory), free((void *)s->fills), free(s->buffer_ends), free(s);
        return no_memory(sentence);
    }
    s->room = s->memory;
    s->ring_bytes = edge->ring_bytes;
    s->receivers = (int)edge->receivers;
    atomic_store(&s->limit, edge->ring_bytes);
    memcpy(s->token, edge->token, sizeof s->token);
    for (int at = 0; at < s->receivers; at++) {
        struct ticket ticket = {.rank = (uint32_t)job.rank, .number = new_number()};
        if (ticket.number == 0) {
            close(s->event);
            free(s->memory), free((void *)s->fills), free(s->buffer_ends), free(s);
            return say(THALWEG_MEDIUM_SYSTEM, sentence, "this MPI has no tags for more edges");
        }
        memcpy(ticket.job, job.job, sizeof ticket.job);
        memcpy(tickets[at].bytes, &ticket, sizeof ticket);
        tickets[at].byte_count = sizeof ticket;
        tickets[at].fd_count = 0;
        s->peers[at].number = ticket.number;
        s->peers[at].rank = -1;
        s->peers[at].credit_request = MPI_REQUEST_NULL;
    }
    add_sender(s);
    *block_bytes_max = s->buffer_bytes;
    *sender = s;
    return THALWEG_MEDIUM_OK;
}

static int has_room(const thalweg_medium_sender *s, uint64_t bytes) {
    uint64_t next = (atomic_load_explicit(&s->buffer, memory_order_relaxed) + 1) % s->buffer_count;
    uint64_t limit = atomic_load_explicit(&s->limit, memory_order_acquire);
    uint64_t freed = atomic_load_explicit(&s->freed, memory_order_acquire);
    return s->committed + bytes <= limit && (s->fill + bytes <= s->buffer_bytes || s->buffer_ends[next] <= freed);
}

static void note_send(thalweg_medium_sender *s, uint64_t begin) {
    uint64_t blocks = s->waiting_blocks < PAUSES_MAX ? s->waiting_blocks : PAUSES_MAX;
    s->sent_at = ticks();
    s->pause = (s->sent_at - begin) * blocks;
    s->pause = s->pause < job.pause_max ? s->pause : job.pause_max;
    s->waiting = s->waiting_blocks = 0;
}

static int claim_slowly(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    if (!has_room(s, bytes)) {
        uint64_t begin = ticks();
        call_sender(s, look_and_send);
        note_send(s, begin);
    }
    if (atomic_load(&s->limit) == 0)
        return say(THALWEG_MEDIUM_LOST, sentence, "the receiver has left the edge");
    if (!has_room(s, bytes))
        return THALWEG_MEDIUM_AGAIN;
    if (s->fill + bytes > s->buffer_bytes) {
        uint64_t buffer = atomic_load_explicit(&s->buffer, memory_order_relaxed);
        s->buffer_ends[buffer % s->buffer_count] = s->committed;
        buffer += 1;
        s->fill = 0;
        s->room = s->memory + buffer % s->buffer_count * s->buffer_bytes;
        atomic_store_explicit(&s->fills[buffer % s->buffer_count], 0, memory_order_relaxed);
        atomic_store_explicit(&s->buffer, buffer, memory_order_release);
    }
    *room = s->room;
    return THALWEG_MEDIUM_OK;
}

static int mpi_claim(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    uint64_t limit = atomic_load_explicit(&s->limit, memory_order_relaxed);
    if (s->committed + bytes > limit || s->fill + bytes > s->buffer_bytes)
        return claim_slowly(s, bytes, room, sentence);
    *room = s->room;
    return THALWEG_MEDIUM_OK;
}

/* Whether the blocks that wait go out now. The clock is not read for each block of many. */
static int is_due(thalweg_medium_sender *s) {
    if (s->waiting >= BATCH_BYTES)
        return 1;
    int is_look = s->waiting_blocks <= 4 || s->waiting_blocks % 8 == 0;
    return is_look && ticks() - s->sent_at >= s->pause;
}

static void mpi_commit(thalweg_medium_sender *s, uint64_t bytes) {
    uint64_t buffer = atomic_load_explicit(&s->buffer, memory_order_relaxed);
    s->fill += bytes;
    s->room += bytes;
    s->committed += bytes;
    s->waiting += bytes;
    s->waiting_blocks += 1;
    atomic_store_explicit(&s->fills[buffer % s->buffer_count], s->fill, memory_order_release);
    if (is_due(s)) {
        uint64_t begin = ticks();
        call_sender(s, send_only);
        note_send(s, begin);
    } else if (atomic_load_explicit(&job.is_napping, memory_order_relaxed)) {
        wake_thread();
    }
}

static int mpi_flush(thalweg_medium_sender *s, char *sentence) {
    uint64_t begin = ticks();
    (void)sentence;
    lock_sender(s, 0);
    run(look_and_send, s);
    int is_flushed = s->is_flushed;
    unlock_sender(s);
    note_send(s, begin);
    return is_flushed ? THALWEG_MEDIUM_OK : THALWEG_MEDIUM_AGAIN;
}

static void look_only(void *end) {
    look(end, 0);
}

static uint64_t mpi_queued(thalweg_medium_sender *s) {
    call_sender(s, look_only);
    uint64_t limit = atomic_load(&s->limit);
    return limit == 0 ? 0 : s->committed - (limit - s->ring_bytes);
}

static uint64_t mpi_lost(thalweg_medium_sender *s) {
    return atomic_load(&s->lost);
}

static int mpi_arm_sender(thalweg_medium_sender *s, uint64_t bytes, thalweg_medium_waits *waits, char *sentence) {
    (void)sentence;
    lock_sender(s, 0);
    run(look_and_send, s);
    int is_awake = has_room(s, bytes) || atomic_load(&s->limit) == 0;
    s->is_armed = !is_awake;
    s->wanted = s->committed + bytes;
    unlock_sender(s);
    if (is_awake)
        return THALWEG_MEDIUM_AGAIN;
    wake_thread();
    waits->readable_count = 1;
    waits->readable[0] = s->event;
    return THALWEG_MEDIUM_OK;
}

static void mpi_disarm_sender(thalweg_medium_sender *s) {
    uint64_t count;
    lock_sender(s, 0);
    if (s->has_fired && read(s->event, &count, sizeof count) < 0)
        sched_yield(); /* it cannot be empty */
    s->is_armed = s->has_fired = 0;
    unlock_sender(s);
}

static void mpi_close_sender(thalweg_medium_sender *s) {
    lock_sender(s, 0);
    s->is_closed = 1;
    s->is_armed = 0;
    close(s->event);
    run(look_and_send, s);
    unlock_sender(s);
    wake_thread();
}

/* The table's functions for a receiver. */

static void begin_receiver(void *end) {
    thalweg_medium_receiver *r = end;
    int tag_hello = r->credit_tag - TAG_CREDIT + TAG_HELLO;
    for (uint64_t message = 0; message < r->receive_count; message++)
        post(r, message);
    if (MPI_Isend(&r->hello, sizeof r->hello, MPI_BYTE, r->sender_rank, tag_hello, job.comm, &r->hello_request) !=
        MPI_SUCCESS)
        say(0, r->sentence, "the rank of the sender cannot be reached");
}

static int mpi_accept(const thalweg_medium_edge *edge, uint32_t receiver, const thalweg_medium_ticket *given,
                      thalweg_medium_receiver **end, char *sentence) {
    struct ticket ticket;
    if (join_once(sentence) != THALWEG_MEDIUM_OK)
        return THALWEG_MEDIUM_SYSTEM;
    memcpy(&ticket, given->bytes, sizeof ticket);
    if (given->byte_count != sizeof ticket || given->fd_count != 0 || receiver >= 64)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "that is no ticket of the medium mpi");
    if (memcmp(ticket.job, job.job, sizeof ticket.job) || ticket.rank >= (uint32_t)job.size)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "the sender is in another MPI job");
    thalweg_medium_receiver *r = calloc(1, sizeof *r);
    if (!r)
        return no_memory(sentence);
    r->message_bytes = block_bytes(edge->ring_bytes);
    r->stride = r->message_bytes + STRIDE_BYTES;
    r->receive_count = RECEIVES_MAX;
    r->tell_bytes = edge->ring_bytes / 8;
    r->memory = aligned_alloc(64, (r->stride * r->receive_count + 63) / 64 * 64);
    r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->number = new_number();
    if (!r->memory || r->event < 0 || r->number == 0) {
        free_receiver(r);
        return no_memory(sentence);
    }
    r->sender_rank = (int)ticket.rank;
    r->credit_tag = tag(ticket.number, TAG_CREDIT);
    r->hello = (struct hello){.receiver = receiver, .number = r->number};
    memcpy(r->hello.token, edge->token, sizeof r->hello.token);
    for (uint32_t at = 0; at < CREDITS_MAX; at++)
        r->credit_requests[at] = MPI_REQUEST_NULL;
    run(begin_receiver, r);
    pthread_mutex_lock(&job.ends);
    r->next_receiver = job.receivers;
    job.receivers = r;
    pthread_mutex_unlock(&job.ends);
    wake_thread();
    *end = r;
    return THALWEG_MEDIUM_OK;
}

/* Bytes behind the first `skip`, as many as one message has. Whether there are no messages behind. */
static int show(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len) {
    uint64_t at = r->first, offset = r->first_released + skip;
    while (at < r->next && offset >= r->lens[at % r->receive_count]) {
        offset -= r->lens[at % r->receive_count];
        at += 1;
    }
    *len = 0;
    if (at < r->next) {
        *bytes = r->memory + at % r->receive_count * r->stride + offset;
        *len = r->lens[at % r->receive_count] - offset;
        at += 1;
    }
    uint64_t shown = r->released + skip + *len;
    r->shown = shown > r->shown ? shown : r->shown;
    return at >= r->next;
}

static int mpi_poll(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len, char *sentence) {
    run(receive, r);
    int is_last = show(r, skip, bytes, len);
    if (*len == 0 && r->unposted_bytes > 0)
        run(give_back, r); /* nothing else is to be done now */
    if (*len > 0) {
        r->empty_polls = 0;
    } else if (++r->empty_polls == POLLS_UNTIL_CREDIT && is_untold(r)) {
        run(tell_credit, r);
    }
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
    uint64_t untold = released - atomic_load_explicit(&r->told, memory_order_relaxed);
    if (r->next - r->first >= r->receive_count / 2 || untold >= r->tell_bytes)
        run(give_back, r);
    if (atomic_load_explicit(&job.is_napping, memory_order_relaxed))
        wake_thread();
}

static void receive_and_tell(void *end) {
    thalweg_medium_receiver *r = end;
    receive(r);
    if (is_untold(r))
        tell(r, 0);
}

static int mpi_arm_receiver(thalweg_medium_receiver *r, thalweg_medium_waits *waits, char *sentence) {
    (void)sentence;
    run(receive_and_tell, r);
    if (has_news(r))
        return THALWEG_MEDIUM_AGAIN;
    atomic_store(&r->user, ARMED);
    wake_thread();
    waits->readable_count = 1;
    waits->readable[0] = r->event;
    return THALWEG_MEDIUM_OK;
}

static void mpi_disarm_receiver(thalweg_medium_receiver *r) {
    uint64_t count;
    int armed = ARMED;
    while (atomic_load(&r->user) != OWN && !atomic_compare_exchange_strong(&r->user, &armed, OWN)) {
        armed = ARMED;
        sched_yield();
    }
    if (atomic_exchange(&r->has_fired, 0) && read(r->event, &count, sizeof count) < 0)
        sched_yield(); /* it cannot be empty */
}

static void mpi_close_receiver(thalweg_medium_receiver *r) {
    mpi_disarm_receiver(r);
    close(r->event);
    atomic_store(&r->user, CLOSED);
    wake_thread();
}

const thalweg_medium thalweg_medium_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium),
    .about = "messages of MPI, between ranks of mpirun or srun",
    .caps = {.crosses_processes = 1,
             .crosses_hosts = 1,
             .is_untrusted = 1,
             .is_one_to_many = 1,
             .receivers_max = 64},
    .open = mpi_open,
    .accept = mpi_accept,
    .claim = mpi_claim,
    .commit = mpi_commit,
    .flush = mpi_flush,
    .queued = mpi_queued,
    .lost = mpi_lost,
    .arm_sender = mpi_arm_sender,
    .disarm_sender = mpi_disarm_sender,
    .close_sender = mpi_close_sender,
    .poll = mpi_poll,
    .release = mpi_release,
    .arm_receiver = mpi_arm_receiver,
    .disarm_receiver = mpi_disarm_receiver,
    .close_receiver = mpi_close_receiver,
};

/* The table of ranks. */

static int mpi_join(uint32_t *rank, uint32_t *size, char *sentence) {
    int status = join_once(sentence);
    *rank = (uint32_t)job.rank;
    *size = (uint32_t)job.size;
    return status;
}

/* A call of `share` on its way to the MPI thread. */
struct sharing {
    void *bytes;
    int len, failed, is_done, has_begun;
    MPI_Request request;
};

static void share_a_while(void *end) {
    struct sharing *sharing = end;
    if (!sharing->has_begun) {
        sharing->has_begun = 1;
        sharing->failed =
            MPI_Ibcast(sharing->bytes, sharing->len, MPI_BYTE, 0, job.comm, &sharing->request);
    }
    if (sharing->failed == MPI_SUCCESS)
        sharing->failed = MPI_Test(&sharing->request, &sharing->is_done, MPI_STATUS_IGNORE);
}

static int mpi_share(void *bytes, uint32_t len, char *sentence) {
    struct sharing sharing = {.bytes = bytes, .len = (int)len};
    int64_t deadline = now_us() + (int64_t)SHARE_MS * 1000;
    while (!sharing.is_done) {
        run(share_a_while, &sharing);
        if (sharing.failed != MPI_SUCCESS)
            return say_mpi(sentence, "give bytes of rank 0 to all ranks", sharing.failed);
        if (now_us() > deadline)
            return say(THALWEG_MEDIUM_SYSTEM, sentence, "not all ranks have come in time");
        usleep(100);
    }
    return THALWEG_MEDIUM_OK;
}

const thalweg_medium_ranks thalweg_medium_ranks_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium_ranks),
    .join = mpi_join,
    .share = mpi_share,
};
