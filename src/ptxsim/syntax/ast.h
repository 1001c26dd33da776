// The syntax tree of a PTX module: names are still names, nothing is resolved.
// Source: PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables", "Directives".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gemmtune::ptxsim {

// 1-based line and column in the PTX text.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

// A line of the CUDA source, from `.loc`. file 0 means unknown.
struct SourceLine {
  uint32_t file = 0;
  uint32_t line = 0;
};

enum class Space : uint8_t { generic, global, shared, local, param, constant };
// For people: "parameter" of param.
std::string_view name_of(Space space);

// Fundamental types. bN and uN share behaviour nearly everywhere, but selectors differ.
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
};

// The type that a modifier without its dot names, or Type::none.
Type type_of(std::string_view modifier);
// Size in bytes; 0 for none and pred.
uint32_t size_of(Type type);

namespace ast {

struct Operand {
  enum class Kind : uint8_t {
    name,     // register, variable, label, function: `name` (+ `component`, + `offset`)
    integer,  // `bits`
    f32,      // `bits` is the IEEE pattern (0f...)
    f64,      // `bits` is the IEEE pattern (0d... or decimal)
    vector,   // {elements}
    address,  // [elements[0] + offset, elements[1]...]
    pair,     // elements[0] | elements[1]
    list,     // (elements), of call
  };
  Kind kind = Kind::name;
  bool negated = false;        // !name
  std::string_view name;       // Kind::name
  std::string_view component;  // of %tid.x: "x"
  uint64_t bits = 0;
  int64_t offset = 0;
  std::vector<Operand> elements;
  Position at;
};

struct Instruction {
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // "global", "v4", "f32"
  std::vector<Operand> operands;
  std::string_view guard;  // @guard, empty when unguarded
  bool guard_negated = false;
  Position at;
  SourceLine source;

  bool has(std::string_view modifier) const;
  // opcode and modifiers joined, for messages.
  std::string mnemonic() const;
};

// `.reg .type name, name<count>;`
struct RegisterDeclaration {
  Type type = Type::none;
  std::string_view name;
  uint32_t count = 0;  // 0: one register called name; n: name0 .. name(n-1)
  Position at;
};

struct Variable {
  Space space = Space::global;
  Type type = Type::b8;
  std::string_view name;
  uint32_t alignment = 1;  // bytes
  uint64_t bytes = 0;      // 0 for an extern array of no given extent
  bool is_extern = false;
  bool is_array = false;
  std::vector<uint8_t> initial;  // may be shorter than bytes: the rest is zero
  struct Relocation {            // an initialiser that is another variable's address
    uint64_t at = 0;
    std::string_view name;
    int64_t offset = 0;
    uint32_t bytes = 8;
  };
  std::vector<Relocation> relocations;
  Position at;
};

struct Label {
  std::string_view name;
  Position at;
};
struct BranchTargets {  // `name: .branchtargets L1, L2;`
  std::string_view name;
  std::vector<std::string_view> labels;
  Position at;
};
struct ScopeOpen {};
struct ScopeClose {};

using Statement = std::variant<Instruction, RegisterDeclaration, Variable, Label, BranchTargets,
                               ScopeOpen, ScopeClose>;

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  std::vector<Variable> returns;
  std::vector<Variable> params;
  std::vector<Statement> body;
  uint32_t max_threads = 0;                  // .maxntid product; 0: not given
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  Position at;
};

}  // namespace ast

// A parsed module. All string_views point into `text`, which the module keeps alive, so a Module
// can be copied and moved freely. Immutable after parse(): may be read from several threads.
struct Module {
  std::string name;  // for messages: a file or candidate name
  std::shared_ptr<const std::string> text;
  std::string version;                    // "9.0"
  std::string target;                     // "sm_90a"
  std::map<uint32_t, std::string> files;  // .file index -> path
  std::vector<ast::Variable> variables;
  std::vector<ast::Function> functions;

  const ast::Function* find_function(std::string_view function_name) const;
  const ast::Variable* find_variable(std::string_view variable_name) const;
};

}  // namespace gemmtune::ptxsim
