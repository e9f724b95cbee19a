/* UCX: two processes of one host, tagged messages by UCP, as its own ucx_perftest sends them.
 *
 * The process forks: the child receives, the parent sends and prints a latency. The two exchange
 * their addresses by a pair of sockets. Throughput: 32 sends outstanding, ucx_perftest's default for
 * tag_bw; a word goes back by the sockets when all have come. Latency: there and back, half of each
 * round trip; a tenth more trips come first. Workers are polled and never sleep; as the other peers
 * do, a process gives its core away once in 10,000 polls that find nothing.
 */
#include "peer_turn.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { WINDOW = 32, TAG = 1, POLLS_PER_YIELD = 10000, SECONDS_MAX = 50 };

/* One process's worker and its endpoint to the other. */
struct side {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h peer;
    int socket;
};

static void check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void write_all(int socket, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        ssize_t done = write(socket, at, count);
        if (done <= 0)
            fail("the other process has gone");
        at += done;
        count -= (size_t)done;
    }
}

static void read_all(int socket, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        ssize_t done = read(socket, at, count);
        if (done <= 0)
            fail("the other process has gone");
        at += done;
        count -= (size_t)done;
    }
}

static void open_side(struct side *side)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_config_t *config;
    check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    check(ucp_init(&params, config, &side->context), "ucp_init");
    ucp_config_release(config);
    ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    check(ucp_worker_create(side->context, &worker, &side->worker), "ucp_worker_create");

    ucp_address_t *own;
    size_t length;
    check(ucp_worker_get_address(side->worker, &own, &length), "ucp_worker_get_address");
    write_all(side->socket, &length, sizeof length);
    write_all(side->socket, own, length);
    ucp_worker_release_address(side->worker, own);
    read_all(side->socket, &length, sizeof length);
    if (length > 1 << 16)
        fail("the other process has no address");
    void *other = malloc(length);
    if (other == NULL)
        fail("no memory");
    read_all(side->socket, other, length);
    ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = other};
    check(ucp_ep_create(side->worker, &ep, &side->peer), "ucp_ep_create");
    free(other);
}

/* Lets the worker work, and now and then the other processes of the core. */
static void poll_worker(struct side *side)
{
    static unsigned polls;
    if (ucp_worker_progress(side->worker) == 0 && ++polls % POLLS_PER_YIELD == 0)
        sched_yield();
}

/* Waits until an operation is done. */
static void wait_done(struct side *side, void *request)
{
    if (request == NULL)
        return;
    if (UCS_PTR_IS_ERR(request))
        check(UCS_PTR_STATUS(request), "an operation");
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        poll_worker(side);
    ucp_request_free(request);
    check(status, "an operation");
}

static void *begin_send(struct side *side, const void *message, size_t bytes)
{
    ucp_request_param_t none = {0};
    return ucp_tag_send_nbx(side->peer, message, bytes, TAG, &none);
}

static void *begin_receive(struct side *side, void *room, size_t bytes)
{
    ucp_request_param_t none = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    return ucp_tag_recv_nbx(side->worker, room, bytes, TAG, UINT64_MAX, &none);
}

/* Closes both sides: neither goes before the other has nothing under way. */
static void close_side(struct side *side)
{
    ucp_request_param_t none = {0};
    void *flushed = ucp_ep_flush_nbx(side->peer, &none);
    wait_done(side, flushed);
    char word = 0;
    write_all(side->socket, &word, 1);
    for (;;) {
        ssize_t come = recv(side->socket, &word, 1, MSG_DONTWAIT);
        if (come == 1)
            break;
        if (come == 0)
            fail("the other process has gone");
        poll_worker(side);
    }
    ucp_ep_close_nb(side->peer, UCP_EP_CLOSE_MODE_FORCE);
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

static void send_all(struct side *side, const struct peer_turn *turn)
{
    unsigned char *memory = messages_memory(WINDOW, turn->bytes);
    void *requests[WINDOW] = {0};
    for (uint64_t next = 0; next < turn->messages; next++) {
        size_t slot = next % WINDOW;
        wait_done(side, requests[slot]);
        unsigned char *message = memory + slot * turn->bytes;
        fill(message, turn->bytes, next);
        requests[slot] = begin_send(side, message, turn->bytes);
    }
    for (size_t slot = 0; slot < WINDOW; slot++)
        wait_done(side, requests[slot]);
    close_side(side);
    free(memory);
}

static void receive_all(struct side *side, const struct peer_turn *turn)
{
    unsigned char *memory = messages_memory(WINDOW, turn->bytes);
    void *requests[WINDOW] = {0};
    struct peer_sink sink = {0};
    uint64_t begun = 0;
    while (sink.count < turn->messages) {
        for (; begun < turn->messages && begun < sink.count + WINDOW; begun++) {
            size_t slot = begun % WINDOW;
            requests[slot] = begin_receive(side, memory + slot * turn->bytes, turn->bytes);
        }
        /* Messages of one tag are matched in order. */
        size_t slot = sink.count % WINDOW;
        wait_done(side, requests[slot]);
        take(&sink, memory + slot * turn->bytes, turn->bytes);
    }
    print_arrivals(&sink);
    close_side(side);
    free(memory);
}

static void ping(struct side *side, const struct peer_turn *turn)
{
    unsigned char *message = messages_memory(1, turn->bytes);
    uint64_t warm_up = turn->messages / 10;
    struct peer_sink sink = {0};
    printf("latency");
    for (uint64_t trip = 0; trip < warm_up + turn->messages; trip++) {
        int64_t start = now_ns();
        fill(message, turn->bytes, trip);
        wait_done(side, begin_send(side, message, turn->bytes));
        wait_done(side, begin_receive(side, message, turn->bytes));
        take(&sink, message, turn->bytes);
        if (trip >= warm_up)
            printf(" %" PRId64, (now_ns() - start) / 2);
    }
    printf("\n");
    close_side(side);
    free(message);
}

static void pong(struct side *side, const struct peer_turn *turn)
{
    unsigned char *message = messages_memory(1, turn->bytes);
    uint64_t trips = turn->messages / 10 + turn->messages;
    struct peer_sink sink = {0};
    for (uint64_t trip = 0; trip < trips; trip++) {
        wait_done(side, begin_receive(side, message, turn->bytes));
        take(&sink, message, turn->bytes);
        fill(message, turn->bytes, trip);
        wait_done(side, begin_send(side, message, turn->bytes));
    }
    close_side(side);
    free(message);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "version") == 0)
        return puts(ucp_get_version_string()) < 0;
    struct peer_turn turn = read_turn(argc, argv);
    /* Neither process outlives the one that asked, or a turn that hangs. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(SECONDS_MAX);
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        fail("no pair of sockets");
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0)
        fail("no second process");
    struct side side = {.socket = sockets[child == 0]};
    close(sockets[child != 0]);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(SECONDS_MAX);
        if (getppid() != parent)
            return 1;
    }
    pin(child == 0 ? turn.receiving_core : turn.sending_core);
    open_side(&side);
    if (turn.is_latency)
        (child == 0 ? pong : ping)(&side, &turn);
    else
        (child == 0 ? receive_all : send_all)(&side, &turn);
    if (child == 0)
        return 0;
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("the receiving process failed");
    return 0;
}
