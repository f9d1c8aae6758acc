// A module: a checked descriptor with its kernels resolved, and functions of
// it. Knows the object ABI (astra/module.h).
#ifndef ASTRA_RUNTIME_MODULE_H
#define ASTRA_RUNTIME_MODULE_H

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

class Module : public Object {
public:
  static constexpr Kind kind = Kind::Module;

  /// Checks the descriptor and resolves its kernels. `library` may be null.
  static Status create(const astra_runtime &runtime,
                       const astra_module_desc_t *descriptor,
                       Ref<Library> library, const std::string &path,
                       Ref<Module> &module);

  const astra_module_desc_t &descriptor() const { return *desc; }
  const std::string &path() const { return filePath; }
  const std::vector<astra_kernel_fn> &kernels() const { return functions; }
  /// What introspection says of a kernel, imported or the module's own.
  struct KernelInfo {
    const char *name;
    uint32_t version, level;
  };
  KernelInfo importInfo(size_t index) const;
  KernelInfo fusedInfo(size_t index) const;
  size_t fusedCount() const { return fusedNames.size(); }
  /// The texts of a leaf's extents, as introspection gives them.
  const char *const *shapeTexts(const astra_leaf_desc_t &leaf) const;
  /// "digits.astra:12:3", or "" for an index that the module does not have.
  std::string location(uint64_t index) const;

private:
  Module(const astra_module_desc_t *desc, Ref<Library> library,
         std::string path)
      : library(std::move(library)), desc(desc), filePath(std::move(path)) {}
  Status resolveKernels(const KernelSet &kernels);
  void collectShapeTexts();
  void nameFused(const KernelSet &kernels);

  Ref<Library> library;
  const astra_module_desc_t *desc;
  std::string filePath;
  std::vector<const astra_kernel_entry *> entries;
  std::vector<astra_kernel_fn> functions;
  /// "fused_0: mul add tanh", and the level that all of them run at.
  std::vector<std::string> fusedNames;
  uint32_t fusedLevel = 0;
  /// All extents of all leaves, in order; and where each leaf's begin.
  std::vector<const char *> texts;
  std::vector<std::pair<const astra_leaf_desc_t *, size_t>> textStarts;
};

class Function : public Object {
public:
  static constexpr Kind kind = Kind::Function;

  Function(Ref<Module> module, const astra_export_desc_t &desc)
      : module(std::move(module)), desc(desc) {}

  const Ref<Module> module;
  const astra_export_desc_t &desc;
};

} // namespace astra
#endif // ASTRA_RUNTIME_MODULE_H
