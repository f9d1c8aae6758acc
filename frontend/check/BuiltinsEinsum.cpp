// einsum("bij,bjk->bik", a, b): axes that one operand repeats become a
// diagonal, axes that nobody needs are summed, operands are combined from left
// to right (products with contracted axes, else elementwise), and the rest is
// transposed. No MLIR.
#include "frontend/check/Checker.h"
#include "llvm/ADT/StringExtras.h"

using namespace astra;
using namespace astra::check;

/// A tensor with a letter for each axis.
struct Checker::EinsumTerm {
  hir::Expr *e = nullptr;
  std::string axes;
};

static bool has(llvm::StringRef axes, char letter) {
  return axes.contains(letter);
}

/// Splits "ij,jk->ik" into the operands' letters and the result's; without `->`
/// the result has the letters that occur once, in alphabetical order.
bool Checker::parseEinsum(Call &call, llvm::StringRef text,
                          std::vector<EinsumTerm> &terms, std::string &result) {
  SourceRange range = call.args[0].range;
  auto refuse = [&](const llvm::Twine &message) {
    fail(DiagCode::bad_einsum, range, message,
         "write it like \"bij,bjk->bik\"");
    return false;
  };
  std::string compact;
  for (char c : text)
    if (c != ' ')
      compact += c;
  auto [left, right] = llvm::StringRef(compact).split("->");
  bool explicitResult = llvm::StringRef(compact).contains("->");
  llvm::SmallVector<llvm::StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != call.args.size() - 1)
    return refuse("the text names " + llvm::Twine(parts.size()) +
                  " operands, the call has " +
                  llvm::Twine(call.args.size() - 1));
  std::string all;
  for (llvm::StringRef part : parts) {
    if (!llvm::all_of(part, llvm::isAlpha))
      return refuse("axes are named by letters, not `" + part + "`");
    terms.push_back({nullptr, part.str()});
    all += part;
  }
  if (!explicitResult) {
    for (char c : all)
      if (llvm::StringRef(all).count(c) == 1)
        result += c;
    llvm::sort(result);
    return true;
  }
  for (char c : right) {
    if (!has(all, c))
      return refuse(llvm::Twine("no operand has the result's axis `") +
                    llvm::StringRef(&c, 1) + "`");
    if (has(result, c))
      return refuse(llvm::Twine("the result names axis `") +
                    llvm::StringRef(&c, 1) + "` twice");
    result += c;
  }
  return true;
}

/// Checks the operands against their letters.
bool Checker::bindEinsum(Call &call, std::vector<EinsumTerm> &terms,
                         llvm::StringRef result) {
  std::map<char, Dim> extents;
  for (size_t i = 0; i < terms.size(); ++i) {
    EinsumTerm &term = terms[i];
    term.e = tensorArg(call.args[i + 1]);
    if (!term.e)
      return false;
    TypeRef type = term.e->type, first = terms[0].e->type;
    SourceRange range = call.args[i + 1].range;
    if (type->dtype != first->dtype || type->dtype == DType::Bool) {
      bool mixed = type->dtype != first->dtype;
      fail(mixed ? DiagCode::mixed_dtypes : DiagCode::bad_operand, range,
           "einsum takes numbers of one element type, not `" +
               hir::toString(type) + "`");
      return false;
    }
    if (type->shape.size() != term.axes.size()) {
      fail(DiagCode::bad_einsum, range,
           "`" + term.axes + "` names " + llvm::Twine(term.axes.size()) +
               " axes, and this is `" + hir::toString(type) + "`");
      return false;
    }
    for (size_t axis = 0; axis < term.axes.size(); ++axis) {
      auto [it, isNew] = extents.insert({term.axes[axis], type->shape[axis]});
      if (!isNew &&
          !requireEqual(type->shape[axis], it->second, range,
                        "axis `" + llvm::Twine(term.axes[axis]) + "`"))
        return false;
    }
  }
  return true;
}

/// Turns axes with one letter into their diagonal.
void Checker::mergeRepeated(EinsumTerm &term, SourceRange range) {
  for (size_t first = 0; first < term.axes.size(); ++first) {
    size_t second = term.axes.find(term.axes[first], first + 1);
    if (second == std::string::npos)
      continue;
    term.e = moveAxes(term.e, {unsigned(first), unsigned(second)});
    term.e = gatherDiagonal(term.e, 0, range);
    std::string rest(1, term.axes[first]);
    for (size_t axis = 0; axis < term.axes.size(); ++axis)
      if (axis != first && axis != second)
        rest += term.axes[axis];
    term.axes = rest;
    first = size_t(-1); // axes moved: look again from the start
  }
}

Checker::EinsumTerm Checker::contractTerms(const EinsumTerm &a,
                                           const EinsumTerm &b,
                                           llvm::StringRef needed) {
  std::vector<int64_t> batchA, batchB, onA, onB;
  std::string batch, freeA, freeB;
  for (size_t axis = 0; axis < a.axes.size(); ++axis) {
    char letter = a.axes[axis];
    size_t other = b.axes.find(letter);
    if (other == std::string::npos) {
      freeA += letter;
    } else if (has(needed, letter)) {
      batch += letter;
      batchA.push_back(axis);
      batchB.push_back(other);
    } else {
      onA.push_back(axis);
      onB.push_back(other);
    }
  }
  for (char letter : b.axes)
    if (!has(a.axes, letter))
      freeB += letter;
  std::string axes = batch + freeA + freeB;
  if (!onA.empty())
    return {contract(a.e, b.e, batchA, batchB, onA, onB), axes};

  // Nothing to sum: an elementwise product over all axes.
  Shape shape;
  for (char letter : axes) {
    size_t at = a.axes.find(letter);
    shape.push_back(at != std::string::npos
                        ? a.e->type->shape[at]
                        : b.e->type->shape[b.axes.find(letter)]);
  }
  auto spread = [&](const EinsumTerm &term) {
    std::vector<int64_t> perm, places;
    for (size_t place = 0; place < axes.size(); ++place)
      if (size_t at = term.axes.find(axes[place]); at != std::string::npos) {
        perm.push_back(at);
        places.push_back(place);
      }
    return prim(Prim::Broadcast, tensor(term.e->type->dtype, shape),
                {transpose(term.e, perm)}, term.e->range, places);
  };
  return {binaryPrim(Prim::Mul, spread(a), spread(b)), axes};
}

Value Checker::einsum(Call &call) {
  auto *text = call.args.empty() || !call.args[0].ast
                   ? nullptr
                   : llvm::dyn_cast<ast::StringLitExpr>(call.args[0].ast);
  if (!text || call.args.size() < 2)
    return fail(DiagCode::bad_einsum, call.range,
                "einsum takes a text and at least one tensor",
                "write it like einsum(\"ij,jk->ik\", a, b)");
  std::vector<EinsumTerm> terms;
  std::string result;
  if (!parseEinsum(call, text->value, terms, result) ||
      !bindEinsum(call, terms, result))
    return error();
  // Sums a term's axes that `needed` does not hold.
  auto dropUnneeded = [&](EinsumTerm &term, llvm::StringRef needed) {
    std::vector<int64_t> dropped;
    std::string kept;
    for (size_t axis = 0; axis < term.axes.size(); ++axis) {
      if (has(needed, term.axes[axis]))
        kept += term.axes[axis];
      else
        dropped.push_back(axis);
    }
    if (!dropped.empty())
      term = {reduce(Prim::Sum, term.e, dropped), kept};
  };
  for (EinsumTerm &term : terms)
    mergeRepeated(term, call.range);
  EinsumTerm sofar = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = result;
    for (size_t k = i + 1; k < terms.size(); ++k)
      needed += terms[k].axes;
    dropUnneeded(sofar, needed + terms[i].axes);
    dropUnneeded(terms[i], needed + sofar.axes);
    sofar = contractTerms(sofar, terms[i], needed);
  }
  dropUnneeded(sofar, result);
  std::vector<int64_t> perm;
  for (char letter : result)
    perm.push_back(sofar.axes.find(letter));
  return expr(transpose(sofar.e, perm));
}
