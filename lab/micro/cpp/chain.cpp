// The chain of benches/chain.rs: one function an operator, none inlined. `chain BYTES TURNS`
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using Clock = std::chrono::steady_clock;

template <int N> struct Tuple {
    int64_t n;
    int64_t p[N / 8 - 1];
};
template <> struct Tuple<4> {
    int32_t n;
};
template <> struct Tuple<8> {
    int64_t n;
};

static volatile bool stop = false;

template <int N> struct Chain {
    int64_t counted = 0;
    uint64_t submitted[4] = {}, processed[4] = {};

    __attribute__((noinline)) void custom(const Tuple<N> &) { counted += 1; }

    __attribute__((noinline)) void filter(const Tuple<N> &t) {
        if ((t.n & 1) == 0) {
            submitted[2]++;
            processed[2]++;
            custom(t);
        }
    }

    __attribute__((noinline)) void functor(const Tuple<N> &t) {
        Tuple<N> out = t;
        out.n = t.n + 1;
        submitted[1]++;
        processed[1]++;
        filter(out);
    }

    __attribute__((noinline)) void beacon(int64_t turns) {
        for (int64_t i = 0; i < turns && !stop; i++) {
            Tuple<N> t;
            t.n = i;
            if constexpr (N > 8)
                for (int at = 0; at < N / 8 - 1; at++) t.p[at] = at + 1;
            submitted[0]++;
            processed[0]++;
            functor(t);
        }
    }
};

template <int N> static void run(int64_t turns) {
    Chain<N> chain;
    auto start = Clock::now();
    chain.beacon(turns);
    double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    printf("%.0f %lld\n", ns, (long long)chain.counted);
}

int main(int, char **argv) {
    int64_t turns = atoll(argv[2]);
    switch (atoi(argv[1])) {
    case 4: run<4>(turns); break;
    case 64: run<64>(turns); break;
    case 256: run<256>(turns); break;
    case 1024: run<1024>(turns); break;
    case 4096: run<4096>(turns); break;
    default: run<16384>(turns); break;
    }
}
