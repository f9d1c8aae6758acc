// From files to declarations: loads the main module and what it imports, finds
// imports beside the importing file or in the standard library, and enters the
// names of each module. Knows nothing of types.
#include "frontend/check/Checker.h"
#include "frontend/syntax/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace astra;
using namespace astra::check;

std::unique_ptr<hir::Program> astra::checkProgram(const CheckOptions &options,
                                                  uint32_t mainFile,
                                                  SourceManager &sources,
                                                  DiagnosticEngine &diags) {
  auto program = std::make_unique<hir::Program>();
  Checker(options, sources, diags, *program).run(mainFile);
  return program;
}

void Checker::run(uint32_t mainFile) {
  std::string path = sources.getPath(mainFile).str();
  Module *main = loadModule(mainFile, path, /*isStd=*/false);
  program.name = main->name;
  for (size_t i = modules.size(); i-- > 0;) // imports first, the main one last
    if (!modules[i]->isStd)
      checkItems(*modules[i], modules[i].get() == main);
}

std::optional<std::string> Checker::readFile(const std::string &path) {
  if (options.load)
    return options.load(path);
  if (llvm::sys::fs::is_directory(path))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

static std::string normalise(llvm::StringRef path) {
  llvm::SmallString<128> text(path);
  llvm::sys::path::remove_dots(text, /*remove_dot_dot=*/true);
  return text.str().str();
}

Module *Checker::loadModule(uint32_t file, std::string path, bool isStd) {
  modules.push_back(std::make_unique<Module>());
  Module &loaded = *modules.back();
  modulesByPath[normalise(path)] = &loaded;
  loaded.path = std::move(path);
  loaded.isStd = isStd;
  loaded.tree = parseFile(file, sources, diags);
  loaded.name = loaded.tree->name;
  loaded.loading = true;
  declare(loaded);
  loadImports(loaded);
  loaded.loading = false;
  return &loaded;
}

//===-- Names of a module -------------------------------------------------===//

namespace {
/// Remembers where each name of a module was first declared.
class Names {
public:
  Names(DiagnosticEngine &diags) : diags(diags) {}
  bool add(const ast::Ident &name) {
    auto [it, isNew] = seen.try_emplace(name.text, name.range);
    if (isNew)
      return true;
    Diagnostic &d = diags.report(DiagCode::duplicate_name, name.range,
                                 "`" + name.text.str() + "` is declared twice");
    d.notes.push_back({it->second, "first declared here"});
    return false;
  }

private:
  DiagnosticEngine &diags;
  std::map<llvm::StringRef, SourceRange> seen;
};
} // namespace

static void describeStruct(const ast::StructItem &item, llvm::StringRef module,
                           hir::StructInfo &info) {
  info.module = module.str();
  info.name = item.name.text.str();
  info.doc = item.doc.str();
  info.isExport = item.isExport;
  for (const ast::FieldDecl &field : item.fields) {
    info.fieldNames.push_back(field.name.text.str());
    info.fieldDocs.push_back(field.doc.str());
  }
}

/// An item of which the parser could not read all is not checked: what it
/// lacks would be reported as if the program did not have it.
bool Checker::hasReports(SourceRange head, const ast::Expr *body) {
  uint32_t end = body ? std::max(head.end, body->range.end) : head.end;
  return diags.hasErrors() &&
         llvm::any_of(diags.getAll(), [&](const Diagnostic &d) {
           return d.range.file == head.file && d.range.begin >= head.begin &&
                  d.range.begin <= end;
         });
}

void Checker::declare(Module &m) {
  Names names(diags);
  llvm::SaveAndRestore saved(module, &m);
  for (const ast::ImportItem *item : m.tree->imports)
    names.add(item->name);
  for (const ast::ConstItem *item : m.tree->consts)
    if (names.add(item->name)) {
      constDecls.push_back({item, &m});
      m.consts[item->name.text] = &constDecls.back();
    }
  for (const ast::StructItem *item : m.tree->structs) {
    if (!names.add(item->name))
      continue;
    structDecls.emplace_back();
    StructDecl &decl = structDecls.back();
    decl.item = item;
    decl.module = &m;
    program.structs.emplace_back();
    decl.info = &program.structs.back();
    describeStruct(*item, m.name, *decl.info);
    m.structs[item->name.text] = &decl;
  }
  for (const ast::FnItem *item : m.tree->fns) {
    if (parseDType(item->name.text))
      fail(DiagCode::duplicate_name, item->name.range,
           "`" + item->name.text + "` is the name of a type");
    if (!names.add(item->name))
      continue;
    fnDecls.emplace_back();
    fnDecls.back().item = item;
    fnDecls.back().module = &m;
    fnDecls.back().isDamaged = hasReports(item->range, item->body);
    m.fns[item->name.text] = &fnDecls.back();
  }
  for (const ast::DerivativeItem *item : m.tree->derivatives) {
    auto it = m.fns.find(item->name.text);
    if (it == m.fns.end())
      reportUnknownName(item->name.text, item->name.range, "function", &m);
    else if (it->second->derivative)
      fail(DiagCode::duplicate_name, item->name.range,
           "`" + item->name.text + "` has two derivatives");
    else
      it->second->derivative = item;
  }
}

//===-- Imports -----------------------------------------------------------===//

void Checker::loadImports(Module &m) {
  for (const ast::ImportItem *item : m.tree->imports)
    if (Module *imported = findImport(*item, m))
      m.imports[item->name.text] = imported;
}

Module *Checker::findImport(const ast::ImportItem &import, Module &from) {
  llvm::SmallString<128> path;
  bool isNeighbour = import.path.starts_with(".");
  if (isNeighbour)
    path = llvm::sys::path::parent_path(from.path);
  else
    path = options.stdPath;
  llvm::sys::path::append(path, import.path + ".astra");
  return importPath(import, normalise(path), !isNeighbour);
}

Module *Checker::importPath(const ast::ImportItem &import,
                            const std::string &path, bool isStd) {
  auto known = modulesByPath.find(path);
  if (known != modulesByPath.end()) {
    if (!known->second->loading)
      return known->second;
    fail(DiagCode::import_cycle, import.range,
         "`" + import.path +
             "` imports this module, directly or through others",
         "move what both need into a third module");
    return nullptr;
  }
  std::optional<std::string> text = readFile(path);
  if (!text) {
    Diagnostic &d =
        report(DiagCode::import_not_found, import.range,
               "there is no module `" + import.path + "`; looked for " + path);
    d.help = isStd ? "the standard library is in " + options.stdPath +
                         "; a neighbour is imported with `import ./" +
                         import.path.str() + "`"
                   : "a path that begins with `./` starts at the folder of "
                     "the importing file";
    return nullptr;
  }
  uint32_t file = sources.addBuffer(path, std::move(*text));
  return loadModule(file, path, isStd);
}

bool Checker::isStdModule(llvm::StringRef name) {
  llvm::SmallString<128> path(options.stdPath);
  llvm::sys::path::append(path, name + ".astra");
  return readFile(normalise(path)).has_value();
}

Module *Checker::getStdModule(llvm::StringRef name) {
  llvm::SmallString<128> path(options.stdPath);
  llvm::sys::path::append(path, name + ".astra");
  std::string key = normalise(path);
  auto known = modulesByPath.find(key);
  if (known != modulesByPath.end())
    return known->second;
  std::optional<std::string> text = readFile(key);
  if (!text)
    return nullptr;
  return loadModule(sources.addBuffer(key, std::move(*text)), key, true);
}
