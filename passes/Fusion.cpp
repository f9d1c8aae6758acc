// See Fusion.h: membership in a group, and the walk that finds groups.
#include "passes/Fusion.h"
#include "astra/module.h"

using namespace mlir;
using namespace astra;

/// Beyond this a kernel's values no longer stay in registers and caches.
static constexpr size_t MostMembers = 64;

/// What the plan of a fused kernel can hold, less what stages hand on: without
/// folds there is one stage.
static size_t getMostArguments(const FusionGroup &group) {
  constexpr size_t handedOn = 8;
  return ASTRA_FUSED_MOST_SLOTS - (group.getRows() ? handedOn : 0);
}

//===-- Operations --------------------------------------------------------===//

/// Canonical texts, which are the same where the extents are.
static ArrayRef<StringAttr> getShape(Value value) {
  return getTensorType(value).getDims();
}

static bool isOne(StringAttr extent) { return extent.getValue() == "1"; }

bool astra::isFreeView(Operation *op) {
  return op && isa<ViewOpInterface>(op) && isMemoryEffectFree(op);
}

bool astra::canWait(Operation *op) {
  return isa<UpdateSliceOp, PadOp, ConcatOp>(op) && isMemoryEffectFree(op);
}

/// On elements, of any shape but a scalar's, and cannot fail. Integers are
/// divided with a check, by a kernel. Functions of an order have no
/// vector form.
static bool isElementwise(Operation *op) {
  if (!isa<ScalarOpInterface, BitcastOp>(op) || !isMemoryEffectFree(op))
    return false;
  if (auto power = dyn_cast<PowIntOp>(op); power && power.getExponent() == 0)
    return false; // a constant
  if (isa<PolygammaOp, SincOp, ExprelOp>(op))
    return false;
  return !isa<DivOp, RemOp>(op) || isFloatTensor(op->getResult(0).getType());
}

/// Rows that are known to be shorter cost more one by one than passes over all.
static constexpr int64_t ShortestRow = 8;

static bool isShortRow(ArrayRef<StringAttr> extents) {
  int64_t elements = 1, extent;
  for (StringAttr text : extents) {
    if (text.getValue().getAsInteger(10, extent))
      return false;
    elements *= std::min(extent, ShortestRow);
  }
  return elements < ShortestRow;
}

/// Gives a row for a row, by folds that a kernel makes of it.
static bool isRowwise(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp>(op);
}

static bool isExponential(Operation *op) {
  return isRowwise(op) || isa<LogSumExpOp>(op);
}

static SmallVector<int64_t> getFoldedAxes(Operation *op) {
  if (isRowwise(op))
    return {op->getAttrOfType<IntegerAttr>("axis").getInt()};
  if (!isa<SumOp, ProdOp, MaxOp, MinOp, LogSumExpOp>(op))
    return {};
  return llvm::to_vector(
      op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef());
}

/// The number of last axes that an operation on floats folds; 0 for others.
static int64_t getFoldedRows(Operation *op) {
  SmallVector<int64_t> axes = getFoldedAxes(op);
  if (axes.empty())
    return 0;
  astra::TensorType type = getTensorType(op->getOperand(0));
  if (!isFloatTensor(type) ||
      axes.front() != int64_t(type.getRank() - axes.size()) ||
      isOne(type.getDims().back()) ||
      isShortRow(type.getDims().take_back(axes.size())))
    return 0;
  return axes.size();
}

//===-- Groups ------------------------------------------------------------===//

bool FusionGroup::isRowShape(ArrayRef<StringAttr> other) const {
  size_t lead = shape.size() - rows;
  if (rows == 0 || (other.size() != lead && other.size() != shape.size()))
    return false;
  return other.take_front(lead) == ArrayRef(shape).take_front(lead) &&
         llvm::all_of(other.drop_front(lead), isOne);
}

Value FusionGroup::findOwn(Value operand) const {
  Operation *op = operand.getDefiningOp();
  if (!op || contains(op))
    return op ? operand : Value();
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    Value x = reshape.getX();
    if (reshape.cannotFail() && isRowShape(::getShape(x)) &&
        isRowShape(::getShape(operand)))
      return findOwn(x);
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value x = broadcast.getX();
    bool inOrder = true;
    for (const auto &[from, to] : llvm::enumerate(broadcast.getAxes()))
      inOrder &= int64_t(from) == to;
    if (inOrder && ::getShape(operand) == ArrayRef(shape) &&
        isRowShape(::getShape(x)))
      return findOwn(x);
  }
  return {};
}

/// Whether a value is made of one of the group's through views.
static bool comesFrom(Value value, const FusionGroup &group) {
  Operation *op = value.getDefiningOp();
  while (isFreeView(op) && !group.contains(op))
    op = op->getOperand(0).getDefiningOp();
  return op && group.contains(op);
}

FusionGroup::Role FusionGroup::getRole(Operation *op) const {
  // Elements that other elements of the group's own values go into.
  for (Value operand : op->getOperands())
    if (!findOwn(operand) && comesFrom(operand, *this))
      return Role::None;
  if (int64_t count = getFoldedRows(op)) {
    bool fits = ::getShape(op->getOperand(0)) == ArrayRef(shape);
    if (!fits || (rows != 0 && rows != count))
      return Role::None;
    return isRowwise(op) ? Role::Rowwise : Role::Fold;
  }
  if (!isElementwise(op))
    return Role::None;
  ArrayRef<StringAttr> result = ::getShape(op->getResult(0));
  if (result == ArrayRef(shape))
    return Role::Element;
  return isRowShape(result) ? Role::PerRow : Role::None;
}

void FusionGroup::add(Operation *op, Role role) {
  members.push_back(op);
  set.insert(op);
  bool isFold = role == Role::Fold || role == Role::Rowwise;
  // Softmax and logsumexp work on elements too.
  elements += !isa<BitcastOp>(op) &&
              (role == Role::Element || (isFold && isExponential(op)));
  if (isFold) {
    ++folds;
    rows = getFoldedRows(op);
  }
  if (members.size() >= MostMembers)
    close();
}

std::optional<FusionGroup>
FusionGroup::mergedWith(const FusionGroup &other) const {
  if (shape != other.shape || (rows && other.rows && rows != other.rows) ||
      members.size() + other.members.size() > MostMembers)
    return std::nullopt;
  FusionGroup merged(shape, std::max(rows, other.rows));
  llvm::append_range(merged.members, members);
  llvm::append_range(merged.members, other.members);
  llvm::sort(merged.members,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  merged.set.insert(merged.members.begin(), merged.members.end());
  merged.elements = elements + other.elements;
  merged.folds = folds + other.folds;
  return merged;
}

/// A product's result that one operation alone reads.
static bool isReadOnce(Value product) {
  astra::TensorType type = getTensorType(product);
  bool isProduct =
      product.getDefiningOp<ContractOp>()
          ? isFloatTensor(type)
          : product.getDefiningOp<ConvOp>() && type.getElementType().isF32();
  return isProduct && product.hasOneUse();
}

/// Makes an operand for a product alone.
static bool makesOperand(Operation *op) {
  Type element = getTensorType(op->getResult(0)).getElementType();
  return element.isF32() && op->hasOneUse() &&
         isa<ContractOp>(*op->user_begin());
}

/// Works on a product, or for one, and on as large values, so that one kernel
/// can do both. To add one value to all rows is no work by itself.
bool FusionGroup::joinsProduct() const {
  return llvm::any_of(members, [&](Operation *member) {
    auto isRepeated = [](Value operand) {
      return bool(operand.getDefiningOp<BroadcastOp>());
    };
    return ::getShape(member->getOperand(0)) == ArrayRef(shape) &&
           (llvm::any_of(member->getOperands(), isReadOnce) ||
            makesOperand(member)) &&
           llvm::none_of(member->getOperands(), isRepeated);
  });
}

bool FusionGroup::isWorthwhile() const {
  if (folds)
    return elements >= 1;
  return elements >= 2 || (elements == 1 && joinsProduct());
}

//===-- The walk ----------------------------------------------------------===//

namespace {
using Indices = llvm::SmallSetVector<size_t, 4>;

class Finder {
public:
  void visit(Operation *op);
  std::vector<FusionGroup> take();

private:
  /// The group that one has become part of.
  size_t resolve(size_t index) const {
    while (heirs[index] != index)
      index = heirs[index];
    return index;
  }
  Operation *findSource(Value operand) const;
  std::optional<size_t> findMaker(Value operand) const;
  SmallVector<size_t> getCandidates(Operation *op) const;
  bool joinAll(Operation *op, ArrayRef<size_t> candidates);
  bool join(Operation *op, size_t index);
  void start(Operation *op);
  void closeMakers(Operation *op);

  /// Groups that a value needs: its own, or those behind what can wait.
  void addNeeds(Value operand, Indices &needed) const;
  Indices closeOver(Indices groups) const;
  bool wouldWaitForItself(Operation *op, size_t index) const;
  void closeNeeds(Operation *op);

  std::vector<FusionGroup> groups;
  std::vector<size_t> heirs;
  std::vector<Indices> feeders; // groups that a group's members need
  DenseMap<Operation *, size_t> home;
  DenseMap<Operation *, Indices> waiting; // what can wait, and for which groups
  DenseMap<Value, size_t> readers;        // of values from outside
};

/// What makes an operand, through any free views.
Operation *Finder::findSource(Value operand) const {
  Operation *op = operand.getDefiningOp();
  while (op && !home.count(op) && isFreeView(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// The open group that an operand is made by.
std::optional<size_t> Finder::findMaker(Value operand) const {
  auto found = home.find(findSource(operand));
  if (found == home.end())
    return std::nullopt;
  size_t index = resolve(found->second);
  return groups[index].isOpen() ? std::optional<size_t>(index) : std::nullopt;
}

/// Groups whose values the operation uses, then those that read what it reads.
SmallVector<size_t> Finder::getCandidates(Operation *op) const {
  Indices found;
  auto consider = [&](size_t index) {
    if (groups[index].isOpen() &&
        groups[index].getRole(op) != FusionGroup::Role::None &&
        !wouldWaitForItself(op, index))
      found.insert(index);
  };
  for (Value operand : op->getOperands())
    if (auto maker = findMaker(operand))
      consider(*maker);
  for (Value operand : op->getOperands())
    if (auto reader = readers.find(operand); reader != readers.end())
      consider(resolve(reader->second));
  return found.takeVector();
}

/// Makes one group of all that the operation connects, if it can.
bool Finder::joinAll(Operation *op, ArrayRef<size_t> candidates) {
  size_t target = candidates.front();
  if (candidates.size() == 1)
    return join(op, target);
  FusionGroup merged = groups[target];
  Indices needed = feeders[target];
  for (size_t index : candidates.drop_front()) {
    auto next = merged.mergedWith(groups[index]);
    if (!next)
      return false;
    merged = std::move(*next);
    needed.insert_range(feeders[index]);
  }
  Indices all = closeOver(needed);
  if (merged.getRole(op) == FusionGroup::Role::None ||
      llvm::any_of(candidates,
                   [&](size_t index) { return all.contains(index); }))
    return false;
  for (size_t index : candidates.drop_front()) {
    groups[index] = FusionGroup({}, 0);
    heirs[index] = target;
  }
  groups[target] = std::move(merged);
  feeders[target] = std::move(needed);
  return join(op, target);
}

bool Finder::join(Operation *op, size_t index) {
  FusionGroup &group = groups[index];
  FusionGroup::Role role = group.getRole(op);
  if (role == FusionGroup::Role::None)
    return false;
  group.add(op, role);
  home[op] = index;
  for (Value operand : op->getOperands()) {
    if (!group.findOwn(operand) && getShape(operand) == group.getShape())
      readers[operand] = index;
    addNeeds(operand, feeders[index]);
  }
  feeders[index].remove(index);
  return true;
}

/// A group of one operation, or nothing.
static std::optional<FusionGroup> makeGroup(Operation *op) {
  int64_t rows = getFoldedRows(op);
  if (!rows && !isElementwise(op))
    return std::nullopt;
  Value like = rows ? op->getOperand(0) : op->getResult(0);
  if (getShape(like).empty())
    return std::nullopt;
  return FusionGroup(getShape(like), rows);
}

void Finder::start(Operation *op) {
  std::optional<FusionGroup> group = makeGroup(op);
  if (!group)
    return;
  groups.push_back(std::move(*group));
  heirs.push_back(groups.size() - 1);
  feeders.emplace_back();
  join(op, groups.size() - 1);
}

/// What a member reads of other groups is needed before it: those are complete.
void Finder::closeMakers(Operation *op) {
  size_t mine = resolve(home.lookup(op));
  for (Value operand : op->getOperands())
    if (auto maker = findMaker(operand); maker && *maker != mine)
      groups[*maker].close();
}

//===-- What waits --------------------------------------------------------===//

void Finder::addNeeds(Value operand, Indices &needed) const {
  Operation *source = findSource(operand);
  if (auto found = home.find(source); found != home.end())
    needed.insert(resolve(found->second));
  else if (auto groups = waiting.find(source); groups != waiting.end())
    for (size_t index : groups->second)
      needed.insert(resolve(index));
}

/// Groups and all that they need.
Indices Finder::closeOver(Indices groups) const {
  Indices all;
  while (!groups.empty()) {
    size_t index = resolve(groups.pop_back_val());
    if (all.insert(index))
      groups.insert_range(feeders[index]);
  }
  return all;
}

/// As a member of the group, would the operation need what comes behind it?
bool Finder::wouldWaitForItself(Operation *op, size_t index) const {
  Indices needed;
  for (Value operand : op->getOperands())
    if (findMaker(operand) != index)
      addNeeds(operand, needed);
  return closeOver(std::move(needed)).contains(index);
}

/// What an operation reads is needed before it: the groups behind it are
/// complete.
void Finder::closeNeeds(Operation *op) {
  Indices needed;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      addNeeds(operand, needed);
  });
  if (canWait(op)) {
    waiting[op] = std::move(needed);
    return;
  }
  for (size_t index : closeOver(std::move(needed)))
    groups[index].close();
}

void Finder::visit(Operation *op) {
  if (isFreeView(op) && !isa<BitcastOp>(op))
    return;
  bool fusable =
      op->getNumResults() == 1 && (isElementwise(op) || getFoldedRows(op) != 0);
  if (fusable) {
    SmallVector<size_t> candidates = getCandidates(op);
    bool joined = !candidates.empty() && joinAll(op, candidates);
    for (size_t index : candidates)
      joined = joined || join(op, index);
    if (!joined)
      start(op);
  }
  home.count(op) ? closeMakers(op) : closeNeeds(op);
}

//===-- Groups of a kernel's size -----------------------------------------===//

/// The longest beginning of some members that one kernel can hold; a scalar by
/// itself is of none.
static FusionGroup takeLargest(ArrayRef<Operation *> members) {
  FusionGroup group = makeGroup(members.front()).value_or(FusionGroup({}, 0));
  FusionGroup largest = group;
  for (Operation *member : members) {
    FusionGroup::Role role = group.getRole(member);
    if (role == FusionGroup::Role::None)
      break;
    group.add(member, role);
    if (group.countArguments() <= getMostArguments(group))
      largest = group;
  }
  return largest;
}

std::vector<FusionGroup> Finder::take() {
  std::vector<FusionGroup> taken;
  for (FusionGroup &group : groups) {
    ArrayRef<Operation *> rest = group.getMembers();
    if (group.isWorthwhile() &&
        group.countArguments() <= getMostArguments(group)) {
      taken.push_back(std::move(group));
      continue;
    }
    while (group.isWorthwhile() && !rest.empty()) {
      FusionGroup part = takeLargest(rest);
      rest = rest.drop_front(std::max<size_t>(part.getMembers().size(), 1));
      if (part.isWorthwhile())
        taken.push_back(std::move(part));
    }
  }
  return taken;
}
} // namespace

std::vector<FusionGroup> astra::findFusionGroups(Block &block) {
  Finder finder;
  for (Operation &op : block)
    finder.visit(&op);
  return finder.take();
}
