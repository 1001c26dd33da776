#include "ptxsim/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptxsim/syntax/parser_state.h"

namespace gemmtune::ptxsim {

namespace {

constexpr size_t kMaxText = size_t{256} << 20;  // bytes: larger input is not a kernel

bool is_linkage(std::string_view directive) {
  return directive == "visible" || directive == "extern" || directive == "weak" ||
         directive == "common";
}

bool is_variable_space(std::string_view directive) {
  return directive == "global" || directive == "const" || directive == "shared" ||
         directive == "local";
}

}  // namespace

Expected<Module> parse(std::string_view text, std::string name) {
  Module module;
  module.name = std::move(name);
  if (text.size() > kMaxText) return usage_error(module.name + ": the text is over 256 MiB");
  module.text = std::make_shared<const std::string>(text);
  Parser parser(*module.text, module);
  if (!parser.parse_module()) return usage_error(module.name + ":" + parser.error());
  return module;
}

bool Parser::fail(std::string message) {
  return fail_at(token_, std::move(message));
}

bool Parser::fail_at(const Token& token, std::string message) {
  if (!error_.empty()) return false;
  if (token.kind == Token::Kind::bad) {
    message = std::string(token.text);
  } else {
    message += fmt::format(", found \"{}\"", token.text);
  }
  error_ = fmt::format("{}:{}: {}", token.at.line, token.at.column, message);
  return false;
}

bool Parser::accept(char punctuation) {
  if (!token_.is(punctuation)) return false;
  shift();
  return true;
}

bool Parser::expect(char punctuation) {
  if (accept(punctuation)) return true;
  return fail(fmt::format("expected \"{}\"", punctuation));
}

bool Parser::identifier(std::string_view& out, const char* what) {
  if (token_.kind != Token::Kind::identifier) return fail(fmt::format("expected {}", what));
  out = token_.text;
  shift();
  return true;
}

bool Parser::integer(uint64_t& out, const char* what) {
  if (token_.kind != Token::Kind::integer) return fail(fmt::format("expected {}", what));
  out = token_.bits;
  shift();
  return true;
}

bool Parser::parse_module() {
  while (token_.kind != Token::Kind::end) {
    if (!top_level()) return false;
  }
  if (module_.version.empty()) return fail("expected a .version directive");
  return true;
}

bool Parser::top_level() {
  if (token_.kind != Token::Kind::directive) return fail("expected a directive");
  bool is_extern = false;
  while (token_.kind == Token::Kind::directive && is_linkage(token_.text)) {
    is_extern = is_extern || token_.text == "extern";
    shift();
  }
  const std::string_view name = token_.text;
  if (token_.kind != Token::Kind::directive) return fail("expected a directive");
  if (is_variable_space(name)) return variables(is_extern, module_.variables);
  shift();
  if (name == "entry") return function(true, is_extern);
  if (name == "func") return function(false, is_extern);
  return header_directive(name);
}

bool Parser::header_directive(std::string_view name) {
  if (name == "version") {
    module_.version = std::string(token_.text);
    if (token_.kind != Token::Kind::f64) return fail("expected a version such as 9.0");
    shift();
    return true;
  }
  if (name == "target") {
    std::string_view target;
    if (!identifier(target, "a target such as sm_90")) return false;
    module_.target = std::string(target);
    while (accept(',')) {
      if (!identifier(target, "a target option")) return false;
    }
    return true;
  }
  if (name == "address_size") {
    uint64_t bits = 0;
    if (!integer(bits, "64")) return false;
    return bits == 64 || fail("only .address_size 64 is simulated");
  }
  if (name == "file") return file_directive();
  if (name == "section") return skip_section();
  return fail(fmt::format("the directive .{} is not known here", name));
}

bool Parser::file_directive() {
  uint64_t index = 0;
  if (!integer(index, "a file number")) return false;
  if (token_.kind != Token::Kind::string) return fail("expected a quoted path");
  module_.files[static_cast<uint32_t>(index)] = std::string(token_.text);
  shift();
  uint64_t ignored = 0;  // timestamp and size
  while (accept(',')) {
    if (!integer(ignored, "a file's timestamp or size")) return false;
  }
  return true;
}

// DWARF data: no effect on execution.
bool Parser::skip_section() {
  while (!token_.is('{')) {
    if (token_.kind == Token::Kind::end) return fail("expected \"{\" after .section");
    shift();
  }
  while (!token_.is('}')) {
    if (token_.kind == Token::Kind::end) return fail("expected \"}\" at the end of a section");
    shift();
  }
  return expect('}');
}

bool Parser::function(bool is_entry, bool is_extern) {
  ast::Function function;
  function.is_entry = is_entry;
  function.at = token_.at;
  if (!is_entry && token_.is('(') && !parameters(function.returns)) return false;
  if (!identifier(function.name, "a function name")) return false;
  if (token_.is('(') && !parameters(function.params)) return false;
  if (!function_directives(function)) return false;
  if (accept(';')) {
    module_.functions.push_back(std::move(function));
    return true;
  }
  if (is_extern) return fail("expected \";\" after an extern function");
  if (!body(function)) return false;
  function.has_body = true;
  module_.functions.push_back(std::move(function));
  return true;
}

bool Parser::parameters(std::vector<ast::Variable>& out) {
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    if (!token_.is_directive("param") && !token_.is_directive("reg")) {
      return fail("expected .param");
    }
    shift();
    ast::Variable prototype;
    prototype.space = Space::param;
    uint32_t vector_length = 1;
    if (!variable_prefix(prototype, vector_length)) return false;
    ast::Variable parameter;
    if (!variable(prototype, parameter)) return false;
    out.push_back(std::move(parameter));
  } while (accept(','));
  return expect(')');
}

bool Parser::thread_counts(uint32_t (&out)[3]) {
  for (uint32_t& count : out) count = 1;
  for (uint32_t& count : out) {
    uint64_t value = 0;
    if (!integer(value, "a count")) return false;
    count = static_cast<uint32_t>(value);
    if (!accept(',')) break;
  }
  return true;
}

bool Parser::function_directives(ast::Function& function) {
  while (token_.kind == Token::Kind::directive) {
    const std::string_view name = token_.text;
    uint32_t counts[3] = {1, 1, 1};
    if (name == "noreturn" || name == "explicitcluster" || name == "blocksareclusters") {
      shift();
    } else if (name == "pragma") {
      shift();
      if (token_.kind != Token::Kind::string) return fail("expected a quoted pragma");
      shift();
      if (!expect(';')) return false;
    } else if (name == "maxntid" || name == "reqntid" || name == "reqnctapercluster" ||
               name == "minnctapersm" || name == "maxnctapersm" || name == "maxnreg" ||
               name == "maxclusterrank") {
      shift();
      if (!thread_counts(counts)) return false;
      if (name == "maxntid") function.max_threads = counts[0] * counts[1] * counts[2];
      if (name == "reqntid") std::copy(counts, counts + 3, function.required_threads);
      if (name == "reqnctapercluster") std::copy(counts, counts + 3, function.required_cluster);
    } else {
      return fail("expected a function directive");
    }
  }
  return true;
}

bool Parser::body(ast::Function& function) {
  if (!expect('{')) return false;
  source_ = SourceLine{};
  size_t depth = 1;
  while (true) {
    if (accept('{')) {
      function.body.emplace_back(ast::ScopeOpen{});
      ++depth;
    } else if (accept('}')) {
      if (--depth == 0) return true;
      function.body.emplace_back(ast::ScopeClose{});
    } else if (accept(';')) {
      continue;
    } else if (token_.kind == Token::Kind::directive) {
      if (!body_directive(function)) return false;
    } else if (!instruction(function.body)) {
      return false;
    }
  }
}

bool Parser::body_directive(ast::Function& function) {
  const std::string_view name = token_.text;
  if (name == "reg") {
    shift();
    return register_declaration(function.body);
  }
  if (is_variable_space(name) || name == "param") {
    std::vector<ast::Variable> declared;
    if (!variables(false, declared)) return false;
    for (ast::Variable& variable : declared) function.body.emplace_back(std::move(variable));
    return true;
  }
  shift();
  if (name == "loc") return location();
  if (name == "pragma") {
    if (token_.kind != Token::Kind::string) return fail("expected a quoted pragma");
    shift();
    return expect(';');
  }
  return fail(fmt::format("the directive .{} is not known in a function", name));
}

}  // namespace gemmtune::ptxsim
