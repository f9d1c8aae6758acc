// The entry to parsing: a file of the SourceManager becomes a Module. Parsing
// never fails: what cannot be read is reported, and the tree has Error nodes or
// lacks the item. Nothing here knows what a name means.
#ifndef ASTRA_FRONTEND_SYNTAX_PARSER_H
#define ASTRA_FRONTEND_SYNTAX_PARSER_H

#include "frontend/syntax/Ast.h"
#include "frontend/syntax/Diagnostics.h"

namespace astra {

/// The module's name is the file's, without folder and ".astra".
std::unique_ptr<ast::Module> parseFile(uint32_t file, SourceManager &sources,
                                       DiagnosticEngine &diagnostics);

/// An indented tree of everything in the module, for people and tests.
void printAst(const ast::Module &module, llvm::raw_ostream &os);

} // namespace astra
#endif // ASTRA_FRONTEND_SYNTAX_PARSER_H
