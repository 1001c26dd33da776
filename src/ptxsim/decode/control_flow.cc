#include "ptxsim/decode/control_flow.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ptxsim/decode/handlers.h"

namespace gemmtune::ptxsim {

namespace {

constexpr uint32_t kNone = 0xFFFFFFFFU;

// Basic blocks. Block `blocks.size()` is the virtual exit.
struct Graph {
  std::vector<uint32_t> begin;  // first instruction, plus one past the end
  std::vector<std::vector<uint32_t>> successors;
  std::vector<std::vector<uint32_t>> predecessors;

  uint32_t size() const { return static_cast<uint32_t>(begin.size()) - 1; }
  uint32_t block_of(uint32_t instruction) const {
    return static_cast<uint32_t>(std::upper_bound(begin.begin(), begin.end(), instruction) -
                                 begin.begin()) -
           1;
  }
};

bool is_exit(const Instruction& in) {
  return in.execute == execute_exit;
}

bool is_branch(const Instruction& in) {
  return in.execute == execute_branch || in.execute == execute_indirect_branch;
}

std::vector<uint32_t> targets_of(const Program& program, const Instruction& in) {
  if (in.execute == execute_branch) return {in.target};
  if (in.execute == execute_indirect_branch) {
    return program.branch_tables[static_cast<size_t>(in.immediate)];
  }
  return {};
}

Graph build_graph(const Program& program) {
  const auto count = static_cast<uint32_t>(program.code.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction& in = program.code[i];
    if (!is_branch(in) && !is_exit(in)) continue;
    leader[i + 1] = true;
    for (uint32_t target : targets_of(program, in)) leader[target] = true;
  }
  Graph graph;
  for (uint32_t i = 0; i < count; ++i) {
    if (leader[i]) graph.begin.push_back(i);
  }
  graph.begin.push_back(count);
  const uint32_t exit = graph.size();
  graph.successors.resize(exit + 1);
  graph.predecessors.resize(exit + 1);
  for (uint32_t block = 0; block < exit; ++block) {
    const uint32_t last = graph.begin[block + 1] - 1;
    const Instruction& in = program.code[last];
    std::vector<uint32_t>& out = graph.successors[block];
    for (uint32_t target : targets_of(program, in)) out.push_back(graph.block_of(target));
    const bool falls_through = in.guard != kNoRow || (!is_branch(in) && !is_exit(in));
    if (falls_through && last + 1 < count) out.push_back(block + 1);
    if (is_exit(in)) out.push_back(exit);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    for (uint32_t next : out) graph.predecessors[next].push_back(block);
  }
  return graph;
}

// Blocks in reverse post-order of the reversed graph, from the exit.
std::vector<uint32_t> backward_order(const Graph& graph) {
  std::vector<uint32_t> order;
  std::vector<bool> seen(graph.size() + 1, false);
  std::vector<std::pair<uint32_t, size_t>> stack = {{graph.size(), 0}};
  seen[graph.size()] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < graph.predecessors[block].size()) {
      const uint32_t predecessor = graph.predecessors[block][next++];
      if (!seen[predecessor]) {
        seen[predecessor] = true;
        stack.emplace_back(predecessor, 0);
      }
    } else {
      order.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed
// graph. kNone for blocks from which the exit cannot be reached.
std::vector<uint32_t> immediate_post_dominators(const Graph& graph) {
  const std::vector<uint32_t> order = backward_order(graph);
  std::vector<uint32_t> rank(graph.size() + 1, kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::vector<uint32_t> parent(graph.size() + 1, kNone);
  parent[graph.size()] = graph.size();
  const auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (rank[a] > rank[b]) a = parent[a];
      while (rank[b] > rank[a]) b = parent[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < order.size(); ++i) {
      const uint32_t block = order[i];
      uint32_t best = kNone;
      for (uint32_t successor : graph.successors[block]) {
        if (rank[successor] == kNone || parent[successor] == kNone) continue;
        best = best == kNone ? successor : meet(best, successor);
      }
      if (parent[block] != best) {
        parent[block] = best;
        changed = true;
      }
    }
  }
  return parent;
}

class BitSet {
 public:
  BitSet(size_t bits, bool value) : words_((bits + 63) / 64, value ? ~uint64_t{0} : 0) {}
  void set(size_t bit) { words_[bit / 64] |= uint64_t{1} << (bit % 64); }
  void clear(size_t bit) { words_[bit / 64] &= ~(uint64_t{1} << (bit % 64)); }
  bool test(size_t bit) const { return (words_[bit / 64] >> (bit % 64) & 1) != 0; }
  // Returns whether this set shrank.
  bool intersect(const BitSet& other) {
    bool changed = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t next = words_[i] & other.words_[i];
      changed = changed || next != words_[i];
      words_[i] = next;
    }
    return changed;
  }

 private:
  std::vector<uint64_t> words_;
};

std::span<const Row> reads_of(const Program& program, const Instruction& in) {
  return {program.reads.data() + in.first_read, in.read_count};
}

std::span<const Row> writes_of(const Program& program, const Instruction& in) {
  return {program.writes.data() + in.first_write, in.write_count};
}

}  // namespace

void set_reconvergence_points(Program& program) {
  const Graph graph = build_graph(program);
  const std::vector<uint32_t> parent = immediate_post_dominators(graph);
  for (uint32_t block = 0; block < graph.size(); ++block) {
    Instruction& last = program.code[graph.begin[block + 1] - 1];
    if (!is_branch(last)) continue;
    const uint32_t reconvergence_block = parent[block];
    const bool at_exit = reconvergence_block == kNone || reconvergence_block == graph.size();
    last.reconvergence = at_exit ? kNoTarget : graph.begin[reconvergence_block];
  }
}

bool may_read_undefined(const Program& program) {
  const Graph graph = build_graph(program);
  const size_t rows = program.register_image.size() / kRowAlignment;
  BitSet at_start(rows, true);
  for (Row row : program.registers) at_start.clear(row / kRowAlignment);
  std::vector<BitSet> in(graph.size(), BitSet(rows, true));
  in[0] = at_start;
  std::vector<uint32_t> work = {0};
  std::vector<bool> visited(graph.size(), false);
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    visited[block] = true;
    BitSet defined = in[block];
    for (uint32_t i = graph.begin[block]; i < graph.begin[block + 1]; ++i) {
      const Instruction& instruction = program.code[i];
      if (instruction.guard != kNoRow && !defined.test(instruction.guard / kRowAlignment)) {
        return true;
      }
      for (Row row : reads_of(program, instruction)) {
        if (!defined.test(row / kRowAlignment)) return true;
      }
      if (instruction.guard != kNoRow) continue;
      for (Row row : writes_of(program, instruction)) defined.set(row / kRowAlignment);
    }
    for (uint32_t next : graph.successors[block]) {
      if (next == graph.size()) continue;
      if (in[next].intersect(defined) || !visited[next]) work.push_back(next);
    }
  }
  return false;
}

}  // namespace gemmtune::ptxsim
