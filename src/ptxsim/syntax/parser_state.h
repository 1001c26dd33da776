// The recursive-descent parser behind parse(): internal to parser*.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ptxsim/syntax/ast.h"
#include "ptxsim/syntax/lexer.h"

namespace gemmtune::ptxsim {

// Parsing functions return false after the first error, which error() then holds.
class Parser {
 public:
  Parser(std::string_view text, Module& module) : lexer_(text), module_(module) { shift(); }

  bool parse_module();
  const std::string& error() const { return error_; }

 private:
  // parser.cc: module level
  bool top_level();
  bool header_directive(std::string_view name);
  bool file_directive();
  bool skip_section();
  bool function(bool is_entry, bool is_extern);
  bool parameters(std::vector<ast::Variable>& out);
  bool function_directives(ast::Function& function);
  bool thread_counts(uint32_t (&out)[3]);
  bool body(ast::Function& function);
  bool body_directive(ast::Function& function);

  // parser_variables.cc: declarations
  bool register_declaration(std::vector<ast::Statement>& out);
  bool variables(bool is_extern, std::vector<ast::Variable>& out);
  bool variable(ast::Variable prototype, ast::Variable& out);
  bool variable_prefix(ast::Variable& out, uint32_t& vector_length);
  bool initializer(ast::Variable& out);
  bool initial_value(ast::Variable& out, uint64_t& at);

  // parser_instructions.cc
  bool instruction(std::vector<ast::Statement>& out);
  bool labelled(std::string_view label, Position at, std::vector<ast::Statement>& out);
  bool operands(ast::Instruction& out);
  bool operand(ast::Operand& out, int depth);
  bool simple_operand(ast::Operand& out);
  bool constant(ast::Operand& out, bool negative);
  bool sequence(ast::Operand& out, char close, int depth);
  bool address(ast::Operand& out, int depth);
  bool signed_integer(int64_t& out);
  bool location();

  void shift() { token_ = lexer_.next(); }
  bool fail(std::string message);  // at the current token
  bool fail_at(const Token& token, std::string message);
  bool expect(char punctuation);
  bool accept(char punctuation);
  bool identifier(std::string_view& out, const char* what);
  bool integer(uint64_t& out, const char* what);

  Lexer lexer_;
  Module& module_;
  Token token_;
  SourceLine source_;
  std::string error_;
};

}  // namespace gemmtune::ptxsim
