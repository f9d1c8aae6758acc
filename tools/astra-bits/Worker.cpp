// See Worker.h. Rows are sets of inputs: alone each is one call, in a batch
// they are the rows of one call; either way a row has the same key.
#include "tools/astra-bits/Worker.h"
#include "tools/astra-bits/Extents.h"
#include "tools/astra-bits/Inputs.h"
#include "tools/astra-bits/Schedule.h"
#include "tools/astra-bits/Store.h"
#include "tools/astrac/Session.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>

using namespace astra;

namespace {
constexpr Kind kinds[] = {Kind::Plain, Kind::Special, Kind::Binary};
/// Elements that the inputs of one call may have in all.
constexpr int64_t mostElements = int64_t(1) << 22;

struct Leaf {
  std::string path;
  uint32_t dtype = 0;
  std::vector<std::string> shape;
};

struct Function {
  astra_function_t handle;
  std::string name;
  bool isTest = false;
  std::vector<std::string> dims;
  std::vector<Leaf> inputs, outputs;
};

/// What the modules of one processor have in common.
struct Shared {
  const Options &options;
  Budget budget;
  Store store;
  std::map<std::string, Extents> chosen; // by function and size
  /// Inputs that were made, by all that they depend on, until they are many.
  std::map<std::string, Host> inputs;
  size_t inputBytes = 0;
};
constexpr size_t mostInputBytes = size_t(1) << 28;

/// One module at one level on so many threads.
class Run {
public:
  Run(Shared &shared, const WorkerModule &module, const std::string &level,
      const std::string &threads)
      : shared(shared), options(shared.options), file(module.file),
        batched(module.batched), level(level), threads(threads) {}

  bool open();
  bool runAll();
  void printLinalg();
  const std::string &getError() const {
    return problem.empty() ? session.getError() : problem;
  }

private:
  bool must(astra_status_t status, astra_error_t *error) {
    return session.check(status, error);
  }
  bool read(size_t index, Function &function);
  bool readLeaf(const Function &function, size_t index, bool isInput,
                Leaf &leaf);
  template <class Fn>
  void spend(const Function &function, const std::string &size, Fn compute);
  void runTest(const Function &function);
  void runExport(const Function &function, const std::string &size);
  Extents choose(const Function &function, const std::string &size);
  bool getShapes(const Function &function, const Extents &dims,
                 std::vector<std::vector<int64_t>> &shapes);
  bool isGiven(const std::string &path, std::string &value) const;
  bool bindGiven(const Function &function, Extents &dims);
  bool areNamed(const std::set<std::string> &names);
  Host makeInput(const Function &function, size_t index,
                 const std::vector<int64_t> &shape, Kind kind, unsigned row);
  bool loadInput(const Leaf &leaf, const std::string &value, Host &host);
  bool readTensor(astra_tensor_t tensor, Host &host);
  Outcome call(const Function &function, std::vector<Host> inputs);
  Outcome callRow(const Function &function, const Extents &dims, Kind kind,
                  unsigned row);
  std::vector<Outcome> callBatch(const Function &function, const Extents &dims,
                                 Kind kind);
  void print(const std::string &key, const Outcome &outcome);

  Shared &shared;
  const Options &options;
  std::string file;
  bool batched;
  std::string level, threads;
  std::string problem; // of the command line
  Session session;
};

bool Run::open() {
  return session.open(unsigned(std::strtoul(threads.c_str(), nullptr, 10)),
                      level) &&
         session.load(file);
}

//===-- What the module has -----------------------------------------------===//

bool Run::readLeaf(const Function &function, size_t index, bool isInput,
                   Leaf &leaf) {
  astra_leaf_info_t info;
  ASTRA_INIT(LEAF_INFO, &info);
  astra_error_t *error = nullptr;
  auto ask = isInput ? astra_function_input : astra_function_output;
  if (!must(ask(session.getRuntime(), function.handle, index, &info, &error),
            error))
    return false;
  leaf.path = info.path;
  leaf.dtype = info.dtype;
  leaf.shape.assign(info.shape, info.shape + info.rank);
  return true;
}

bool Run::read(size_t index, Function &function) {
  astra_function_info_t info;
  if (!session.getFunction(index, function.handle, info))
    return false;
  function.name = info.name;
  function.isTest = info.flags & ASTRA_FUNCTION_TEST;
  function.dims.assign(info.dim_names, info.dim_names + info.dim_count);
  function.inputs.resize(info.input_count);
  function.outputs.resize(info.output_count);
  for (size_t i = 0; i < info.input_count; ++i)
    if (!readLeaf(function, i, true, function.inputs[i]))
      return false;
  for (size_t i = 0; i < info.output_count; ++i)
    if (!readLeaf(function, i, false, function.outputs[i]))
      return false;
  // The axis of the batch is not the program's.
  if (batched && !function.inputs.empty())
    function.dims.pop_back();
  if (batched)
    for (Leaf &leaf : function.inputs)
      leaf.shape.erase(leaf.shape.begin());
  return true;
}

/// What docs/arithmetic.md leaves out of its promise across architectures.
void Run::printLinalg() {
  static const char *const names[] = {
#define EQUATION(op, dtype, ...) #op "_" #dtype,
#define DECOMPOSITION(op, dtype, ...) #op "_" #dtype,
#include "kernels/kernels.def"
  };
  const char *name = nullptr;
  for (size_t i = 0; i < session.getKernelCount(); ++i)
    if (astra_module_kernel(session.getRuntime(), session.getModule(), i, &name,
                            nullptr, nullptr, nullptr) == ASTRA_OK)
      for (std::string known : names)
        if (known == name)
          std::printf("%s\t%s\n", LinalgLine, name);
}

//===-- Inputs ------------------------------------------------------------===//

bool Run::getShapes(const Function &function, const Extents &dims,
                    std::vector<std::vector<int64_t>> &shapes) {
  int64_t all = 0;
  for (const Leaf &leaf : function.inputs) {
    std::vector<int64_t> &shape = shapes.emplace_back();
    int64_t count = 1;
    for (const std::string &text : leaf.shape) {
      auto extent = evaluateExtent(text, dims);
      if (!extent || __builtin_mul_overflow(count, *extent, &count))
        return false;
      shape.push_back(*extent);
    }
    if (__builtin_add_overflow(all, count, &all) || all > mostElements)
      return false;
  }
  return true;
}

bool Run::isGiven(const std::string &path, std::string &value) const {
  for (const auto &[name, text] : options.inputs)
    if (name == path)
      return value = text, true;
  return false;
}

bool Run::loadInput(const Leaf &leaf, const std::string &value, Host &host) {
  bool isFile = value.size() > 4 && !value.compare(value.size() - 4, 4, ".npy");
  if (!isFile) {
    host.dtype = leaf.dtype;
    if (!parseElement(value, leaf.dtype, host.bytes))
      problem = "`" + value + "` is no value for the input `" + leaf.path + "`";
    return problem.empty();
  }
  astra_tensor_t tensor = {0};
  astra_error_t *error = nullptr;
  if (!must(astra_npy_load(session.getRuntime(), value.c_str(),
                           session.getDevice(), &tensor, &error),
            error))
    return false;
  session.own(tensor);
  return readTensor(tensor, host);
}

/// Dimensions that a given file's shape states.
bool Run::bindGiven(const Function &function, Extents &dims) {
  for (const Leaf &leaf : function.inputs) {
    std::string value;
    Host host;
    if (!isGiven(leaf.path, value))
      continue;
    if (!loadInput(leaf, value, host))
      return false;
    for (size_t i = 0; i < leaf.shape.size() && i < host.shape.size(); ++i)
      if (dims.count(leaf.shape[i]))
        dims[leaf.shape[i]] = host.shape[i];
  }
  return true;
}

/// True if each dimension and input of the command line is one of `names`.
bool Run::areNamed(const std::set<std::string> &names) {
  for (const auto *list : {&options.dims, &options.inputs})
    for (const auto &[name, value] : *list)
      if (!names.count(name))
        problem = "`" + name + "` is neither a dimension nor an input";
  return problem.empty();
}

Host Run::makeInput(const Function &function, size_t index,
                    const std::vector<int64_t> &shape, Kind kind,
                    unsigned row) {
  const Leaf &leaf = function.inputs[index];
  Host host;
  std::string value;
  if (isGiven(leaf.path, value)) {
    loadInput(leaf, value, host);
    return host;
  }
  uint64_t seed = mixSeed(options.seed, function.name);
  seed = mixSeed(mixSeed(seed, leaf.path), row * 16 + unsigned(kind));
  std::string name = std::to_string(seed);
  size_t count = 1;
  for (int64_t extent : shape) {
    count *= size_t(extent);
    name += " " + std::to_string(extent);
  }
  auto [known, isNew] = shared.inputs.try_emplace(name);
  if (!isNew)
    return known->second;
  host.dtype = leaf.dtype;
  host.shape = shape;
  host.bytes = makeElements(leaf.dtype, count, shape.empty(), kind, seed);
  known->second = host;
  shared.inputBytes += host.bytes.size();
  if (shared.inputBytes > mostInputBytes) {
    shared.inputs.clear();
    shared.inputBytes = 0;
  }
  return host;
}

/// The first values of dimensions with which the function computes.
Extents Run::choose(const Function &function, const std::string &size) {
  std::vector<Extents> candidates =
      getCandidates(function.dims, size == "large");
  Extents first;
  for (Extents &dims : candidates) {
    bindGiven(function, dims);
    for (const std::string &name : function.dims)
      for (const auto &[given, value] : options.dims)
        if (given == name || given == function.name + "." + name)
          dims[name] = std::strtoll(value.c_str(), nullptr, 10);
    std::vector<std::vector<int64_t>> shapes;
    if (!getShapes(function, dims, shapes))
      continue;
    if (first.empty())
      first = dims;
    Outcome outcome = batched ? callBatch(function, dims, Kind::Binary).front()
                              : callRow(function, dims, Kind::Binary, 0);
    bool refused = outcome.code == ASTRA_ERROR_SHAPE_MISMATCH ||
                   outcome.code == ASTRA_ERROR_INVALID_ARGUMENT ||
                   outcome.code == ASTRA_ERROR_OVERFLOW;
    if (!refused)
      return dims;
  }
  return first;
}

//===-- Calls -------------------------------------------------------------===//

bool Run::readTensor(astra_tensor_t tensor, Host &host) {
  astra_runtime_t *runtime = session.getRuntime();
  astra_error_t *error = nullptr;
  uint32_t rank = 0;
  int64_t shape[ASTRA_MAX_RANK];
  if (!must(astra_tensor_dtype(runtime, tensor, &host.dtype, &error), error) ||
      !must(astra_tensor_shape(runtime, tensor, ASTRA_MAX_RANK, &rank, shape,
                               &error),
            error))
    return false;
  host.shape.assign(shape, shape + rank);
  size_t bytes = getElementBytes(host.dtype);
  for (int64_t extent : host.shape)
    bytes *= size_t(extent);
  host.bytes.resize(bytes);
  return must(
      astra_tensor_read(runtime, tensor, host.bytes.data(), bytes, &error),
      error);
}

Outcome Run::call(const Function &function, std::vector<Host> inputs) {
  Outcome outcome;
  auto fail = [&](astra_status_t code) {
    outcome.code = code ? code : ASTRA_ERROR_INTERNAL;
    outcome.status = session.getError();
    outcome.outputs.clear();
    return outcome;
  };
  std::vector<astra_value_t> values;
  for (const Host &host : inputs) {
    astra_tensor_t tensor = {0};
    astra_error_t *error = nullptr;
    astra_status_t code = astra_tensor_from_data(
        session.getRuntime(), session.getDevice(), host.dtype,
        uint32_t(host.shape.size()), host.shape.data(), host.bytes.data(),
        host.bytes.size(), &tensor, &error);
    if (!must(code, error))
      return fail(code);
    session.own(tensor);
    values.push_back(astra_value_of_tensor(tensor));
  }
  std::vector<astra_tensor_t> tensors(function.outputs.size());
  bool good = session.call(function.handle, values, tensors);
  astra_status_t code = session.getStatus();
  outcome.outputs.resize(good ? tensors.size() : 0);
  for (size_t i = 0; good && i < tensors.size(); ++i) {
    good = readTensor(tensors[i], outcome.outputs[i]);
    canonicalise(outcome.outputs[i].dtype, outcome.outputs[i].bytes);
    outcome.outputs[i].path = function.outputs[i].path;
  }
  session.releaseTensors();
  return good ? outcome : fail(code);
}

Outcome Run::callRow(const Function &function, const Extents &dims, Kind kind,
                     unsigned row) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Host> inputs;
  if (getShapes(function, dims, shapes))
    for (size_t i = 0; i < shapes.size(); ++i)
      inputs.push_back(makeInput(function, i, shapes[i], kind, row));
  return call(function, std::move(inputs));
}

/// Rows stacked along a new first axis, and the results taken apart again.
std::vector<Outcome> Run::callBatch(const Function &function,
                                    const Extents &dims, Kind kind) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<Host> inputs;
  if (getShapes(function, dims, shapes))
    for (size_t i = 0; i < shapes.size(); ++i) {
      Host all;
      for (unsigned row = 0; row < options.rows; ++row) {
        Host host = makeInput(function, i, shapes[i], kind, row);
        all.dtype = host.dtype;
        all.shape = host.shape;
        all.bytes.insert(all.bytes.end(), host.bytes.begin(), host.bytes.end());
      }
      all.shape.insert(all.shape.begin(), options.rows);
      inputs.push_back(std::move(all));
    }
  Outcome whole = call(function, std::move(inputs));
  std::vector<Outcome> rows(options.rows, whole);
  for (unsigned row = 0; row < options.rows; ++row)
    for (Host &output : rows[row].outputs) {
      size_t bytes = output.bytes.size() / options.rows;
      output.shape.erase(output.shape.begin());
      output.bytes.erase(output.bytes.begin() + (row + 1) * bytes,
                         output.bytes.end());
      output.bytes.erase(output.bytes.begin(),
                         output.bytes.begin() + row * bytes);
    }
  return rows;
}

//===-- Results -----------------------------------------------------------===//

void Run::print(const std::string &key, const Outcome &outcome) {
  std::string status = outcome.status;
  std::replace(status.begin(), status.end(), '\n', ' ');
  std::replace(status.begin(), status.end(), '\t', ' ');
  int64_t number = shared.store.add(key, outcome);
  if (number < 0)
    problem = "the results cannot be written; is there space in TMPDIR?";
  std::printf("%s\t%s\t%s\t%s\t%lld\t%s\n", ResultLine, level.c_str(),
              threads.c_str(), key.c_str(), static_cast<long long>(number),
              status.c_str());
}

/// Computes if there is time left for it.
template <class Fn>
void Run::spend(const Function &function, const std::string &size, Fn compute) {
  std::string name = size.empty() ? "test \"" + function.name + "\""
                                  : function.name + " (" + size + ")";
  if (!shared.budget.isWanted(name, level))
    return;
  std::printf("%s\t%s, %s thread%s: %s\n", AtLine, level.c_str(),
              threads.c_str(), threads == "1" ? "" : "s", name.c_str());
  std::fflush(stdout); // for who waits, and if it does not come back
  // Processor time: what else the machine does changes nothing.
  std::clock_t start = std::clock();
  compute();
  shared.budget.add(name, level, double(std::clock() - start) / CLOCKS_PER_SEC);
}

void Run::runTest(const Function &function) {
  print("test \"" + function.name + "\"", call(function, {}));
}

void Run::runExport(const Function &function, const std::string &size) {
  auto [place, isNew] = shared.chosen.try_emplace(function.name + " " + size);
  if (isNew)
    place->second = choose(function, size);
  const Extents &dims = place->second;
  if (dims.empty() && !function.dims.empty() && isNew)
    std::printf("%s\t%s is left out (%s): its inputs do not get shapes, or "
                "have more than %lld elements in all; give other sizes with "
                "--dim\n",
                NoteLine, function.name.c_str(), size.c_str(),
                static_cast<long long>(mostElements));
  if (dims.empty() && (size == "large" || !function.dims.empty()))
    return;
  std::string key = function.name;
  for (const auto &[name, value] : dims)
    key += " " + name + "=" + std::to_string(value);
  for (Kind kind : kinds) {
    std::vector<Outcome> rows;
    if (batched)
      rows = callBatch(function, dims, kind);
    else
      for (unsigned row = 0; row < options.rows; ++row)
        rows.push_back(callRow(function, dims, kind, row));
    for (unsigned row = 0; row < options.rows; ++row)
      print(key + " " + getKindName(kind) + " " + std::to_string(row),
            rows[row]);
  }
}

bool Run::runAll() {
  std::set<std::string> names;
  bool hasExport = false; // else these are the tests
  for (size_t i = 0; i < session.getFunctionCount(); ++i) {
    Function function;
    if (!read(i, function))
      return false;
    if (function.isTest) {
      spend(function, "", [&] { runTest(function); });
      continue;
    }
    bool wanted = options.exports.empty() ||
                  std::find(options.exports.begin(), options.exports.end(),
                            function.name) != options.exports.end();
    if (!wanted)
      continue;
    hasExport = true;
    names.insert(function.dims.begin(), function.dims.end());
    for (const std::string &name : function.dims)
      names.insert(function.name + "." + name);
    for (const Leaf &leaf : function.inputs)
      names.insert(leaf.path);
    Extents given;
    if (!bindGiven(function, given))
      return false;
    if (batched && function.inputs.empty())
      continue;
    for (const std::string &size : options.sizes)
      spend(function, size, [&] { runExport(function, size); });
  }
  return problem.empty() && (!hasExport || areNamed(names));
}
} // namespace

static bool runStep(Shared &shared, const Step &step, bool isFirst,
                    std::string &error) {
  Run run(shared, shared.options.modules[step.module], step.level,
          step.threads);
  bool good = run.open();
  if (good && isFirst)
    run.printLinalg();
  good = good && run.runAll();
  if (!good)
    error = run.getError();
  return good;
}

int astra::runWorker(const Options &options) {
  Shared shared{options, Budget(options), {}, {}, {}};
  std::string error = "there is no file for results";
  bool good = shared.store.open(options.store);
  std::set<size_t> known; // modules
  for (const Step &step : getSteps(options)) {
    std::printf("%s\t%zu\n", BuildLine, step.module);
    std::fflush(stdout); // known even if it does not come back
    good =
        good && runStep(shared, step, known.insert(step.module).second, error);
    if (!good)
      break;
  }
  for (const std::string &note : shared.budget.getNotes())
    std::printf("%s\t%s\n", FewLine, note.c_str());
  if (!good)
    std::printf("%s\t%s\n", FailedLine, error.c_str());
  return good ? 0 : 1;
}
