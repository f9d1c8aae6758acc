// `astrac run`: compiles the file to a temporary loadable module, loads it
// through the C API like any other program would, calls one function with
// arguments from the command line and prints or saves what it gives.
#include "tools/astrac/Commands.h"
#include "tools/astrac/Compiler.h"
#include "tools/astrac/Files.h"
#include "tools/astrac/Literals.h"
#include "tools/astrac/Session.h"
#include "tools/common/Profile.h"

using namespace astra;
using llvm::StringRef;

namespace {
class Runner {
public:
  explicit Runner(const Options &options)
      : options(options), function(options.inputs[1]) {}
  int run();

private:
  bool complain(const std::string &text) {
    llvm::errs() << "astrac: error: " << text << "\n";
    return false;
  }
  void complainOfName();
  bool readInputs(std::vector<astra_value_t> &inputs);
  bool readInput(size_t index, StringRef text, astra_value_t &input);
  bool getSignature(std::string &signature);
  bool giveOutput(size_t index, size_t count, astra_tensor_t tensor);
  bool print(astra_tensor_t tensor);
  bool printProfile();

  const Options &options;
  std::string function;
  Session session;
  astra_function_t handle = {0};
  astra_function_info_t info;
};

/// "step: m.hidden.w: f32[64, 32], ..., lr: f32"
bool Runner::getSignature(std::string &signature) {
  for (size_t i = 0; i < info.input_count; ++i) {
    astra_leaf_info_t leaf;
    ASTRA_INIT(LEAF_INFO, &leaf);
    astra_error_t *error = nullptr;
    if (!session.check(astra_function_input(session.getRuntime(), handle, i,
                                            &leaf, &error),
                       error))
      return complain(session.getError());
    signature += (i ? ", " : "") + std::string(leaf.path) + ": " +
                 getDTypeName(leaf.dtype);
    for (uint32_t axis = 0; axis < leaf.rank; ++axis)
      signature += (axis ? ", " : "[") + std::string(leaf.shape[axis]);
    signature += leaf.rank ? "]" : "";
  }
  return true;
}

bool Runner::readInput(size_t index, StringRef text, astra_value_t &input) {
  astra_leaf_info_t leaf;
  ASTRA_INIT(LEAF_INFO, &leaf);
  astra_error_t *error = nullptr;
  astra_runtime_t *runtime = session.getRuntime();
  if (!session.check(
          astra_function_input(runtime, handle, index, &leaf, &error), error))
    return complain(session.getError());
  astra_tensor_t tensor = {0};
  if (text.ends_with(".npy")) {
    if (!session.check(astra_npy_load(runtime, text.str().c_str(),
                                      session.getDevice(), &tensor, &error),
                       error))
      return complain(session.getError());
  } else {
    Literal literal;
    std::string why;
    if (!parseLiteral(text, leaf.dtype, literal, why))
      return complain("argument `" + std::string(leaf.path) + "`: " + why);
    if (!session.check(
            astra_tensor_from_data(runtime, session.getDevice(), leaf.dtype,
                                   literal.shape.size(), literal.shape.data(),
                                   literal.bytes.data(), literal.bytes.size(),
                                   &tensor, &error),
            error))
      return complain(session.getError());
  }
  session.own(tensor);
  input = astra_value_of_tensor(tensor);
  return true;
}

bool Runner::readInputs(std::vector<astra_value_t> &inputs) {
  llvm::ArrayRef<std::string> words(options.inputs);
  words = words.drop_front(2);
  if (words.size() != info.input_count) {
    std::string signature;
    return getSignature(signature) &&
           complain("`" + function + "` takes " +
                    std::to_string(info.input_count) + " tensor" +
                    (info.input_count == 1 ? "" : "s") +
                    (signature.empty() ? "" : " (" + signature + ")") +
                    ", not " + std::to_string(words.size()));
  }
  for (size_t i = 0; i < words.size(); ++i)
    if (!readInput(i, words[i], inputs.emplace_back()))
      return false;
  return true;
}

bool Runner::print(astra_tensor_t tensor) {
  astra_runtime_t *runtime = session.getRuntime();
  astra_error_t *error = nullptr;
  uint32_t dtype = 0, rank = 0;
  int64_t shape[ASTRA_MAX_RANK];
  Literal elements;
  if (!session.check(astra_tensor_dtype(runtime, tensor, &dtype, &error),
                     error) ||
      !session.check(astra_tensor_shape(runtime, tensor, ASTRA_MAX_RANK, &rank,
                                        shape, &error),
                     error))
    return complain(session.getError());
  elements.shape.assign(shape, shape + rank);
  size_t bytes = (((dtype >> 8) & 0xffff) + 7) / 8;
  for (int64_t extent : elements.shape)
    bytes *= size_t(extent);
  elements.bytes.resize(bytes);
  if (!session.check(astra_tensor_read(runtime, tensor, elements.bytes.data(),
                                       bytes, &error),
                     error))
    return complain(session.getError());
  printTensor(llvm::outs(), elements, dtype);
  return true;
}

bool Runner::giveOutput(size_t index, size_t count, astra_tensor_t tensor) {
  if (options.output.empty())
    return print(tensor);
  std::string path = options.output;
  if (count > 1) {
    StringRef stem = path;
    bool npy = stem.consume_back(".npy");
    path = stem.str() + "." + std::to_string(index) + (npy ? ".npy" : "");
  }
  if (!mayWrite(path))
    return false;
  astra_error_t *error = nullptr;
  return session.check(
             astra_npy_save(session.getRuntime(), path.c_str(), tensor, &error),
             error) ||
         complain(session.getError());
}

bool Runner::printProfile() {
  Result<Profile> profile = readProfile(session.getRuntime());
  if (!profile)
    return complain(profile.error().what());
  constexpr size_t most = 20; // kernels
  llvm::errs() << toTable(*profile, measurePeak(options.threads), most);
  return true;
}

/// There is no such function: says which there are.
void Runner::complainOfName() {
  std::string text =
      "`" + options.inputs[0] + "` exports no function `" + function + "`";
  Compiler compiler(options);
  if (!compiler.load(options.inputs[0], Part::Exports))
    return;
  std::vector<std::string> names = compiler.getEntries();
  text += names.empty() ? " and no other" : "; it exports ";
  for (size_t i = 0; i < names.size(); ++i)
    text += (i ? ", `" : "`") + names[i] + "`";
  complain(text);
}

int Runner::run() {
  TemporaryFolder folder;
  if (!folder.isValid())
    return 1;
  std::string module = folder.getFile("run.so");
  {
    Compiler compiler(options);
    if (!compiler.load(options.inputs[0], Part::Exports, function))
      return 1;
    if (compiler.isEmpty())
      return complainOfName(), 1;
    if (!compiler.makeLoadable(module))
      return 1;
  }
  std::vector<astra_value_t> inputs;
  if (!session.open(options.threads, options.cpuLevel) ||
      !session.load(module) || !session.find(function, handle) ||
      !session.describe(handle, info))
    return complain(session.getError()), 1;
  if (!readInputs(inputs))
    return 1;
  std::vector<astra_tensor_t> outputs(info.output_count);
  bool isTraced = options.profile || !options.trace.empty();
  if (!session.watch(isTraced, options.stopAt) ||
      !session.call(handle, inputs, outputs))
    return complain(session.getError()), 1;
  if (!options.trace.empty() && !mayWrite(options.trace))
    return 1;
  if (!session.saveTrace(options.trace))
    return complain(session.getError()), 1;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!giveOutput(i, outputs.size(), outputs[i]))
      return 1;
  return options.profile && !printProfile() ? 1 : 0;
}
} // namespace

int astra::runFunction(const Options &options) { return Runner(options).run(); }
