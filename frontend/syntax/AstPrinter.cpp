// The text of a syntax tree, for `--emit=ast` and tests: one node a line,
// children indented below it; types and patterns stand in one line as in the
// source.
#include "frontend/syntax/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::ast;
using llvm::StringRef;

namespace {

class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}
  void print(const Module &module);

private:
  llvm::raw_ostream &line(unsigned depth) { return os.indent(2 * depth); }
  void printDoc(StringRef doc, unsigned depth);
  void printFn(const FnItem &fn, unsigned depth);
  void printStruct(const StructItem &item, unsigned depth);
  void printDerivative(const DerivativeItem &item, unsigned depth);
  void printParam(const Param &param, unsigned depth);
  void print(const Expr *expr, unsigned depth);
  void print(StringRef label, const Expr *expr, unsigned depth);
  void printCall(const CallExpr &call, unsigned depth);
  void printBlock(const BlockExpr &block, unsigned depth);
  void printLoop(const LoopExpr &loop, unsigned depth);
  void printWith(const WithExpr &with, unsigned depth);
  void printFields(List<FieldInit> fields, unsigned depth);
  void printRanges(List<GeneratorRange> ranges, unsigned depth);
  void printList(List<Expr *> exprs, unsigned depth) {
    for (const Expr *expr : exprs)
      print(expr, depth);
  }

  llvm::raw_ostream &os;
};

} // namespace

static StringRef getSign(BinaryOp op) {
  static const StringRef signs[] = {"+",  "-", "*",  "/", "%",  "**", "@", "==",
                                    "!=", "<", "<=", ">", ">=", "&&", "||"};
  return signs[static_cast<unsigned>(op)];
}

//===-- In one line -------------------------------------------------------===//

static std::string getText(const TypeExpr *type);
static std::string getText(const Pattern *pattern);
static std::string getText(const GenericParam &param);

static std::string getQualified(const Ident &module, const Ident &name) {
  return module.text.empty() ? name.text.str()
                             : module.text.str() + "." + name.text.str();
}

/// What stands in types: numbers, names, arithmetic; anything else is "...".
static std::string getText(const Expr *expr) {
  if (!expr)
    return "";
  // Each text is made once: llvm::join of a mapped range makes it twice, which
  // doubles the work at every level of nesting.
  auto join = [](List<Expr *> exprs) {
    std::string text;
    for (Expr *e : exprs)
      text += (text.empty() ? "" : ", ") + getText(e);
    return text;
  };
  switch (expr->kind) {
  case ExprKind::IntLit:
    return std::to_string(llvm::cast<IntLitExpr>(expr)->value);
  case ExprKind::Name:
    return llvm::cast<NameExpr>(expr)->name.str();
  case ExprKind::Field: {
    auto *field = llvm::cast<FieldExpr>(expr);
    return getText(field->base) + "." + field->field.text.str();
  }
  case ExprKind::Range: {
    auto *range = llvm::cast<RangeExpr>(expr);
    return getText(range->begin) + ".." + getText(range->end);
  }
  case ExprKind::Unary: {
    auto *unary = llvm::cast<UnaryExpr>(expr);
    return (unary->op == UnaryOp::Neg ? "-" : "!") + getText(unary->operand);
  }
  case ExprKind::Binary: {
    auto *binary = llvm::cast<BinaryExpr>(expr);
    return "(" + getText(binary->lhs) + " " + getSign(binary->op).str() + " " +
           getText(binary->rhs) + ")";
  }
  case ExprKind::Index: {
    auto *index = llvm::cast<IndexExpr>(expr);
    return getText(index->base) + "[" + join(index->indices) + "]";
  }
  case ExprKind::Tuple:
    return "(" + join(llvm::cast<TupleExpr>(expr)->elements) + ")";
  case ExprKind::TypeArg:
    return getText(llvm::cast<TypeArgExpr>(expr)->type);
  case ExprKind::Error:
    return "<error>";
  default:
    return "...";
  }
}

template <typename T> static std::string getTexts(List<T> items) {
  std::string result;
  for (const T &item : items)
    result += (result.empty() ? "" : ", ") + getText(item);
  return result;
}

static std::string getText(const TypeExpr *type) {
  switch (type->kind) {
  case TypeKind::Named:
  case TypeKind::Tensor: {
    std::string result = getQualified(type->module, type->name);
    if (!type->args.empty())
      result += "<" + getTexts(type->args) + ">";
    if (type->kind == TypeKind::Tensor)
      result += "[" + getTexts(type->dims) + "]";
    return result;
  }
  case TypeKind::Tuple:
    return "(" + getTexts(type->elements) +
           (type->elements.size() == 1 ? ",)" : ")");
  case TypeKind::Array:
    return "[" + getText(type->element) + "; " + getText(type->count) + "]";
  case TypeKind::Fn:
    return "fn(" + getTexts(type->elements) + ") -> " + getText(type->element);
  case TypeKind::Error:
    return "<error>";
  }
  return "";
}

static std::string getText(const Pattern *pattern) {
  std::string result = pattern->isTuple
                           ? "(" + getTexts(pattern->elements) + ")"
                           : pattern->name.text.str();
  if (pattern->type)
    result += ": " + getText(pattern->type);
  return result;
}

static std::string getText(const GenericParam &param) {
  return param.name.text.str() +
         (param.bound.text.empty() ? "" : ": " + param.bound.text.str());
}

static std::string getText(StringRef device, int64_t index) {
  return index == 0 ? device.str()
                    : device.str() + "(" + std::to_string(index) + ")";
}

static std::string quote(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
  return result;
}

//===-- Expressions -------------------------------------------------------===//

void Printer::print(StringRef label, const Expr *expr, unsigned depth) {
  line(depth) << label << '\n';
  print(expr, depth + 1);
}

void Printer::print(const Expr *expr, unsigned depth) {
  auto open = [&](StringRef name) -> llvm::raw_ostream & {
    return line(depth) << name;
  };
  switch (expr->kind) {
  case ExprKind::IntLit:
    open("int ") << llvm::cast<IntLitExpr>(expr)->value << '\n';
    return;
  case ExprKind::FloatLit:
    open("float ") << llvm::cast<FloatLitExpr>(expr)->text << '\n';
    return;
  case ExprKind::BoolLit:
    open(llvm::cast<BoolLitExpr>(expr)->value ? "true\n" : "false\n");
    return;
  case ExprKind::StringLit:
    open("string ") << quote(llvm::cast<StringLitExpr>(expr)->value) << '\n';
    return;
  case ExprKind::NoneLit:
    open("none\n");
    return;
  case ExprKind::Name:
    open("name ") << llvm::cast<NameExpr>(expr)->name << '\n';
    return;
  case ExprKind::Field: {
    auto *field = llvm::cast<FieldExpr>(expr);
    open("field ") << field->field.text << '\n';
    return print(field->base, depth + 1);
  }
  case ExprKind::Call:
    return printCall(*llvm::cast<CallExpr>(expr), depth);
  case ExprKind::Index: {
    auto *index = llvm::cast<IndexExpr>(expr);
    open("index\n");
    print(index->base, depth + 1);
    return printList(index->indices, depth + 1);
  }
  case ExprKind::Range: {
    auto *range = llvm::cast<RangeExpr>(expr);
    open("range\n");
    if (range->begin)
      print("from", range->begin, depth + 1);
    if (range->end)
      print("to", range->end, depth + 1);
    return;
  }
  case ExprKind::Unary: {
    auto *unary = llvm::cast<UnaryExpr>(expr);
    open(unary->op == UnaryOp::Neg ? "unary -\n" : "unary !\n");
    return print(unary->operand, depth + 1);
  }
  case ExprKind::Binary: {
    auto *binary = llvm::cast<BinaryExpr>(expr);
    open("binary ") << getSign(binary->op) << '\n';
    print(binary->lhs, depth + 1);
    return print(binary->rhs, depth + 1);
  }
  case ExprKind::As: {
    auto *as = llvm::cast<AsExpr>(expr);
    open("as ") << getText(as->type) << '\n';
    return print(as->operand, depth + 1);
  }
  case ExprKind::Lambda: {
    auto *lambda = llvm::cast<LambdaExpr>(expr);
    open("lambda |") << getTexts(lambda->params) << "|\n";
    return print(lambda->body, depth + 1);
  }
  case ExprKind::If: {
    auto *branch = llvm::cast<IfExpr>(expr);
    open("if\n");
    print(branch->condition, depth + 1);
    print("then", branch->thenExpr, depth + 1);
    return print("else", branch->elseExpr, depth + 1);
  }
  case ExprKind::Block:
    return printBlock(*llvm::cast<BlockExpr>(expr), depth);
  case ExprKind::Loop:
    return printLoop(*llvm::cast<LoopExpr>(expr), depth);
  case ExprKind::StructLit: {
    auto *literal = llvm::cast<StructLitExpr>(expr);
    open("struct ") << getQualified(literal->module, literal->name) << '\n';
    return printFields(literal->fields, depth + 1);
  }
  case ExprKind::Tuple:
    open("tuple\n");
    return printList(llvm::cast<TupleExpr>(expr)->elements, depth + 1);
  case ExprKind::Array:
    open("array\n");
    return printList(llvm::cast<ArrayExpr>(expr)->elements, depth + 1);
  case ExprKind::Comprehension: {
    auto *comprehension = llvm::cast<ComprehensionExpr>(expr);
    open("comprehension\n");
    print(comprehension->body, depth + 1);
    return printRanges(comprehension->ranges, depth + 1);
  }
  case ExprKind::Generator: {
    auto *generator = llvm::cast<GeneratorExpr>(expr);
    open("generator\n");
    print(generator->body, depth + 1);
    return printRanges(generator->ranges, depth + 1);
  }
  case ExprKind::With:
    return printWith(*llvm::cast<WithExpr>(expr), depth);
  case ExprKind::On: {
    auto *on = llvm::cast<OnExpr>(expr);
    open("on ") << getText(on->device.text, on->index) << '\n';
    return print(on->body, depth + 1);
  }
  case ExprKind::TypeArg:
    open("type ") << getText(llvm::cast<TypeArgExpr>(expr)->type) << '\n';
    return;
  case ExprKind::Error:
    open("<error>\n");
    return;
  }
}

void Printer::printCall(const CallExpr &call, unsigned depth) {
  line(depth) << (call.isPipe ? "pipe\n" : "call\n");
  print(call.callee, depth + 1);
  for (const Argument &arg : call.args) {
    if (arg.name.text.empty())
      print(arg.value, depth + 1);
    else
      print((arg.name.text + " =").str(), arg.value, depth + 1);
  }
}

void Printer::printBlock(const BlockExpr &block, unsigned depth) {
  line(depth) << "block\n";
  for (const Statement &statement : block.statements) {
    if (statement.pattern)
      print("let " + getText(statement.pattern), statement.value, depth + 1);
    else
      print("do", statement.value, depth + 1);
  }
  if (block.result)
    print(block.result, depth + 1);
}

void Printer::printLoop(const LoopExpr &loop, unsigned depth) {
  line(depth) << (loop.checkpoint ? "loop checkpoint\n" : "loop\n");
  for (const LoopState &state : loop.state) {
    line(depth + 1) << "state " << state.name.text;
    if (state.type)
      os << ": " << getText(state.type);
    os << '\n';
    if (state.init)
      print(state.init, depth + 2);
  }
  if (loop.counter)
    print("for " + getText(loop.counter), loop.range, depth + 1);
  else
    print("while", loop.condition, depth + 1);
  print(loop.body, depth + 1);
}

void Printer::printWith(const WithExpr &with, unsigned depth) {
  line(depth) << "with\n";
  print(with.base, depth + 1);
  if (with.isFields)
    return printFields(with.fields, depth + 1);
  line(depth + 1) << "at\n";
  printList(with.indices, depth + 2);
  print(with.isAdd ? "+=" : "=", with.value, depth + 1);
}

void Printer::printFields(List<FieldInit> fields, unsigned depth) {
  for (const FieldInit &field : fields) {
    line(depth) << field.name.text << (field.value ? ":\n" : "\n");
    if (field.value)
      print(field.value, depth + 1);
  }
}

void Printer::printRanges(List<GeneratorRange> ranges, unsigned depth) {
  for (const GeneratorRange &range : ranges) {
    line(depth) << "for " << range.name.text << '\n';
    if (range.range)
      print(range.range, depth + 1);
  }
}

//===-- Items -------------------------------------------------------------===//

void Printer::printDoc(StringRef doc, unsigned depth) {
  llvm::SmallVector<StringRef> lines;
  doc.split(lines, '\n');
  for (StringRef text : lines)
    if (!doc.empty())
      line(depth) << "/// " << text << '\n';
}

void Printer::printParam(const Param &param, unsigned depth) {
  line(depth) << "param " << param.name.text << ": " << getText(param.type)
              << '\n';
  if (param.defaultValue)
    print("default", param.defaultValue, depth + 1);
}

void Printer::printFn(const FnItem &fn, unsigned depth) {
  printDoc(fn.doc, depth);
  line(depth) << (fn.isExport ? "export fn " : "fn ") << fn.name.text;
  if (!fn.generics.empty())
    os << '<' << getTexts(fn.generics) << '>';
  if (!fn.device.name.text.empty())
    os << " on " << getText(fn.device.name.text, fn.device.index);
  os << '\n';
  for (const Param &param : fn.params)
    printParam(param, depth + 1);
  if (fn.result)
    line(depth + 1) << "result " << getText(fn.result) << '\n';
  print(fn.body, depth + 1);
}

void Printer::printStruct(const StructItem &item, unsigned depth) {
  printDoc(item.doc, depth);
  line(depth) << (item.isExport ? "export struct " : "struct ")
              << item.name.text;
  if (!item.generics.empty())
    os << '<' << getTexts(item.generics) << '>';
  os << '\n';
  for (const FieldDecl &field : item.fields) {
    printDoc(field.doc, depth + 1);
    line(depth + 1) << "field " << field.name.text << ": "
                    << getText(field.type) << '\n';
  }
}

void Printer::printDerivative(const DerivativeItem &item, unsigned depth) {
  line(depth) << "derivative " << item.name.text << '\n';
  for (const Param &param : item.params)
    printParam(param, depth + 1);
  if (item.vjp)
    print("vjp", item.vjp, depth + 1);
  if (item.jvp)
    print("jvp", item.jvp, depth + 1);
}

void Printer::print(const Module &module) {
  printDoc(module.doc, 0);
  os << "module " << module.name << '\n';
  for (const ImportItem *item : module.imports)
    line(1) << "import " << item->path << '\n';
  for (const ConstItem *item : module.consts) {
    printDoc(item->doc, 1);
    line(1) << "const " << item->name.text;
    if (item->type)
      os << ": " << getText(item->type);
    os << '\n';
    print(item->value, 2);
  }
  for (const StructItem *item : module.structs)
    printStruct(*item, 1);
  for (const FnItem *item : module.fns)
    printFn(*item, 1);
  for (const DerivativeItem *item : module.derivatives)
    printDerivative(*item, 1);
  for (const TestItem *item : module.tests)
    print("test " + quote(item->name), item->body, 1);
}

void astra::printAst(const Module &module, llvm::raw_ostream &os) {
  Printer(os).print(module);
}
