// Constant data in an LLVM dialect module: strings, arrays of numbers and
// tables of records with pointers between them. Each is made once and named by
// its content's order, so that the object's bytes depend on the program alone.
// Knows nothing of what the tables mean.
#ifndef ASTRA_PASSES_GLOBALTABLES_H
#define ASTRA_PASSES_GLOBALTABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace astra {

/// One member of a record: a number, or the address of a symbol.
struct Field {
  enum Kind { Int32, Int64, Address } kind = Int64;
  int64_t number = 0;
  std::string symbol; // Address; "" is null

  static Field i32(uint32_t value) { return {Int32, int64_t(value), {}}; }
  static Field i64(int64_t value) { return {Int64, value, {}}; }
  static Field address(std::string symbol) {
    return {Address, 0, std::move(symbol)};
  }
};
using Record = std::vector<Field>;

class GlobalTables {
public:
  explicit GlobalTables(mlir::ModuleOp module);

  /// Each gives the name of a constant.
  std::string addString(llvm::StringRef text);
  std::string addWords(llvm::ArrayRef<int64_t> words);
  std::string addData(mlir::Attribute value, mlir::Type element);
  /// An array of records; the members of all have the same kinds. "" for none.
  std::string addTable(llvm::ArrayRef<Record> records);
  /// One record under a name that the linker sees.
  void addPublicRecord(llvm::StringRef name, const Record &record,
                       mlir::LLVM::Visibility visibility);
  /// A note that loaders read (owner, type, words).
  void addNote(llvm::StringRef owner, uint32_t type,
               llvm::ArrayRef<uint32_t> words);

  mlir::Value getAddress(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef symbol);

private:
  mlir::LLVM::GlobalOp addGlobal(mlir::Type type, llvm::StringRef name,
                                 mlir::Attribute value);
  std::string getNextName() { return ".astra." + std::to_string(count++); }
  mlir::Type getRecordType(const Record &record);
  mlir::Value buildRecord(mlir::OpBuilder &builder, const Record &record);
  mlir::Value buildField(mlir::OpBuilder &builder, const Field &field);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  unsigned count = 0;
  llvm::StringMap<std::string> strings;
  std::map<std::vector<int64_t>, std::string> words;
};

} // namespace astra
#endif // ASTRA_PASSES_GLOBALTABLES_H
