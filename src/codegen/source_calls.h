#pragma once

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "codegen/source_declarations.h"

namespace gemmtune::codegen {

// With how many arguments a source calls its functions, by their names.
class SourceCalls {
 public:
  // Refers to `declarations`, all there are; what `elsewhere` names may be called in any way.
  SourceCalls(const std::vector<std::unique_ptr<Declaration>>& declarations,
              SourceTokens elsewhere);

  // False if the function has others of its name beside it, and no call has as many arguments as it
  // takes.
  bool may_be_called(const Declaration& function) const;

 private:
  void collect(const std::vector<std::unique_ptr<Declaration>>& declarations);
  void take_calls(SourceTokens tokens);

  std::map<std::string_view, int> functions_;  // how many there are of a name
  std::set<std::string_view> types_;
  std::set<const char*> declared_;  // where names stand that are declared
  std::map<std::string_view, std::set<size_t>> calls_;
  std::set<std::string_view> others_;  // named in another way
};

}  // namespace gemmtune::codegen
