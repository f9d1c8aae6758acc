// Calling a function: every input is checked against the descriptor, the
// dimensions are worked out from the extents, and only then are outputs made
// and the work given to the stream.
#include "core/DimCode.h"
#include "core/Dtype.h"
#include "core/Launch.h"
#include "core/Stream.h"
#include "core/Structs.h"
#include <algorithm>

namespace astra {
namespace {

/// Where an extent stands, for messages: parameter "x", axis 0.
std::string place(const astra_leaf_desc_t &leaf, uint32_t axis) {
  return join("\"", leaf.path, "\", axis ", axis);
}

std::string typeText(const astra_leaf_desc_t &leaf) {
  std::string text = nameOfDtype(leaf.dtype);
  for (uint32_t axis = 0; axis < leaf.rank; ++axis)
    text += join(axis ? ", " : "[", leaf.shape[axis].text);
  return text + (leaf.rank ? "]" : "");
}

/// Fills a Launch from the arguments of one call.
class Caller {
public:
  Caller(astra_runtime &runtime, const Function &function, Device &device,
         Launch &launch)
      : launch(launch), runtime(runtime), function(function),
        desc(function.desc), device(device) {
    launch.device = &device;
    launch.module = function.module;
    launch.function = &desc;
  }

  Status takeInputs(const astra_value_t *values, size_t count);
  Status checkDonations(const astra_value_t *values) const;
  Status findDims();
  Status checkExtents() const;
  Status evaluateSizes();
  Status evaluate(const astra_dim_expr_t &extent, int64_t &value) const;
  Status takeTargets(const astra_call_options_t &options);
  Status consume(const astra_value_t *values, const astra_tensor_t *handles);
  Status sealInputs() const;
  Status makeOutputs(const astra_value_t *values);
  void closeTargets(const Ref<Completion> &work) const;

  Launch &launch;

private:
  Status takeTensor(const astra_leaf_desc_t &leaf, const astra_value_t &value,
                    size_t index);
  Status takeScalar(const astra_leaf_desc_t &leaf, const astra_value_t &value,
                    size_t index);
  bool solveRound(std::vector<bool> &known);
  Status takeTarget(uint64_t index, const astra_tensor_t *handles);
  Status findOutputShape(uint64_t index, int64_t *shape) const;
  Status makeOutput(const astra_value_t *values, uint64_t index,
                    Ref<Tensor> &output);
  bool canReuse(const astra_value_t *values, size_t input, uint32_t dtype,
                const Layout &layout) const;
  Ref<Storage> reusable(const astra_value_t *values, uint64_t output,
                        uint32_t dtype, const Layout &layout) const;
  std::string valuesText(const astra_dim_expr_t &extent) const;
  bool isSource(uint64_t dim, std::string &where) const;
  Status extentMismatch(const astra_leaf_desc_t &leaf, uint32_t axis,
                        int64_t got, int64_t expected) const;

  astra_runtime &runtime;
  const Function &function;
  const astra_export_desc_t &desc;
  Device &device;
  SmallVector<Ref<Tensor>, Launch::few> targets; // null where there is none
  size_t claimed = 0;                            // targets, from the first on
};

Status Caller::takeInputs(const astra_value_t *values, size_t count) {
  if (count != desc.in_leaf_count)
    return fail(ASTRA_ERROR_COUNT_MISMATCH, "function \"", desc.name,
                "\" takes ", desc.in_leaf_count, " inputs, but ", count,
                " were given");
  if (count)
    ASTRA_TRY(need(values, "inputs"));
  launch.inputs.resize(count);
  launch.scalars.resize(count);
  launch.in.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const astra_leaf_desc_t &leaf = desc.in_leaves[i];
    if (values[i].flags & ~ASTRA_VALUE_DONATE)
      return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the flags ", values[i].flags,
                  " of input \"", leaf.path, "\" are unknown");
    Status status = values[i].dtype ? takeScalar(leaf, values[i], i)
                                    : takeTensor(leaf, values[i], i);
    ASTRA_TRY(status);
  }
  return {};
}

Status Caller::takeScalar(const astra_leaf_desc_t &leaf,
                          const astra_value_t &value, size_t index) {
  if (value.flags)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "input \"", leaf.path,
                "\" is a scalar by value, which cannot be donated");
  if (value.dtype != leaf.dtype)
    return fail(ASTRA_ERROR_DTYPE_MISMATCH, "input \"", leaf.path, "\" is ",
                nameOfDtype(value.dtype), ", but ", typeText(leaf),
                " is expected");
  if (leaf.rank)
    return fail(ASTRA_ERROR_SHAPE_MISMATCH, "input \"", leaf.path,
                "\" is a scalar, but ", typeText(leaf), " is expected");
  launch.scalars[index] = value.as.u64;
  if (leaf.dtype == ASTRA_BOOL && value.as.bool8 > 1)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "input \"", leaf.path, "\" is ",
                unsigned(value.as.bool8), ", but a bool is 0 or 1");
  launch.in[index] = {&launch.scalars[index], nullptr, nullptr, leaf.dtype, 0};
  return {};
}

Status Caller::takeTensor(const astra_leaf_desc_t &leaf,
                          const astra_value_t &value, size_t index) {
  Ref<Tensor> tensor;
  Status status = getReadable(&runtime, value.as.tensor, tensor);
  if (!status.ok()) {
    status.setMessage(join("input \"", leaf.path, "\": ", status.message()));
    return status;
  }
  if (tensor->device != &device)
    return fail(ASTRA_ERROR_DEVICE_MISMATCH, "input \"", leaf.path,
                "\" is on the device \"", tensor->device->name(),
                "\", but the stream is on \"", device.name(), "\"");
  if (tensor->dtype != leaf.dtype)
    return fail(ASTRA_ERROR_DTYPE_MISMATCH, "input \"", leaf.path, "\" is ",
                nameOfDtype(tensor->dtype), ", but ", typeText(leaf),
                " is expected");
  const Layout &layout = tensor->layout;
  if (layout.rank != leaf.rank)
    return fail(ASTRA_ERROR_SHAPE_MISMATCH, "input \"", leaf.path,
                "\" has rank ", layout.rank, " (shape ",
                shapeText(layout.rank, layout.shape.data()), "), but ",
                leaf.rank ? "" : "a scalar, ", typeText(leaf),
                leaf.rank ? "" : " of rank 0,", " is expected");
  launch.in[index] = {tensor->data(), layout.shape.data(),
                      layout.strides.data(), leaf.dtype, leaf.rank};
  launch.inputs[index] = std::move(tensor);
  return {};
}

/// A donated tensor has one handle, and its storage no user but that. Work in
/// flight may still use it: then it is consumed, but its memory not used again.
Status Caller::checkDonations(const astra_value_t *values) const {
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    if (!(values[i].flags & ASTRA_VALUE_DONATE))
      continue;
    const Tensor &tensor = *launch.inputs[i];
    bool twice = false;
    for (size_t j = 0; j < launch.inputs.size(); ++j)
      twice |= j != i && launch.inputs[j] &&
               launch.inputs[j]->storage.get() == tensor.storage.get();
    bool shared = tensor.storage->userCount() != 1 ||
                  runtime.handles.referenceCount(values[i].as.tensor.bits) != 1;
    if (twice || shared)
      return fail(ASTRA_ERROR_DONATION, "input \"", desc.in_leaves[i].path,
                  "\" is donated, but ",
                  twice ? "another input shares its memory"
                        : "another reference, view or mapping shares it");
  }
  return {};
}

/// Solves for one more dimension; false if no input's extent gives one.
bool Caller::solveRound(std::vector<bool> &known) {
  bool progress = false;
  for (size_t i = 0; i < launch.in.size(); ++i) {
    for (uint32_t axis = 0; axis < launch.in[i].rank; ++axis) {
      std::optional<Solution> solved =
          solveDim(desc.in_leaves[i].shape[axis], launch.in[i].shape[axis],
                   launch.dims.data(), known);
      if (!solved)
        continue;
      launch.dims[solved->name] = solved->value;
      known[solved->name] = progress = true;
    }
  }
  return progress;
}

Status Caller::findDims() {
  launch.dims.resize(desc.dim_count);
  // Bare names come first, since they need no arithmetic and read best in
  // messages about the others.
  for (uint64_t dim = 0; dim < desc.dim_count; ++dim) {
    if (const Function::Place *place = function.source(dim))
      launch.dims[dim] = launch.in[place->input].shape[place->axis];
  }
  if (function.hasAllSources())
    return {};
  std::vector<bool> known(desc.dim_count);
  for (uint64_t dim = 0; dim < desc.dim_count; ++dim)
    known[dim] = function.source(dim) != nullptr;
  while (std::count(known.begin(), known.end(), false) && solveRound(known)) {
  }
  for (size_t dim = 0; dim < known.size(); ++dim) {
    if (!known[dim])
      return fail(ASTRA_ERROR_SHAPE_MISMATCH, "the inputs of \"", desc.name,
                  "\" do not tell the dimension ", desc.dim_names[dim]);
    if (launch.dims[dim] < 0)
      return fail(ASTRA_ERROR_SHAPE_MISMATCH,
                  "by the extents of the inputs of "
                  "\"",
                  desc.name, "\" the dimension ", desc.dim_names[dim],
                  " would be ", launch.dims[dim],
                  "; a dimension is at least 0");
  }
  return {};
}

/// The input that a dimension was read from, if it stands there alone.
bool Caller::isSource(uint64_t dim, std::string &where) const {
  const Function::Place *source = function.source(dim);
  if (source)
    where = place(desc.in_leaves[source->input], source->axis);
  return source != nullptr;
}

Status Caller::extentMismatch(const astra_leaf_desc_t &leaf, uint32_t axis,
                              int64_t got, int64_t expected) const {
  const astra_dim_expr_t &extent = leaf.shape[axis];
  std::string why;
  for (uint64_t i = 0; i + 1 < extent.code_length; ++i) {
    std::string where;
    bool isName = extent.code[i] == ASTRA_DIM_NAME;
    if (isName && isSource(uint64_t(extent.code[i + 1]), where))
      why += join(why.empty() ? ", where " : ", ",
                  desc.dim_names[extent.code[i + 1]], " is ",
                  launch.dims[size_t(extent.code[i + 1])], " by input ", where);
    if (isName || extent.code[i] == ASTRA_DIM_CONST)
      ++i;
  }
  std::string is = std::to_string(expected) == extent.text
                       ? std::string()
                       : join(" (", extent.text, ")");
  return fail(ASTRA_ERROR_SHAPE_MISMATCH, "the extent of input ",
              place(leaf, axis), ", is ", got, ", but ", expected, is,
              " is expected", why, " (", typeText(leaf), ")");
}

/// " (n is 4, d is 0)": the dimensions that an expression is made of.
std::string Caller::valuesText(const astra_dim_expr_t &extent) const {
  std::vector<int64_t> names;
  for (uint64_t i = 0; i + 1 < extent.code_length; ++i) {
    bool isName = extent.code[i] == ASTRA_DIM_NAME;
    int64_t word = extent.code[i + 1];
    if (isName && std::find(names.begin(), names.end(), word) == names.end())
      names.push_back(word);
    if (isName || extent.code[i] == ASTRA_DIM_CONST)
      ++i;
  }
  std::string text;
  for (int64_t name : names)
    text += join(text.empty() ? " (" : ", ", desc.dim_names[name], " is ",
                 launch.dims[size_t(name)]);
  return text.empty() ? text : text + ")";
}

Status Caller::evaluate(const astra_dim_expr_t &extent, int64_t &value) const {
  Status status = evaluateDim(extent, launch.dims.data(), value);
  if (!status.ok())
    status.setMessage(status.message() + valuesText(extent));
  return status;
}

Status Caller::checkExtents() const {
  for (auto [input, axis] : function.checks()) {
    const astra_leaf_desc_t &leaf = desc.in_leaves[input];
    int64_t expected = 0, got = launch.in[input].shape[axis];
    ASTRA_TRY(evaluate(leaf.shape[axis], expected));
    if (got != expected)
      return extentMismatch(leaf, axis, got, expected);
  }
  return {};
}

Status Caller::evaluateSizes() {
  for (uint64_t i = 0; i < desc.inner_dim_count; ++i) {
    int64_t value = 0;
    ASTRA_TRY(evaluate(desc.inner_dims[i], value));
    if (value < 0)
      return fail(ASTRA_ERROR_SHAPE_MISMATCH, "an extent inside \"", desc.name,
                  "\" would be negative: ", desc.inner_dims[i].text, " is ",
                  value, valuesText(desc.inner_dims[i]));
  }
  // The expression of a workspace is too long to be of use to anyone.
  Status status = evaluateDim(desc.workspace_bytes, launch.dims.data(),
                              launch.workspaceBytes);
  if (!status.ok())
    status.setMessage(
        join("the workspace of \"", desc.name, "\" does not fit 64 bits"));
  return status;
}

Status Caller::findOutputShape(uint64_t index, int64_t *shape) const {
  const astra_leaf_desc_t &leaf = desc.out_leaves[index];
  for (uint32_t axis = 0; axis < leaf.rank; ++axis) {
    ASTRA_TRY(evaluate(leaf.shape[axis], shape[axis]));
    if (shape[axis] < 0)
      return fail(ASTRA_ERROR_SHAPE_MISMATCH, "the extent of result ",
                  place(leaf, axis),
                  ", would be negative: ", leaf.shape[axis].text, " is ",
                  shape[axis], valuesText(leaf.shape[axis]));
  }
  return {};
}

/// Checks the tensors that the caller wants results to be written into.
Status Caller::takeTargets(const astra_call_options_t &options) {
  if (!options.targets && !options.target_count)
    return {};
  if (options.target_count != desc.out_leaf_count)
    return fail(ASTRA_ERROR_COUNT_MISMATCH, "function \"", desc.name,
                "\" gives ", desc.out_leaf_count, " outputs, but there are ",
                options.target_count, " targets");
  ASTRA_TRY(need(options.targets, "targets"));
  targets.resize(desc.out_leaf_count);
  for (uint64_t i = 0; i < desc.out_leaf_count; ++i) {
    if (options.targets[i].bits)
      ASTRA_TRY(takeTarget(i, options.targets));
  }
  return {};
}

Status Caller::takeTarget(uint64_t index, const astra_tensor_t *handles) {
  const astra_leaf_desc_t &leaf = desc.out_leaves[index];
  std::string what = join("the target of output \"", leaf.path, "\"");
  Ref<Tensor> tensor;
  ASTRA_TRY(runtime.get(handles[index], tensor));
  const Layout &layout = tensor->layout;
  int64_t shape[ASTRA_MAX_RANK];
  ASTRA_TRY(findOutputShape(index, shape));
  if (tensor->device != &device)
    return fail(ASTRA_ERROR_DEVICE_MISMATCH, what, " is on the device \"",
                tensor->device->name(), "\", but the stream is on \"",
                device.name(), "\"");
  if (tensor->dtype != leaf.dtype)
    return fail(ASTRA_ERROR_DTYPE_MISMATCH, what, " is ",
                nameOfDtype(tensor->dtype), ", but ", typeText(leaf),
                " is expected");
  if (layout.rank != leaf.rank ||
      !std::equal(shape, shape + leaf.rank, layout.shape.begin()))
    return fail(ASTRA_ERROR_SHAPE_MISMATCH, what, " has shape ",
                shapeText(layout.rank, layout.shape.data()), ", but ",
                shapeText(leaf.rank, shape), " is expected");
  if (!layout.isDense())
    return fail(ASTRA_ERROR_LAYOUT_MISMATCH, what,
                " is not dense, but results are; split along the first axis, "
                "or copy with astra_tensor_copy");
  bool twice = std::count_if(handles, handles + index, [&](astra_tensor_t h) {
    return h.bits == handles[index].bits;
  });
  bool isInput = std::count_if(
      launch.inputs.begin(), launch.inputs.end(),
      [&](const Ref<Tensor> &input) { return input.get() == tensor.get(); });
  if (twice || isInput || tensor->access.load() != Tensor::Fresh)
    return fail(ASTRA_ERROR_BUSY, what,
                twice ? " is the target of another output too"
                : isInput
                    ? " is an input too"
                    : " cannot be written: only a tensor from "
                      "astra_tensor_empty or a part of one can, before it "
                      "has been retained, read, viewed, mapped or passed");
  targets[index] = std::move(tensor);
  return {};
}

/// Whether an input was donated, is laid out like an output, and no work in
/// flight and no other output uses its memory.
bool Caller::canReuse(const astra_value_t *values, size_t index, uint32_t dtype,
                      const Layout &layout) const {
  if (!(values[index].flags & ASTRA_VALUE_DONATE))
    return false;
  const Tensor &input = *launch.inputs[index];
  if (input.dtype != dtype || input.layout.rank != layout.rank ||
      input.layout.offset != 0 || !input.layout.isDense() ||
      !std::equal(layout.shape.begin(), layout.shape.begin() + layout.rank,
                  input.layout.shape.begin()))
    return false;
  for (const Ref<Tensor> &output : launch.outputs) {
    if (output && output->storage.get() == input.storage.get())
      return false;
  }
  // One reference is the tensor's; the tensor's only one this call's.
  return input.storage->isOwned() && input.storage->referenceCount() == 1 &&
         input.referenceCount() == 1;
}

/// The storage of a donated input that this output may lie in.
Ref<Storage> Caller::reusable(const astra_value_t *values, uint64_t output,
                              uint32_t dtype, const Layout &layout) const {
  Function::Donors donors = function.donors(output);
  for (size_t i = 0; i < donors.count; ++i) {
    if (canReuse(values, donors.inputs[i], dtype, layout))
      return launch.inputs[donors.inputs[i]]->storage;
  }
  if (!(desc.flags & ASTRA_EXPORT_IN_PLACE))
    return {};
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    if (canReuse(values, i, dtype, layout))
      return launch.inputs[i]->storage;
  }
  return {};
}

Status Caller::makeOutput(const astra_value_t *values, uint64_t index,
                          Ref<Tensor> &output) {
  const astra_leaf_desc_t &leaf = desc.out_leaves[index];
  if (targets.size() && targets[index]) {
    const Tensor &target = *targets[index];
    output = make<Tensor>(&device, target.storage, target.dtype,
                          target.elementBytes, target.layout, launch.done);
    return {};
  }
  int64_t shape[ASTRA_MAX_RANK];
  ASTRA_TRY(findOutputShape(index, shape));
  Layout layout;
  uint32_t elementBytes = findDtype(leaf.dtype)->bytes;
  ASTRA_TRY(makeDense(leaf.rank, shape, elementBytes, layout));
  if (Ref<Storage> storage = reusable(values, index, leaf.dtype, layout)) {
    output = make<Tensor>(&device, std::move(storage), leaf.dtype, elementBytes,
                          layout, launch.done);
    return {};
  }
  return makeTensor(&device, leaf.dtype, leaf.rank, shape, output, launch.done);
}

Status Caller::makeOutputs(const astra_value_t *values) {
  launch.outputs.resize(desc.out_leaf_count);
  launch.out.resize(desc.out_leaf_count);
  for (uint64_t i = 0; i < desc.out_leaf_count; ++i) {
    Ref<Tensor> output;
    ASTRA_TRY(makeOutput(values, i, output));
    launch.out[i] = {output->data(), output->layout.shape.data(),
                     output->layout.strides.data(), output->dtype,
                     output->layout.rank};
    launch.outputs[i] = std::move(output);
  }
  return {};
}

/// Takes what the call consumes, once all arguments have been found valid.
Status Caller::consume(const astra_value_t *values,
                       const astra_tensor_t *handles) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] && !targets[i]->claim())
      return fail(ASTRA_ERROR_BUSY, "the target of output \"",
                  desc.out_leaves[i].path,
                  "\" was taken by another thread meanwhile");
    claimed = i + 1;
    if (targets[i])
      ASTRA_TRY(runtime.handles.release(Kind::Tensor, handles[i].bits));
  }
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    if (values[i].flags & ASTRA_VALUE_DONATE)
      ASTRA_TRY(
          runtime.handles.release(Kind::Tensor, values[i].as.tensor.bits));
  }
  return {};
}

/// The last step that can fail, and only if another thread began to write an
/// input meanwhile: a refused call leaves its inputs as they were.
Status Caller::sealInputs() const {
  for (const Ref<Tensor> &input : launch.inputs) {
    if (input)
      ASTRA_TRY(input->seal());
  }
  return {};
}

/// Targets that are parts are written by the call's work, or, if the call came
/// to nothing, by none: whoever waits for the whole must not wait for it.
void Caller::closeTargets(const Ref<Completion> &work) const {
  for (size_t i = 0; i < claimed; ++i) {
    if (targets[i])
      targets[i]->close(work);
  }
}

void withdraw(astra_runtime &runtime, astra_tensor_t *outputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Status ignored = runtime.handles.release(Kind::Tensor, outputs[i].bits);
    outputs[i].bits = 0;
  }
}

/// Gives out handles for all outputs, or for none.
Status publish(astra_runtime &runtime, const Launch &launch,
               astra_tensor_t *outputs) {
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    Status status = runtime.insert(launch.outputs[i], outputs[i]);
    if (status.ok())
      continue;
    withdraw(runtime, outputs, i);
    return status;
  }
  return {};
}

Status readCallOptions(const astra_call_options_t *options,
                       astra_call_options_t &given) {
  given = {};
  if (options)
    ASTRA_TRY(readStruct(ASTRA_STRUCT_INFO(CALL_OPTIONS, astra_call_options_t),
                         options, &given));
  if (given.flags)
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "the call flags ", given.flags,
                " are unknown; set 0");
  return {};
}

Status call(astra_runtime &runtime, const Function &function, Stream &stream,
            const astra_call_options_t &options, const astra_value_t *inputs,
            size_t inputCount, astra_tensor_t *outputs, size_t outputCount) {
  const astra_export_desc_t &desc = function.desc;
  if (function.module->isInspected())
    return fail(ASTRA_ERROR_INVALID_ARGUMENT, "function \"", desc.name,
                "\" is of a module that was inspected, not loaded: it can be "
                "described, but not called");
  if (outputCount != desc.out_leaf_count)
    return fail(ASTRA_ERROR_COUNT_MISMATCH, "function \"", desc.name,
                "\" gives ", desc.out_leaf_count,
                " outputs, but there is room "
                "for ",
                outputCount);
  std::unique_ptr<Launch> work(new Launch); // its rows stay unset
  Launch &launch = *work;
  Caller caller(runtime, function, stream.getDevice(), launch);
  ASTRA_TRY(stream.getDevice().accept(launch));
  ASTRA_TRY(caller.takeInputs(inputs, inputCount));
  ASTRA_TRY(caller.findDims());
  ASTRA_TRY(caller.checkExtents());
  ASTRA_TRY(caller.evaluateSizes());
  ASTRA_TRY(caller.checkDonations(inputs));
  ASTRA_TRY(caller.takeTargets(options));
  launch.done = make<Completion>(Ref<Timeline>(&stream));
  Status made = guarded([&]() -> Status {
    ASTRA_TRY(caller.consume(inputs, options.targets));
    ASTRA_TRY(caller.makeOutputs(inputs));
    ASTRA_TRY(publish(runtime, launch, outputs));
    Status sealed = caller.sealInputs();
    if (!sealed.ok())
      withdraw(runtime, outputs, outputCount);
    return sealed;
  });
  if (!made.ok()) {
    caller.closeTargets({});
    return made;
  }
  stream.submit(std::move(work), [&] { caller.closeTargets(launch.done); });
  return {};
}

} // namespace

} // namespace astra

using namespace astra;

astra_status_t astra_function_call(astra_runtime_t *runtime,
                                   astra_function_t function,
                                   astra_stream_t stream,
                                   const astra_call_options_t *options,
                                   const astra_value_t *inputs,
                                   size_t input_count, astra_tensor_t *outputs,
                                   size_t output_count, astra_error_t **error) {
  astra_status_t status = boundary(error, [&]() -> Status {
    ASTRA_TRY(needWorking(runtime));
    if (output_count)
      ASTRA_TRY(need(outputs, "outputs"));
    Ref<Function> callee;
    Ref<Stream> queue;
    ASTRA_TRY(runtime->get(function, callee));
    ASTRA_TRY(runtime->get(stream, queue));
    astra_call_options_t given;
    ASTRA_TRY(readCallOptions(options, given));
    return call(*runtime, *callee, *queue, given, inputs, input_count, outputs,
                output_count);
  });
  // Not before: the targets may stand in the same array.
  if (status != ASTRA_OK && outputs)
    std::fill_n(outputs, output_count, astra_tensor_t{0});
  return status;
}
