// libFuzzer target: sequences of the API over two runtimes, with handles that
// are alive, stale, null, made up, of another kind or of the other runtime. A
// model knows which are alive; a call with another must fail, one with live
// ones must not take them for anything else, and in the end nothing is left
// over. What tensors hold is the business of test/runtime/ModelTest.cpp.
#include "Bytes.h"
#include "Machine.h"
#include "io/Dlpack.h"
#include <array>

extern "C" const struct astra_module_desc astra_module_toy;

using namespace astra::fuzz;

namespace {

enum Kind { Device, Stream, Tensor, Mapping, Function, Event, Module, Kinds };

struct Handle {
  Kind kind;
  size_t runtime; // of the two
  uint64_t bits;
  unsigned references; // 0: stale
};

class Sequence {
public:
  explicit Sequence(Bytes &bytes);
  void step();
  void finish();

private:
  template <class T> T pick(Kind kind);
  void add(Kind kind, uint64_t bits);
  void drop(Kind kind, uint64_t bits);
  void judge(astra_status_t status);
  void unblock();
  template <class Call> void make(Kind kind, Call call);
  void makeTensor();
  void view();
  void look();
  void map();
  void call();
  void partition();
  void copy();
  void exchange();
  void workOnStream();
  void workOnEvent();
  void makeOthers();
  void release();

  Bytes &bytes;
  std::array<Machine, 2> machines;
  std::vector<Handle> handles;
  size_t here = 0; // the runtime of this step
  astra_runtime_t *runtime = nullptr;
  bool allLive = true; // the handles picked in this step
};

Sequence::Sequence(Bytes &bytes) : bytes(bytes) {
  for (here = 0; here < 2; ++here) {
    add(Device, machines[here].cpu.bits);
    add(Stream, machines[here].stream.bits);
    astra_module_t toy{0};
    mustWork(astra_module_link, machines[here].runtime, &astra_module_toy,
             &toy);
    add(Module, toy.bits);
  }
}

/// A handle for the use of `kind`: mostly a live one of this runtime.
template <class T> T Sequence::pick(Kind kind) {
  unsigned choice = bytes.take<uint8_t>();
  if (choice == 255) {
    allLive = false;
    return T{bytes.oneIn(2) ? 0 : bytes.take<uint64_t>() | 1ull << 63};
  }
  if (choice > 240) {
    const Handle &any = handles[choice % handles.size()];
    allLive &= any.kind == kind && any.runtime == here && any.references;
    return T{any.bits};
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    const Handle &each = handles[(choice + i) % handles.size()];
    if (each.kind == kind && each.runtime == here && each.references)
      return T{each.bits};
  }
  allLive = false;
  return T{0};
}

void Sequence::add(Kind kind, uint64_t bits) {
  for (Handle &each : handles) {
    if (each.bits == bits && each.runtime == here) {
      ++each.references;
      return;
    }
  }
  handles.push_back({kind, here, bits, 1});
}

void Sequence::drop(Kind kind, uint64_t bits) {
  for (Handle &each : handles) {
    if (each.bits == bits && each.runtime == here && each.kind == kind &&
        each.references)
      --each.references;
  }
}

void Sequence::judge(astra_status_t status) {
  if (allLive)
    demand(status != ASTRA_ERROR_INVALID_HANDLE, "a live handle is known");
  else
    demand(status != ASTRA_OK, "no other handle is taken for a live one");
}

/// What waits for the host would wait for ever.
void Sequence::unblock() {
  for (const Handle &each : handles) {
    if (each.kind == Event && each.runtime == here && each.references)
      attempt(astra_event_signal, runtime, astra_event_t{each.bits});
  }
}

/// Calls what gives out a handle of some kind.
template <class Call> void Sequence::make(Kind kind, Call call) {
  uint64_t bits = 1;
  astra_status_t status = call(bits);
  judge(status);
  demand((status == ASTRA_OK) == (bits != 0),
         "a handle is given out on success, else null");
  if (status == ASTRA_OK)
    add(kind, bits);
}

void Sequence::makeTensor() {
  auto device = pick<astra_device_t>(Device);
  int64_t shape[] = {bytes.below(5), bytes.below(5)};
  float data[16] = {1, 2, 3};
  uint32_t rank = bytes.below(3);
  size_t count = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    count *= size_t(shape[axis]);
  make(Tensor, [&](uint64_t &bits) {
    auto *made = reinterpret_cast<astra_tensor_t *>(&bits);
    if (bytes.below(2))
      return attempt(astra_tensor_empty, runtime, device, ASTRA_F32, rank,
                     &shape[0], made);
    return attempt(astra_tensor_from_data, runtime, device, ASTRA_F32, rank,
                   &shape[0], static_cast<const void *>(data), count * 4, made);
  });
}

void Sequence::view() {
  auto from = pick<astra_tensor_t>(Tensor);
  int64_t starts[16] = {}, extents[16] = {}, steps[16] = {};
  uint32_t axes[16] = {};
  for (int i = 0; i < 2; ++i) {
    starts[i] = bytes.number();
    extents[i] = bytes.number() & 7;
    steps[i] = bytes.take<int8_t>();
    axes[i] = bytes.below(3);
  }
  unblock();
  make(Tensor, [&](uint64_t &bits) {
    auto *made = reinterpret_cast<astra_tensor_t *>(&bits);
    switch (bytes.below(4)) {
    case 0:
      return attempt(astra_tensor_slice, runtime, from, &starts[0], &extents[0],
                     &steps[0], made);
    case 1:
      return attempt(astra_tensor_reshape, runtime, from, bytes.below(3),
                     &extents[0], made);
    case 2:
      return attempt(astra_tensor_transpose, runtime, from, &axes[0], made);
    default:
      return attempt(astra_tensor_dense, runtime, from, made);
    }
  });
}

void Sequence::look() {
  auto from = pick<astra_tensor_t>(Tensor);
  uint32_t word = 0;
  int64_t numbers[ASTRA_MAX_RANK];
  float data[64];
  switch (bytes.below(7)) {
  case 0:
    return judge(attempt(astra_tensor_dtype, runtime, from, &word));
  case 1:
    return judge(attempt(astra_tensor_shape, runtime, from, bytes.below(3),
                         &word, &numbers[0]));
  case 2:
    return judge(attempt(astra_tensor_strides, runtime, from, bytes.below(3),
                         &word, &numbers[0]));
  case 3:
    return judge(attempt(astra_tensor_state, runtime, from, &word));
  case 4:
    unblock();
    return judge(attempt(astra_tensor_wait, runtime, from));
  case 5:
    unblock();
    return judge(attempt(astra_tensor_read, runtime, from,
                         static_cast<void *>(data),
                         size_t(4) * bytes.below(17)));
  default:
    astra_status_t status = attempt(astra_tensor_retain, runtime, from);
    judge(status);
    if (status == ASTRA_OK)
      add(Tensor, from.bits);
  }
}

void Sequence::map() {
  auto from = pick<astra_tensor_t>(Tensor);
  bool isLive = allLive;
  auto device = pick<astra_device_t>(Device);
  if (device.bits == 0) // here it stands for the host
    allLive = isLive;
  void *data = nullptr;
  size_t size = 0;
  unblock();
  make(Mapping, [&](uint64_t &bits) {
    uint64_t count = bytes.below(2) ? ASTRA_WHOLE : bytes.below(17);
    astra_status_t status =
        attempt(astra_tensor_map, runtime, from, device, 1 + bytes.below(3),
                uint64_t(bytes.below(4)), count,
                reinterpret_cast<astra_mapping_t *>(&bits), &data, &size);
    if (status == ASTRA_OK && size) { // all of it is memory
      char last = static_cast<char *>(data)[size - 1];
      asm volatile("" : : "r"(last));
    }
    return status;
  });
}

/// Calls a function of the toy; a donated tensor is gone if its state says so.
void Sequence::call() {
  auto function = pick<astra_function_t>(Function);
  auto stream = pick<astra_stream_t>(Stream);
  size_t inputs = bytes.oneIn(16) ? bytes.below(3) : 1 + bytes.below(2);
  astra_value_t in[2] = {};
  for (size_t i = 0; i < inputs; ++i)
    in[i] = astra_value_of_tensor(pick<astra_tensor_t>(Tensor));
  bool donates = inputs && bytes.oneIn(4);
  in[0].flags = donates ? ASTRA_VALUE_DONATE : 0;
  astra_tensor_t donated = in[0].as.tensor, out{1};
  astra_status_t status =
      attempt(astra_function_call, runtime, function, stream, nullptr,
              static_cast<const astra_value_t *>(in), inputs, &out, size_t(1));
  judge(status);
  if (status == ASTRA_OK)
    add(Tensor, out.bits);
  uint32_t state = 0;
  if (donates && attempt(astra_tensor_state, runtime, donated, &state) ==
                     ASTRA_ERROR_INVALID_HANDLE) {
    for (Handle &each : handles)
      if (each.bits == donated.bits && each.runtime == here &&
          each.kind == Tensor)
        each.references = 0;
  }
}

void Sequence::partition() {
  auto whole = pick<astra_tensor_t>(Tensor);
  int64_t starts[4], extents[4];
  for (int i = 0; i < 4; ++i) {
    starts[i] = bytes.below(4);
    extents[i] = bytes.below(4);
  }
  astra_tensor_t parts[2] = {{1}, {1}};
  astra_status_t status =
      attempt(astra_tensor_partition, runtime, whole, size_t(2),
              static_cast<const int64_t *>(starts),
              static_cast<const int64_t *>(extents),
              static_cast<const int64_t *>(nullptr), &parts[0]);
  judge(status);
  for (astra_tensor_t part : parts)
    if (status == ASTRA_OK)
      add(Tensor, part.bits);
}

void Sequence::copy() {
  auto stream = pick<astra_stream_t>(Stream);
  auto from = pick<astra_tensor_t>(Tensor), into = pick<astra_tensor_t>(Tensor);
  astra_tensor_t out{1};
  astra_status_t status =
      attempt(astra_tensor_copy, runtime, stream, from, into, &out);
  judge(status);
  uint32_t state = 0;
  if (attempt(astra_tensor_state, runtime, into, &state) ==
      ASTRA_ERROR_INVALID_HANDLE)
    drop(Tensor, into.bits);
  if (status == ASTRA_OK)
    add(Tensor, out.bits);
}

/// Out through DLPack and in again, perhaps in the second runtime: that is
/// destroyed first, as the one that gave the memory must outlive its use.
void Sequence::exchange() {
  auto from = pick<astra_tensor_t>(Tensor);
  DLManagedTensorVersioned *managed = nullptr;
  unblock();
  astra_status_t status =
      attempt(astra_tensor_to_dlpack, runtime, from, &managed);
  judge(status);
  if (status != ASTRA_OK)
    return;
  here = std::max(here, size_t(bytes.below(2)));
  runtime = machines[here].runtime;
  astra_tensor_t taken{1};
  status = attempt(astra_tensor_from_dlpack, runtime,
                   pick<astra_device_t>(Device), managed, &taken);
  judge(status);
  if (status == ASTRA_OK)
    add(Tensor, taken.bits);
  else
    managed->deleter(managed);
}

void Sequence::workOnStream() {
  auto stream = pick<astra_stream_t>(Stream);
  uint64_t numbers[2];
  switch (bytes.below(5)) {
  case 0:
    unblock();
    return judge(attempt(astra_stream_wait, runtime, stream));
  case 1:
    return judge(attempt(astra_stream_position, runtime, stream, &numbers[0],
                         &numbers[1]));
  case 2:
    return judge(attempt(astra_stream_run, runtime, stream,
                         uint64_t(bytes.below(4)), &numbers[0]));
  case 3:
    return judge(attempt(astra_stream_cancel, runtime, stream));
  default:
    return judge(attempt(
        astra_stream_callback, runtime, stream, +[](void *, astra_status_t) {},
        static_cast<void *>(nullptr)));
  }
}

void Sequence::workOnEvent() {
  auto event = pick<astra_event_t>(Event);
  uint32_t state = 0;
  int64_t time = 0;
  switch (bytes.below(6)) {
  case 0:
    return judge(attempt(astra_event_record, runtime, event,
                         pick<astra_stream_t>(Stream)));
  case 1:
    return judge(attempt(astra_event_signal, runtime, event));
  case 2:
    return judge(attempt(astra_stream_wait_event, runtime,
                         pick<astra_stream_t>(Stream), event));
  case 3:
    unblock();
    return judge(attempt(astra_event_wait, runtime, event));
  case 4:
    return judge(attempt(astra_event_state, runtime, event, &state));
  default:
    return judge(attempt(astra_event_elapsed, runtime, event,
                         pick<astra_event_t>(Event), &time));
  }
}

void Sequence::makeOthers() {
  switch (bytes.below(4)) {
  case 0:
    return make(Stream, [&](uint64_t &bits) {
      astra_stream_options_t options;
      ASTRA_INIT(STREAM_OPTIONS, &options);
      options.flags = bytes.below(4);
      return attempt(astra_stream_create, runtime, pick<astra_device_t>(Device),
                     &options, reinterpret_cast<astra_stream_t *>(&bits));
    });
  case 1:
    return make(Event, [&](uint64_t &bits) {
      astra_event_options_t options;
      ASTRA_INIT(EVENT_OPTIONS, &options);
      options.flags = bytes.below(3);
      return attempt(astra_event_create, runtime, &options,
                     reinterpret_cast<astra_event_t *>(&bits));
    });
  case 2:
    return make(Function, [&](uint64_t &bits) {
      constexpr const char *names[] = {"add", "twice", "divide", "nothing"};
      return attempt(astra_module_function, runtime,
                     pick<astra_module_t>(Module), names[bytes.below(4)],
                     reinterpret_cast<astra_function_t *>(&bits));
    });
  default:
    return judge(attempt(astra_runtime_trim, runtime,
                         uint64_t(bytes.take<uint8_t>()) << 4));
  }
}

/// Gives a reference of any kind back.
void Sequence::release() {
  Kind kind = Kind(bytes.below(Kinds));
  uint64_t bits = pick<astra_tensor_t>(kind).bits;
  astra_status_t status = ASTRA_OK;
  switch (kind) {
  case Device:
    status = attempt(astra_device_release, runtime, astra_device_t{bits});
    break;
  case Stream:
    status = attempt(astra_stream_release, runtime, astra_stream_t{bits});
    break;
  case Tensor:
    status = attempt(astra_tensor_release, runtime, astra_tensor_t{bits});
    break;
  case Mapping:
    status = attempt(astra_tensor_unmap, runtime, astra_mapping_t{bits});
    break;
  case Function:
    status = attempt(astra_function_release, runtime, astra_function_t{bits});
    break;
  case Event:
    status = attempt(astra_event_release, runtime, astra_event_t{bits});
    break;
  default:
    status = attempt(astra_module_release, runtime, astra_module_t{bits});
  }
  demand((status == ASTRA_OK) == allLive, "what lives can be released");
  if (status == ASTRA_OK)
    drop(kind, bits);
}

void Sequence::step() {
  here = bytes.oneIn(4);
  runtime = machines[here].runtime;
  allLive = true;
  using Step = void (Sequence::*)();
  constexpr Step steps[] = {
      &Sequence::makeTensor, &Sequence::makeTensor,   &Sequence::view,
      &Sequence::look,       &Sequence::map,          &Sequence::call,
      &Sequence::call,       &Sequence::partition,    &Sequence::copy,
      &Sequence::exchange,   &Sequence::workOnStream, &Sequence::workOnEvent,
      &Sequence::makeOthers, &Sequence::makeOthers,   &Sequence::release};
  (this->*steps[bytes.below(sizeof steps / sizeof *steps)])();
}

/// Gives everything back that the model says is there: it must be all.
void Sequence::finish() {
  for (here = 0; here < 2; ++here) {
    runtime = machines[here].runtime;
    uint64_t references = 0;
    for (const Handle &each : handles)
      references += each.runtime == here && each.references;
    demand(machines[here].memory().live_handles == references,
           "the model knows every handle");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes(data, size);
  Sequence sequence(bytes);
  for (int steps = 0; steps < 200 && !bytes.empty(); ++steps)
    sequence.step();
  sequence.finish();
  return 0;
}
