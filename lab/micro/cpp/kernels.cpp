// The kernels of benches/kernels.rs as a C++ programmer would write them. Prints nanoseconds and the
// result: `kernels NAME TURNS`.
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <decimal/decimal>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static const uint64_t LCG = 6364136223846793005ull, STEP = 1442695040888963407ull;

struct Operator {
    int64_t count = 0, sum = 0;
    uint64_t bits = 0;
    double x = 0;
    std::vector<std::string> words;
    std::string middle = "SYM32";
    std::vector<int64_t> list;
    std::unordered_map<int64_t, int64_t> map;
    std::unordered_map<std::string, int64_t> names;
    std::decimal::decimal64 price;

    void integer(int64_t n);
    void real(int64_t n);
    void string(int64_t n);
    void elements(int64_t n);
    void money(int64_t n);
    void lookup(int64_t n);
    void name_lookup(int64_t n);
    void function(int64_t n);
    void nested(int64_t n);
    void branchy(int64_t n);
    void timestamp(int64_t n);
};

void Operator::integer(int64_t n) {
    uint64_t x = 1, acc = 0;
    for (int64_t i = 0; i < n; i++) {
        x = x * LCG + STEP;
        acc ^= x >> 33;
    }
    bits = acc;
}

void Operator::real(int64_t n) {
    double y = 1.5;
    for (int64_t i = 0; i < n; i++) y = y * 0.999 + 1.0 / (y + 2.0);
    x = y;
}

void Operator::string(int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        const std::string &word = words.at(i & 63);
        if (word == "SYM17") count += 1;
        if (word < middle) count += 2;
    }
}

void Operator::elements(int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) total += list.at(i & 1023);
    sum = total;
}

void Operator::money(int64_t n) {
    using std::decimal::decimal64;
    decimal64 total = std::decimal::make_decimal64(0ll, -2);
    decimal64 each = std::decimal::make_decimal64(1ll, -2);
    decimal64 cent = std::decimal::make_decimal64(1ll, -2);
    decimal64 three(3);
    for (int64_t i = 0; i < n; i++) {
        total += each * three;
        each += cent;
    }
    price = total;
}

void Operator::lookup(int64_t n) {
    for (int64_t i = 0; i < n; i++) sum += map.at((i * 7919) % 10000);
}

void Operator::name_lookup(int64_t n) {
    for (int64_t i = 0; i < n; i++) sum += names.at(words.at(i & 63));
}

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

void Operator::function(int64_t n) {
    for (int64_t i = 0; i < n; i++) sum += gcd(i, 1071);
}

struct Inner {
    int64_t x = 0, y = 0, z = 0;
};
struct Outer {
    Inner a, b;
};

void Operator::nested(int64_t n) {
    Outer t;
    for (int64_t i = 0; i < n; i++) {
        t.a.x += t.b.y;
        t.b.y ^= i;
        t.b.z += t.a.x;
    }
    sum = t.b.z;
}

void Operator::branchy(int64_t n) {
    uint64_t x = 1, total = 0;
    for (int64_t i = 0; i < n; i++) {
        x = x * LCG + STEP;
        if (((x >> 40) & 3) == 0)
            total += 3;
        else if (((x >> 50) & 3) == 1)
            total -= i;
        else if (((x >> 60) & 3) == 2)
            total *= 5;
        else
            total ^= 0x55;
    }
    sum = (int64_t)total;
}

struct Time {
    int64_t seconds;
    uint32_t nanos;
    int32_t machine;
    Time operator+(const Time &o) const {
        int64_t s = seconds + o.seconds, n = (int64_t)nanos + o.nanos;
        if (n >= 1000000000) {
            n -= 1000000000;
            s += 1;
        }
        return {s, (uint32_t)n, machine};
    }
    bool operator>(const Time &o) const {
        return seconds != o.seconds ? seconds > o.seconds : nanos > o.nanos;
    }
};

void Operator::timestamp(int64_t n) {
    Time t{0, 0, 0};
    const Time step{1, 700000000, 0}, end{1000, 5, 0};
    int64_t wraps = 0;
    for (int64_t i = 0; i < n; i++) {
        t = t + step;
        if (t > end) {
            t = {0, 0, 0};
            wraps += 1;
        }
    }
    count = wraps;
}

int main(int, char **argv) {
    std::string name = argv[1];
    int64_t n = atoll(argv[2]);
    Operator op;
    for (int i = 0; i < 64; i++) op.words.push_back("SYM" + std::to_string(i));
    for (int i = 0; i < 1024; i++) op.list.push_back(i);
    for (int i = 0; i < 10000; i++) op.map[i] = i * 3;
    for (int i = 0; i < 1000; i++) op.names["SYM" + std::to_string(i)] = i * 3;
    auto start = Clock::now();
    if (name == "integer") op.integer(n);
    if (name == "float") op.real(n);
    if (name == "string") op.string(n);
    if (name == "list") op.elements(n);
    if (name == "decimal") op.money(n);
    if (name == "map") op.lookup(n);
    if (name == "string_map") op.name_lookup(n);
    if (name == "function") op.function(n);
    if (name == "nested") op.nested(n);
    if (name == "branchy") op.branchy(n);
    if (name == "timestamp") op.timestamp(n);
    double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    printf("%.0f ", ns);
    if (name == "integer")
        printf("%" PRIu64, op.bits);
    else if (name == "float")
        printf("%.15g", op.x);
    else if (name == "decimal")
        printf("%.2f", std::decimal::decimal64_to_double(op.price));
    else if (name == "string" || name == "timestamp")
        printf("%" PRId64, op.count);
    else
        printf("%" PRId64, op.sum);
    printf("\n");
}
