/* Membership of the MPI job: joining it, leaving it, and bytes that rank 0 gives to all ranks. */

/* Milliseconds that leaving the job may take, of which the first part is for messages under way. Ranks
 * that leave together need few; this is for a rank that never comes. */
#define LEAVE_MS 10000
#define LINGER_MS 300

/* Milliseconds that rank 0 has for the bytes that it gives to all ranks. */
#define SHARE_MS 60000

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

/* The level of threads to ask for: -1 for a word that is none. */
static int wanted_level(void) {
    const char *word = getenv("THALWEG_MPI_THREADS");
    if (!word || !*word || !strcmp(word, "serialized"))
        return MPI_THREAD_SERIALIZED;
    return strcmp(word, "funneled") ? -1 : MPI_THREAD_FUNNELED;
}

/* Plug-ins of some MPI libraries need its symbols, which those who load this file need not show. */
static void show_symbols(void) {
    Dl_info info;
    if (dladdr((void *)(uintptr_t)MPI_Init_thread, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
}

/* Initialises MPI. Signal handlers stay as they were: MPI libraries install some for crashes. */
static int initialise(int wanted) {
    struct sigaction handlers[NSIG];
    int is_initialised = 0, provided = MPI_THREAD_SINGLE, failed;
    MPI_Initialized(&is_initialised);
    if (is_initialised) {
        MPI_Query_thread(&provided);
        return provided < MPI_THREAD_SERIALIZED ? MPI_ERR_OTHER : MPI_SUCCESS;
    }
    show_symbols();
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &handlers[number]);
    failed = MPI_Init_thread(NULL, NULL, wanted, &provided);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &handlers[number], NULL);
    job.is_ours = failed == MPI_SUCCESS;
    job.is_funneled = provided < MPI_THREAD_SERIALIZED || wanted < MPI_THREAD_SERIALIZED;
    return failed;
}

/* Becomes a rank. Waits for the other ranks. */
static int join_job(void) {
    int64_t begin_us = now_us();
    uint64_t begin = ticks();
    int *bound = NULL, is_set = 0, wanted = wanted_level();
    if (wanted < 0)
        return say(THALWEG_MEDIUM_SYSTEM, job.sentence,
                   "the variable THALWEG_MPI_THREADS has to be `serialized` or `funneled`");
    int failed = initialise(wanted);
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
        nap(ROUND_US_MIN);
    }
    round.is_last = 1;
    run(go_round, &round);
    int is_finalised = 1;
    lock(); /* for good: no other thread may call MPI any more */
    MPI_Finalized(&is_finalised);
    if (job.is_ours && !is_finalised)
        MPI_Finalize();
}

static void *mpi_thread(void *unused) {
    (void)unused;
    prctl(PR_SET_NAME, "mpi");
    prctl(PR_SET_TIMERSLACK, 1);
    int status = join_job();
    set_stage(status == THALWEG_MEDIUM_OK ? JOINED : FAILED);
    if (status == THALWEG_MEDIUM_OK) {
        go_rounds();
        leave_job();
    }
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
    fire(job.wake);
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

/* Starts the MPI thread, which takes no signals. */
static int start_thread(void) {
    sigset_t all, before;
    job.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (job.wake < 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&job.thread, NULL, mpi_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* Joins the job, once in a process, and waits until that is done. */
static int join_once(char *sentence) {
    pthread_mutex_lock(&job.lock);
    if (job.stage == APART) {
        job.stage = JOINING;
        if (start_thread()) {
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

static int mpi_join(uint32_t *rank, uint32_t *size, char *sentence) {
    int status = join_once(sentence);
    *rank = (uint32_t)job.rank;
    *size = (uint32_t)job.size;
    return status;
}

/* Bytes on their way from rank 0 to all ranks. A rank that gives up leaves them to MPI. */
struct sharing {
    uint8_t bytes[THALWEG_MEDIUM_SHARE_BYTES_MAX];
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
    static struct sharing sharing;
    if (len > sizeof sharing.bytes || sharing.has_begun)
        return say(THALWEG_MEDIUM_SYSTEM, sentence, "bytes of rank 0 are given once, 1,024 at most");
    memcpy(sharing.bytes, bytes, len);
    sharing.len = (int)len;
    int64_t deadline = now_us() + (int64_t)SHARE_MS * 1000;
    while (!sharing.is_done) {
        run(share_a_while, &sharing);
        if (sharing.failed != MPI_SUCCESS)
            return say_mpi(sentence, "give bytes of rank 0 to all ranks", sharing.failed);
        if (now_us() > deadline)
            return say(THALWEG_MEDIUM_SYSTEM, sentence, "not all ranks have come in time");
        usleep(100);
    }
    memcpy(bytes, sharing.bytes, len);
    return THALWEG_MEDIUM_OK;
}
