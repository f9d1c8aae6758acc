// The module descriptor of module.h as constant tables, and what the entries
// need from the module as a whole: which kernel has which place, which source
// line has which number. Knows the object ABI, no bodies.
#ifndef ASTRA_PASSES_DESCRIPTOR_H
#define ASTRA_PASSES_DESCRIPTOR_H

#include "passes/GlobalTables.h"
#include "passes/ModuleInfo.h"
#include "llvm/ADT/MapVector.h"

namespace astra {

struct DescriptorOptions {
  std::string compiler = "astrac 0.1.0";
  std::string options;
  std::string cpuLevels;
  /// For a module that is loaded by path: the fixed symbol and the note.
  bool loadable = false;
};

class Descriptor {
public:
  explicit Descriptor(mlir::ModuleOp module) : tables(module) {}

  /// The place of a kernel among the module's imports.
  unsigned getImport(llvm::StringRef kernel, uint32_t version);
  /// The number of a place in the source.
  unsigned getLocation(mlir::Location loc);
  void addExport(const ExportInfo &info, llvm::StringRef entry,
                 mlir::Location loc, llvm::ArrayRef<Dim> extents,
                 const Dim &workspace);
  /// Output `output` of the export that comes next may lie in the memory of
  /// `input`; in ascending order.
  void addDonation(unsigned output, unsigned input);
  /// The fused kernels, in one table; and the address of one of them.
  void addFused(llvm::ArrayRef<llvm::StringRef> names,
                llvm::ArrayRef<Record> records);
  /// The places in `loc` are those of the next fused kernel's operations.
  void addFusedPlaces(mlir::Location loc);
  mlir::Value getFused(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::StringRef name);
  /// Writes the tables; nothing may be added afterwards.
  void finish(llvm::StringRef moduleName, const DescriptorOptions &options);

  GlobalTables &getTables() { return tables; }

private:
  Record getDim(const Dim &dim, llvm::ArrayRef<std::string> names);
  std::string addDims(llvm::ArrayRef<Dim> dims,
                      llvm::ArrayRef<std::string> names);
  std::string addValues(llvm::ArrayRef<ValueInfo> values);
  std::string addLeaves(llvm::ArrayRef<LeafInfo> leaves,
                        llvm::ArrayRef<std::string> names);
  std::string addNames(llvm::ArrayRef<std::string> names);

  using Place = std::pair<std::string, std::pair<unsigned, unsigned>>;
  GlobalTables tables;
  llvm::MapVector<std::pair<std::string, uint32_t>, unsigned,
                  std::map<std::pair<std::string, uint32_t>, unsigned>>
      imports;
  llvm::MapVector<Place, unsigned, std::map<Place, unsigned>> locations;
  std::vector<Record> exports, donations, fusedPlaces;
  std::vector<int64_t> exportPlaces;
  llvm::StringMap<unsigned> fusedNames;
  std::string fusedTable;
};

} // namespace astra
#endif // ASTRA_PASSES_DESCRIPTOR_H
