// einsum("bij,bjk->bik", a, b): axes that one operand repeats become a
// diagonal, axes that nobody needs are summed, operands are combined from left
// to right (products with contracted axes, else elementwise), and the rest is
// transposed. `...` stands for leading axes that the operands share as those of
// a sum do; each gets a letter of its own. No MLIR.
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

// While the text is read, `...` is one mark; then an axis of it is a letter
// that nobody can write, counted from the last.
static constexpr char dots = '.';
static char letterOfDots(size_t fromLast) { return char(1 + fromLast); }
static bool isOfDots(char letter) { return letter > 0 && letter < ' '; }

static std::string describeAxis(char letter) {
  if (isOfDots(letter))
    return "axis " + std::to_string(-int(letter)) + " of `...`";
  return std::string("axis `") + letter + "`";
}

/// Splits "ij,jk->ik" into the operands' letters and the result's; without `->`
/// the result has the axes of `...`, then the letters that occur once, in
/// alphabetical order.
bool Checker::parseEinsum(Call &call, llvm::StringRef text,
                          std::vector<EinsumTerm> &terms, std::string &result) {
  auto refuse = [&](const llvm::Twine &message) {
    fail(DiagCode::bad_einsum, call.args[0].range, message,
         "write it like \"bij,bjk->bik\"");
    return false;
  };
  std::string compact;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      compact += dots;
      continue;
    }
    if (text.front() == dots)
      return refuse("`...` has three dots");
    if (text.front() != ' ')
      compact += text.front();
    text = text.drop_front();
  }
  auto [left, right] = llvm::StringRef(compact).split("->");
  bool explicitResult = llvm::StringRef(compact).contains("->");
  llvm::SmallVector<llvm::StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != call.args.size() - 1)
    return refuse("the text names " + llvm::Twine(parts.size()) +
                  (parts.size() == 1 ? " operand" : " operands") +
                  ", and the call has " + llvm::Twine(call.args.size() - 1));
  std::string all;
  for (llvm::StringRef part : parts) {
    if (!llvm::all_of(part,
                      [](char c) { return llvm::isAlpha(c) || c == dots; }))
      return refuse("axes are named by letters, not `" + part + "`");
    if (part.count(dots) > 1)
      return refuse("an operand has `...` once at most");
    terms.push_back({nullptr, part.str()});
    all += part;
  }
  if (!explicitResult) {
    for (char c : all)
      if (c != dots && llvm::StringRef(all).count(c) == 1)
        result += c;
    llvm::sort(result);
    if (has(all, dots))
      result.insert(result.begin(), dots);
    return true;
  }
  for (char c : right) {
    std::string name = c == dots ? "`...`" : describeAxis(c);
    if (!has(all, c))
      return refuse("no operand has the result's " + name);
    if (has(result, c))
      return refuse("the result names " + name + " twice");
    result += c;
  }
  if (has(all, dots) && !has(right, dots))
    return refuse("the result has no place for the axes of `...`");
  return true;
}

/// Checks the operands by themselves: numbers of one element type.
bool Checker::takeEinsumTensors(Call &call, std::vector<EinsumTerm> &terms) {
  for (size_t i = 0; i < terms.size(); ++i) {
    terms[i].e = tensorArg(call.args[i + 1]);
    if (!terms[i].e)
      return false;
    TypeRef type = terms[i].e->type, first = terms[0].e->type;
    bool mixed = type->dtype != first->dtype;
    if (!mixed && type->dtype != DType::Bool)
      continue;
    fail(mixed ? DiagCode::mixed_dtypes : DiagCode::bad_operand,
         call.args[i + 1].range,
         "einsum takes numbers of one element type, not `" +
             hir::toString(type) + "`");
    return false;
  }
  return true;
}

/// Gives every axis of a `...` its letter.
bool Checker::expandEllipses(Call &call, std::vector<EinsumTerm> &terms,
                             std::string &result) {
  size_t most = 0;
  auto expand = [](std::string &axes, size_t count) {
    std::string letters;
    while (count-- > 0)
      letters += letterOfDots(count);
    if (size_t at = axes.find(dots); at != std::string::npos)
      axes.replace(at, 1, letters);
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    std::string &axes = terms[i].axes;
    size_t rank = terms[i].e->type->shape.size();
    size_t named = axes.size() - (has(axes, dots) ? 1 : 0);
    if (rank < named || (rank > named && !has(axes, dots))) {
      std::string text = axes;
      if (size_t at = text.find(dots); at != std::string::npos)
        text.replace(at, 1, "...");
      fail(DiagCode::bad_einsum, call.args[i + 1].range,
           "`" + text + "` names " + llvm::Twine(named) +
               " axes, and this is `" + hir::toString(terms[i].e->type) + "`");
      return false;
    }
    if (has(axes, dots))
      most = std::max(most, rank - named);
    expand(axes, rank - named);
  }
  expand(result, most);
  return true;
}

/// Checks the extents against their letters. Those of `...` may be 1 beside
/// others.
bool Checker::bindEinsum(Call &call, std::vector<EinsumTerm> &terms) {
  std::map<char, Dim> extents;
  for (auto [i, term] : llvm::enumerate(terms))
    for (auto [axis, extent] : llvm::enumerate(term.e->type->shape)) {
      char letter = term.axes[axis];
      Dim &known = extents.insert({letter, extent}).first->second;
      if (isOfDots(letter) && known.isConstant(1))
        known = extent;
      if (!(isOfDots(letter) && extent.isConstant(1)) &&
          !requireEqual(extent, known, call.args[i + 1].range,
                        describeAxis(letter)))
        return false;
    }
  for (EinsumTerm &term : terms)
    dropStretched(term, extents);
  return true;
}

/// An axis of extent 1 that others stretch is left out: it is theirs.
void Checker::dropStretched(EinsumTerm &term,
                            const std::map<char, Dim> &extents) {
  Shape shape;
  std::string axes;
  for (auto [axis, extent] : llvm::enumerate(term.e->type->shape)) {
    char letter = term.axes[axis];
    if (isOfDots(letter) && extent != extents.at(letter))
      continue;
    shape.push_back(extent);
    axes += letter;
  }
  term = {reshape(term.e, shape), axes};
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
      !takeEinsumTensors(call, terms) || !expandEllipses(call, terms, result) ||
      !bindEinsum(call, terms))
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
