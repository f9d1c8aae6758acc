// See BlockOrder.h. List scheduling of a basic block for a processor with two
// ports for vectors. An estimate of times is enough: what counts is that chains
// take turns in what the processor looks ahead over, and that values fit in its
// registers beside constants. The code generator keeps the order (Object.cpp).
#include "passes/BlockOrder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

#include <queue>

using namespace llvm;

namespace {
/// One basic block. Times are in half cycles, one operation of two ports.
class BlockOrder {
public:
  BlockOrder(BasicBlock &block, unsigned vectorBits);
  void run();

private:
  struct Node {
    Instruction *instruction;
    SmallVector<unsigned, 4> users;
    SmallVector<unsigned, 3> operands; ///< Vectors made in the block.
    unsigned waitsFor = 0;
    unsigned uses = 0; ///< That are still to come.
    int64_t latency, cost;
    int64_t registers = 0; ///< That its result takes.
    int64_t masks = 0;     ///< The same of those for masks.
    int64_t height = 0;    ///< From its start to the end of the block.
    int64_t ready = 0;     ///< When its operands are there.
  };

  void addEdge(unsigned from, unsigned to);
  void connect();
  int64_t getLatency(const Instruction &instruction) const;
  int64_t getCost(const Instruction &instruction) const;
  int64_t getVectors(Type *type) const;
  int64_t getGrowth(unsigned node, int64_t Node::*kind) const;
  bool takesTooMuch(unsigned node) const;
  void advance();
  unsigned takeNext();
  void finish(unsigned node);
  SmallVector<unsigned> findOrder();

  BasicBlock &block;
  unsigned vectorBits;
  std::vector<Node> nodes;
  // What can start now, and what can start when.
  SmallVector<unsigned> startable;
  using Entry = std::pair<int64_t, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  int64_t time = 0, live = 0, mostLive, liveMasks = 0;
  static constexpr int64_t mostMasks = 6; // of 7
};

Type *getWorkType(const Instruction &instruction) {
  Type *type = instruction.getType();
  return isa<CmpInst>(instruction) ? instruction.getOperand(0)->getType()
                                   : type;
}

BlockOrder::BlockOrder(BasicBlock &block, unsigned vectorBits)
    : block(block), vectorBits(vectorBits),
      mostLive(vectorBits == 512 ? 20 : 12) {
  for (Instruction &instruction : block) {
    if (isa<PHINode>(instruction) || instruction.isTerminator())
      continue;
    Node node;
    node.instruction = &instruction;
    node.latency = getLatency(instruction);
    node.cost = getCost(instruction);
    bool isMask = instruction.getType()->getScalarSizeInBits() == 1;
    int64_t vectors = getVectors(getWorkType(instruction));
    node.registers = isMask ? 0 : getVectors(instruction.getType());
    node.masks = isMask && vectorBits == 512 ? vectors : 0;
    nodes.push_back(std::move(node));
  }
}

int64_t BlockOrder::getLatency(const Instruction &instruction) const {
  if (instruction.getOpcode() == Instruction::FDiv)
    return 48;
  return getWorkType(instruction)->isVectorTy() ? 8 : 2;
}

int64_t BlockOrder::getVectors(Type *type) const {
  if (!type->isVectorTy())
    return 0;
  int64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  return (bits + vectorBits - 1) / vectorBits;
}

/// How long it keeps a port, for all its vectors.
int64_t BlockOrder::getCost(const Instruction &instruction) const {
  if (isa<LoadInst, ShuffleVectorInst>(instruction))
    return 0;
  int64_t vectors = getVectors(getWorkType(instruction));
  return instruction.getOpcode() == Instruction::FDiv ? 10 * vectors : vectors;
}

void BlockOrder::addEdge(unsigned from, unsigned to) {
  nodes[from].users.push_back(to);
  ++nodes[to].waitsFor;
}

/// What must stay behind what: uses behind definitions, and what writes memory
/// behind and before all that touches it.
void BlockOrder::connect() {
  DenseMap<const Value *, unsigned> places;
  SmallVector<unsigned> reads;
  int64_t lastWrite = -1;
  for (unsigned i = 0; i < nodes.size(); ++i) {
    Instruction &instruction = *nodes[i].instruction;
    for (Value *operand : instruction.operands())
      if (auto place = places.find(operand); place != places.end()) {
        addEdge(place->second, i);
        ++nodes[place->second].uses;
        nodes[i].operands.push_back(place->second);
      }
    places[&instruction] = i;
    if (!instruction.mayReadOrWriteMemory())
      continue;
    if (lastWrite >= 0)
      addEdge(unsigned(lastWrite), i);
    if (!instruction.mayWriteToMemory()) {
      reads.push_back(i);
      continue;
    }
    for (unsigned read : reads)
      addEdge(read, i);
    reads.clear();
    lastWrite = i;
  }
  for (Node &node : reverse(nodes)) {
    for (unsigned user : node.users)
      node.height = std::max(node.height, nodes[user].height);
    node.height += node.latency;
  }
}

/// How many registers more are live behind an operation than before it.
int64_t BlockOrder::getGrowth(unsigned node, int64_t Node::*kind) const {
  int64_t growth = nodes[node].*kind;
  for (unsigned operand : nodes[node].operands)
    if (nodes[operand].uses == 1)
      growth -= nodes[operand].*kind;
  return growth;
}

/// Whether it takes a register where few are left.
bool BlockOrder::takesTooMuch(unsigned node) const {
  return (live >= mostLive && getGrowth(node, &Node::registers) > 0) ||
         (liveMasks >= mostMasks && getGrowth(node, &Node::masks) > 0);
}

/// To the time at which something more can start.
void BlockOrder::advance() {
  time = std::max(time, waiting.top().first);
  for (; !waiting.empty() && waiting.top().first <= time; waiting.pop())
    startable.push_back(waiting.top().second);
}

/// Of what can start, that on which the longest chain waits; but where few
/// registers are left only what takes no more of them, as long as there is such
/// or will be.
unsigned BlockOrder::takeNext() {
  auto rank = [&](unsigned i) {
    return std::make_tuple(takesTooMuch(i), -nodes[i].height, i);
  };
  while (true) {
    if (startable.empty() ||
        (!waiting.empty() && waiting.top().first <= time)) {
      advance();
      continue;
    }
    auto best = std::min_element(
        startable.begin(), startable.end(),
        [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
    if (std::get<0>(rank(*best)) && !waiting.empty()) {
      advance();
      continue;
    }
    unsigned next = *best;
    startable.erase(best);
    return next;
  }
}

void BlockOrder::finish(unsigned next) {
  Node &node = nodes[next];
  live += getGrowth(next, &Node::registers);
  liveMasks += getGrowth(next, &Node::masks);
  for (unsigned operand : node.operands)
    --nodes[operand].uses;
  for (unsigned user : node.users) {
    Node &of = nodes[user];
    of.ready = std::max(of.ready, time + node.latency);
    if (--of.waitsFor == 0)
      waiting.push({of.ready, user});
  }
  time += node.cost;
}

SmallVector<unsigned> BlockOrder::findOrder() {
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (!nodes[i].waitsFor)
      waiting.push({0, i});
  SmallVector<unsigned> order;
  while (!startable.empty() || !waiting.empty()) {
    order.push_back(takeNext());
    finish(order.back());
  }
  return order;
}

void BlockOrder::run() {
  connect();
  Instruction *end = block.getTerminator();
  for (unsigned i : findOrder())
    nodes[i].instruction->moveBefore(end->getIterator());
}
} // namespace

void astra::orderOperations(Function &function, unsigned vectorBits) {
  for (BasicBlock &block : function)
    BlockOrder(block, vectorBits).run();
}
