/* This process in the MPI job: its state, the lock around MPI, tags, sentences.
 *
 * run() is the one way to MPI for the threads of the ends. It makes calls for an end alone, so that
 * what an end shares with the MPI thread needs no other lock. */

/* Most bytes of a block, and of a message: over sockets, MPI libraries send twice as much at once, and
 * ask the receiver first for more, which takes much longer. */
#define BLOCK_BYTES_MAX (32u << 10)

/* Times of the MPI thread between two rounds, in microseconds: at first, at most while an end needs
 * it, and at most without that. */
#define ROUND_US_MIN 20
#define ROUND_US_MAX 1000
#define ROUND_US_IDLE 10000

/* Times that a thread yields before it sleeps, while another one uses MPI. */
#define YIELDS_MAX 1000u

/* Kinds of messages, in the lower bits of tags. The rest is the number of the end that receives. */
enum { TAG_DATA, TAG_HELLO, TAG_CREDIT, TAG_KINDS };

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
    /* Guarded by `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum stage stage;
    char sentence[THALWEG_MEDIUM_SENTENCE_BYTES];
    /* Written by the MPI thread before it has joined. */
    pthread_t thread;
    int is_funneled; /* whether the MPI thread makes all calls */
    int is_ours;     /* whether this library has initialised MPI */
    int rank, size;
    MPI_Comm comm;
    uint8_t job[16];
    uint32_t number_max;
    uint64_t pause_max; /* ticks */
    int wake;           /* eventfd: the MPI thread has something to do */
    _Atomic int is_napping, is_leaving;
    /* Guards MPI and the fields below. */
    _Atomic int is_busy;
    uint32_t last_number; /* of an end */
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

static int no_memory(char *sentence) {
    return say(THALWEG_MEDIUM_SYSTEM, sentence, "there is no memory or descriptor for an edge by MPI");
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

/* Makes an eventfd readable. */
static void fire(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0)
        return; /* the counter is full: it is readable anyway */
}

static void clear(int event) {
    uint64_t count;
    if (read(event, &count, sizeof count) < 0)
        return; /* it was not readable */
}

/* Wakes the MPI thread from a long nap, once. */
static inline void end_nap(void) {
    if (atomic_load_explicit(&job.is_napping, memory_order_relaxed) && atomic_exchange(&job.is_napping, 0))
        fire(job.wake);
}

/* Locks MPI unless another thread uses it. */
static inline int try_lock(void) {
    return !atomic_exchange_explicit(&job.is_busy, 1, memory_order_acquire);
}

/* The lock is not a mutex of the system because its release is on the way of each message: a plain
 * store does not wait until the message's bytes have left the processor. */
static inline void lock(void) {
    for (uint32_t tries = 0; !try_lock(); tries++)
        if (tries < YIELDS_MAX)
            sched_yield();
        else
            usleep(ROUND_US_MIN);
}

static inline void unlock(void) {
    atomic_store_explicit(&job.is_busy, 0, memory_order_release);
}

static void run_on_mpi_thread(void (*call)(void *), void *end) {
    pthread_mutex_lock(&job.remote);
    while (job.call)
        pthread_cond_wait(&job.remote_done, &job.remote);
    job.call = call, job.call_end = end;
    fire(job.wake);
    while (job.call == call && job.call_end == end)
        pthread_cond_wait(&job.remote_done, &job.remote);
    pthread_mutex_unlock(&job.remote);
}

/* Makes calls of MPI for an end while no other thread does. */
static inline void run(void (*call)(void *), void *end) {
    if (job.is_funneled && !pthread_equal(pthread_self(), job.thread)) {
        run_on_mpi_thread(call, end);
    } else {
        lock();
        call(end);
        unlock();
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
    return job.last_number < job.number_max ? ++job.last_number : 0;
}

/* Whether a request has ended, or never was. Errors of messages that nobody needs any more count as
 * their end. */
static int is_over(MPI_Request *request) {
    int is_done = 1;
    if (*request != MPI_REQUEST_NULL && MPI_Test(request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return 1;
    return is_done;
}

/* Bytes of the largest block for a ring of this size. */
static uint64_t block_bytes(uint64_t ring_bytes) {
    uint64_t bytes = ring_bytes / 4 / 64 * 64;
    return bytes < 64 ? 64 : bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX : bytes;
}

static int join_once(char *sentence);
