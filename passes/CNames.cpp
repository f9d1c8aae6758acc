// See CNames.h. A `_` is put behind a name that is taken and behind one that
// would be it but for such `_`, so that different names stay different.
#include "passes/CNames.h"
#include "astra/api.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace astra;
using llvm::StringRef;

/// Letters, digits and `_`; any other byte becomes `_`.
static std::string makeIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text = "_" + text;
  return text;
}

/// Words of C and C++, and lower-case macros of their headers and compilers.
static bool isWord(StringRef name) {
  static const llvm::StringSet<> words = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "assert",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "errno",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "linux",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "restrict",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "stderr",
                                          "stdin",
                                          "stdout",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "union",
                                          "unix",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq"};
  return words.contains(name);
}

std::string astra::makeCName(StringRef name) {
  std::string text = makeIdentifier(name);
  return isWord(StringRef(text).rtrim('_')) ? text + "_" : text;
}

std::string astra::makeCParameterName(StringRef name) {
  static const llvm::StringSet<> taken = {"module", "stream", "error", "status",
                                          "memset"};
  std::string text = makeIdentifier(name);
  StringRef stem = StringRef(text).rtrim('_');
  bool isTaken = isWord(stem) || taken.contains(stem) ||
                 stem.starts_with("result") || stem.starts_with("astra") ||
                 stem.ends_with("_t");
  return isTaken ? text + "_" : text;
}

std::string astra::makeCPrefix(StringRef module) {
  // What begins with "astra" and any `_` belongs to the API.
  std::string text = makeCName(module);
  return StringRef(text).rtrim('_') == "astra" ||
                 StringRef(text).starts_with("astra_")
             ? "m_" + text
             : text;
}

std::string astra::makeCExportName(StringRef name) {
  static const llvm::StringSet<> taken = {"link", "load", "find", "release",
                                          "module"};
  std::string text = makeIdentifier(name);
  StringRef stem = StringRef(text).rtrim('_');
  // Types end in `_t`: the module's own, and size_t of a module named size.
  bool isType = stem == "t" || stem.ends_with("_t");
  return taken.contains(stem) || isType ? text + "_" : text;
}

std::string astra::getDescriptorSymbol(StringRef module) {
  static const llvm::StringSet<> taken = {
#define NAME(name) "astra_" #name,
      ASTRA_API_FUNCTIONS(NAME)
#undef NAME
          "astra_module_desc"};
  std::string text = "astra_module_" + makeIdentifier(module);
  StringRef stem = StringRef(text).rtrim('_');
  // The API's types end in `_t`.
  return taken.contains(stem) || stem.ends_with("_t") ? text + "_" : text;
}
