#include "codegen/source_specialising.h"

#include <doctest/doctest.h>

#include <string>

#include "codegen/source_device_calls.h"

namespace gemmtune::codegen {
namespace {

// What is left of one part.
std::string left(std::string_view source, std::string_view kernel, std::string_view notes = "") {
  const auto parts = specialised({{"part.h", std::string(source)}}, kernel, notes).parts;
  return parts.empty() ? "" : parts.front().text;
}

bool has(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

constexpr std::string_view kChosen = R"(template <int kA>
int f(int x) {
  if constexpr (kA == 1) {
    const int y = x + 1;
    return y;
  } else if constexpr (kA == 2) {
    return x + 2;
  } else {
    return x;
  }
}
)";

TEST_CASE("a branch that is decided takes its statement's place") {
  CHECK(left(kChosen, "int a = f<1>(0);") ==
        "template <int kA>\nint f(int x) {\n  const int y = x + 1;\n  return y;\n}\n");
  CHECK(left(kChosen, "int a = f<1 + 1>(0);") ==
        "template <int kA>\nint f(int x) {\n  return x + 2;\n}\n");
  CHECK(left(kChosen, "int a = f<3>(0) + f<1 + 2>(1);") ==
        "template <int kA>\nint f(int x) {\n  return x;\n}\n");
}

TEST_CASE("what uses do not agree on, or say at all, stays") {
  for (const char* kernel :
       {"int a = f<1>(0) + f<2>(0);", "template <int k> int g() { return f<k>(0); } ",
        "auto p = &f<1>; auto q = f;", "int a = f<unknown>(0);", "int a = f<sizeof(int)>(0);",
        "struct S { int f(int); }; template <class T> int g(T t) { return t.template f<1>(0); } "
        "int b = f<2>(0), c = f<3>(0);"}) {
    CAPTURE(kernel);
    CHECK(left(kChosen, kernel) == kChosen);
  }
}

TEST_CASE("values come from fields, constants, functions and other templates") {
  constexpr std::string_view kSource = R"(enum Kind : int { kSmall = 0, kLarge = 1 };
struct Inner {
  Kind kind = kSmall;
};
struct Traits {
  bool row_major = true;
  int width = 1;
  Inner inner = {};
};
constexpr int bytes(Kind kind) {
  switch (kind) {
    case kSmall:
      return 2;
    case kLarge:
      break;
  }
  return 4;
}
template <Traits kOf>
struct Tile {
  static constexpr int kBytes = bytes(kOf.inner.kind) * kOf.width;
};
template <Traits kTraits, int kMore = 7>
struct Kernel {
  using Own = Tile<kTraits>;
  static int run() {
    if constexpr (kTraits.row_major && kMore == 7) return 1;
    return 2;
  }
  static int bytes_of() {
    if constexpr (Own::kBytes == 32) {
      return 3;
    } else {
      return 4;
    }
  }
};
)";
  const std::string text =
      left(kSource,
           "constexpr Traits kTraits{.row_major = true, .width = 8, .inner = {.kind = kLarge}};\n"
           "int a = Kernel<kTraits>::run() + Kernel<kTraits>::bytes_of();");
  CHECK(has(text, "return 1;"));
  CHECK_FALSE(has(text, "return 2;\n  }\n  static"));
  CHECK(has(text, "return 3;"));
  CHECK_FALSE(has(text, "if constexpr"));
  CHECK_FALSE(has(text, "kSmall = 0,\n"));
  const std::string other =
      left(kSource, "constexpr Traits kTraits{.width = 8};\nint a = Kernel<kTraits, 2>::run();");
  CHECK(has(other, "return 2;"));
  CHECK_FALSE(has(other, "return 1;"));
  CHECK_FALSE(has(other, "bytes_of"));
}

TEST_CASE("a block that would declare a name twice keeps its braces") {
  CHECK(left("template <int kA>\nint f() {\n  int x = 0;\n  if constexpr (kA == 1) {\n    int x = "
             "1;\n    g(x);\n  }\n  return x;\n}\n",
             "int a = f<1>();") ==
        "template <int kA>\nint f() {\n  int x = 0;\n  {\n    int x = 1;\n    g(x);\n  }\n  return "
        "x;\n}\n");
}

TEST_CASE("what a function's own names hide is not taken for a constant") {
  constexpr std::string_view kSource =
      "constexpr int kA = 1;\nint f(int kA) {\n  if constexpr (kA == 1) return 1;\n  return 2;\n}\n"
      "int g() {\n  const int kA = h();\n  if constexpr (kA == 1) return 1;\n  return 2;\n}\n";
  CHECK(left(kSource, "int a = f(kA) + g();") == kSource);
}

TEST_CASE("specialisations that no use is of go, and others stay") {
  constexpr std::string_view kSource =
      "template <int kA, int kB>\nstruct S {\n  int x;\n};\n\n// Of twos.\ntemplate <int kB>\n"
      "struct S<2, kB> {\n  int y;\n};\n\ntemplate <int kB>\nvoid f(const S<1, kB>& s) {}\n";
  CHECK_FALSE(has(left(kSource, "S<1, 2> s; S<3, 2> t;"), "Of twos."));
  CHECK(has(left(kSource, "S<1, 2> s; S<2, 2> t;"), "int y;"));
  CHECK(has(left(kSource, "template <int kC> void g() { S<kC, 1> s; }"), "int y;"));
}

TEST_CASE("overloads for objects that nobody makes, or for other numbers of arguments, go") {
  constexpr std::string_view kByObject =
      "template <int kA>\nstruct S {\n  int x;\n};\n\nvoid f(S<1>& s) {}\n\nvoid f(S<2>& s) {}\n";
  CHECK(has(left(kByObject, "S<1> s; S<2> t; f(s);"), "S<2>&"));
  CHECK_FALSE(has(left(kByObject, "S<1> s; f(s);"), "S<2>&"));
  constexpr std::string_view kByCount =
      "int f(int a) { return a; }\n\nint f(int a, int b) { return b; }\n\n"
      "int f(int a, int b, int c, int d = 1) { return d; }\n";
  const std::string two = left(kByCount, "int a = f(g(1, 2), 3);");
  CHECK(has(two, "return b;"));
  CHECK_FALSE(has(two, "return a;"));
  CHECK_FALSE(has(two, "return d;"));
  CHECK(left(kByCount, "int a = f(1); auto p = f;") == kByCount);
  CHECK(left(kByCount, "int a = f(1);", "the host calls f") == kByCount);
  CHECK(left(kByCount, "template <class... T> int g(T... t) { return f(t...); }") == kByCount);
}

TEST_CASE("assertions that hold go, and what follows a return") {
  CHECK(
      left("template <int kA>\nint f() {\n  static_assert(kA < 3, \"small\");\n  static_assert(kA "
           "< g(), \"unknown\");\n  if constexpr (kA == 1) return 1;\n  h();\n  return 2;\n}\n",
           "int a = f<1>();") ==
      "template <int kA>\nint f() {\n  static_assert(kA < g(), \"unknown\");\n  return 1;\n}\n");
}

TEST_CASE("an assertion that does not hold is of what is not instantiated, and goes") {
  CHECK(left("template <int kA>\nstruct Even {\n  static_assert(kA % 2 == 0, \"even\");\n};\n",
             "using A = Even<3>;") == "template <int kA>\nstruct Even {\n};\n");
}

TEST_CASE("conditionals of the preprocessor, and what they may name, stay whole") {
  constexpr std::string_view kSource =
      "template <int kA>\nint f() {\n  if constexpr (kA == 1) {\n#ifdef B\n    return 1;\n#endif\n"
      "    return 2;\n  }\n  return 3;\n}\n";
  CHECK(left(kSource, "int a = f<1>();") == kSource);
  const std::string macro = "#define CALL f<2>()\n";
  CHECK(left(kChosen, macro + "int a = f<1>(0);") == kChosen);
}

TEST_CASE("values are converted to the types that they are of") {
  constexpr std::string_view kSource =
      "template <bool kA>\nint f() {\n  if constexpr (kA == 1) return 1;\n  return 2;\n}\n"
      "constexpr float kHalf = 1;\nint g() {\n  if constexpr (kHalf / 2 == 0) return 1;\n  return "
      "2;\n}\n";
  const std::string text = left(kSource, "int a = f<2>() + g();");
  CHECK(has(text, "int f() {\n  return 1;\n}"));
  CHECK(has(text, "if constexpr (kHalf / 2 == 0) return 1;"));
}

TEST_CASE("constants of a function that nothing reads any more go") {
  CHECK(left("template <int kA>\nint f() {\n  // Of the branch.\n  constexpr int kB = 2 * kA;\n"
             "  constexpr int kC = 3;\n  if constexpr (kA == 2) return kB;\n#pragma unroll kC\n"
             "  while (g()) h();\n  return 1;\n}\n",
             "int a = f<1>();") ==
        "template <int kA>\nint f() {\n  constexpr int kC = 3;\n#pragma unroll kC\n"
        "  while (g()) h();\n  return 1;\n}\n");
}

TEST_CASE("enumerators that nobody names go, and fields of constants that nobody reads") {
  constexpr std::string_view kSource =
      "enum E : int {\n  kA = 0,  // first\n  kB = 1,  // second\n};\nenum F : int { kC, kD };\n"
      "struct Inner {\n  int x = 0;\n  int y = 0;\n};\n"
      "struct Tile {\n  int m = 0;  // rows\n  int n = 0;  // columns,\n              // more\n"
      "  int k = 0;\n  Inner inner = {};\n};\nstruct Other {\n  int m = 0;\n};\n"
      "int read(const Tile& t) { return t.k + t.inner.y; }\n";
  const std::string kernel =
      "constexpr Tile t{\n    .m = 1,\n    .k = 2,\n    .inner = {.x = 1, .y = 2},\n};\n"
      "E e = kB; F f = kD; Other o; int x = read(t);\n";
  const SpecialisedSource out = specialised({{"part.h", std::string(kSource)}}, kernel, "");
  CHECK(out.parts.front().text ==
        "enum E : int {\n  kB = 1,  // second\n};\nenum F : int { kC, kD };\n"
        "struct Inner {\n  int y = 0;\n};\nstruct Tile {\n  int k = 0;\n  Inner inner = {};\n};\n"
        "struct Other {\n  int m = 0;\n};\nint read(const Tile& t) { return t.k + t.inner.y; }\n");
  CHECK(out.kernel ==
        "constexpr Tile t{\n    .k = 2,\n    .inner = {.y = 2},\n};\n"
        "E e = kB; F f = kD; Other o; int x = read(t);\n");
  for (const char* in_order : {"constexpr Tile other = {1, 2, 3};\n", "Tile made(int m) {}\n"}) {
    const std::string user = kernel + "int y = other.k + made(1).k;\n";
    CHECK(has(left(std::string(kSource) + in_order, user), "int n = 0;"));
  }
  CHECK(has(left(kSource, kernel, "the host reads m"), "int m = 0;  // rows"));
}

TEST_CASE("calls that are known become numbers, those with loops and of objects too") {
  constexpr std::string_view kSource = R"(constexpr int power(int x, int most) {
  int p = 1;
  while (p < most && x % (2 * p) == 0) p *= 2;
  return p;
}
constexpr bool even(int x) {
  return x % 2 == 0;
}
struct Shares {
  int each;
  int rest;
  constexpr Shares(int all, int by) : each(all / by), rest(all - each * by) {}
  constexpr bool fits(int more) const { return rest + more == 1; }
};
template <int kA, int kB>
struct S {
  static constexpr int kPower = power(kA, 16);
  static constexpr bool kEven = even(kA);
  static constexpr Shares kShares{kA, 5};
  static constexpr int kEach = kShares.each;
  static_assert(kShares.fits(kA - 27), "fits");
  int run(int x) { return power(kA, 4) + power(x, 4) + kPower + kEven + kEach; }
};
)";
  const std::string text = left(kSource, "S<24, 1> s; int x = s.run(1);");
  CHECK(has(text, "kPower = 8;"));
  CHECK(has(text, "kEven = true;"));
  CHECK(has(text, "kEach = 4;"));
  CHECK(has(text, "return 4 + power(x, 4) +"));
  CHECK_FALSE(has(text, "Shares"));
  CHECK_FALSE(has(text, "even("));
  // Of three uses nothing is said; of two, by which parameter they differ.
  const std::string two = left(kSource, "S<24, 7> s; S<20, 8> t; int x = s.run(1) + t.run(1);");
  CHECK(has(two, "kPower = kA == 24 ? 8 : 4;"));
  CHECK(has(two, "kEven = true;"));
  CHECK(has(two, "static_assert"));
  const std::string three = left(kSource, "S<24, 7> s; S<20, 8> t; S<40, 8> u; int x = s.run(1);");
  CHECK(has(three, "kPower = power(kA, 16);"));
}

TEST_CASE("values are those of the class that is named, also where its uses differ") {
  constexpr std::string_view kSource = R"(constexpr int half(int x) { return x / 2; }
template <int kA>
struct Width {
  static constexpr int kHalf = half(kA);
};
template <bool kLong, class W>
struct S {
  static constexpr int kOwn = half(W::kHalf + 2);
  static constexpr int kOther = half(Width<12>::kHalf);
  int run() { return kOwn + kOther; }
};
)";
  const std::string text =
      left(kSource, "S<true, Width<4>> a; S<false, Width<8>> b; int x = a.run() + b.run();");
  CHECK_FALSE(has(text, "kHalf"));
  CHECK(has(text, "kOwn = kLong ? 2 : 3;"));
  CHECK(has(text, "kOther = 3;"));
}

TEST_CASE("conditions that are decided go: of statements, and in values") {
  constexpr std::string_view kSource = R"(template <bool kA>
struct S {
  static constexpr int kOne = kA ? 1 : 2;
  int run(int x, int y) {
    if (!kA) return 0;
    int z = kA ? x : y;
    z = (kA ? x + 1 : y) * kOne;
    const auto f = [&](int v) { return kA ? 1 : x; };
    return kA ? z + f(1) : f(x);
  }
};
)";
  CHECK(left(kSource, "S<true> s; int x = s.run(1, 2);") ==
        R"(template <bool kA>
struct S {
  static constexpr int kOne = 1;
  int run(int x, int y) {
    int z = x;
    z = (x + 1) * kOne;
    const auto f = [&](int v) { return kA ? 1 : x; };
    return z + f(1);
  }
};
)");
}

TEST_CASE("a function that calls another with its own parameters does itself what that one does") {
  constexpr std::string_view kSource = R"(struct S {
  template <class T>
  static int run(T x, int y = 1) {
    return inner(x, y);
  }

  // For all.
  template <class T>
  static int inner(T x, int y) {
    const int z = x + y;
    return z * y;
  }

  int last;
};
)";
  CHECK(left(kSource, "int a = S::run(1);") == R"(struct S {
  template <class T>
  static int run(T x, int y = 1) {
    const int z = x + y;
    return z * y;
  }

  int last;
};
)");
  CHECK(has(left(kSource, "int a = S::run(1) + S::inner(1, 2);"), "return inner(x, y);"));
}

TEST_CASE("template parameters that nobody names go, with what is given for them") {
  constexpr std::string_view kSource = R"(template <int kA, class T>
struct Box {
  T x;
};
template <int kA>
int f(int x) {
  return x;
}
template <int kA, int kB>
struct User {
  Box<kA, int> box;
  int run() { return box.x + f<kB>(1) + this->template g<kB>(2); }
  template <int kC>
  int g(int x) {
    return x;
  }
};
)";
  CHECK(left(kSource, "User<1, 2> u; int x = u.run();") == R"(template <class T>
struct Box {
  T x;
};
int f(int x) {
  return x;
}
template <int kA, int kB>
struct User {
  Box<int> box;
  int run() { return box.x + f(1) + this->g(2); }
  int g(int x) {
    return x;
  }
};
)");
  CHECK(has(left(kSource, "User<1, 2> u; int x = u.run() + f<3>(1);"), "f<kB>(1)"));
  // Found from a call's arguments, or given as a pack.
  CHECK(has(left("template <int kA>\nstruct S {};\ntemplate <int kA>\nvoid f(const S<kA>& s) {\n"
                 "  g<kA>();\n}\nvoid h() {\n  f(S<1>{});\n}\n",
                 "h();"),
            "S<1>"));
  CHECK(has(left("template <int... kAll>\nvoid f() {\n  g<kAll...>();\n}\ntemplate <int kA>\n"
                 "void g() {}\nvoid h() {\n  f<1>();\n}\n",
                 "h();"),
            "template <int kA>\nvoid g()"));
}

TEST_CASE("a type that a class has an alias of is written where it is a number's") {
  constexpr std::string_view kSource =
      "template <int kA>\nstruct Of {\n  using Type = unsigned short;\n};\n"
      "template <>\nstruct Of<1> {\n  using Type = float;\n};\n"
      "template <int kA>\nstruct S {\n  typename Of<kA>::Type x = kA;\n};\n";
  CHECK(left(kSource, "S<1> s;") == "template <int kA>\nstruct S {\n  float x = kA;\n};\n");
  CHECK(has(left(kSource, "S<2> s;"), "  unsigned short x"));
  CHECK(has(left(kSource, "S<1> s; S<2> t;"), "typename Of<kA>::Type x"));
}

TEST_CASE("comparisons of objects go where there is none") {
  constexpr std::string_view kSource =
      "struct A {\n  int x;\n\n  bool operator==(const A&) const = default;\n};\n"
      "template <int kA>\nbool f(int x) {\n  return x == kA;\n}\n";
  CHECK_FALSE(has(left(kSource, "A a; bool b = f<1>(2);"), "operator=="));
  CHECK(has(left(kSource, "A a; bool b = f<1>(2) && a == A{};"), "operator=="));
  CHECK(has(left(kSource, "bool c(A a, A b) { return a != b; }"), "operator=="));
}

TEST_CASE("variables that nobody reads go, if nothing happens with their values") {
  constexpr std::string_view kSource =
      "float zero(int x) { return 0.0f; }\nint changes(int& x) { return ++x; }\n"
      "int f(int x) {\n  const float a = zero(x);\n  const int b = changes(x);\n  return x;\n}\n";
  const std::string text = left(kSource, "int a = f(1);");
  CHECK_FALSE(has(text, "zero"));
  CHECK(has(text, "const int b = changes(x);"));
}

TEST_CASE("a variable that is what is left of a difference or a choice goes, too") {
  const std::string text = left(
      "int f(int x, bool b) {\n  const int a = x - (b ? 1 : 2);\n  const int c = x--;\n"
      "  return x;\n}\n",
      "int a = f(1, true);");
  CHECK_FALSE(has(text, "const int a"));
  CHECK(has(text, "const int c = x--;"));
}

TEST_CASE("device code calls members of objects that it makes") {
  constexpr std::string_view kSource =
      "struct Sums {\n  int a;\n  constexpr int of(int x) const { return a * x; }\n};\n"
      "template <int k>\nstruct Kernel {\n  static constexpr Sums kSums{k};\n"
      "  static constexpr int kTwice = kSums.of(2);\n  int x;\n"
      "  int f() const { return kSums.of(x) + kSums.a + other.kSums.of(1); }\n};\n";
  const std::string text = with_device_calls(kSource);
  CHECK(has(text, "return Sums{k}.of(x) + kSums.a + other.kSums.of(1);"));
  CHECK(has(text, "kTwice = kSums.of(2);"));
  CHECK(with_device_calls("int f(A kA) { return kA.of(1); }\n") ==
        "int f(A kA) { return kA.of(1); }\n");
}

TEST_CASE("what ends a function early for one tile is found") {
  CHECK(may_end_early("void f() { if constexpr (k(1)) return; g(); }"));
  CHECK(may_end_early("int f() { if constexpr (a) { return 1; } return 2; }"));
  CHECK_FALSE(may_end_early("int f() { if (a) return 1; if constexpr (b) g(); return 2; }"));
}

TEST_CASE("a block that is no more than its statements is opened") {
  CHECK(left("int f(int x) {\n  g(x);\n  {\n    const int y = x * x;\n    g(y);\n  }\n  return x;\n"
             "}\nint h(int x) {\n  {\n    int x = 1;\n    g(x);\n  }\n  return x;\n}\n",
             "int a = f(1) + h(1);") ==
        "int f(int x) {\n  g(x);\n  const int y = x * x;\n  g(y);\n  return x;\n}\n"
        "int h(int x) {\n  {\n    int x = 1;\n    g(x);\n  }\n  return x;\n}\n");
}

}  // namespace
}  // namespace gemmtune::codegen
