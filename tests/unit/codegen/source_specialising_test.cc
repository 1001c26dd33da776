#include "codegen/source_specialising.h"

#include <doctest/doctest.h>

#include <string>

namespace gemmtune::codegen {
namespace {

// What is left of one part.
std::string left(std::string_view source, std::string_view kernel, std::string_view notes = "") {
  const auto parts = specialised({{"part.h", std::string(source)}}, kernel, notes);
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

TEST_CASE("enumerators and fields of tiles that nobody names go") {
  constexpr std::string_view kSource =
      "enum E : int {\n  kA = 0,  // first\n  kB = 1,  // second\n};\nenum F : int { kC, kD };\n"
      "struct TileConfig {\n  int m = 0;  // rows\n  int n = 0;  // columns,\n              // "
      "more\n"
      "  int k = 0;\n};\nstruct Other {\n  int m2 = 0;\n};\n";
  CHECK(
      left(kSource, "E e = kB; F f = kD; constexpr TileConfig t{.m = 1}; Other o; int x = t.k;") ==
      "enum E : int {\n  kB = 1,  // second\n};\nenum F : int { kC, kD };\n"
      "struct TileConfig {\n  int m = 0;  // rows\n  int k = 0;\n};\nstruct Other {\n  int m2 = "
      "0;\n};\n");
}

}  // namespace
}  // namespace gemmtune::codegen
