// Where parameters, shared, local and module variables and special registers live.
#include <fmt/format.h>

#include <algorithm>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/decoder.h"

namespace gemmtune::ptxsim {

namespace {

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

void collect(const ast::Operand& operand, std::map<std::string_view, int>& names) {
  if (operand.kind == ast::Operand::Kind::name) ++names[operand.name];
  for (const ast::Operand& element : operand.elements) collect(element, names);
}

}  // namespace

bool Decoder::layout_parameters(const ast::Function& kernel) {
  uint64_t end = 0;
  for (const ast::Variable& parameter : kernel.params) {
    end = align_up(end, parameter.alignment);
    if (end + parameter.bytes > 32764) return fail(parameter.at, "the parameters exceed 32764 B");
    program_.parameters.push_back({std::string(parameter.name), static_cast<uint32_t>(end),
                                   static_cast<uint32_t>(parameter.bytes), parameter.alignment});
    Symbol symbol;
    symbol.kind = Symbol::Kind::variable;
    symbol.space = Space::param;
    symbol.type = parameter.type;
    symbol.address = end;
    module_scope_.symbols.insert_or_assign(parameter.name, symbol);
    end += parameter.bytes;
  }
  program_.parameter_bytes = static_cast<uint32_t>(end);
  return true;
}

void Decoder::collect_names(const ast::Function& function,
                            std::map<std::string_view, int>& names) const {
  for (const ast::Statement& statement : function.body) {
    const auto* in = std::get_if<ast::Instruction>(&statement);
    if (in == nullptr) continue;
    for (const ast::Operand& operand : in->operands) collect(operand, names);
  }
}

void Decoder::place_shared(const ast::Variable& variable, uint32_t& end) {
  end = static_cast<uint32_t>(align_up(end, variable.alignment));
  Symbol symbol;
  symbol.kind = Symbol::Kind::variable;
  symbol.space = Space::shared;
  symbol.type = variable.type;
  symbol.address = end;
  shared_.insert_or_assign(variable.name, symbol);
}

// Static variables in the order in which they stand, then the dynamic part, where every extern
// array begins. Only what the kernel (or a function it may call) names takes space.
bool Decoder::layout_shared(const ast::Function& kernel) {
  std::map<std::string_view, int> names;
  std::vector<const ast::Variable*> placed;
  std::vector<const ast::Variable*> dynamic;
  const auto add = [&](const ast::Variable& variable) {
    if (variable.space != Space::shared) return;
    (variable.is_extern ? dynamic : placed).push_back(&variable);
  };
  collect_names(kernel, names);
  for (const ast::Function& function : module_.functions) {
    if (!function.is_entry) collect_names(function, names);
  }
  for (const ast::Variable& variable : module_.variables) {
    if (names.count(variable.name) > 0) add(variable);
  }
  for (const ast::Function& function : module_.functions) {
    if (function.is_entry && &function != &kernel) continue;
    for (const ast::Statement& statement : function.body) {
      if (const auto* variable = std::get_if<ast::Variable>(&statement)) add(*variable);
    }
  }
  uint32_t end = kSharedBase;
  for (const ast::Variable* variable : placed) {
    if (variable->bytes > kMaxSharedBytes || end + variable->bytes > kMaxSharedBytes) {
      return fail(variable->at, "the shared variables exceed what any GPU has");
    }
    place_shared(*variable, end);
    end += static_cast<uint32_t>(variable->bytes);
  }
  uint32_t alignment = 1;
  for (const ast::Variable* variable : dynamic)
    alignment = std::max(alignment, variable->alignment);
  end = static_cast<uint32_t>(align_up(end, alignment));
  for (const ast::Variable* variable : dynamic) place_shared(*variable, end);
  program_.static_smem_bytes = end - kSharedBase;
  return true;
}

bool Decoder::declare_variable(const ast::Variable& variable) {
  if (variable.space == Space::shared) return true;  // placed by layout_shared()
  if (variable.space != Space::local && variable.space != Space::param) {
    return fail(variable.at, "a global or const variable in a function is not simulated",
                ErrorKind::unsupported);
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::variable;
  symbol.space = Space::local;  // a call's .param variables live in the thread's frame too
  symbol.type = variable.type;
  symbol.address = align_up(program_.local_bytes, variable.alignment);
  const uint64_t end = symbol.address + variable.bytes;
  if (end > kMaxLocalBytes)
    return fail(variable.at, "the local variables exceed 512 KiB per thread");
  program_.local_bytes = static_cast<uint32_t>(end);
  scopes_.back().symbols.insert_or_assign(variable.name, symbol);
  return true;
}

std::optional<uint32_t> Decoder::add_module_variable(std::string_view name) {
  const auto known = variable_index_.find(name);
  if (known != variable_index_.end()) return known->second;
  const ast::Variable* declared = module_.find_variable(name);
  if (declared == nullptr || declared->is_extern ||
      (declared->space != Space::global && declared->space != Space::constant)) {
    return std::nullopt;
  }
  const auto index = static_cast<uint32_t>(program_.variables.size());
  variable_index_.emplace(name, index);
  ModuleVariable variable;
  variable.name = std::string(name);
  variable.space = declared->space;
  variable.bytes = declared->bytes;
  variable.alignment = declared->alignment;
  variable.initial = declared->initial;
  program_.variables.push_back(std::move(variable));
  for (const ast::Variable::Relocation& relocation : declared->relocations) {
    const std::optional<uint32_t> target = add_module_variable(relocation.name);
    if (target) {
      program_.variables[index].relocations.push_back(
          {relocation.at, *target, relocation.offset, relocation.bytes});
    }
  }
  return index;
}

std::optional<Row> Decoder::module_variable(std::string_view name, int64_t offset) {
  const std::optional<uint32_t> index = add_module_variable(name);
  if (!index) return std::nullopt;
  const auto [found, inserted] = patch_rows_.try_emplace({*index, offset}, kNoRow);
  if (inserted) {
    found->second = allocate_row(8);
    program_.patches.push_back({found->second, *index, offset});
  }
  return found->second;
}

void Decoder::define_special_rows() {
  SpecialRows& rows = program_.special;
  const auto define = [&](std::string_view name, Row& row, Type type = Type::u32) {
    row = allocate_row(size_of(type));
    special_names_[name] = {row, type};
  };
  static constexpr std::string_view kTriples[][3] = {
      {"%tid.x", "%tid.y", "%tid.z"},
      {"%ntid.x", "%ntid.y", "%ntid.z"},
      {"%ctaid.x", "%ctaid.y", "%ctaid.z"},
      {"%nctaid.x", "%nctaid.y", "%nctaid.z"},
      {"%clusterid.x", "%clusterid.y", "%clusterid.z"},
      {"%nclusterid.x", "%nclusterid.y", "%nclusterid.z"},
      {"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z"},
      {"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z"},
  };
  Row* const triples[] = {rows.tid,       rows.ntid,       rows.ctaid,         rows.nctaid,
                          rows.clusterid, rows.nclusterid, rows.cluster_ctaid, rows.cluster_nctaid};
  for (size_t i = 0; i < std::size(kTriples); ++i) {
    for (int axis = 0; axis < 3; ++axis) define(kTriples[i][axis], triples[i][axis]);
  }
  define("%laneid", rows.laneid);
  define("%warpid", rows.warpid);
  define("%nwarpid", rows.nwarpid);
  define("%smid", rows.smid);
  define("%nsmid", rows.nsmid);
  define("%gridid", rows.gridid, Type::u64);
  define("%lanemask_eq", rows.lanemask_eq);
  define("%lanemask_le", rows.lanemask_le);
  define("%lanemask_lt", rows.lanemask_lt);
  define("%lanemask_ge", rows.lanemask_ge);
  define("%lanemask_gt", rows.lanemask_gt);
  define("%clock", rows.clock);
  define("%clock64", rows.clock64, Type::u64);
  define("%globaltimer", rows.globaltimer, Type::u64);
  define("%cluster_ctarank", rows.cluster_ctarank);
  define("%cluster_nctarank", rows.cluster_nctarank);
  define("%dynamic_smem_size", rows.dynamic_smem_size);
  define("%total_smem_size", rows.total_smem_size);
  rows.carry = allocate_row(0);
}

std::optional<std::pair<Row, Type>> Decoder::special_register(const ast::Operand& operand) const {
  std::string name(operand.name);
  if (!operand.component.empty()) name += "." + std::string(operand.component);
  const auto found = special_names_.find(std::string_view(name));
  if (found == special_names_.end()) return std::nullopt;
  return std::pair{found->second.row, found->second.type};
}

}  // namespace gemmtune::ptxsim
