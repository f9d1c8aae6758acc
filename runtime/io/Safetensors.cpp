// The safetensors format: a length, a JSON header, then the data of all tensors
// without gaps. Everything in the header is checked against the file before a
// tensor can be asked for.
#include "core/Dtype.h"
#include "io/Archive.h"
#include "io/File.h"
#include "io/Json.h"
#include "io/Write.h"
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace astra {
namespace {

constexpr uint64_t mostHeader = 100u << 20;
constexpr size_t lengthBytes = 8;
constexpr char metadataName[] = "__metadata__";

/// Reads the header into entries.
class HeaderReader {
public:
  HeaderReader(const char *begin, size_t size, size_t dataBytes)
      : json(begin, size), dataBytes(dataBytes) {}

  Status read(std::vector<Archive::Entry> &entries);

private:
  Status metadata();
  Status entry(Archive::Entry &entry);
  Status field(const std::string &key, Archive::Entry &entry);
  Status integers(std::vector<int64_t> &values);
  Status checkEntry(Archive::Entry &entry);

  JsonReader json;
  size_t dataBytes;
  std::vector<int64_t> offsets;
  std::string dtypeName;
  std::set<std::string> fields;
};

Status HeaderReader::read(std::vector<Archive::Entry> &entries) {
  std::set<std::string> names;
  ASTRA_TRY(json.expect('{'));
  if (!json.take('}')) {
    do {
      Archive::Entry next;
      ASTRA_TRY(json.string(next.name));
      if (next.name.find('\0') != std::string::npos)
        return json.refuse("a name that holds a NUL ends");
      ASTRA_TRY(json.expect(':'));
      if (!names.insert(next.name).second)
        return json.refuse("\"" + next.name + "\" stands twice");
      if (next.name == metadataName) {
        ASTRA_TRY(metadata());
        continue;
      }
      ASTRA_TRY(entry(next));
      entries.push_back(std::move(next));
    } while (json.take(','));
    ASTRA_TRY(json.expect('}'));
  }
  return json.finish();
}

Status HeaderReader::metadata() {
  std::string key, value;
  ASTRA_TRY(json.expect('{'));
  if (json.take('}'))
    return {};
  do {
    ASTRA_TRY(json.string(key));
    ASTRA_TRY(json.expect(':'));
    ASTRA_TRY(json.string(value));
  } while (json.take(','));
  return json.expect('}');
}

Status HeaderReader::entry(Archive::Entry &entry) {
  fields.clear();
  ASTRA_TRY(json.expect('{'));
  do {
    std::string key;
    ASTRA_TRY(json.string(key));
    ASTRA_TRY(json.expect(':'));
    ASTRA_TRY(field(key, entry));
  } while (json.take(','));
  ASTRA_TRY(json.expect('}'));
  return checkEntry(entry);
}

Status HeaderReader::field(const std::string &key, Archive::Entry &entry) {
  if (!fields.insert(key).second)
    return json.refuse("\"" + key + "\" stands twice");
  if (key == "dtype")
    return json.string(dtypeName);
  if (key == "shape")
    return integers(entry.shape);
  if (key == "data_offsets")
    return integers(offsets);
  return json.refuse("\"" + key + "\" is no field of a tensor");
}

Status HeaderReader::integers(std::vector<int64_t> &values) {
  values.clear();
  ASTRA_TRY(json.expect('['));
  if (json.take(']'))
    return {};
  do {
    int64_t value = 0;
    ASTRA_TRY(json.integer(value));
    values.push_back(value);
  } while (json.take(','));
  return json.expect(']');
}

Status HeaderReader::checkEntry(Archive::Entry &entry) {
  std::string what = "tensor \"" + entry.name + "\" ";
  if (fields.size() != 3)
    return json.refuse(what + "lacks one of dtype, shape, data_offsets");
  const DtypeInfo *row = findDtypeOfSafetensors(dtypeName);
  if (!row)
    return fail(ASTRA_ERROR_UNIMPLEMENTED, what, "has dtype ", dtypeName,
                ", which this release does not read");
  entry.dtype = row->dtype;
  Layout layout;
  Status status = makeDense(uint32_t(std::min<size_t>(entry.shape.size(), 99)),
                            entry.shape.data(), row->bytes, layout);
  if (!status.ok())
    return fail(ASTRA_ERROR_CORRUPT_FILE, what, ": ", status.message());
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return json.refuse(what + "has no two rising data_offsets");
  if (uint64_t(offsets[1]) > dataBytes)
    return fail(ASTRA_ERROR_CORRUPT_FILE, what, "ends at byte ", offsets[1],
                " of the data, but the file has ", dataBytes,
                "; it is truncated or damaged");
  entry.offset = size_t(offsets[0]);
  entry.bytes = size_t(offsets[1] - offsets[0]);
  int64_t wanted = layout.elementCount() * row->bytes;
  if (int64_t(entry.bytes) != wanted)
    return fail(ASTRA_ERROR_CORRUPT_FILE, what, "has ", entry.bytes,
                " bytes, but ", row->name,
                shapeText(layout.rank, layout.shape.data()), " needs ", wanted);
  return {};
}

/// The data must be covered once, without gaps and overlaps.
Status checkCover(const std::vector<Archive::Entry> &entries,
                  size_t dataBytes) {
  size_t position = 0;
  for (const Archive::Entry &entry : entries) {
    if (entry.offset != position)
      return fail(ASTRA_ERROR_CORRUPT_FILE, "tensor \"", entry.name,
                  "\" begins at byte ", entry.offset,
                  " of the data, but the one before ends at ", position);
    position += entry.bytes;
  }
  if (position != dataBytes)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "the tensors end at byte ", position,
                " of the data, but the file has ", dataBytes);
  return {};
}

Status checkBools(const std::vector<Archive::Entry> &entries,
                  const char *data) {
  for (const Archive::Entry &entry : entries) {
    if (entry.dtype == ASTRA_BOOL &&
        findBadBool(data + entry.offset, entry.bytes) != entry.bytes)
      return fail(ASTRA_ERROR_CORRUPT_FILE, "tensor \"", entry.name,
                  "\" is bool, but has a byte that is neither 0 nor 1");
  }
  return {};
}

Status parse(const std::string &bytes, std::vector<Archive::Entry> &entries,
             size_t &dataStart) {
  uint64_t headerBytes = 0;
  if (bytes.size() < lengthBytes)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "it has ", bytes.size(),
                " bytes, fewer than any safetensors file");
  std::memcpy(&headerBytes, bytes.data(), lengthBytes);
  if (headerBytes > mostHeader || headerBytes > bytes.size() - lengthBytes)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "its header would have ", headerBytes,
                " bytes, but the file has ", bytes.size(),
                "; it is truncated or no safetensors file");
  dataStart = lengthBytes + size_t(headerBytes);
  size_t dataBytes = bytes.size() - dataStart;
  HeaderReader reader(bytes.data() + lengthBytes, size_t(headerBytes),
                      dataBytes);
  ASTRA_TRY(reader.read(entries));
  std::sort(entries.begin(), entries.end(),
            [](const Archive::Entry &a, const Archive::Entry &b) {
              return std::tie(a.offset, a.bytes, a.name) <
                     std::tie(b.offset, b.bytes, b.name);
            });
  ASTRA_TRY(checkCover(entries, dataBytes));
  return checkBools(entries, bytes.data() + dataStart);
}

Status load(astra_runtime &runtime, const std::string &path,
            Ref<Archive> &archive) {
  std::string bytes;
  ASTRA_TRY(readFile(path, bytes));
  std::vector<Archive::Entry> entries;
  size_t dataStart = 0;
  Status status = parse(bytes, entries, dataStart);
  if (!status.ok()) {
    status.setMessage(join("\"", path, "\": ", status.message()));
    return status;
  }
  size_t dataBytes = bytes.size() - dataStart;
  Ref<Storage> data = Storage::allocate(runtime.memory, dataBytes);
  if (!data)
    return outOfMemory(runtime.memory, dataBytes, "\"" + path + "\"");
  std::memcpy(data->data(), bytes.data() + dataStart, dataBytes);
  archive = make<Archive>(data, std::move(entries));
  return {};
}

/// The header, padded with spaces so that the data begins at a multiple of 64.
std::string makeHeader(const std::vector<std::string> &names,
                       const std::vector<Ref<Tensor>> &tensors) {
  std::string header = "{";
  int64_t offset = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = *tensors[i];
    header += i ? "," : "";
    appendJsonString(header, names[i]);
    header += join(":{\"dtype\":\"", findDtype(tensor.dtype)->safetensors,
                   "\",\"shape\":[");
    for (uint32_t axis = 0; axis < tensor.layout.rank; ++axis)
      header += join(axis ? "," : "", tensor.layout.shape[axis]);
    int64_t end = offset + tensor.byteCount();
    header += join("],\"data_offsets\":[", offset, ",", end, "]}");
    offset = end;
  }
  header += "}";
  header.resize((header.size() + lengthBytes + 63) / 64 * 64 - lengthBytes,
                ' ');
  return header;
}

Status collect(astra_runtime *runtime, const char *const *names,
               const astra_tensor_t *handles, size_t count,
               std::vector<std::string> &texts,
               std::vector<Ref<Tensor>> &tensors) {
  std::set<std::string> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!names[i])
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "name ", i, " of ", count,
                  " is null");
    if (names[i] == std::string(metadataName))
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the name \"", names[i],
                  "\" is reserved by the format");
    if (!isUtf8(names[i]))
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "name ", i, " of ", count,
                  " is not UTF-8");
    if (!seen.insert(names[i]).second)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the name \"", names[i],
                  "\" stands twice");
    Ref<Tensor> tensor;
    ASTRA_TRY(getReadable(runtime, handles[i], tensor));
    ASTRA_TRY(tensor->wait());
    texts.push_back(names[i]);
    tensors.push_back(std::move(tensor));
  }
  return {};
}

Status save(astra_runtime &runtime, const std::string &path,
            const std::vector<std::string> &names,
            const std::vector<Ref<Tensor>> &tensors) {
  std::string header = makeHeader(names, tensors);
  if (header.size() > mostHeader)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the header of ", header.size(),
                " bytes for these names is longer than the ", mostHeader,
                " that a reader takes; use shorter names or several files");
  FileWriter file(path);
  ASTRA_TRY(file.open());
  for (const Ref<Tensor> &tensor : tensors)
    ASTRA_TRY(tensor->beginReading());
  uint64_t headerBytes = header.size();
  ASTRA_TRY(file.write(&headerBytes, lengthBytes));
  ASTRA_TRY(file.write(header.data(), header.size()));
  for (const Ref<Tensor> &tensor : tensors)
    ASTRA_TRY(writeElements(runtime, *tensor, file));
  return file.finish();
}

} // namespace
} // namespace astra

using namespace astra;

astra_status_t astra_safetensors_save(astra_runtime_t *runtime,
                                      const char *path,
                                      const char *const *names,
                                      const astra_tensor_t *tensors,
                                      size_t count, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(path, "path"));
    if (count) {
      ASTRA_TRY(need(names, "names"));
      ASTRA_TRY(need(tensors, "tensors"));
    }
    std::vector<std::string> texts;
    std::vector<Ref<Tensor>> objects;
    ASTRA_TRY(collect(runtime, names, tensors, count, texts, objects));
    return save(*runtime, path, texts, objects);
  });
}

astra_status_t astra_safetensors_load(astra_runtime_t *runtime,
                                      const char *path,
                                      astra_archive_t *archive,
                                      astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, archive, "archive"));
    ASTRA_TRY(need(path, "path"));
    Ref<Archive> made;
    ASTRA_TRY(load(*runtime, path, made));
    return runtime->insert(made, *archive);
  });
}
