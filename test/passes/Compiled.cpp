// See Compiled.h.
#include "Compiled.h"
#include "dialect/AstraDialect.h"
#include "dialect/CallsOps.h"
#include "passes/Object.h"
#include "passes/Phases.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace astra;

std::string compileObject(llvm::StringRef text, bool loadable,
                          std::string &error) {
  mlir::DialectRegistry registry;
  registry.insert<AstraDialect, calls::CallsDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                  mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect>();
  registerObjectTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(&context), "program.mlir");
  if (!module)
    return "";
  mlir::PassManager passes(&context);
  LowerToLLVMPassOptions about;
  about.compiler = "test 1";
  about.loadable = loadable;
  addPhases(passes, Phase::astra, Phase::llvm, about);
  llvm::SmallVector<char, 0> bytes;
  if (mlir::failed(passes.run(*module)) ||
      !emitObject(*module, {}, bytes, error))
    return "";
  return std::string(bytes.data(), bytes.size());
}

static std::string makeTemporary(const char *suffix) {
  llvm::SmallString<128> path;
  llvm::sys::fs::createTemporaryFile("astra-test", suffix, path);
  return path.str().str();
}

std::string linkModule(const std::string &object, std::string &error) {
  std::string from = makeTemporary("o"), to = makeTemporary("so");
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(from, code);
    stream << object;
  }
  std::string bytes;
  if (linkLoadable(from, to, error))
    if (auto buffer = llvm::MemoryBuffer::getFile(to))
      bytes = (*buffer)->getBuffer().str();
  llvm::sys::fs::remove(from);
  llvm::sys::fs::remove(to);
  return bytes;
}

bool Compiled::check(astra_status_t status, astra_error_t *failure) {
  if (status == ASTRA_OK)
    return true;
  error = std::string(astra_status_name(status)) + " " +
          astra_error_location(failure) + " " + astra_error_message(failure);
  astra_error_release(failure);
  return false;
}

Compiled::Compiled(llvm::StringRef text, const astra_allocator_t *allocator) {
  std::string made = compileObject(text, true, error);
  if (made.empty())
    return;
  std::string linked = linkModule(made, error);
  object.assign(made.begin(), made.end());
  loadable.assign(linked.begin(), linked.end());
  if (linked.empty())
    return;
  std::string path = makeTemporary("so");
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    stream << linked;
  }
  load(path, allocator);
  llvm::sys::fs::remove(path);
}

void Compiled::load(const std::string &path,
                    const astra_allocator_t *allocator) {
  astra_error_t *failure = nullptr;
  astra_runtime_options_t options;
  ASTRA_INIT(RUNTIME_OPTIONS, &options);
  options.allocator = allocator;
  check(astra_runtime_create(&options, &runtime, &failure), failure) &&
      check(astra_device_open(runtime, "cpu", &device, &failure), failure) &&
      check(astra_stream_create(runtime, device, nullptr, &stream, &failure),
            failure) &&
      check(astra_module_load(runtime, path.c_str(), &module, &failure),
            failure);
}

Compiled::~Compiled() { astra_runtime_destroy(runtime); }

void Compiled::add(uint32_t dtype, const std::vector<int64_t> &shape,
                   const void *data, size_t bytes) {
  astra_error_t *failure = nullptr;
  astra_tensor_t tensor = {0};
  check(astra_tensor_from_data(runtime, device, dtype, shape.size(),
                               shape.data(), data, bytes, &tensor, &failure),
        failure);
  giveTensor(tensor);
}

bool Compiled::call(const char *name) {
  std::vector<astra_value_t> given;
  given.swap(inputs);
  outputs.clear();
  error.clear();
  astra_error_t *failure = nullptr;
  astra_function_t function = {0};
  astra_function_info_t info;
  ASTRA_INIT(FUNCTION_INFO, &info);
  if (!check(astra_module_function(runtime, module, name, &function, &failure),
             failure) ||
      !check(astra_function_info(runtime, function, &info, &failure), failure))
    return false;
  outputs.resize(info.output_count);
  if (!check(astra_function_call(runtime, function, stream, nullptr,
                                 given.data(), given.size(), outputs.data(),
                                 outputs.size(), &failure),
             failure))
    return false;
  return check(astra_stream_wait(runtime, stream, &failure), failure);
}

std::vector<int64_t> Compiled::getShape(size_t index) {
  int64_t shape[ASTRA_MAX_RANK];
  uint32_t rank = 0;
  astra_error_t *failure = nullptr;
  check(astra_tensor_shape(runtime, outputs[index], ASTRA_MAX_RANK, &rank,
                           shape, &failure),
        failure);
  return std::vector<int64_t>(shape, shape + rank);
}

size_t Compiled::count(size_t index) {
  size_t elements = 1;
  for (int64_t extent : getShape(index))
    elements *= size_t(extent);
  return elements;
}

void Compiled::read(size_t index, void *data, size_t bytes) {
  astra_error_t *failure = nullptr;
  check(astra_tensor_read(runtime, outputs[index], data, bytes, &failure),
        failure);
}
