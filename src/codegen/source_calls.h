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

  // Whether what runs in these tokens of a statement changes nothing but the variable that it
  // declares: "const Type name = value;" with calls of such functions only as return a value at
  // once.
  bool has_no_effect(SourceTokens statement) const;

 private:
  void collect(const std::vector<std::unique_ptr<Declaration>>& declarations);
  void take_calls(SourceTokens tokens);
  bool returns_at_once(std::string_view name) const;

  std::map<std::string_view, int> functions_;  // how many there are of a name
  std::map<std::string_view, std::vector<const Declaration*>> all_;
  std::set<std::string_view> types_;
  std::set<const char*> declared_;  // where names stand that are declared
  std::map<std::string_view, std::set<size_t>> calls_;
  std::set<std::string_view> others_;  // named in another way
};

}  // namespace gemmtune::codegen
