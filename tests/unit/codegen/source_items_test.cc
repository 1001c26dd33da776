#include "codegen/source_items.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/arch_conditions.h"
#include "codegen/source_pruning.h"
#include "codegen/source_tokens.h"

namespace gemmtune::codegen {
namespace {

using Kind = SourceItem::Kind;

std::string joined(const std::vector<SourceItem>& items) {
  std::string text;
  for (const SourceItem& item : items) text += item.text;
  return text;
}

// Of the only declaration in `source`.
SourceItem item_of(std::string_view source) {
  CAPTURE(source);
  const auto items = split_source(source);
  REQUIRE(items);
  REQUIRE(items->size() == 1);
  CHECK(joined(*items) == source);
  return items->front();
}

std::vector<std::string> names_of(std::string_view source) {
  const SourceItem item = item_of(source);
  return {item.names.begin(), item.names.end()};
}

// What is left of one part.
std::string kept(std::string_view source, std::string_view user) {
  KnownParts known;
  const auto parts = keep_used({{"part.h", std::string(source)}}, user, known);
  return parts.empty() ? "" : parts.front().text;
}

using Names = std::vector<std::string>;

TEST_CASE("tokens are the source, and tell literals, comments and directives from the rest") {
  constexpr std::string_view kSource = R"x(#define A(x) \
  x + 1
int a = 0x7fff'ffffu + 1.5e-3f;  // "no text"
/* { */ const char* s = "}\" {" R"q(" ))q" ; char c = '\'';
#if B  // c
a->b.c(...);)x";
  std::string text;
  std::vector<std::string> kinds;
  for (const SourceToken& token : tokenize(kSource)) {
    text += token.text;
    if (token.kind == SourceToken::Kind::literal || token.kind == SourceToken::Kind::number ||
        token.kind == SourceToken::Kind::directive || token.kind == SourceToken::Kind::comment) {
      kinds.emplace_back(token.text);
    }
  }
  CHECK(text == kSource);
  CHECK(kinds == Names{"#define A(x) \\\n  x + 1", "0x7fff'ffffu", "1.5e-3f", "// \"no text\"",
                       "/* { */", R"x("}\" {")x", R"x(R"q(" ))q")x", R"('\'')", "#if B  // c"});
  const auto words = words_of(kSource);
  CHECK(words.contains("x"));
  CHECK(words.contains("a"));
  CHECK(words.contains("B"));
  CHECK_FALSE(words.contains("b"));  // members
  CHECK_FALSE(words.contains("c1"));
  CHECK_FALSE(words.contains("no"));
}

TEST_CASE("a source's canonical text does without comments and blanks") {
  const std::string text =
      canonical_text("#pragma once\nint f( int a ) {  // of a\n  return a>>1;\n}");
  CHECK(canonical_text("int f(int a)\n{ return a >>1; /* shifted */ }\n#include \"b.h\"") == text);
  CHECK(canonical_text("int f(int a) { return a> >1; }") != text);
  CHECK(canonical_text("int f(int b) { return a>>1; }") != text);
  CHECK(canonical_text("#define A (x)  // c\n") == canonical_text("#define  A   (x)"));
  CHECK(canonical_text("#define A (x)") != canonical_text("#define A(x)"));
  CHECK(canonical_text("a = \"b  c\"") != canonical_text("a = \"b c\""));
}

TEST_CASE("declarations know what they declare") {
  CHECK(names_of("struct A { int b; };") == Names{"A"});
  CHECK(names_of("struct A;") == Names{"A"});
  CHECK(names_of("struct __align__(16) A { int b; };  // of a line\n") == Names{"A"});
  CHECK(names_of("template <>\nstruct A<kB> { using C = int; };") == Names{"A"});
  CHECK(names_of("template <class X = Y<f(1)>, int n = (2 > 1)> class A : B<X> {};") == Names{"A"});
  CHECK(names_of("using A = B<int>;") == Names{"A"});
  CHECK(names_of("using namespace a;").empty());
  CHECK(names_of("constexpr int kA = 3;") == Names{"kA"});
  CHECK(names_of("inline constexpr C kA[] = {{1}, {2}};") == Names{"kA"});
  CHECK(names_of("constexpr ns::C kA{.x = 1};") == Names{"kA"});
  CHECK(names_of("MACRO constexpr int f(int x) { return x; }") == Names{"f"});
  CHECK(names_of("template <int n>\n__device__ void f(A<n> (&a)[n], int b = g()) {\n  b;\n}") ==
        Names{"f"});
  CHECK(names_of("__global__ void __launch_bounds__(128, 2) f(const A a) {}") == Names{"f"});
  CHECK(names_of("A<1> f();") == Names{"f"});
  CHECK(names_of("int A<int>::b() { return 1; }") == Names{"b"});
  CHECK(names_of("int A::b() { return 1; }") == Names{"A", "b"});
  CHECK(names_of("A operator+(A a, A b) { return a; }").empty());
  CHECK(names_of("static_assert(sizeof(A) == 4);").empty());
  CHECK(names_of("extern \"C\" { void f(); }").empty());
  CHECK(names_of("#define A(x) B(x)") == Names{"A"});
  const auto enumerators = item_of("enum E : int { kA, kB = 2 };").names;
  CHECK(enumerators.contains("E"));
  CHECK(enumerators.contains("kB"));
  CHECK_FALSE(enumerators.contains("int"));
  CHECK(kept("enum E : int { kA };\n", "int a;").empty());
}

TEST_CASE("a function knows what a caller must have an object of") {
  const auto referenced = [](std::string_view source) {
    const SourceItem item = item_of(source);
    return Names{item.referenced.begin(), item.referenced.end()};
  };
  CHECK(referenced("void f(A<1, 2>& a, const B& b, C c, D&& d, int (&e)[4]);") ==
        Names{"A", "int"});
  CHECK(referenced("template <class A> void f(A& a, typename B::C& b, ns::D& d) {}").empty());
  CHECK(referenced("void f(A<B<1>>& a, A& b = c) {}") == Names{"A"});
}

TEST_CASE("namespaces and conditionals are around what is in them") {
  constexpr std::string_view kSource =
      "// Head.\n\nnamespace a {\n\n// Of b.\nint b;\n#if C\nint d;  // d\n#else\nint e;\n#endif\n"
      "}  // namespace a\n";
  const auto items = split_source(kSource);
  REQUIRE(items);
  CHECK(joined(*items) == kSource);
  std::vector<Kind> kinds;
  for (const SourceItem& item : *items) kinds.push_back(item.kind);
  CHECK(kinds == std::vector{Kind::open, Kind::declaration, Kind::open, Kind::declaration,
                             Kind::middle, Kind::declaration, Kind::close, Kind::close});
  for (const char* broken : {"int a() {", "}", "namespace a {", "#if A\n", "#endif\n", "int a)",
                             "namespace a {\n#if B\n}\n#endif\n", "#else\n", "int a"}) {
    CAPTURE(broken);
    CHECK_FALSE(split_source(broken));
  }
}

TEST_CASE("what is named stays, with what it names") {
  constexpr std::string_view kSource = R"(// About the part.

namespace n {

// Used.
int used() { return helper(); }

// Unused.
int unused() { return other(); }
int other() { return 2; }

int helper() { return value.other; }  // by used()

}  // namespace n
)";
  CHECK(kept(kSource, "n::used();") ==
        "// About the part.\n\nnamespace n {\n\n// Used.\nint used() { return helper(); }\n\n"
        "int helper() { return value.other; }  // by used()\n\n}  // namespace n\n");
  CHECK(kept(kSource, "// used\n\"used\" x.used").empty());
}

TEST_CASE("of a class, fields stay, and what is named") {
  constexpr std::string_view kSource = R"(class A : B {
  using Unused = int;
  static constexpr int kUsed = 1;

 public:
  // Made of an int.
  explicit A(int x) : x_{x} {}
  bool operator==(const A&) const = default;

  // Not called.
  int unused() const { return helper(); }
  int used() { return kUsed; }

 protected:
  int helper() const { return 1; }

 private:
  struct Inner {
    static int unused2();
    int field;
  };
  Inner x_;  // kept
};
)";
  CHECK(kept(kSource, "A a(1); a.used();") == R"(class A : B {
  static constexpr int kUsed = 1;

 public:
  // Made of an int.
  explicit A(int x) : x_{x} {}
  bool operator==(const A&) const = default;
  int used() { return kUsed; }

 private:
  struct Inner {
    int field;
  };
  Inner x_;  // kept
};
)");
  CHECK(kept(kSource, "A a(1); a->unused();").find("int helper()") != std::string::npos);
}

TEST_CASE("a conditional stays where one side of it does") {
  constexpr std::string_view kSource =
      "#if A\nint a;\n#else\nint b;\n#endif\n#ifdef B\nint c;\n#endif\n";
  CHECK(kept(kSource, "a") == "#if A\nint a;\n#endif\n");
  CHECK(kept(kSource, "b") == "#if A\n#else\nint b;\n#endif\n");
  CHECK(kept(kSource, "c") == "#ifdef B\nint c;\n#endif\n");
  CHECK(kept("#if A\nint a;\n#else\n#if B\nint b;\n#endif\nint c;\n#endif\n", "a c") ==
        "#if A\nint a;\n#else\nint c;\n#endif\n");
}

TEST_CASE("a macro stays with its users, and so does its end") {
  constexpr std::string_view kSource =
      "#define A(x) B(x)\n#define B(x) x\n#define C 1\nint f() { A(1) }\n#undef A\n#undef C\n";
  CHECK(kept(kSource, "f") == "#define A(x) B(x)\n#define B(x) x\nint f() { A(1) }\n#undef A\n");
}

TEST_CASE("an overload for objects that nobody has goes") {
  constexpr std::string_view kSource =
      "struct A {};\nstruct B {};\nvoid f(A& a) {}\nvoid f(B& b) {}\nvoid g(const B& b) {}\n";
  CHECK(kept(kSource, "A a; f(a);") == "struct A {};\nvoid f(A& a) {}\n");
  CHECK(kept(kSource, "g({});") == "struct B {};\nvoid g(const B& b) {}\n");
}

TEST_CASE("conditions of the arch are resolved, and no others") {
  constexpr Arch kOld = {7, 5, false};
  constexpr Arch kNew = {9, 0, true};
  constexpr std::string_view kSource =
      "a\n#if __CUDA_ARCH__ >= 800\nb\n#ifdef X\nc\n#else\nd\n#endif\n#else\ne\n#endif\nf";
  CHECK(resolve_arch_conditions(kSource, kNew) == "a\nb\n#ifdef X\nc\n#else\nd\n#endif\nf");
  CHECK(resolve_arch_conditions(kSource, kOld) == "a\ne\nf");
  constexpr std::string_view kNested =
      "#if X\n#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\na\n#else\nb\n#endif\n#endif\n";
  CHECK(resolve_arch_conditions(kNested, kOld) == "#if X\na\n#endif\n");
  CHECK(resolve_arch_conditions(kNested, kNew) == "#if X\nb\n#endif\n");
  CHECK(resolve_arch_conditions("#ifdef __CUDACC__\na\n#else\nb\n#endif\n", kOld) == "a\n");
  constexpr std::string_view kOther =
      "#if __CUDA_ARCH__ >= 800 && X\na\n#elif Y\nb\n#endif\n#ifdef __CUDA_ARCH__\n#endif\n";
  CHECK(resolve_arch_conditions(kOther, kOld) == kOther);
}

TEST_CASE("a part that cannot be split stays whole") {
  const std::vector<SourcePart> parts = {
      {"a.h", "int a;\n"}, {"b.h", "int b() {\n"}, {"c.h", "int c;\n"}};
  KnownParts known;
  CHECK(keep_used(parts, "c", known) == std::vector{parts[1], parts[2]});
  CHECK(keep_used(parts, "c", known) == std::vector{parts[1], parts[2]});
}

}  // namespace
}  // namespace gemmtune::codegen
