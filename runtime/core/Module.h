// A module: a checked descriptor with its kernels resolved. Knows the object
// ABI (astra/module.h).
#ifndef ASTRA_RUNTIME_MODULE_H
#define ASTRA_RUNTIME_MODULE_H

#include "core/Elf.h"
#include "core/Runtime.h"

namespace astra {

/// A library loaded by path; unloaded with its last reference.
class Library : public Object {
public:
  explicit Library(void *handle) : handle(handle) {}
  ~Library() override;

private:
  void *handle;
};

/// Where a descriptor comes from.
struct ModuleOrigin {
  std::string path; // "" if it is linked into the program
  FileSizes sizes;
  Ref<Object> owner; // of its memory, or null
  /// It is only described: its code is not there.
  bool isInspected = false;
};

class Module : public Object {
public:
  static constexpr Kind kind = Kind::Module;

  /// Checks the descriptor and resolves its kernels.
  static Status create(const astra_runtime &runtime,
                       const astra_module_desc_t *descriptor,
                       ModuleOrigin origin, Ref<Module> &module);

  const astra_module_desc_t &descriptor() const { return *desc; }
  const std::string &path() const { return origin.path; }
  /// Whether it is only described, and cannot be called.
  bool isInspected() const { return origin.isInspected; }
  const FileSizes &sizes() const { return origin.sizes; }
  const std::vector<astra_kernel_fn> &kernels() const { return functions; }
  /// What introspection says of a kernel, imported or the module's own.
  struct KernelInfo {
    std::string name, ops, source, variants;
    std::string label; // "fused_0: mul add tanh"
    uint32_t version = 1, level = 0;
    bool isFused() const { return !ops.empty(); }
    bool isMissing() const { return level == 0; }
  };
  /// Imports come first.
  Status findKernel(size_t index, const KernelInfo *&info) const;
  uint64_t kernelCount() const { return desc->import_count + fusedCount(); }
  /// The texts of a leaf's extents, as introspection gives them.
  const char *const *shapeTexts(const astra_leaf_desc_t &leaf) const;
  /// "digits.astra:12:3", or "" for an index that the module does not have.
  std::string location(uint64_t index) const;
  /// Where the operations of a fused kernel stand, "a.astra:3, a.astra:5".
  std::string fusedSource(uint64_t index) const;
  /// Where an export stands, or "".
  std::string exportSource(const astra_export_desc_t &function) const;

private:
  Module(const astra_module_desc_t *desc, ModuleOrigin origin)
      : origin(std::move(origin)), desc(desc) {}
  uint64_t fusedCount() const {
    return desc->object_abi < 3 ? 0 : desc->fused_count;
  }
  Status resolveKernels(const KernelSet &kernels);
  void collectShapeTexts();
  void describeKernels() const;
  KernelInfo describeImport(uint64_t index) const;
  KernelInfo describeFused(uint64_t index) const;

  const ModuleOrigin origin;
  const astra_module_desc_t *desc;
  std::vector<const astra_kernel_entry *> entries; // null: missing
  std::vector<astra_kernel_fn> functions;
  uint32_t fusedLevel = 0; // that all of the module's own run at
  mutable std::mutex describing;
  mutable bool isDescribed = false;
  mutable std::vector<KernelInfo> infos; // made when someone asks
  /// All extents of all leaves, in order; and where each leaf's begin.
  std::vector<const char *> texts;
  std::vector<std::pair<const astra_leaf_desc_t *, size_t>> textStarts;
};

} // namespace astra
#endif // ASTRA_RUNTIME_MODULE_H
