#include "codegen/source_layout.h"

#include <doctest/doctest.h>

#include "codegen/source_macros.h"

namespace gemmtune::codegen {
namespace {

TEST_CASE("a part's head is cut to what it says first") {
  CHECK(with_short_head("// One (a.cuh. b) of\n// two. More.\n//\n// Others.\n\nint a;\n") ==
        "// One (a.cuh. b) of\n// two.\n\nint a;\n");
  CHECK(with_short_head("// All. Of this:\n//\n//     a picture. Of it\n//\n// to the end. More.\n"
                        "//\n// Others.\n\nint a;\n") ==
        "// All. Of this:\n//\n//     a picture. Of it\n//\n// to the end.\n\nint a;\n");
  CHECK(with_short_head("// All of this:\n//\n//     a picture\n//\n// Others.\n\nint a;\n") ==
        "// All of this:\n//\n//     a picture\n\nint a;\n");
  for (const char* no_head : {"// Of a. And more.\nint a;\n", "\n// Of a. And more.\n\nint a;\n"})
    CHECK(with_short_head(no_head) == no_head);
}

TEST_CASE("what fits into a line is in one") {
  CHECK(with_joined_lines("int f(int a,\n      int b) {\n  return a +\n         b;\n}\n") ==
        "int f(int a, int b) { return a + b; }\n");
  CHECK(with_joined_lines("template <int kA>\nstruct S {\n  int x;\n};\n") ==
        "template <int kA> struct S { int x; };\n");
  CHECK(with_joined_lines("enum E : int {\n  kA = 1,\n};\n") == "enum E : int { kA = 1 };\n");
  CHECK(with_joined_lines("  const auto f = [&](int v) {\n    return v;\n  };\n") ==
        "  const auto f = [&](int v) { return v; };\n");
  // Conditions keep their brackets; comments, directives and literals their lines.
  for (const char* same :
       {"  if (a) {\n    b();\n  }\n", "int f() {\n  // No.\n  return 1;\n}\n",
        "#pragma unroll\n  for (;;) a();\n", "  asm(\"a\"\n      \"b\");\n",
        "struct S {\n  int x;  // one\n};\n", "enum E : int {\n  kA = 1,\n  kB = 2,\n};\n"}) {
    CHECK(with_joined_lines(same) == same);
  }
}

TEST_CASE("what is too wide for a line fills several") {
  const std::string word(45, 'a');
  CHECK(with_joined_lines("  f(" + word + ",\n    b,\n    " + word + ",\n    c);\n") ==
        "  f(" + word + ", b, " + word + ",\n    c);\n");
  CHECK(with_joined_lines("template <int kA>\nint " + word + word + "() {\n  a();\n  b();\n}\n") ==
        "template <int kA>\nint " + word + word + "() {\n  a();\n  b();\n}\n");
}

TEST_CASE("no empty lines within brackets or behind labels, and comments begin in one column") {
  CHECK(with_joined_lines("class S {\n\n  int a;\n  int b;\n\n private:\n\n  int c;\n\n};\n") ==
        "class S {\n  int a;\n  int b;\n\n private:\n  int c;\n};\n");
  CHECK(with_joined_lines("namespace a {\n\nint b;\n") == "namespace a {\n\nint b;\n");
  CHECK(
      with_joined_lines("int a;      // one\nint bcd = 1;  // two,\n              // more\nint e;\n"
                        "int f;    // three\n") ==
      "int a;        // one\nint bcd = 1;  // two,\n              // more\nint e;\n"
      "int f;  // three\n");
}

TEST_CASE("a head of one line stands behind its title") {
  CHECK(
      with_joined_titles("// ---- a.h ----\n// One.\n\nint a;\n// ---- b.h ----\n// Two\n// lines."
                         "\n\n// ---- c.h ----\n// Of d.\nint d;\n") ==
      "// ---- a.h ---- One.\n\nint a;\n// ---- b.h ----\n// Two\n// lines.\n\n"
      "// ---- c.h ----\n// Of d.\nint d;\n");
}

TEST_CASE("the fields of a constant fill lines") {
  CHECK(with_filled_lists("constexpr A a{\n    .b = 1,\n    .c = 2,\n};\nint d;\n") ==
        "constexpr A a{.b = 1, .c = 2};\nint d;\n");
  const std::string wide(60, 'w');
  CHECK(with_filled_lists("constexpr A a{\n    .b = " + wide + ",\n    .c = 1,\n    .d = " + wide +
                          ",\n};\n") ==
        "constexpr A a{\n    .b = " + wide + ", .c = 1,\n    .d = " + wide + "};\n");
}

TEST_CASE("macros without parameters are written out") {
  std::vector<SourcePart> parts = {
      {"a.h", "#define A const int\n#define B(x) x\n#define C 1\n#undef C\n#define D A\n"},
      {"b.h", "A a = B(C);  // A\n#if E\n#endif\n#define E 2\nint e = E, f = F;\n#define F 3\n"}};
  write_out_macros(parts, "int g = F;");
  CHECK(parts[0].text == "#define A const int\n#define B(x) x\n#define C 1\n#undef C\n");
  CHECK(parts[1].text ==
        "A a = B(C);  // A\n#if E\n#endif\n#define E 2\nint e = E, f = F;\n#define F 3\n");
  parts = {{"a.h", "#define A const int\n\nA a = 1;  // A\n"}};
  write_out_macros(parts, "");
  CHECK(parts[0].text == "\nconst int a = 1;  // A\n");
}

}  // namespace
}  // namespace gemmtune::codegen
