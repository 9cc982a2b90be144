// Parses shapes from its arguments and adds up their areas; what it cannot read is an exception.
//
//     cotree c++ -O2 -o shapes shapes.cpp && ./shapes circle:2 square:3 blob:1 && cotree report
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Circle : Shape {
    double r;
    explicit Circle(double r) : r(r) {}
    double area() const override { return 3.141592653589793 * r * r; }
};
struct Square : Shape {
    double a;
    explicit Square(double a) : a(a) {}
    double area() const override { return a * a; }
};

static std::unique_ptr<Shape> parse(const std::string &text) {
    auto colon = text.find(':');
    if (colon == std::string::npos) throw std::invalid_argument("no size in " + text);
    double size = std::stod(text.substr(colon + 1));
    std::string kind = text.substr(0, colon);
    if (kind == "circle") return std::make_unique<Circle>(size);
    if (kind == "square") return std::make_unique<Square>(size);
    throw std::invalid_argument("no such shape: " + kind);
}

int main(int argc, char **argv) {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 1; i < argc; i++) {
        try {
            shapes.push_back(parse(argv[i]));
        } catch (const std::exception &e) {
            std::cerr << e.what() << '\n';
        }
    }
    double sum = 0;
    for (const auto &shape : shapes) sum += shape->area();
    std::cout << sum << '\n';
}
