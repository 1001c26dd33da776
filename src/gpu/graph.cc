#include "gpu/graph.h"

#include <utility>

namespace gemmtune::gpu {
namespace {

// Ends a capture that was begun, whatever happens in between.
class Capture {
 public:
  explicit Capture(const Stream& stream) : stream_(stream) {}
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (ended_) return;
    CUgraph graph = nullptr;
    // The failure that led here is the one to report, not that the recording is incomplete.
    static_cast<void>(end(graph));
    if (graph != nullptr) destroy_handle(context(), context().api().graph_destroy, graph);
  }

  Result<void> end(CUgraph& graph) {
    ended_ = true;
    return context().call("ending a capture", [&](const DriverApi& api) {
      return api.stream_end_capture(stream_.handle(), &graph);
    });
  }

 private:
  const Context& context() const { return *stream_.context(); }

  const Stream& stream_;
  bool ended_ = false;
};

}  // namespace

Result<void> GraphExec::upload(const Stream& stream) const {
  return handle_.context().call_inside("uploading a graph", [&](const DriverApi& api) {
    return api.graph_upload(handle_.get(), stream.handle());
  });
}

Result<void> GraphExec::launch(const Stream& stream) const {
  return handle_.context().call("launching a graph", [&](const DriverApi& api) {
    return api.graph_launch(handle_.get(), stream.handle());
  });
}

Result<Graph> Graph::capture(const Stream& stream, const std::function<Result<void>()>& enqueue) {
  const std::shared_ptr<const Context>& context = stream.context();
  const auto scope = context->enter();
  if (!scope) return tl::unexpected(scope.error());
  // Thread-local: other threads may allocate and load modules while this one records.
  if (auto begun = context->call("beginning a capture",
                                 [&](const DriverApi& api) {
                                   return api.stream_begin_capture(
                                       stream.handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
                                 });
      !begun) {
    return tl::unexpected(begun.error());
  }
  Capture capture(stream);
  if (auto enqueued = enqueue(); !enqueued) return tl::unexpected(enqueued.error());
  CUgraph graph = nullptr;
  const auto ended = capture.end(graph);
  Owner owner(context, graph);
  if (!ended) return tl::unexpected(ended.error());
  return Graph(std::move(owner));
}

Result<GraphExec> Graph::instantiate() const {
  CUgraphExec exec = nullptr;
  if (auto made = handle_.context().call_inside(
          "instantiating a graph",
          [&](const DriverApi& api) { return api.graph_instantiate(&exec, handle_.get(), 0); });
      !made) {
    return tl::unexpected(made.error());
  }
  return GraphExec({handle_.shared_context(), exec});
}

Result<size_t> Graph::node_count() const {
  size_t count = 0;
  if (auto asked = handle_.context().call_inside("counting a graph's nodes",
                                                 [&](const DriverApi& api) {
                                                   return api.graph_get_nodes(handle_.get(),
                                                                              nullptr, &count);
                                                 });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return count;
}

}  // namespace gemmtune::gpu
