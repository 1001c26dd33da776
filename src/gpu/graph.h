#pragma once

#include <cstddef>
#include <functional>

#include "gpu/stream.h"

namespace gemmtune::gpu {

// A graph ready to launch. Move-only. One launch of it runs at a time: a second one on any stream
// waits for the first. What its nodes refer to (modules, buffers) must outlive it.
class GraphExec {
 public:
  // Moves the graph to the device ahead of the first launch, so that the launch does not pay for
  // it.
  Result<void> upload(const Stream& stream) const;
  // Needs the context current.
  Result<void> launch(const Stream& stream) const;

 private:
  friend class Graph;
  using Owner = Handle<CUgraphExec, &DriverApi::graph_exec_destroy>;
  explicit GraphExec(Owner handle) : handle_(std::move(handle)) {}

  Owner handle_;
};

// Work recorded from a stream. Move-only.
class Graph {
 public:
  // Runs `enqueue` once, while `stream` records instead of executing. If it fails or throws, the
  // recording is thrown away, the stream is usable again, and the failure is passed on. Other
  // threads may go on using the driver meanwhile; `enqueue` itself must not allocate, free or
  // synchronize. Makes the context current around the call.
  static Result<Graph> capture(const Stream& stream, const std::function<Result<void>()>& enqueue);

  Result<GraphExec> instantiate() const;

  // Number of nodes: kernels, copies and fills.
  Result<size_t> node_count() const;

 private:
  using Owner = Handle<CUgraph, &DriverApi::graph_destroy>;
  explicit Graph(Owner handle) : handle_(std::move(handle)) {}

  Owner handle_;
};

}  // namespace gemmtune::gpu
