#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/wgmma_strategy.h"

namespace gemmtune::codegen {

// What the strategies have in common whose operands are sums of planes
// (parts/shared/plane_pairs.h), which a kernel before the main one leaves in the workspace: of each
// entry of the batch an operand's planes, one behind the other; those of A, then those of B. Where
// they would take more than `most_bytes` of workspace, rows of C are computed in parts, one after
// the other, each with planes of its rows of A; those of B are made once where a grid of blocks
// splits A alone.
class WgmmaPlanesStrategy : public WgmmaStrategy {
 public:
  std::span<const std::string_view> parameters() const override;
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override;
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override;

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;

 protected:
  // `plane` is the type of a plane's elements; the kernel that splits has blocks of so many
  // threads.
  WgmmaPlanesStrategy(DataType plane, int planes, int split_threads, int64_t most_bytes);

  // The lines of an operand in a plane.
  struct PlaneLines {
    int64_t ld = 0;        // elements
    int64_t elements = 0;  // of all lines
    int64_t entries = 1;   // of the batch: one where all products share the operand
  };
  virtual PlaneLines lines_of_a(const Problem& problem) const = 0;
  virtual PlaneLines lines_of_b(const Problem& problem) const = 0;

  // The grid of the kernel that splits, and what the plan's formulas name: ld_a and ld_b, plane_a
  // and plane_b (elements of a plane), entries_a and entries_b.
  virtual BlockCount split_grid(const Problem& problem) const = 0;
  virtual std::vector<Quantity> quantities(const KernelSpec& spec) const = 0;
  // As LaunchPlan has it.
  virtual std::string limit() const { return {}; }
  // The first blocks of that grid, which split A and nothing else; nothing where some do both.
  virtual std::optional<BlockCount> split_grid_of_a(const Problem& problem) const = 0;

  // Of a plane of A and one of B, over all entries.
  int64_t elements(const Problem& problem) const;

 private:
  int bytes_of_element() const { return planes_ * size_bytes(plane_); }
  int64_t workspace_bytes(const Problem& problem) const {
    return elements(problem) * bytes_of_element();
  }
  // Of C in each part but the last one: all of them, or whole tiles of clusters; none where even
  // those of one cluster are too many.
  std::optional<int64_t> rows_of_part(const KernelSpec& spec, const Problem& problem) const;
  LaunchPlan plan_of_part(const KernelSpec& spec, const Problem& part) const;
  void keep_planes_of_b(const KernelSpec& spec, const Problem& part, const LaunchPlan& first,
                        LaunchPlan& plan) const;
  wgmma::MatrixPlace place_of(const PlaneLines& lines, char letter) const;
  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override;
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override;

  DataType plane_;
  int planes_;
  int split_threads_;
  int64_t most_bytes_;
};

// The strategies, as the registry has them but for the limit.
std::unique_ptr<const Strategy> make_wgmma_planes(int64_t most_bytes);
std::unique_ptr<const Strategy> make_wgmma_tf32_planes(int64_t most_bytes);

}  // namespace gemmtune::codegen
