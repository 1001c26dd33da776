// Turns a function's statements into a Program. Internal to decode().
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptxsim/decode/program.h"

namespace gemmtune::ptxsim {

class InstructionSet;

struct Symbol {
  enum class Kind : uint8_t { reg, variable, label };
  Kind kind = Kind::reg;
  Type type = Type::none;
  Row row = kNoRow;  // reg: allocated at first use
  Space space = Space::generic;
  uint64_t address = 0;  // variable: in its space
};

// Decoding functions return false after the first error, which error() then holds.
class Decoder {
 public:
  Decoder(const Module& module, Program& program, const InstructionSet& set);

  bool decode_kernel(const ast::Function& kernel);
  const Error& error() const { return error_; }

  // --- for the instruction families, through DecodeContext ---
  bool fail(Position at, const std::string& message, ErrorKind kind = ErrorKind::usage);
  // A register's type and row; allocates the row at first use. Null for a name that is none.
  Symbol* find_register(std::string_view name);
  const Symbol* find_symbol(std::string_view name) const;
  Row immediate(uint64_t bits, uint32_t bytes);
  Row allocate_row(uint32_t bytes);  // bytes per lane; 0: predicate
  std::optional<std::pair<Row, Type>> special_register(const ast::Operand& operand) const;
  // The row of a module variable's address, patched at launch. Null when there is none.
  std::optional<Row> module_variable(std::string_view name, int64_t offset);
  const std::vector<std::string_view>* find_branch_table(std::string_view name) const;
  bool inline_call(const ast::Instruction& call);
  Program& program() { return program_; }

  // The instruction being decoded jumps to...
  bool jump_to(std::string_view label, Position at);
  bool table_to(const std::vector<std::string_view>& labels, Position at);
  bool return_from_function();  // false in the kernel itself, where a return is an exit

 private:
  struct RegisterRange {
    Type type;
    uint32_t count;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> symbols;
    std::unordered_map<std::string_view, RegisterRange> ranges;
    std::unordered_map<std::string_view, uint32_t> labels;  // -> label id
    std::unordered_map<std::string_view, const std::vector<std::string_view>*> tables;
    bool is_function_root = false;
  };
  struct PendingJump {
    uint32_t instruction;
    uint32_t label;
    uint32_t table_entry;  // kNoTarget: Instruction::target
    uint32_t table;
  };

  bool layout_parameters(const ast::Function& kernel);
  bool layout_shared(const ast::Function& kernel);
  void collect_names(const ast::Function& function, std::map<std::string_view, int>& names) const;
  void place_shared(const ast::Variable& variable, uint32_t& end);
  std::optional<uint32_t> add_module_variable(std::string_view name);
  bool body(const ast::Function& function);
  bool statement(const ast::Statement& statement);
  bool instruction(const ast::Instruction& in);
  bool declare_registers(const ast::RegisterDeclaration& declaration);
  bool declare_variable(const ast::Variable& variable);
  // Labels may be used before they stand: a scope's are declared when it opens.
  bool declare_labels(const std::vector<ast::Statement>& statements, size_t first);
  std::optional<uint32_t> label_id(std::string_view name) const;
  bool resolve_jumps();
  void define_special_rows();
  std::string where(Position at) const;

  const Module& module_;
  Program& program_;
  const InstructionSet& set_;
  Error error_;
  std::vector<Scope> scopes_;
  Scope module_scope_;
  std::vector<uint32_t> label_targets_;
  std::map<std::string_view, uint32_t> variable_index_;
  std::map<std::pair<uint32_t, int64_t>, Row> patch_rows_;
  struct SpecialName {
    Row row;
    Type type;
  };
  std::map<std::string_view, SpecialName> special_names_;  // "%tid.x"
  uint32_t file_bytes_ = 0;                                // of the register file so far
  std::vector<PendingJump> jumps_;
  std::map<std::pair<uint64_t, uint32_t>, Row> immediates_;
  std::map<std::string_view, Symbol> shared_;  // where each shared variable was placed
  std::vector<const ast::Function*> call_stack_;
  Scope* pending_arguments_ = nullptr;  // of the call being inlined
  const std::vector<ast::Statement>* statements_ = nullptr;
  size_t statement_index_ = 0;
  std::optional<uint32_t> return_label_;  // of the function being inlined

  friend class DecodeContext;
};

}  // namespace gemmtune::ptxsim
