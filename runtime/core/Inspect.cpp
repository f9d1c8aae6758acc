// Copying a descriptor out of a file's image; see Inspect.h. Structs are read
// as they are, then each of their pointers, so far an address in the image, is
// replaced by a copy of what it points to. What the copy says is checked
// afterwards like any descriptor.
#include "core/Inspect.h"
#include "core/Descriptor.h"
#include "core/ElfImage.h"
#include "io/File.h"

namespace astra {
namespace {

/// More bytes than any file's descriptor has; tables that point to each other
/// many times would else take all memory.
constexpr uint64_t mostBytes = uint64_t(1) << 28;

/// Stands where a descriptor must have an entry; calls are refused before.
astra_outcome_t neverEntered(const astra_call_t *call, const astra_arg_t *,
                             astra_arg_t *) {
  return call->api->fail(call, ASTRA_ERROR_INTERNAL,
                         "a function of an inspected module was entered");
}

void doNothing(void *const *, const int64_t *, int64_t) {}

} // namespace

class DescriptorReader {
public:
  DescriptorReader(const std::string &name, const ElfImage &image,
                   Inspection &result)
      : name(name), image(image), result(result) {}

  Status read(uint64_t address);

private:
  Status damaged() const {
    return fail(ASTRA_ERROR_CORRUPT_FILE, "the descriptor of ", name,
                " is damaged: it points outside of the file's data");
  }
  Status spend(uint64_t bytes) {
    spent += bytes;
    return spent <= mostBytes ? Status() : damaged();
  }

  Status text(const char *&pointer);
  /// Replaces the address of a table by its copy, each entry of it read by
  /// `each`.
  template <class T, class Each>
  Status table(const T *&pointer, uint64_t count, Each each);
  template <class T> Status table(const T *&pointer, uint64_t count) {
    return table(pointer, count, [](T &) { return Status(); });
  }
  Status dim(astra_dim_expr_t &expression);
  Status dims(const astra_dim_expr_t *&expressions, uint64_t count);
  Status leaves(const astra_leaf_desc_t *&leaves, uint64_t count);
  Status values(const astra_value_desc_t *&values, uint64_t count);
  Status function(astra_export_desc_t &function);
  Status fused(astra_fused_desc_t &fused);
  Status tail(astra_module_desc_t &desc);

  const std::string &name;
  const ElfImage &image;
  Inspection &result;
  uint64_t spent = 0;
};

Status DescriptorReader::text(const char *&pointer) {
  if (!pointer)
    return {};
  std::string copy;
  if (!image.readText(uintptr_t(pointer), copy))
    return damaged();
  ASTRA_TRY(spend(copy.size() + 1));
  result.texts.push_back(std::move(copy));
  pointer = result.texts.back().c_str();
  return {};
}

template <class T, class Each>
Status DescriptorReader::table(const T *&pointer, uint64_t count, Each each) {
  if (!pointer || count == 0) {
    pointer = nullptr;
    return {};
  }
  uint64_t address = uintptr_t(pointer);
  if (count > mostBytes / sizeof(T) ||
      !image.contains(address, count * sizeof(T)))
    return damaged();
  ASTRA_TRY(spend(count * sizeof(T)));
  result.tables.emplace_back(size_t(count * sizeof(T)));
  char *memory = result.tables.back().data();
  if (!image.read(address, memory, count * sizeof(T)))
    return damaged();
  T *entries = reinterpret_cast<T *>(memory);
  for (uint64_t i = 0; i < count; ++i)
    ASTRA_TRY(each(entries[i]));
  pointer = entries;
  return {};
}

Status DescriptorReader::dim(astra_dim_expr_t &expression) {
  ASTRA_TRY(text(expression.text));
  return table(expression.code, expression.code_length);
}

Status DescriptorReader::dims(const astra_dim_expr_t *&expressions,
                              uint64_t count) {
  return table(expressions, count,
               [&](astra_dim_expr_t &each) { return dim(each); });
}

Status DescriptorReader::leaves(const astra_leaf_desc_t *&leaves,
                                uint64_t count) {
  return table(leaves, count, [&](astra_leaf_desc_t &leaf) -> Status {
    ASTRA_TRY(text(leaf.path));
    return dims(leaf.shape, leaf.rank);
  });
}

Status DescriptorReader::values(const astra_value_desc_t *&values,
                                uint64_t count) {
  return table(values, count, [&](astra_value_desc_t &value) -> Status {
    ASTRA_TRY(text(value.name));
    ASTRA_TRY(text(value.type));
    return text(value.tree);
  });
}

Status DescriptorReader::function(astra_export_desc_t &function) {
  if (function.entry)
    function.entry = neverEntered;
  ASTRA_TRY(text(function.name));
  ASTRA_TRY(text(function.doc));
  ASTRA_TRY(table(function.dim_names, function.dim_count,
                  [&](const char *&each) { return text(each); }));
  ASTRA_TRY(values(function.in_values, function.in_value_count));
  ASTRA_TRY(leaves(function.in_leaves, function.in_leaf_count));
  ASTRA_TRY(values(function.out_values, function.out_value_count));
  ASTRA_TRY(leaves(function.out_leaves, function.out_leaf_count));
  ASTRA_TRY(dims(function.inner_dims, function.inner_dim_count));
  return dim(function.workspace_bytes);
}

Status DescriptorReader::fused(astra_fused_desc_t &fused) {
  ASTRA_TRY(text(fused.name));
  ASTRA_TRY(text(fused.ops));
  ASTRA_TRY(table(fused.slots, fused.slot_count));
  return table(fused.stages, fused.stage_count,
               [&](astra_stage_desc_t &stage) -> Status {
                 for (astra_block_fn &code : stage.code)
                   code = code ? doNothing : nullptr;
                 return table(stage.slots,
                              uint64_t(stage.input_count) + stage.output_count);
               });
}

/// What later versions have added; the members of those that the file is older
/// than are zero.
Status DescriptorReader::tail(astra_module_desc_t &desc) {
  ASTRA_TRY(table(desc.fused, desc.fused_count,
                  [&](astra_fused_desc_t &each) { return fused(each); }));
  ASTRA_TRY(table(desc.donations, desc.donation_count));
  ASTRA_TRY(table(desc.fused_places, desc.fused_count,
                  [&](astra_places_desc_t &places) {
                    return table(places.locations, places.count);
                  }));
  return table(desc.export_places, desc.export_count);
}

Status DescriptorReader::read(uint64_t address) {
  astra_module_desc_t &desc = result.desc;
  if (!image.read(address, &desc, ASTRA_MODULE_DESC_SIZE_1))
    return damaged();
  if (desc.magic != ASTRA_MODULE_MAGIC)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "the descriptor of ", name,
                " is damaged: it does not begin as a descriptor does");
  ASTRA_TRY(checkVersions(name, desc.object_abi, desc.arithmetic));
  uint64_t size = std::min<uint64_t>(desc.struct_size, sizeof desc);
  if (size >= ASTRA_MODULE_DESC_SIZE_1 && !image.read(address, &desc, size))
    return damaged();
  ASTRA_TRY(text(desc.name));
  ASTRA_TRY(text(desc.compiler));
  ASTRA_TRY(text(desc.options));
  ASTRA_TRY(text(desc.cpu_levels));
  ASTRA_TRY(table(desc.exports, desc.export_count,
                  [&](astra_export_desc_t &each) { return function(each); }));
  ASTRA_TRY(table(desc.imports, desc.import_count,
                  [&](astra_import_desc_t &each) { return text(each.name); }));
  ASTRA_TRY(
      table(desc.locations, desc.location_count,
            [&](astra_location_desc_t &each) { return text(each.file); }));
  return tail(desc);
}

Status Inspection::read(const std::string &path) {
  std::string bytes, name = "\"" + path + "\"";
  ASTRA_TRY(readFile(path, bytes));
  ElfFile file(name, bytes);
  ASTRA_TRY(file.checkParts(/*anyMachine=*/true));
  sizes = file.sizes();
  ElfImage image;
  ASTRA_TRY(image.build(file));
  uint64_t address = image.find(ASTRA_MODULE_SYMBOL, /*isPrefix=*/false);
  if (!address)
    address = image.find(ASTRA_MODULE_SYMBOL "_", /*isPrefix=*/true);
  if (!address)
    return file.refuse("is not an Astra module: it has no symbol "
                       "\"" ASTRA_MODULE_SYMBOL "\" nor one that begins so");
  return DescriptorReader(name, image, *this).read(address);
}

} // namespace astra
