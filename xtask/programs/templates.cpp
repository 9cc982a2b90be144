// An interpreter of a small language, as C++ has it done: templates, variants, shared pointers, maps, virtual calls, and errors
// as exceptions that pass through many frames.
//
//     templates ROUNDS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Failure : std::runtime_error {
    using runtime_error::runtime_error;
};

using Value = std::variant<long, double, std::string>;

template <class... Handlers> struct Match : Handlers... { using Handlers::operator()...; };
template <class... Handlers> Match(Handlers...) -> Match<Handlers...>;

static std::string show(const Value &value) {
    return std::visit(Match{[](long n) { return std::to_string(n); },
                            [](double d) { return std::to_string(static_cast<long>(d * 1000)) + "/1000"; },
                            [](const std::string &s) { return s; }},
                      value);
}

class Scope {
    std::map<std::string, Value> names;
    const Scope *outer;

  public:
    explicit Scope(const Scope *outer) : outer(outer) {}
    void set(const std::string &name, Value value) { names[name] = std::move(value); }
    const Value &get(const std::string &name) const {
        auto found = names.find(name);
        if (found != names.end()) return found->second;
        if (!outer) throw Failure("no " + name);
        return outer->get(name);
    }
};

struct Node {
    virtual ~Node() = default;
    virtual Value eval(Scope &scope) const = 0;
};
using Tree = std::unique_ptr<Node>;

struct Constant final : Node {
    Value value;
    explicit Constant(Value v) : value(std::move(v)) {}
    Value eval(Scope &) const override { return value; }
};
struct Name final : Node {
    std::string name;
    explicit Name(std::string n) : name(std::move(n)) {}
    Value eval(Scope &scope) const override { return scope.get(name); }
};

template <class Operation> struct Binary final : Node {
    Tree left, right;
    Binary(Tree l, Tree r) : left(std::move(l)), right(std::move(r)) {}
    Value eval(Scope &scope) const override {
        const Value a = left->eval(scope), b = right->eval(scope);
        return std::visit(
            [](const auto &x, const auto &y) -> Value {
                using X = std::decay_t<decltype(x)>;
                using Y = std::decay_t<decltype(y)>;
                if constexpr (std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>) return Operation::numbers(x, y);
                else return Operation::texts(show(x), show(y));
            },
            a, b);
    }
};
struct Add {
    template <class X, class Y> static Value numbers(X x, Y y) { return x + y; }
    static Value texts(const std::string &x, const std::string &y) {
        if (x.size() + y.size() > 60) throw Failure("too long");
        return x + y;
    }
};
struct Multiply {
    template <class X, class Y> static Value numbers(X x, Y y) { return x * y; }
    static Value texts(const std::string &, const std::string &) { throw Failure("text times text"); }
};
struct Divide {
    static Value numbers(long x, long y) {
        if (y == 0) throw Failure("division by zero");
        return x / y;
    }
    template <class X, class Y> static Value numbers(X x, Y y) { return static_cast<double>(x) / static_cast<double>(y); }
    static Value texts(const std::string &, const std::string &) { throw Failure("text by text"); }
};
struct Let final : Node {
    std::string name;
    Tree value, body;
    Let(std::string n, Tree v, Tree b) : name(std::move(n)), value(std::move(v)), body(std::move(b)) {}
    Value eval(Scope &scope) const override {
        Scope inner(&scope);
        inner.set(name, value->eval(scope));
        return body->eval(inner);
    }
};
struct Try final : Node {
    Tree body, otherwise;
    Try(Tree b, Tree o) : body(std::move(b)), otherwise(std::move(o)) {}
    Value eval(Scope &scope) const override {
        try {
            return body->eval(scope);
        } catch (const Failure &) {
            return otherwise->eval(scope);
        }
    }
};

class Parser {
    std::string text;
    size_t at = 0;
    char peek() {
        while (at < text.size() && text[at] == ' ') at++;
        return at < text.size() ? text[at] : '\0';
    }
    bool accept(char c) { return peek() == c ? (at++, true) : false; }
    void expect(char c) {
        if (!accept(c)) throw Failure(std::string("expected ") + c + " at " + std::to_string(at));
    }
    std::string word() {
        std::string word;
        while (at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_')) word += text[at++];
        return word;
    }
    Tree atom() {
        const char c = peek();
        if (accept('(')) {
            Tree inner = sum();
            expect(')');
            return inner;
        }
        if (std::isdigit(static_cast<unsigned char>(c))) {
            char *end;
            const long whole = std::strtol(text.c_str() + at, &end, 10);
            if (*end != '.') {
                at = static_cast<size_t>(end - text.c_str());
                return std::make_unique<Constant>(whole);
            }
            const double real = std::strtod(text.c_str() + at, &end);
            at = static_cast<size_t>(end - text.c_str());
            return std::make_unique<Constant>(real);
        }
        if (accept('"')) {
            std::string inner;
            while (at < text.size() && text[at] != '"') inner += text[at++];
            expect('"');
            return std::make_unique<Constant>(inner);
        }
        const std::string name = word();
        if (name == "let") {
            peek();
            std::string variable = word();
            expect('=');
            Tree value = sum();
            expect(';');
            return std::make_unique<Let>(variable, std::move(value), sum());
        }
        if (name == "try") {
            Tree body = atom();
            expect('|');
            return std::make_unique<Try>(std::move(body), atom());
        }
        if (name.empty()) throw Failure("nothing at " + std::to_string(at));
        return std::make_unique<Name>(name);
    }
    Tree product() {
        Tree left = atom();
        for (;;) {
            if (accept('*')) left = std::make_unique<Binary<Multiply>>(std::move(left), atom());
            else if (accept('/')) left = std::make_unique<Binary<Divide>>(std::move(left), atom());
            else return left;
        }
    }
    Tree sum() {
        Tree left = product();
        while (accept('+')) left = std::make_unique<Binary<Add>>(std::move(left), product());
        return left;
    }

  public:
    explicit Parser(std::string t) : text(std::move(t)) {}
    Tree parse() {
        Tree tree = sum();
        if (peek() != '\0') throw Failure("more at " + std::to_string(at));
        return tree;
    }
};

template <class Container, class Function> auto transformed(const Container &from, Function f) {
    std::vector<decltype(f(*from.begin()))> to;
    to.reserve(from.size());
    std::transform(from.begin(), from.end(), std::back_inserter(to), f);
    return to;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const long rounds = std::atol(argv[1]);
    const std::vector<std::string> programs = {
        "1 + 2 * (3 + 4) * round", "let x = round * round; x * x / (x + 1)", "try (10 / (round / 7)) | (\"none\" + round)",
        "let s = \"ab\" + round; try (s + s + s + s + s + s + s + s + s) | s", "1.5 * round + 2 / 3.0", "try (\"a\" * \"b\") | 4",
        "let a = 1; let b = a + round; let c = b * b; try (c / (round / 100)) | (a + b + c)", "missing + 1", "(1 + 2", "1 $ 2",
    };
    std::unordered_map<std::string, long> seen;
    std::map<std::string, long> failures;
    for (long round = 0; round < rounds; round++) {
        Scope scope(nullptr);
        scope.set("round", round);
        auto results = transformed(programs, [&](const std::string &program) -> std::string {
            try {
                return show(Parser(program).parse()->eval(scope));
            } catch (const Failure &failure) {
                failures[failure.what()]++;
                return "?";
            }
        });
        std::sort(results.begin(), results.end(), std::greater<>());
        for (const std::string &result : results) seen[result]++;
    }
    std::vector<std::pair<long, std::string>> ranking;
    for (const auto &[text, count] : seen) ranking.emplace_back(count, text);
    std::sort(ranking.begin(), ranking.end());
    const long total = std::accumulate(ranking.begin(), ranking.end(), 0L, [](long sum, const auto &r) { return sum + r.first; });
    std::printf("%zu different of %ld, most often %s\n", ranking.size(), total, ranking.back().second.c_str());
    for (const auto &[what, count] : failures) std::printf("%ld %s\n", count, what.c_str());
    return 0;
}
