#include "vendor/cublaslt.h"

#include <utility>

#include "vendor/cublaslt_internal.h"

namespace gemmtune::vendor {

CublasLt::Handle::~Handle() {
  // In a lost context the library's device state is gone, and destroying would touch it.
  if (value == nullptr || context->lost()) return;
  const auto scope = context->enter();
  if (scope) api().destroy(value);
}

CublasLt::CublasLt(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}

Expected<CublasLt> CublasLt::create(std::shared_ptr<const CublasLtLibrary> library,
                                    std::shared_ptr<const gpu::Context> context) {
  const auto handle = std::make_shared<Handle>();
  handle->library = std::move(library);
  handle->context = std::move(context);
  const auto scope = handle->context->enter();
  if (!scope) return tl::unexpected(scope.error());
  if (auto made = handle->api().check(handle->api().create(&handle->value), "creating a handle");
      !made) {
    return tl::unexpected(made.error());
  }
  return CublasLt(handle);
}

const CublasLtLibrary& CublasLt::library() const {
  return *handle_->library;
}

}  // namespace gemmtune::vendor
