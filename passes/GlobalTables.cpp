// See GlobalTables.h. Tables are built from chunks of 64 records: the layout is
// that of one array, and folding the initialiser stays linear.
#include "passes/GlobalTables.h"

using namespace mlir;
using namespace astra;

static constexpr size_t ChunkRecords = 64;

GlobalTables::GlobalTables(ModuleOp module)
    : module(module), builder(module.getContext()) {}

LLVM::GlobalOp GlobalTables::addGlobal(Type type, StringRef name,
                                       Attribute value) {
  builder.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), type,
                                       /*isConstant=*/true,
                                       LLVM::Linkage::Private, name, value);
  return global;
}

std::string GlobalTables::addString(StringRef text) {
  std::string &name = strings[text];
  if (!name.empty())
    return name;
  name = getNextName();
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  auto global = addGlobal(type, name, builder.getStringAttr(bytes));
  global.setUnnamedAddr(LLVM::UnnamedAddr::Global);
  return name;
}

std::string GlobalTables::addWords(ArrayRef<int64_t> values) {
  if (values.empty())
    return "";
  std::string &name = words[values.vec()];
  if (!name.empty())
    return name;
  name = getNextName();
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
  addGlobal(type, name, builder.getI64TensorAttr(values));
  return name;
}

std::string GlobalTables::addData(Attribute value, Type element) {
  std::string name = getNextName();
  Type type = element;
  if (auto elements = dyn_cast<DenseElementsAttr>(value))
    type = LLVM::LLVMArrayType::get(element, elements.getNumElements());
  addGlobal(type, name, value).setAlignment(64);
  return name;
}

Type GlobalTables::getRecordType(const Record &record) {
  SmallVector<Type> members;
  for (const Field &field : record)
    members.push_back(
        field.kind == Field::Int32 ? Type(builder.getI32Type())
        : field.kind == Field::Int64
            ? Type(builder.getI64Type())
            : Type(LLVM::LLVMPointerType::get(builder.getContext())));
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), members);
}

Value GlobalTables::getAddress(OpBuilder &at, Location loc, StringRef symbol) {
  auto pointer = LLVM::LLVMPointerType::get(at.getContext());
  if (symbol.empty())
    return LLVM::ZeroOp::create(at, loc, pointer);
  return LLVM::AddressOfOp::create(at, loc, pointer, symbol);
}

Value GlobalTables::buildField(OpBuilder &at, const Field &field) {
  Location loc = at.getUnknownLoc();
  if (field.kind == Field::Address)
    return getAddress(at, loc, field.symbol);
  Type type =
      field.kind == Field::Int32 ? at.getI32Type() : Type(at.getI64Type());
  // As i32 for the attribute: 32-bit words may have their top bit set.
  int64_t number =
      field.kind == Field::Int32 ? int32_t(field.number) : field.number;
  return LLVM::ConstantOp::create(at, loc, type,
                                  at.getIntegerAttr(type, number));
}

Value GlobalTables::buildRecord(OpBuilder &at, const Record &record) {
  Location loc = at.getUnknownLoc();
  Value value = LLVM::UndefOp::create(at, loc, getRecordType(record));
  for (const auto &[index, field] : llvm::enumerate(record))
    value = LLVM::InsertValueOp::create(at, loc, value, buildField(at, field),
                                        ArrayRef<int64_t>(index));
  return value;
}

std::string GlobalTables::addTable(ArrayRef<Record> records) {
  if (records.empty())
    return "";
  MLIRContext *context = builder.getContext();
  Type recordType = getRecordType(records.front());
  SmallVector<Type> chunkTypes;
  for (size_t i = 0; i < records.size(); i += ChunkRecords)
    chunkTypes.push_back(LLVM::LLVMArrayType::get(
        recordType, std::min(ChunkRecords, records.size() - i)));
  Type type = LLVM::LLVMStructType::getLiteral(context, chunkTypes);

  std::string name = getNextName();
  LLVM::GlobalOp global = addGlobal(type, name, {});
  OpBuilder at(context);
  at.setInsertionPointToStart(&global.getInitializerRegion().emplaceBlock());
  Location loc = at.getUnknownLoc();
  Value table = LLVM::UndefOp::create(at, loc, type);
  for (const auto &[index, chunkType] : llvm::enumerate(chunkTypes)) {
    Value chunk = LLVM::UndefOp::create(at, loc, chunkType);
    auto part = records.slice(index * ChunkRecords).take_front(ChunkRecords);
    for (const auto &[place, record] : llvm::enumerate(part))
      chunk = LLVM::InsertValueOp::create(
          at, loc, chunk, buildRecord(at, record), ArrayRef<int64_t>(place));
    table = LLVM::InsertValueOp::create(at, loc, table, chunk,
                                        ArrayRef<int64_t>(index));
  }
  LLVM::ReturnOp::create(at, loc, table);
  return name;
}

void GlobalTables::addPublicRecord(StringRef name, const Record &record,
                                   LLVM::Visibility visibility) {
  LLVM::GlobalOp global = addGlobal(getRecordType(record), name, {});
  global.setLinkage(LLVM::Linkage::External);
  global.setVisibility_(visibility);
  global.setAlignment(8);
  OpBuilder at(builder.getContext());
  at.setInsertionPointToStart(&global.getInitializerRegion().emplaceBlock());
  LLVM::ReturnOp::create(at, at.getUnknownLoc(), buildRecord(at, record));
}

void GlobalTables::addNote(StringRef owner, uint32_t type,
                           ArrayRef<uint32_t> values) {
  std::string bytes;
  auto append = [&](uint32_t word) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(char(word >> shift));
  };
  append(owner.size() + 1);
  append(values.size() * 4);
  append(type);
  bytes += owner;
  do
    bytes.push_back('\0');
  while (bytes.size() % 4);
  for (uint32_t word : values)
    append(word);
  auto array = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  LLVM::GlobalOp note =
      addGlobal(array, "astra_note", builder.getStringAttr(bytes));
  note.setLinkage(LLVM::Linkage::External);
  note.setVisibility_(LLVM::Visibility::Hidden);
  note.setSection(".note.astra");
  note.setAlignment(4);
}
