#include <utility>

#include "vendor/cublaslt_internal.h"

namespace gemmtune::vendor {

CublasLtLibrary::CublasLtLibrary(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
CublasLtLibrary::~CublasLtLibrary() = default;

std::vector<std::string> CublasLtLibrary::default_names() {
  return {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
}

Expected<std::shared_ptr<const CublasLtLibrary>> CublasLtLibrary::load(
    const std::vector<std::string>& names) {
  auto opened = gpu::SharedLibrary::open_first_loaded(names);
  if (!opened) {
    return make_error(ErrorKind::unsupported, "no cuBLASLt: " + opened.error().message);
  }
  auto impl = std::make_unique<Impl>(std::move(*opened));
  std::string missing;
#define GEMMTUNE_RESOLVE_ENTRY(member, name)                                            \
  impl->member = reinterpret_cast<decltype(impl->member)>(impl->library.symbol(#name)); \
  if (impl->member == nullptr && missing.empty()) missing = #name;
  GEMMTUNE_CUBLASLT_ENTRIES(GEMMTUNE_RESOLVE_ENTRY)
#undef GEMMTUNE_RESOLVE_ENTRY
  if (!missing.empty()) {
    return make_error(ErrorKind::unsupported,
                      "no cuBLASLt: " + impl->library.name() + " has no " + missing);
  }
  return std::shared_ptr<const CublasLtLibrary>(new CublasLtLibrary(std::move(impl)));
}

int64_t CublasLtLibrary::version() const {
  return static_cast<int64_t>(impl_->get_version());
}

const std::string& CublasLtLibrary::name() const {
  return impl_->library.name();
}

gpu::Result<void> CublasLtLibrary::Impl::check(lt::Status status, std::string_view what) const {
  if (status == lt::Status::success) return {};
  const ErrorKind kind = status == lt::Status::not_supported || status == lt::Status::arch_mismatch
                             ? ErrorKind::unsupported
                             : ErrorKind::failed;
  return gpu::cuda_error(kind,
                         "cuBLASLt: " + std::string(what) + " failed: " + get_status_name(status));
}

}  // namespace gemmtune::vendor
