// Readable text of the typed program, for tests and for people who look into
// the compiler. One line per let; expressions in call form.
#include "frontend/check/Hir.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace astra;
using namespace astra::hir;

namespace {
class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}
  void print(const FnInstance &fn, llvm::StringRef keyword);

private:
  void print(const Expr *e);
  void printPrim(const PrimExpr *e);
  void printLiteral(const PrimExpr *e);
  void printBlock(const BlockExpr *e);
  void printCall(const CallExpr *e);
  void printLoop(const Expr *e);
  void printMapped(const Expr *e);
  void printTransform(const TransformExpr *e);
  void print(const FnLit &fn);
  void printList(llvm::ArrayRef<Expr *> list) {
    llvm::interleave(list, os, [&](Expr *e) { print(e); }, ", ");
  }
  void printState(llvm::ArrayRef<Local *> state, llvm::ArrayRef<Expr *> init);
  /// Locals of one name are told apart by a number.
  std::string name(const Local *local);
  void newline() { os << '\n' << std::string(indent * 2, ' '); }

  llvm::raw_ostream &os;
  unsigned indent = 0;
  std::map<const Local *, std::string> names;
  std::map<std::string, unsigned> counts;
};
} // namespace

std::string Printer::name(const Local *local) {
  auto [it, isNew] = names.try_emplace(local);
  if (isNew) {
    unsigned count = counts[local->name]++;
    it->second = local->name + (count ? "." + std::to_string(count) : "");
  }
  return it->second;
}

static std::string visible(llvm::StringRef name) {
  return name.split('@').first.str();
}

void Printer::printLiteral(const PrimExpr *e) {
  DType dtype = e->type->dtype;
  if (dtype == DType::Bool)
    os << (e->literal.magnitude ? "true" : "false");
  else if (isFloat(dtype))
    os << llvm::format("%.17g", dtype == DType::F32
                                    ? static_cast<double>(e->literal.valueF32)
                                    : e->literal.value);
  else
    os << (e->literal.negative ? "-" : "") << e->literal.magnitude;
  os << ":" << getName(dtype);
}

void Printer::printPrim(const PrimExpr *e) {
  if (e->prim == Prim::Const)
    return printLiteral(e);
  os << getName(e->prim) << '(';
  printList(e->operands);
  bool first = e->operands.empty();
  auto separate = [&] {
    os << (first ? "" : "; ");
    first = false;
  };
  if (!e->ints.empty()) {
    separate();
    llvm::interleave(e->ints, os, " ");
  }
  if (!e->dims.empty()) {
    separate();
    llvm::interleave(
        e->dims, os, [&](const Dim &dim) { os << dim.str(visible); }, " ");
  }
  if (!e->text.empty()) {
    separate();
    os << '"' << e->text << '"';
  }
  os << "):" << toString(e->type);
}

void Printer::printBlock(const BlockExpr *e) {
  os << '{';
  ++indent;
  for (const Binding &binding : e->bindings) {
    newline();
    if (binding.local)
      os << "let " << name(binding.local) << " = ";
    print(binding.value);
  }
  if (e->result) {
    newline();
    print(e->result);
  }
  --indent;
  newline();
  os << '}';
}

void Printer::printCall(const CallExpr *e) {
  os << e->callee->module << '.' << e->callee->name;
  if (!e->dims.empty()) {
    os << '<';
    llvm::interleave(
        e->dims, os,
        [&](const auto &pair) {
          os << visible(pair.first) << " = " << pair.second.str(visible);
        },
        ", ");
    os << '>';
  }
  os << '(';
  printList(e->args);
  for (const FnLit &fn : e->fnArgs) {
    os << ", ";
    print(fn);
  }
  os << "):" << toString(e->type);
}

void Printer::print(const FnLit &fn) {
  os << '|';
  llvm::interleave(
      fn.params, os,
      [&](Local *local) { os << name(local) << ": " << toString(local->type); },
      ", ");
  os << "| ";
  if (fn.body)
    print(fn.body);
}

void Printer::printState(llvm::ArrayRef<Local *> state,
                         llvm::ArrayRef<Expr *> init) {
  os << '(';
  for (auto [i, local] : llvm::enumerate(state)) {
    os << (i ? ", " : "") << name(local) << " = ";
    print(init[i]);
  }
  os << ')';
}

void Printer::printLoop(const Expr *e) {
  if (auto *loop = llvm::dyn_cast<ForExpr>(e)) {
    os << "for " << name(loop->counter) << " in ";
    print(loop->begin);
    os << "..";
    print(loop->end);
    os << ' ';
    printState(loop->state, loop->init);
    os << ' ';
    return print(loop->body);
  }
  auto *loop = llvm::cast<WhileExpr>(e);
  os << "while ";
  printState(loop->state, loop->init);
  os << ' ';
  print(loop->condition);
  os << " do ";
  print(loop->body);
}

void Printer::printMapped(const Expr *e) {
  if (auto *map = llvm::dyn_cast<MapExpr>(e)) {
    os << "map[" << map->length.str(visible) << "](";
    for (auto [i, arg] : llvm::enumerate(map->args)) {
      os << (i ? ", " : "");
      print(arg);
      os << " axis " << map->axes[i];
    }
    os << ") ";
    return print(map->fn);
  }
  const FnLit *fn;
  if (auto *scan = llvm::dyn_cast<ScanExpr>(e)) {
    os << "scan[" << scan->length.str(visible) << "](";
    printList({scan->init, scan->xs});
    fn = &scan->fn;
  } else {
    auto *reduce = llvm::cast<ReduceExpr>(e);
    os << "reduce[" << reduce->length.str(visible) << "](";
    printList({reduce->init, reduce->xs});
    fn = &reduce->fn;
  }
  os << ") ";
  print(*fn);
}

void Printer::printTransform(const TransformExpr *e) {
  static constexpr llvm::StringLiteral kinds[] = {"vjp", "value_and_grad",
                                                  "jvp", "remat"};
  os << kinds[static_cast<unsigned>(e->transform)] << "[wrt ";
  llvm::interleave(e->wrt, os, " ");
  os << "](";
  printList(e->args);
  if (!e->extra.empty()) {
    os << "; ";
    printList(e->extra);
  }
  os << ") ";
  print(e->fn);
}

void Printer::print(const Expr *e) {
  switch (e->kind) {
  case ExprKind::Prim:
    return printPrim(llvm::cast<PrimExpr>(e));
  case ExprKind::Local:
    os << name(llvm::cast<LocalExpr>(e)->local);
    return;
  case ExprKind::Block:
    return printBlock(llvm::cast<BlockExpr>(e));
  case ExprKind::Call:
    return printCall(llvm::cast<CallExpr>(e));
  case ExprKind::CallParam: {
    auto *call = llvm::cast<CallParamExpr>(e);
    os << "param" << call->index << '(';
    printList(call->args);
    os << ')';
    return;
  }
  case ExprKind::Make:
    os << "make " << toString(e->type) << '(';
    printList(llvm::cast<MakeExpr>(e)->elements);
    os << ')';
    return;
  case ExprKind::Get: {
    auto *get = llvm::cast<GetExpr>(e);
    print(get->base);
    TypeRef type = get->base->type;
    if (type->kind == TypeKind::Struct)
      os << '.' << type->decl->fieldNames[get->index];
    else
      os << '.' << get->index;
    return;
  }
  case ExprKind::ArrayIndex:
    print(llvm::cast<ArrayIndexExpr>(e)->base);
    os << '[';
    print(llvm::cast<ArrayIndexExpr>(e)->index);
    os << ']';
    return;
  case ExprKind::If: {
    auto *branch = llvm::cast<IfExpr>(e);
    os << "if ";
    print(branch->condition);
    os << " then ";
    print(branch->thenExpr);
    os << " else ";
    return print(branch->elseExpr);
  }
  case ExprKind::For:
  case ExprKind::While:
    return printLoop(e);
  case ExprKind::Scan:
  case ExprKind::Map:
  case ExprKind::Reduce:
    return printMapped(e);
  case ExprKind::Transform:
    return printTransform(llvm::cast<TransformExpr>(e));
  case ExprKind::On:
    os << "on " << llvm::cast<OnExpr>(e)->device << '('
       << llvm::cast<OnExpr>(e)->index << ") ";
    return print(llvm::cast<OnExpr>(e)->body);
  }
}

void Printer::print(const FnInstance &fn, llvm::StringRef keyword) {
  names.clear();
  counts.clear();
  os << keyword << fn.module << '.' << fn.name;
  if (!fn.dimNames.empty()) {
    os << '<';
    llvm::interleave(
        fn.dimNames, os, [&](const std::string &n) { os << visible(n); }, ", ");
    os << '>';
  }
  os << '(';
  bool first = true;
  for (Local *param : fn.params) {
    os << (first ? "" : ", ") << name(param) << ": " << toString(param->type);
    first = false;
  }
  for (TypeRef param : fn.fnParams) {
    os << (first ? "" : ", ") << toString(param);
    first = false;
  }
  os << ") -> " << toString(fn.result) << (fn.remat ? " remat" : "") << " = ";
  if (fn.body)
    print(fn.body);
  else
    os << "<error>";
  for (auto &[rule, text] : {std::pair(fn.vjpRule.get(), " vjp "),
                             std::pair(fn.jvpRule.get(), " jvp ")})
    if (rule) {
      newline();
      os << text;
      print(*rule);
    }
  os << "\n";
}

void hir::print(const Program &program, llvm::raw_ostream &os) {
  Printer printer(os);
  for (const FnInstance &fn : program.instances) {
    bool isExport = llvm::any_of(program.exports,
                                 [&](const Export &e) { return e.fn == &fn; });
    bool isTest =
        llvm::any_of(program.tests, [&](const Test &t) { return t.fn == &fn; });
    printer.print(fn, isExport ? "export fn " : isTest ? "test " : "fn ");
  }
}
