// wgmma and setmaxnreg. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions",
// "setmaxnreg".
//
// With AsyncMode::early an instruction reads shared memory and writes its registers at once, with
// late when its warp waits for its group.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/decode/instruction_set.h"
#include "ptxsim/isa/matrix.h"
#include "ptxsim/isa/wgmma.h"
#include "ptxsim/machine/block.h"

namespace gemmtune::ptxsim {

namespace {

using Use = WarpgroupState::Use;

// The list: sums, then A where it is in registers. op[0], op[1]: descriptors; op[2]: whether the
// sums are added to, negated where variant is not 0.

bool whole_warpgroup(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warp(warp, in, mask)) return false;
  if ((warp.index() / 4 + 1) * 4 <= warp.launch().warps_per_block) return true;
  warp.report(Check::matrix_lanes, in, 0, 0, [&] {
    return fmt::format("warp {} is in no group of four: the block has {} warps", warp.index(),
                       warp.launch().warps_per_block);
  });
  return false;
}

// A descriptor, which must be the same in all lanes.
bool descriptor_of(Warp& warp, const Instruction& in, Row row, uint64_t& out) {
  const auto* lanes = warp.row<uint64_t>(row);
  out = lanes[0];
  if (std::all_of(lanes, lanes + kWarpSize, [&](uint64_t other) { return other == lanes[0]; })) {
    return true;
  }
  warp.report(Check::matrix_address, in, 0, 0,
              [] { return "a matrix descriptor that differs between the lanes of a warp"; });
  return false;
}

// The pattern of a swizzle begins where its address bits are zero.
bool check_alignment(Warp& warp, const Instruction& in, const WgmmaDescriptor& d) {
  const uint32_t pattern = d.swizzle_bytes * 8;
  const bool begins = pattern == 0 || (d.address & (pattern - 128) & ~127U) == 0;
  if (begins && d.base_offset == 0) return true;
  warp.report(Check::shared_alignment, in, 0, kSharedWindow + d.address, [&] {
    return d.base_offset != 0
               ? fmt::format("a matrix descriptor with base offset {}, which is not simulated",
                             d.base_offset)
               : fmt::format(
                     "a matrix descriptor whose swizzle of {} bytes begins at {:#x}, within a "
                     "pattern of {} bytes",
                     d.swizzle_bytes, d.address, pattern);
  });
  return false;
}

bool note_panel(Warp& warp, const Instruction& in, const WgmmaPanel& panel, uint32_t read) {
  if (!check_alignment(warp, in, panel.descriptor)) return false;
  uint32_t offsets[kMostPanelChunks];
  const std::span<uint32_t> chunks(offsets, panel.chunks());
  chunk_addresses(panel, chunks);
  SharedMemory& shared = warp.block().shared();
  for (uint32_t& address : chunks) {
    const uint32_t offset = address - kSharedBase;  // far beyond the end where it is negative
    if (offset > shared.bytes() || shared.bytes() - offset < 16) {
      warp.report(Check::shared_bounds, in, 0, kSharedWindow + address, [&] {
        return fmt::format("a matrix descriptor for {:#x} reaches {:#x}, outside [{:#x}, {:#x})",
                           panel.descriptor.address, address, kSharedBase,
                           kSharedBase + shared.bytes());
      });
      return false;
    }
    address = offset;
  }
  if (warp.checks_shared()) shared.note_async_read(warp, in, 0, offsets, chunks.size(), read);
  return true;
}

// --- registers ---

void report_registers(Warp& warp, const Instruction& in, const PendingWgmma& other) {
  warp.report(Check::wgmma_registers, in, 0, 0, [&] {
    return fmt::format("uses registers of the wgmma.mma_async at {}, which was not waited for",
                       warp.place_of(warp.index_of(*other.in)));
  });
}

// Sums may be added to by wgmma after wgmma of one shape; nothing else may overlap.
void use_register(Warp& warp, const Instruction& in, Row row, Use use, uint32_t serial) {
  WarpgroupState& state = warp.warpgroup;
  WarpgroupState::Register& used = state.registers[row / kRowAlignment];
  if (used.written_before > state.fences) {
    warp.report(Check::wgmma_fence, in, 0, 0,
                [] { return "a register was written with no wgmma.fence after it"; });
  }
  if (used.use != Use::none && !(used.use == Use::input && use == Use::input)) {
    const auto other =
        std::find_if(state.pending.begin(), state.pending.end(),
                     [&](const PendingWgmma& pending) { return pending.serial == used.serial; });
    const bool chained = used.use == use && other != state.pending.end() &&
                         form_of(*other->in).n == form_of(in).n &&
                         form_of(*other->in).half_result == form_of(in).half_result;
    if (!chained && other != state.pending.end()) report_registers(warp, in, *other);
  }
  used.serial = serial;
  used.use = use;
}

void use_registers(Warp& warp, const Instruction& in, const WgmmaForm& form, uint32_t serial) {
  if (!warp.checks_races()) return;
  if (warp.warpgroup.fences == 0) {
    warp.report(Check::wgmma_fence, in, 0, 0,
                [] { return "the first wgmma.mma_async with no wgmma.fence before it"; });
  }
  const Row* rows = warp.program().rows.data() + in.list;
  for (uint32_t i = 0; i < in.list_size; ++i) {
    use_register(warp, in, rows[i], i < form.results() ? Use::result : Use::input, serial);
  }
}

// --- execution ---

Step execute_mma(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warpgroup(warp, in, mask)) return Step::fault;
  const WgmmaForm form = form_of(in);
  WarpgroupState& state = warp.warpgroup;
  PendingWgmma wgmma;
  wgmma.in = &in;
  if (!form.a_in_registers && !descriptor_of(warp, in, in.op[0], wgmma.a)) return Step::fault;
  if (!descriptor_of(warp, in, in.op[1], wgmma.b)) return Step::fault;
  wgmma.accumulates = warp.adds_to_sums(in);
  wgmma.group = state.groups;
  wgmma.serial = ++state.serial;
  wgmma.read = warp.block().cluster().async_reads().begin(warp.cluster_index(), warp.index_of(in));
  if (!form.a_in_registers && !note_panel(warp, in, a_panel(warp, form, wgmma.a), wgmma.read)) {
    return Step::fault;
  }
  if (!note_panel(warp, in, b_panel(form, wgmma.b), wgmma.read)) return Step::fault;
  use_registers(warp, in, form, wgmma.serial);
  if (warp.launch().options.async == AsyncMode::early) compute(warp, wgmma);
  state.pending.push_back(wgmma);
  return Step::next;
}

Step execute_fence(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warpgroup(warp, in, mask)) return Step::fault;
  ++warp.warpgroup.fences;
  return Step::next;
}

Step execute_commit(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warpgroup(warp, in, mask)) return Step::fault;
  ++warp.warpgroup.groups;
  return Step::next;
}

void finish(Warp& warp, const PendingWgmma& wgmma) {
  if (warp.launch().options.async == AsyncMode::late) compute(warp, wgmma);
  warp.block().cluster().async_reads().end(wgmma.read, warp.clocks().now(warp.cluster_index()));
  const Row* rows = warp.program().rows.data() + wgmma.in->list;
  for (uint32_t i = 0; i < wgmma.in->list_size; ++i) {
    auto& used = warp.warpgroup.registers[rows[i] / kRowAlignment];
    if (used.serial == wgmma.serial) used.use = Use::none;
  }
}

// Instruction::immediate: how many of the latest groups may stay on their way.
Step execute_wait(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warpgroup(warp, in, mask)) return Step::fault;
  WarpgroupState& state = warp.warpgroup;
  size_t done = 0;
  while (done < state.pending.size() && state.pending[done].group + in.immediate < state.groups) {
    finish(warp, state.pending[done++]);
  }
  state.pending.erase(state.pending.begin(), state.pending.begin() + static_cast<ptrdiff_t>(done));
  return Step::next;
}

Step execute_register_count(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!whole_warpgroup(warp, in, mask)) return Step::fault;
  const int64_t count = in.immediate;
  if (count >= 24 && count <= 256 && count % 8 == 0) return Step::next;
  warp.report(Check::register_count, in, 0, 0, [&] {
    return fmt::format("{} registers per thread: 24 to 256 in steps of 8 are possible", count);
  });
  return Step::next;
}

// --- decoding ---

std::optional<WgmmaElement> element_of(std::string_view modifier) {
  if (modifier == "f16") return WgmmaElement::f16;
  if (modifier == "bf16") return WgmmaElement::bf16;
  if (modifier == "tf32") return WgmmaElement::tf32;
  if (modifier == "e4m3") return WgmmaElement::e4m3;
  if (modifier == "e5m2") return WgmmaElement::e5m2;
  if (modifier == "s8") return WgmmaElement::s8;
  return std::nullopt;
}

bool is_byte(WgmmaElement element) {
  return bytes_of(element) == 1;
}

// "m64n128k16" -> 128 and 16
bool parse_shape(std::string_view shape, uint32_t& n, uint32_t& k) {
  if (!shape.starts_with("m64n")) return false;
  const char* end = shape.data() + shape.size();
  const auto [after_n, n_error] = std::from_chars(shape.data() + 4, end, n);
  if (n_error != std::errc() || after_n == end || *after_n != 'k') return false;
  const auto [after_k, k_error] = std::from_chars(after_n + 1, end, k);
  return k_error == std::errc() && after_k == end && n >= 8 && n <= kMostWgmmaN && n % 8 == 0;
}

bool types_exist(const WgmmaForm& form) {
  // Integers have fewer shapes.
  if (form.is_integer()) return form.b == form.a && (form.n <= 32 || form.n % 16 == 0);
  if (form.b == WgmmaElement::s8) return false;
  if (is_byte(form.a) || is_byte(form.b)) return is_byte(form.a) && is_byte(form.b);
  if (form.a != form.b) return false;
  return form.a == WgmmaElement::f16 || !form.half_result;
}

// mma_async.sync.aligned.SHAPE.D.A.B
bool parse_form(DecodeContext& c, WgmmaForm& form) {
  const auto& modifiers = c.in.modifiers;
  if (modifiers.size() != 7 || modifiers[1] != "sync" || modifiers[2] != "aligned") {
    return c.unknown();
  }
  uint32_t n = 0;
  uint32_t k = 0;
  const auto a = element_of(modifiers[5]);
  const auto b = element_of(modifiers[6]);
  if (!parse_shape(modifiers[3], n, k) || !a || !b) return c.unknown();
  form.n = static_cast<uint16_t>(n);
  form.a = *a;
  form.b = *b;
  form.half_result = modifiers[4] == "f16";
  const std::string_view sum = form.is_integer() ? "s32" : "f32";
  if (modifiers[4] != sum && (!form.half_result || form.is_integer())) return c.unknown();
  return (k == form.k() && types_exist(form)) || c.unknown();
}

bool flag(DecodeContext& c, size_t operand, int64_t zero, int64_t one, bool& out) {
  int64_t value = 0;
  if (!c.constant(c.operand(operand), value)) return false;
  out = value == one;
  return value == zero || value == one || c.fail("an immediate that is not possible");
}

// The immediates after the predicate, from operand 4 on.
bool parse_immediates(DecodeContext& c, WgmmaForm& form) {
  if (form.is_integer()) return c.operand_count(4, 4);
  bool a = false;
  bool b = false;
  if (!flag(c, 4, 1, -1, a) || !flag(c, 5, 1, -1, b)) return false;
  form.negates_a = a;
  form.negates_b = b;
  if (bytes_of(form.a) != 2) return c.operand_count(6, 6);
  const size_t count = form.a_in_registers ? 7 : 8;
  a = b = false;
  if (!c.operand_count(count, count) || !flag(c, count - 1, 0, 1, b)) return false;
  if (!form.a_in_registers && !flag(c, 6, 0, 1, a)) return false;
  form.a_mn_major = a;
  form.b_mn_major = b;
  return true;
}

bool decode_mma(DecodeContext& c) {
  WgmmaForm form;
  if (!parse_form(c, form) || !c.operand_count(4, 8)) return false;
  const ast::Operand& a = c.operand(1);
  form.a_in_registers = a.kind == ast::Operand::Kind::vector;
  if (!parse_immediates(c, form) ||
      !c.list_destinations(c.operand(0), form.is_integer()  ? Type::s32
                                         : form.half_result ? Type::b32
                                                            : Type::f32)) {
    return false;
  }
  if (c.out.list_size != form.results()) return c.fail("a wrong number of sums");
  if (form.a_in_registers) {
    if (!c.list_sources(a, Type::b32)) return false;
    if (c.out.list_size != form.results() + 4) return c.fail("a wrong number of registers for A");
  } else {
    c.out.op[0] = c.source(a, Type::b64);
    if (c.out.op[0] == kNoRow) return false;
  }
  bool negated = false;
  c.out.op[1] = c.source(c.operand(2), Type::b64);
  c.out.op[2] = c.predicate_source(c.operand(3), negated);
  if (c.out.op[1] == kNoRow || c.out.op[2] == kNoRow) return false;
  c.out.variant = negated ? 1 : 0;
  c.out.sum_reads = static_cast<uint16_t>(form.results());
  for (uint32_t i = 0; i < form.results(); ++i) {
    c.also_reads(c.program().rows[c.out.list + i]);
  }
  c.out.reports_undefined = true;
  c.out.is_wgmma = true;
  c.out.immediate = std::bit_cast<int64_t>(form);
  return c.emit(execute_mma);
}

bool decode_wgmma(DecodeContext& c) {
  c.program().uses_async_proxy = true;
  c.program().uses_wgmma = true;
  if (c.has("mma_async")) return decode_mma(c);
  if (!c.only({"fence", "commit_group", "wait_group", "sync", "aligned"})) return false;
  if (c.has("fence")) return c.operand_count(0, 0) && c.emit(execute_fence);
  if (c.has("commit_group")) return c.operand_count(0, 0) && c.emit(execute_commit);
  if (!c.has("wait_group") || !c.operand_count(1, 1) ||
      !c.constant(c.operand(0), c.out.immediate)) {
    return c.unknown();
  }
  return c.out.immediate >= 0 ? c.emit(execute_wait) : c.fail("a negative count");
}

bool decode_register_count(DecodeContext& c) {
  return c.only({"inc", "dec", "sync", "aligned"}) && c.operand_count(1, 1) &&
         c.constant(c.operand(0), c.out.immediate) && c.emit(execute_register_count);
}

}  // namespace

void add_warpgroup(InstructionSet& set) {
  set.add("wgmma", decode_wgmma, InstructionClass::matrix);
  set.add("setmaxnreg", decode_register_count, InstructionClass::control);
}

}  // namespace gemmtune::ptxsim
