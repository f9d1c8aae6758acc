// See Descriptor.h. Each record's members stand in the order of the struct of
// the same name in module.h; the tests load the result with that header.
#include "passes/Descriptor.h"
#include "astra/module.h"
#include "passes/CNames.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace astra;

unsigned Descriptor::getImport(StringRef kernel, uint32_t version) {
  unsigned next = imports.size();
  return imports.insert({{kernel.str(), version}, next}).first->second;
}

/// The innermost place in a file that a location holds.
static FileLineColLoc findPlace(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place;
}

void Descriptor::addFusedPlaces(Location loc) {
  SmallVector<int64_t> places;
  auto add = [&](Location part) {
    if (!findPlace(part))
      return;
    int64_t place = getLocation(part);
    if (!llvm::is_contained(places, place))
      places.push_back(place);
  };
  if (auto several = dyn_cast<FusedLoc>(loc))
    llvm::for_each(several.getLocations(), add);
  else
    add(loc);
  fusedPlaces.push_back(
      {Field::i64(places.size()), Field::address(tables.addWords(places))});
}

unsigned Descriptor::getLocation(Location loc) {
  Place key;
  if (FileLineColLoc place = findPlace(loc))
    key = {llvm::sys::path::filename(place.getFilename().getValue()).str(),
           {place.getLine(), place.getColumn()}};
  unsigned next = locations.size();
  return locations.insert({key, next}).first->second;
}

Record Descriptor::getDim(const Dim &dim, ArrayRef<std::string> names) {
  std::vector<int64_t> code = dim.encode(names);
  return {Field::address(tables.addString(dim.str())),
          Field::address(tables.addWords(code)), Field::i64(code.size())};
}

std::string Descriptor::addDims(ArrayRef<Dim> dims,
                                ArrayRef<std::string> names) {
  std::vector<Record> records;
  for (const Dim &dim : dims)
    records.push_back(getDim(dim, names));
  return tables.addTable(records);
}

std::string Descriptor::addValues(ArrayRef<ValueInfo> values) {
  std::vector<Record> records;
  for (const ValueInfo &value : values)
    records.push_back({Field::address(tables.addString(value.name)),
                       Field::address(tables.addString(value.type)),
                       Field::address(tables.addString(value.tree)),
                       Field::i32(value.firstLeaf),
                       Field::i32(value.leafCount)});
  return tables.addTable(records);
}

std::string Descriptor::addLeaves(ArrayRef<LeafInfo> leaves,
                                  ArrayRef<std::string> names) {
  std::vector<Record> records;
  for (const LeafInfo &leaf : leaves)
    records.push_back({Field::address(tables.addString(leaf.path)),
                       Field::i32(getDTypeWord(leaf.element)),
                       Field::i32(leaf.shape.size()),
                       Field::address(addDims(leaf.shape, names))});
  return tables.addTable(records);
}

std::string Descriptor::addNames(ArrayRef<std::string> names) {
  std::vector<Record> records;
  for (const std::string &name : names)
    records.push_back({Field::address(tables.addString(name))});
  return tables.addTable(records);
}

void Descriptor::addExport(const ExportInfo &info, StringRef entry,
                           Location loc, ArrayRef<Dim> extents,
                           const Dim &workspace) {
  exportPlaces.push_back(getLocation(loc));
  Record record = {Field::address(tables.addString(info.name)),
                   Field::address(tables.addString(info.doc)),
                   Field::address(entry.str()),
                   Field::i64(info.dims.size()),
                   Field::address(addNames(info.dims)),
                   Field::i64(info.inValues.size()),
                   Field::i64(info.inLeaves.size()),
                   Field::address(addValues(info.inValues)),
                   Field::address(addLeaves(info.inLeaves, info.dims)),
                   Field::i64(info.outValues.size()),
                   Field::i64(info.outLeaves.size()),
                   Field::address(addValues(info.outValues)),
                   Field::address(addLeaves(info.outLeaves, info.dims)),
                   Field::i64(extents.size()),
                   Field::address(addDims(extents, info.dims))};
  for (Field &field : getDim(workspace, info.dims))
    record.push_back(std::move(field));
  record.push_back(Field::i32(info.isTest ? ASTRA_EXPORT_TEST : 0));
  record.push_back(Field::i32(0));
  exports.push_back(std::move(record));
}

void Descriptor::addDonation(unsigned output, unsigned input) {
  donations.push_back({Field::i32(exports.size()), Field::i32(output),
                       Field::i32(input), Field::i32(0)});
}

void Descriptor::addFused(ArrayRef<StringRef> names, ArrayRef<Record> records) {
  for (const auto &[index, name] : llvm::enumerate(names))
    fusedNames[name] = index;
  fusedTable = tables.addTable(records);
}

Value Descriptor::getFused(OpBuilder &builder, Location loc, StringRef name) {
  int32_t offset =
      int32_t(fusedNames.lookup(name) * sizeof(astra_fused_desc_t));
  return LLVM::GEPOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI8Type(), tables.getAddress(builder, loc, fusedTable),
      ArrayRef<LLVM::GEPArg>{offset});
}

void Descriptor::finish(StringRef moduleName,
                        const DescriptorOptions &options) {
  std::vector<Record> importRecords, locationRecords;
  for (const auto &[import, index] : imports)
    importRecords.push_back({Field::address(tables.addString(import.first)),
                             Field::i32(import.second), Field::i32(0)});
  for (const auto &[place, index] : locations)
    locationRecords.push_back({Field::address(tables.addString(place.first)),
                               Field::i32(place.second.first),
                               Field::i32(place.second.second)});
  Record record = {Field::i64(int64_t(ASTRA_MODULE_MAGIC)),
                   Field::i32(sizeof(astra_module_desc_t)),
                   Field::i32(ASTRA_OBJECT_ABI_VERSION),
                   Field::i32(ASTRA_ARITHMETIC_VERSION),
                   Field::i32(0),
                   Field::address(tables.addString(moduleName)),
                   Field::address(tables.addString(options.compiler)),
                   Field::address(tables.addString(options.options)),
                   Field::address(tables.addString(options.cpuLevels)),
                   Field::i64(exports.size()),
                   Field::address(tables.addTable(exports)),
                   Field::i64(importRecords.size()),
                   Field::address(tables.addTable(importRecords)),
                   Field::i64(locationRecords.size()),
                   Field::address(tables.addTable(locationRecords)),
                   Field::i64(fusedNames.size()),
                   Field::address(fusedTable),
                   Field::i64(donations.size()),
                   Field::address(tables.addTable(donations)),
                   Field::address(tables.addTable(fusedPlaces)),
                   Field::address(tables.addWords(exportPlaces))};
  if (!options.loadable) {
    tables.addPublicRecord(getDescriptorSymbol(moduleName), record,
                           LLVM::Visibility::Default);
    return;
  }
  tables.addPublicRecord(ASTRA_MODULE_SYMBOL, record,
                         LLVM::Visibility::Default);
  tables.addNote(ASTRA_NOTE_OWNER, ASTRA_NOTE_TYPE,
                 {ASTRA_OBJECT_ABI_VERSION, ASTRA_ARITHMETIC_VERSION});
}
