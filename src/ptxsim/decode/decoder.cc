#include "ptxsim/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptxsim/decode/control_flow.h"
#include "ptxsim/decode/instruction_set.h"

namespace gemmtune::ptxsim {

namespace {

constexpr size_t kMaxInstructions = size_t{1} << 20;

// "%r12" -> "%r" and 12; nothing when the name does not end in a plain number.
std::optional<std::pair<std::string_view, uint32_t>> split_number(std::string_view name) {
  size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    ++digits;
  }
  if (digits == 0 || digits > 7 || digits == name.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - digits);
  if (digits > 1 && tail[0] == '0') return std::nullopt;
  uint32_t number = 0;
  for (char c : tail) number = number * 10 + static_cast<uint32_t>(c - '0');
  return std::pair{name.substr(0, name.size() - digits), number};
}

}  // namespace

Expected<Program> decode(const Module& module, std::string_view kernel) {
  const ast::Function* function = module.find_function(kernel);
  if (function == nullptr || !function->is_entry || !function->has_body) {
    return make_error(ErrorKind::not_found,
                      fmt::format("{}: no kernel is called \"{}\"", module.name, kernel));
  }
  Program program;
  const InstructionSet set = InstructionSet::all();
  Decoder decoder(module, program, set);
  if (!decoder.decode_kernel(*function)) return tl::unexpected<Error>(decoder.error());
  return program;
}

Decoder::Decoder(const Module& module, Program& program, const InstructionSet& set)
    : module_(module), program_(program), set_(set) {
  program_.module = module.name;
  for (const auto& [index, path] : module.files) {
    if (index > 1U << 16) continue;
    if (program_.files.size() <= index) program_.files.resize(index + 1);
    program_.files[index] = path;
  }
}

std::string Decoder::where(Position at) const {
  return fmt::format("{}:{}:{}: ", module_.name, at.line, at.column);
}

bool Decoder::fail(Position at, const std::string& message, ErrorKind kind) {
  if (error_.message.empty()) error_ = Error{kind, where(at) + message};
  return false;
}

bool Decoder::decode_kernel(const ast::Function& kernel) {
  program_.kernel = std::string(kernel.name);
  program_.max_threads = kernel.max_threads;
  std::copy(kernel.required_threads, kernel.required_threads + 3, program_.required_threads);
  std::copy(kernel.required_cluster, kernel.required_cluster + 3, program_.required_cluster);
  define_special_rows();
  if (!layout_parameters(kernel) || !layout_shared(kernel)) return false;
  call_stack_.push_back(&kernel);
  if (!body(kernel)) return false;
  ast::Instruction end;  // falling off the end is a return
  end.opcode = "exit";
  end.at = kernel.at;
  if (!instruction(end) || !resolve_jumps()) return false;
  program_.register_image.resize(file_bytes_);
  for (const auto& [key, row] : immediates_) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      std::memcpy(&program_.register_image[row + lane * key.second], &key.first,
                  std::min(key.second, 8U));
    }
  }
  set_reconvergence_points(program_);
  program_.may_read_undefined = may_read_undefined(program_);
  return true;
}

bool Decoder::body(const ast::Function& function) {
  const auto* outer = statements_;
  const size_t outer_index = statement_index_;
  const size_t outer_scopes = scopes_.size();
  statements_ = &function.body;
  Scope root;
  if (pending_arguments_ != nullptr) root.symbols = std::move(pending_arguments_->symbols);
  pending_arguments_ = nullptr;
  root.is_function_root = true;
  scopes_.push_back(std::move(root));
  if (!declare_labels(function.body, 0)) return false;
  for (size_t i = 0; i < function.body.size(); ++i) {
    statement_index_ = i;
    if (!statement(function.body[i])) return false;
  }
  scopes_.resize(outer_scopes);
  statements_ = outer;
  statement_index_ = outer_index;
  return true;
}

bool Decoder::statement(const ast::Statement& statement) {
  if (const auto* in = std::get_if<ast::Instruction>(&statement)) return instruction(*in);
  if (const auto* registers = std::get_if<ast::RegisterDeclaration>(&statement)) {
    return declare_registers(*registers);
  }
  if (const auto* variable = std::get_if<ast::Variable>(&statement)) {
    return declare_variable(*variable);
  }
  if (const auto* label = std::get_if<ast::Label>(&statement)) {
    const std::optional<uint32_t> id = label_id(label->name);
    if (!id) return fail(label->at, "internal: a label was not declared", ErrorKind::failed);
    label_targets_[*id] = static_cast<uint32_t>(program_.code.size());
    return true;
  }
  if (std::holds_alternative<ast::ScopeOpen>(statement)) {
    scopes_.emplace_back();
    return declare_labels(*statements_, statement_index_ + 1);
  }
  if (std::holds_alternative<ast::ScopeClose>(statement)) scopes_.pop_back();
  return true;
}

bool Decoder::instruction(const ast::Instruction& in) {
  if (program_.code.size() >= kMaxInstructions) {
    return fail(in.at, "the kernel has more than 2^20 instructions", ErrorKind::unsupported);
  }
  const InstructionSet::Entry* entry = set_.find(in.opcode);
  if (entry == nullptr) {
    return fail(in.at, fmt::format("the instruction \"{}\" is not simulated", in.mnemonic()),
                ErrorKind::unsupported);
  }
  Instruction out;
  out.category = entry->category;
  out.at = in.at;
  out.source = in.source;
  out.first_read = static_cast<uint32_t>(program_.reads.size());
  out.first_write = static_cast<uint32_t>(program_.writes.size());
  DecodeContext context(*this, in, out);
  if (!in.guard.empty()) {
    Symbol* guard = find_register(in.guard);
    if (guard == nullptr || guard->type != Type::pred) {
      return fail(in.at, fmt::format("\"{}\" is not a predicate register", in.guard));
    }
    out.guard = guard->row;
    out.guard_negated = in.guard_negated;
  }
  if (!entry->decode(context)) {
    return fail(in.at, fmt::format("cannot decode \"{}\"", in.mnemonic()));
  }
  if (out.execute == nullptr) return true;  // no code of its own: a call, a hint
  out.read_count = static_cast<uint16_t>(program_.reads.size() - out.first_read);
  out.write_count = static_cast<uint16_t>(program_.writes.size() - out.first_write);
  program_.code.push_back(out);
  return true;
}

bool Decoder::declare_registers(const ast::RegisterDeclaration& declaration) {
  Scope& scope = scopes_.back();
  if (declaration.count > 0) {
    scope.ranges.insert_or_assign(declaration.name,
                                  RegisterRange{declaration.type, declaration.count});
    return true;
  }
  Symbol symbol;
  symbol.type = declaration.type;
  if (!scope.symbols.emplace(declaration.name, symbol).second) {
    return fail(declaration.at, fmt::format("\"{}\" is declared twice", declaration.name));
  }
  return true;
}

Symbol* Decoder::find_register(std::string_view name) {
  const auto numbered = split_number(name);
  for (size_t i = scopes_.size(); i-- > 0;) {
    Scope& scope = scopes_[i];
    auto found = scope.symbols.find(name);
    if (found == scope.symbols.end() && numbered) {
      const auto range = scope.ranges.find(numbered->first);
      if (range != scope.ranges.end() && numbered->second < range->second.count) {
        Symbol symbol;
        symbol.type = range->second.type;
        found = scope.symbols.emplace(name, symbol).first;
      }
    }
    if (found != scope.symbols.end()) {
      Symbol& symbol = found->second;
      if (symbol.kind != Symbol::Kind::reg) return nullptr;
      if (symbol.row == kNoRow) {
        const uint32_t bytes = size_of(symbol.type);
        symbol.row = allocate_row(bytes);
        for (uint32_t i = 0; i < words_of(bytes); ++i)
          program_.registers.push_back(symbol.row + i * kWordStep);
      }
      return &symbol;
    }
    if (scope.is_function_root) return nullptr;
  }
  return nullptr;
}

const Symbol* Decoder::find_symbol(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].symbols.find(name);
    if (found != scopes_[i].symbols.end()) return &found->second;
    if (scopes_[i].is_function_root) break;
  }
  const auto in_module = module_scope_.symbols.find(name);
  if (in_module != module_scope_.symbols.end()) return &in_module->second;
  const auto shared = shared_.find(name);
  return shared == shared_.end() ? nullptr : &shared->second;
}

Row Decoder::allocate_row(uint32_t bytes) {
  const uint32_t row_bytes = bytes == 0 ? 4 : bytes * kWarpSize;
  const Row row = file_bytes_;
  file_bytes_ += (row_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  return row;
}

Row Decoder::immediate(uint64_t bits, uint32_t bytes) {
  const auto [found, inserted] = immediates_.try_emplace({bits, bytes}, kNoRow);
  if (inserted) found->second = allocate_row(bytes);
  return found->second;
}

// --- labels ---

bool Decoder::declare_labels(const std::vector<ast::Statement>& statements, size_t first) {
  Scope& scope = scopes_.back();
  int depth = 0;
  for (size_t i = first; i < statements.size() && depth >= 0; ++i) {
    if (std::holds_alternative<ast::ScopeOpen>(statements[i])) ++depth;
    if (std::holds_alternative<ast::ScopeClose>(statements[i])) --depth;
    if (depth != 0) continue;
    if (const auto* label = std::get_if<ast::Label>(&statements[i])) {
      const auto id = static_cast<uint32_t>(label_targets_.size());
      label_targets_.push_back(kNoTarget);
      if (!scope.labels.emplace(label->name, id).second) {
        return fail(label->at, fmt::format("the label \"{}\" stands twice", label->name));
      }
    } else if (const auto* table = std::get_if<ast::BranchTargets>(&statements[i])) {
      scope.tables.emplace(table->name, &table->labels);
    }
  }
  return true;
}

std::optional<uint32_t> Decoder::label_id(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].labels.find(name);
    if (found != scopes_[i].labels.end()) return found->second;
    if (scopes_[i].is_function_root) break;
  }
  return std::nullopt;
}

const std::vector<std::string_view>* Decoder::find_branch_table(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].tables.find(name);
    if (found != scopes_[i].tables.end()) return found->second;
    if (scopes_[i].is_function_root) break;
  }
  return nullptr;
}

bool Decoder::jump_to(std::string_view label, Position at) {
  const std::optional<uint32_t> id = label_id(label);
  if (!id) return fail(at, fmt::format("there is no label \"{}\"", label));
  jumps_.push_back({static_cast<uint32_t>(program_.code.size()), *id, kNoTarget, 0});
  return true;
}

bool Decoder::table_to(const std::vector<std::string_view>& labels, Position at) {
  const auto table = static_cast<uint32_t>(program_.branch_tables.size());
  program_.branch_tables.emplace_back(labels.size(), kNoTarget);
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::optional<uint32_t> id = label_id(labels[i]);
    if (!id) return fail(at, fmt::format("there is no label \"{}\"", labels[i]));
    jumps_.push_back(
        {static_cast<uint32_t>(program_.code.size()), *id, static_cast<uint32_t>(i), table});
  }
  return true;
}

bool Decoder::resolve_jumps() {
  for (const PendingJump& jump : jumps_) {
    const uint32_t target = label_targets_[jump.label];
    if (target == kNoTarget) {
      return fail(program_.code[jump.instruction].at, "internal: an unplaced label",
                  ErrorKind::failed);
    }
    if (jump.table_entry == kNoTarget) {
      program_.code[jump.instruction].target = target;
    } else {
      program_.branch_tables[jump.table][jump.table_entry] = target;
    }
  }
  return true;
}

bool Decoder::return_from_function() {
  if (!return_label_) return false;
  jumps_.push_back({static_cast<uint32_t>(program_.code.size()), *return_label_, kNoTarget, 0});
  return true;
}

// --- calls ---

bool Decoder::inline_call(const ast::Instruction& call) {
  // call (returned), function, (arguments): both lists are optional
  size_t index = 0;
  if (!call.operands.empty() && call.operands[0].kind == ast::Operand::Kind::list) index = 1;
  if (index >= call.operands.size() || call.operands[index].kind != ast::Operand::Kind::name) {
    return fail(call.at, "a call needs a function's name");
  }
  const ast::Function* callee = module_.find_function(call.operands[index].name);
  if (callee == nullptr || !callee->has_body) {
    return fail(call.at,
                fmt::format("the function \"{}\" has no body here: calls to it are not simulated",
                            call.operands[index].name),
                ErrorKind::unsupported);
  }
  if (std::find(call_stack_.begin(), call_stack_.end(), callee) != call_stack_.end() ||
      call_stack_.size() > 64) {
    return fail(call.at, fmt::format("\"{}\" is recursive: not simulated", callee->name),
                ErrorKind::unsupported);
  }
  // The callee's parameter variables are the caller's argument variables.
  Scope arguments;
  arguments.is_function_root = true;
  const auto bind = [&](const std::vector<ast::Variable>& formal, const ast::Operand* actual) {
    const size_t given = actual == nullptr ? 0 : actual->elements.size();
    if (given != formal.size()) return fail(call.at, "a call with a wrong number of arguments");
    for (size_t i = 0; i < given; ++i) {
      const Symbol* symbol = find_symbol(actual->elements[i].name);
      if (symbol == nullptr || symbol->kind != Symbol::Kind::variable) {
        return fail(call.at, "a call's arguments must be .param variables");
      }
      arguments.symbols.insert_or_assign(formal[i].name, *symbol);
    }
    return true;
  };
  const ast::Operand* returned = index == 1 ? &call.operands[0] : nullptr;
  const ast::Operand* given =
      index + 1 < call.operands.size() ? &call.operands[index + 1] : nullptr;
  if (!bind(callee->returns, returned) || !bind(callee->params, given)) return false;

  const auto outer_label = return_label_;
  return_label_ = static_cast<uint32_t>(label_targets_.size());
  label_targets_.push_back(kNoTarget);
  const uint32_t end_label = *return_label_;
  call_stack_.push_back(callee);
  pending_arguments_ = &arguments;
  const bool done = body(*callee);
  call_stack_.pop_back();
  label_targets_[end_label] = static_cast<uint32_t>(program_.code.size());
  return_label_ = outer_label;
  return done;
}

}  // namespace gemmtune::ptxsim
