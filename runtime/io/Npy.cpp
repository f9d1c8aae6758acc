// NumPy's .npy files: the public functions.
#include "core/Dtype.h"
#include "io/File.h"
#include "io/NpyHeader.h"
#include "io/Write.h"
#include <algorithm>

namespace astra {
namespace {

/// The tensor's layout over the data: as the header says, or the reverse of a
/// dense one for Fortran's order.
Status layoutOf(const NpyHeader &header, uint32_t elementBytes,
                Layout &layout) {
  std::vector<int64_t> shape = header.shape;
  if (shape.size() > ASTRA_MAX_RANK)
    return fail(ASTRA_ERROR_UNIMPLEMENTED, "it has rank ", shape.size(),
                ", but the highest is ", ASTRA_MAX_RANK);
  if (header.fortranOrder)
    std::reverse(shape.begin(), shape.end());
  ASTRA_TRY(
      makeDense(uint32_t(shape.size()), shape.data(), elementBytes, layout));
  if (header.fortranOrder) {
    std::reverse(layout.shape.begin(), layout.shape.begin() + layout.rank);
    std::reverse(layout.strides.begin(), layout.strides.begin() + layout.rank);
  }
  return {};
}

Status parse(const std::string &bytes, const Ref<Device> &device,
             Ref<Tensor> &tensor) {
  NpyHeader header;
  size_t dataStart = 0;
  ASTRA_TRY(readNpyHeader(bytes, header, dataStart));
  const DtypeInfo *row = findDtypeOfNumpy(header.descr);
  if (!row)
    return fail(ASTRA_ERROR_UNIMPLEMENTED, "its dtype is '", header.descr,
                "'; bool and little-endian integers and floats of up to 64 "
                "bits can be read");
  Layout layout;
  ASTRA_TRY(layoutOf(header, row->bytes, layout));
  size_t wanted = size_t(layout.elementCount()) * row->bytes;
  size_t given = bytes.size() - dataStart;
  if (wanted != given)
    return fail(ASTRA_ERROR_CORRUPT_FILE, "its data has ", given,
                " bytes, but ", row->name,
                shapeText(layout.rank, layout.shape.data()), " needs ", wanted);
  const char *data = bytes.data() + dataStart;
  if (row->dtype == ASTRA_BOOL && findBadBool(data, given) != given)
    return fail(ASTRA_ERROR_CORRUPT_FILE,
                "it is bool, but has a byte that is neither 0 nor 1");
  Ref<Storage> storage;
  ASTRA_TRY(device->allocate(given, storage));
  ASTRA_TRY(device->upload(*storage, 0, data, given));
  tensor = make<Tensor>(device.get(), storage, row->dtype, row->bytes, layout);
  return {};
}

Status save(astra_runtime &runtime, const std::string &path, Tensor &tensor) {
  const DtypeInfo *row = findDtype(tensor.dtype);
  if (!*row->numpy)
    return fail(ASTRA_ERROR_UNIMPLEMENTED, "npy files cannot hold ", row->name,
                "; convert to f32, or use safetensors");
  NpyHeader header;
  header.descr = row->numpy;
  header.shape.assign(tensor.layout.shape.begin(),
                      tensor.layout.shape.begin() + tensor.layout.rank);
  FileWriter file(path);
  ASTRA_TRY(file.open());
  ASTRA_TRY(tensor.beginReading());
  std::string start = makeNpyHeader(header);
  ASTRA_TRY(file.write(start.data(), start.size()));
  ASTRA_TRY(writeElements(runtime, tensor, file));
  return file.finish();
}

} // namespace
} // namespace astra

using namespace astra;

astra_status_t astra_npy_save(astra_runtime_t *runtime, const char *path,
                              astra_tensor_t tensor, astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(needRuntime(runtime));
    ASTRA_TRY(need(path, "path"));
    Ref<Tensor> object;
    ASTRA_TRY(getReadable(runtime, tensor, object));
    ASTRA_TRY(object->wait());
    return save(*runtime, path, *object);
  });
}

astra_status_t astra_npy_load(astra_runtime_t *runtime, const char *path,
                              astra_device_t device, astra_tensor_t *tensor,
                              astra_error_t **error) {
  return boundary(error, [&]() -> Status {
    ASTRA_TRY(beginOutput(runtime, tensor, "tensor"));
    ASTRA_TRY(need(path, "path"));
    Ref<Device> target;
    ASTRA_TRY(runtime->get(device, target));
    std::string bytes;
    ASTRA_TRY(readFile(path, bytes));
    Ref<Tensor> made;
    Status status = parse(bytes, target, made);
    if (!status.ok()) {
      status.setMessage(join("\"", path, "\": ", status.message()));
      return status;
    }
    return runtime->insert(made, *tensor);
  });
}
