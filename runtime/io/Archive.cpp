// Archives and their public functions; see Archive.h.
#include "io/Archive.h"
#include "core/Dtype.h"
#include <algorithm>
#include <numeric>

namespace astra {

Archive::Archive(Ref<Storage> data, std::vector<Entry> given)
    : data(std::move(data)), entries(std::move(given)), byName(entries.size()) {
  this->data->addUser();
  std::iota(byName.begin(), byName.end(), size_t(0));
  std::sort(byName.begin(), byName.end(), [this](size_t a, size_t b) {
    return entries[a].name < entries[b].name;
  });
}

const Archive::Entry *Archive::find(const std::string &name) const {
  auto found = std::lower_bound(
      byName.begin(), byName.end(), name,
      [this](size_t i, const std::string &n) { return entries[i].name < n; });
  bool hit = found != byName.end() && entries[*found].name == name;
  return hit ? &entries[*found] : nullptr;
}

Status Archive::tensor(const Entry &entry, const Ref<Device> &device,
                       Ref<Tensor> &tensor) const {
  uint32_t rank = uint32_t(entry.shape.size());
  uint32_t elementBytes = findDtype(entry.dtype)->bytes;
  if (entry.offset % elementBytes == 0 && device->sharesHostMemory()) {
    Layout layout;
    ASTRA_TRY(makeDense(rank, entry.shape.data(), elementBytes, layout));
    layout.offset = int64_t(entry.offset / elementBytes);
    tensor =
        make<Tensor>(device.get(), data, entry.dtype, elementBytes, layout);
    return {};
  }
  ASTRA_TRY(
      makeTensor(device.get(), entry.dtype, rank, entry.shape.data(), tensor));
  return device->upload(*tensor->storage, 0,
                        static_cast<const char *>(data->data()) + entry.offset,
                        entry.bytes);
}

} // namespace astra

using namespace astra;

astra_status_t astra_archive_count(astra_runtime_t *runtime,
                                   astra_archive_t archive, size_t *count,
                                   astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Archive> object;
    ASTRA_TRY(getObject(runtime, archive, object));
    ASTRA_TRY(need(count, "count"));
    *count = object->all().size();
    return {};
  });
}

astra_status_t astra_archive_name(astra_runtime_t *runtime,
                                  astra_archive_t archive, size_t index,
                                  const char **name, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    Ref<Archive> object;
    ASTRA_TRY(getObject(runtime, archive, object));
    ASTRA_TRY(need(name, "name"));
    if (index >= object->all().size())
      return fail(ASTRA_ERROR_OUT_OF_RANGE, "there is no tensor ", index,
                  "; the archive has ", object->all().size());
    *name = object->all()[index].name.c_str();
    return {};
  });
}

astra_status_t astra_archive_tensor(astra_runtime_t *runtime,
                                    astra_archive_t archive, const char *name,
                                    astra_device_t device,
                                    astra_tensor_t *tensor,
                                    astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    ASTRA_TRY(need(name, "name"));
    Ref<Archive> object;
    Ref<Device> target;
    ASTRA_TRY(runtime->get(archive, object));
    ASTRA_TRY(runtime->get(device, target));
    const Archive::Entry *entry = object->find(name);
    if (!entry)
      return fail(ASTRA_ERROR_NOT_FOUND, "the archive has no tensor \"", name,
                  "\"");
    Ref<Tensor> made;
    ASTRA_TRY(object->tensor(*entry, target, made));
    return runtime->insert(made, *tensor);
  });
}

astra_status_t astra_archive_release(astra_runtime_t *runtime,
                                     astra_archive_t archive,
                                     astra_error_t **error) {
  return releaseHandle(runtime, Kind::Archive, archive.bits, error);
}
