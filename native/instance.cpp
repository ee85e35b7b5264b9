// Building an instance: a plan for one exact key. Everything that depends on sizes is computed and checked here, so
// that replaying only follows pointers.
#include <algorithm>

#include "instance.h"

namespace rushlight {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kFar = int64_t(1) << 48;  // elements; beyond the address space

class InstanceBuilder : public Workspace {
 public:
  InstanceBuilder(PlanObject *plan, const Call &call, const std::vector<int64_t> &slots)
      : plan_(*plan->plan), call_(call), slots_(slots), instance_(std::make_unique<Instance>()) {
    instance_->target = Py_NewRef(reinterpret_cast<PyObject *>(plan));
    instance_->plan = &plan_;
  }

  std::unique_ptr<Instance> build() {
    choose_device();
    for (const Buffer &buffer : plan_.buffers) add_place(buffer);
    for (int s = 0; s < int(plan_.steps.size()); ++s) {
      step_ = s;
      copies_.clear();
      if (instance_->run) build_step(plan_.steps[s]);
    }
    place_temporaries();
    for (const Output &output : plan_.outputs) add_output(output);
    instance_->simple = is_simple();
    if (plan_.recipe) {
      for (const Recipe::Saved &saved : plan_.recipe->saved) {
        if (saved.kind == 4) instance_->saved_ints.push_back(slots_[saved.index]);
      }
    }
    return std::move(instance_);
  }

  int add_buffer(int64_t bytes) override {
    instance_->places.push_back({Instance::Place::Temporary, nullptr, bytes, 0});
    lifetimes_.push_back({step_, step_});
    return plan_.inputs + int(instance_->places.size()) - 1;
  }
  void add_launch(Launch launch) override {
    if (auto *gemm = std::get_if<GemmLaunch>(&launch)) {
      double work = double(gemm->m) * double(gemm->n) * double(gemm->k);
      for (int64_t size : gemm->batch) work *= double(size);
      instance_->work += work;
    } else if (auto *contraction = std::get_if<ContractionLaunch>(&launch)) {
      instance_->work += contraction->work;
    } else if (auto *spread = std::get_if<SpreadLaunch>(&launch)) {
      instance_->work += spread->work;
    } else if (auto *scatter = std::get_if<ScatterLaunch>(&launch)) {
      instance_->work += scatter->work;
    } else if (auto *copy = std::get_if<CopyLaunch>(&launch)) {
      instance_->work += double(element_count(copy->sizes));
    }
    instance_->launches.push_back(std::move(launch));
  }

 private:
  void choose_device() {
    device_ = plan_.device;
    for (const Tensor *tensor : call_.tensors) {
      if (device_ < 0 || tensor->meta->device > device_) device_ = tensor->meta->device;
    }
    device_ = std::max(device_, 0);
    instance_->run = device_ == 0;
  }

  bool is_simple() const {
    const auto &launches = instance_->launches;
    return instance_->run && launches.size() == 1 && std::holds_alternative<KernelLaunch>(launches[0]) &&
           instance_->work <= kReleaseWork && plan_.mutated.empty() && !plan_.recipe &&
           instance_->places.size() == 1 && plan_.outputs.size() == 1 && plan_.outputs[0].kind == Output::Buffer &&
           plan_.result_kind == ResultKind::Single;
  }

  // ---------------------------------------------------------------- buffers

  void add_place(const Buffer &buffer) {
    std::vector<int64_t> sizes;
    for (int slot : buffer.sizes) sizes.push_back(slots_[slot]);
    Meta *meta;
    if (buffer.kind == Buffer::Contiguous) {
      meta = meta_contiguous(buffer.dtype, device_, int(sizes.size()), sizes.data());
    } else {
      for (int64_t size : sizes) {
        if (size < 0) fail(PyExc_RuntimeError, "plan: a buffer of sizes %s", text_of_sizes(sizes).c_str());
      }
      std::vector<int64_t> strides =
          buffer.kind == Buffer::Order ? dense_strides(sizes, buffer.layout) : strides_by_operands(buffer, sizes);
      meta = meta_intern(buffer.dtype, device_, int(sizes.size()), sizes.data(), strides.data());
    }
    if (!meta) throw Failure();
    Instance::Place place{Instance::Place::Temporary, meta, meta->numel * itemsize(meta->dtype), 0};
    if (buffer.output) place.kind = Instance::Place::Tensor;
    else if (buffer.storage) place.kind = Instance::Place::Storage;
    instance_->places.push_back(place);
    lifetimes_.push_back({buffer.first_step, buffer.last_step});
  }

  std::vector<int64_t> strides_by_operands(const Buffer &buffer, const std::vector<int64_t> &sizes) {
    std::vector<Layout> operands;
    for (int index : buffer.layout) {
      const View &view = plan_.views[index];
      Layout layout = layout_of(meta_of(view.buffer));
      for (size_t i = 0; (i = apply_chain(view, slots_, i, layout)) < view.chain.size();) {
        layout.strides = contiguous_strides(layout.sizes);  // as after the copy that the reshape needs
      }
      if (buffer.kind == Buffer::Like) check_broadcast(layout.sizes, sizes);
      operands.push_back(std::move(layout));
    }
    return buffer.kind == Buffer::Like ? elementwise_strides(sizes, operands) : channels_strides(sizes, operands);
  }
  static void check_broadcast(const std::vector<int64_t> &from, const std::vector<int64_t> &to) {
    bool possible = from.size() <= to.size();
    for (size_t d = 0; possible && d < from.size(); ++d) {
      possible = from[d] == 1 || from[d] == to[to.size() - from.size() + d];
    }
    if (!possible) {
      fail(PyExc_RuntimeError, "plan: an operand of sizes %s decides on the layout of sizes %s",
           text_of_sizes(from).c_str(), text_of_sizes(to).c_str());
    }
  }

  const Meta *meta_of(int buffer) const {
    return buffer < plan_.inputs ? call_.tensors[buffer]->meta : instance_->places[buffer - plan_.inputs].meta;
  }

  // Temporaries whose steps do not overlap share memory if they have the same size.
  void place_temporaries() {
    struct Block {
      int64_t bytes, offset;
      int last_step;
    };
    std::vector<Block> blocks;
    std::vector<size_t> order;
    for (size_t i = 0; i < instance_->places.size(); ++i) {
      if (instance_->places[i].kind == Instance::Place::Temporary && lifetimes_[i].first >= 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return lifetimes_[a].first < lifetimes_[b].first; });
    for (size_t i : order) {
      Instance::Place &place = instance_->places[i];
      auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Block &candidate) {
        return candidate.bytes == place.bytes && candidate.last_step < lifetimes_[i].first;
      });
      if (block == blocks.end()) {
        block = blocks.insert(blocks.end(), {place.bytes, instance_->arena, 0});
        int64_t rounded;
        if (__builtin_add_overflow(place.bytes, kLine - 1, &rounded) ||
            __builtin_add_overflow(instance_->arena, rounded / kLine * kLine, &instance_->arena)) {
          fail(PyExc_MemoryError, "temporaries need more than 2^63 bytes");
        }
      }
      block->last_step = lifetimes_[i].second;
      place.offset = block->offset;
    }
  }

  // ---------------------------------------------------------------- views

  Resolved resolve(int index) {
    const View &view = plan_.views[index];
    const Meta *meta = meta_of(view.buffer);
    return {view.buffer, meta->dtype, layout_of(meta)};
  }
  // Along a dim of one element, and in a tensor without any, strides may be anything. Those that no memory has are never
  // used: steps must not overflow when they compute with them.
  static Resolved settled(Resolved view) {
    auto settle = [](int64_t &elements) {
      if (elements > kFar || elements < -kFar) elements = 0;
    };
    settle(view.layout.offset);
    for (int64_t &stride : view.layout.strides) settle(stride);
    return view;
  }
  Resolved target(int index) { return settled(written(index)); }
  Resolved source(int index) { return settled(read(index)); }
  // A view that is written: it must lie in its buffer.
  Resolved written(int index) {
    Resolved resolved = resolve(index);
    if (apply_chain(plan_.views[index], slots_, 0, resolved.layout) < plan_.views[index].chain.size()) {
      fail(PyExc_RuntimeError, "plan: a result cannot be written through a reshape of sizes %s with strides %s",
           text_of_sizes(resolved.layout.sizes).c_str(), text_of_sizes(resolved.layout.strides).c_str());
    }
    return resolved;
  }
  // A view that is read: a reshape that is no view reads from a contiguous copy.
  Resolved read(int index) {
    if (auto copied = copies_.find(index); copied != copies_.end()) return copied->second;
    Resolved resolved = resolve(index);
    const View &view = plan_.views[index];
    bool in_place = true;
    for (size_t i = 0; (i = apply_chain(view, slots_, i, resolved.layout)) < view.chain.size(); in_place = false) {
      resolved = contiguous_copy(resolved);
    }
    if (!in_place) copies_.emplace(index, resolved);
    return resolved;
  }
  Resolved contiguous_copy(const Resolved &from) {
    Resolved copy{add_buffer(element_count(from.layout.sizes) * itemsize(from.dtype)), from.dtype, from.layout};
    copy.layout.offset = 0;
    copy.layout.strides = contiguous_strides(copy.layout.sizes);
    add_launch(copy_between(settled(from), copy));
    return copy;
  }

  // ---------------------------------------------------------------- steps

  void build_step(const Step &step) {
    switch (step.kind) {
      case Step::RunKernel: return build_kernel(step);
      case Step::Gemm:
        return build_gemm(source(step.views[0]), source(step.views[1]), target(step.views[2]), *this);
      case Step::Contract:
        return build_contraction(source(step.views[0]), source(step.views[1]), target(step.views[2]), step.inner,
                                 *this);
      case Step::Spread:
        return build_spread(source(step.views[0]), source(step.views[1]), target(step.views[2]), target(step.views[3]),
                            *this);
      case Step::Scatter: return build_scatter_step(step);
      case Step::Copy: return build_copy(step);
      case Step::Random:
        return add_launch(RandomLaunch{step.buffer, step.bits, meta_of(step.buffer)->numel, step.object});
      case Step::Host: return build_host(step);
    }
  }

  void build_kernel(const Step &step) {
    auto *object = reinterpret_cast<KernelObject *>(step.object);
    std::vector<int64_t> domain;
    for (int slot : step.domain) {
      domain.push_back(slots_[slot]);
      if (domain.back() < 0) fail(PyExc_RuntimeError, "plan: a kernel over sizes %s", text_of_sizes(domain).c_str());
    }
    std::vector<DomainOperand> operands;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      operands.push_back(place_operand(step.operands[i], object->kernel->operands[i], domain));
    }
    KernelLaunch launch;
    for (const KernelInt &value : step.ints) launch.ints.push_back(kernel_int(value));
    for (size_t i = 0; i < step.scalars.size(); ++i) {
      if (step.scalars[i] != int(i)) launch.scalars = step.scalars;
    }
    if (!build_kernel_launch(object, domain, operands, launch)) return;
    instance_->work += launch.work;
    add_launch(std::move(launch));
  }

  DomainOperand place_operand(const StepOperand &operand, const KernelOperand &expected,
                              const std::vector<int64_t> &domain) {
    if (operand.view < 0) {
      DomainOperand coordinate{{-1, 0}, std::vector<int64_t>(domain.size(), 0)};
      for (size_t d = 0; d < domain.size(); ++d) {
        if (operand.map[d] == 0 && domain[d] != 1) coordinate.strides[d] = 1;
      }
      return coordinate;
    }
    Resolved view = expected.role == KernelOperand::Write ? target(operand.view) : source(operand.view);
    if (itemsize(view.dtype) != expected.itemsize) {
      fail(PyExc_RuntimeError, "plan: a kernel's operand has items of %lld bytes, not %lld",
           static_cast<long long>(itemsize(view.dtype)), static_cast<long long>(expected.itemsize));
    }
    DomainOperand placed{view.address(), {}};
    for (size_t d = 0; d < domain.size(); ++d) {
      int dim = operand.map[d];
      if (dim >= 0 && (dim >= int(view.layout.sizes.size()) || view.layout.sizes[dim] != domain[d])) {
        fail(PyExc_RuntimeError, "plan: dim %zu of a kernel over sizes %s is dim %d of an operand of sizes %s", d,
             text_of_sizes(domain).c_str(), dim, text_of_sizes(view.layout.sizes).c_str());
      }
      placed.strides.push_back(dim < 0 || domain[d] == 1 ? 0 : view.layout.strides[dim] * itemsize(view.dtype));
    }
    return placed;
  }

  int64_t kernel_int(const KernelInt &value) {
    if (value.slot >= 0) return slots_[value.slot];
    Resolved view = source(value.view);
    if (value.dim >= int(view.layout.strides.size())) {
      fail(PyExc_RuntimeError, "plan: the stride of dim %d of an operand of sizes %s", value.dim,
           text_of_sizes(view.layout.sizes).c_str());
    }
    return view.layout.strides[value.dim] * itemsize(view.dtype);
  }

  void build_scatter_step(const Step &step) {
    std::vector<Resolved> indices;
    for (size_t i = 2; i < step.views.size(); ++i) indices.push_back(source(step.views[i]));
    build_scatter(target(step.views[0]), source(step.views[1]), indices, step.scatter, *this);
  }

  void build_copy(const Step &step) {
    Resolved from = source(step.views[0]), to = target(step.views[1]);
    if (from.dtype != to.dtype || from.layout.sizes != to.layout.sizes) {
      fail(PyExc_RuntimeError, "plan: a copy from sizes %s to sizes %s, or between dtypes",
           text_of_sizes(from.layout.sizes).c_str(), text_of_sizes(to.layout.sizes).c_str());
    }
    add_launch(copy_between(from, to));
  }

  void build_host(const Step &step) {
    std::vector<Resolved> views;
    for (int view : step.views) {
      views.push_back(read(view));
      // A copy is seen by Python too, so it needs a Storage that can outlive the step.
      int place = views.back().buffer - plan_.inputs;
      if (place >= int(plan_.buffers.size())) instance_->places[place].kind = Instance::Place::Storage;
    }
    instance_->calls_python = true;
    instance_->launches.emplace_back(HostLaunch{step.object, {}});
    auto &placed = std::get<HostLaunch>(instance_->launches.back());
    for (const Resolved &view : views) placed.arguments.push_back({meta_for(view), view.address()});
  }

  // ---------------------------------------------------------------- outputs

  Meta *meta_for(const Resolved &view) {
    Meta *meta = meta_intern(view.dtype, device_, int(view.layout.sizes.size()), view.layout.sizes.data(),
                             view.layout.strides.data());
    if (!meta) throw Failure();
    return meta;
  }
  void add_output(const Output &output) {
    if (output.kind != Output::View) return;
    Resolved view = written(output.index);
    instance_->output_views.push_back({meta_for(view), view.address()});
  }

  const Plan &plan_;
  const Call &call_;
  const std::vector<int64_t> &slots_;
  std::unique_ptr<Instance> instance_;
  std::vector<std::pair<int, int>> lifetimes_;  // first and last step of each place
  std::unordered_map<int, Resolved> copies_;    // views that this step reads from copies
  int step_ = 0;
  int device_ = 0;
};

void take_key(const Call &call, Instance &instance) {
  instance.hash = call.hash;
  instance.words.assign(call.words.begin(), call.words.end());
  for (PyObject *object : call.objects) instance.objects.push_back(Py_NewRef(object));
  for (const Tensor *tensor : call.tensors) {
    meta_incref(tensor->meta);
    instance.input_metas.push_back(tensor->meta);
  }
}

}  // namespace

CopyLaunch copy_between(const Resolved &from, const Resolved &to) {
  int64_t item = itemsize(to.dtype);
  CopyLaunch launch{item, to.layout.sizes, {}, {}, to.address(), from.address()};
  for (size_t d = 0; d < launch.sizes.size(); ++d) {
    launch.to_strides.push_back(to.layout.strides[d] * item);
    launch.from_strides.push_back(from.layout.strides[d] * item);
  }
  return launch;
}

Instance::~Instance() {
  for (PyObject *object : objects) Py_DECREF(object);
  for (Meta *meta : input_metas) meta_decref(meta);
  for (Place &place : places) {
    if (place.meta) meta_decref(place.meta);
  }
  for (auto &view : output_views) meta_decref(view.first);
  for (Launch &launch : launches) {
    if (auto *host = std::get_if<HostLaunch>(&launch)) {
      for (auto &argument : host->arguments) meta_decref(argument.first);
    }
  }
  Py_XDECREF(target);
}

Instance *instance_build(PlanObject *plan, const Call &call, const std::vector<int64_t> &slots) {
  InstanceBuilder builder(plan, call, slots);
  std::unique_ptr<Instance> instance = builder.build();
  take_key(call, *instance);
  return instance.release();
}

Instance *instance_direct(DirectObject *direct, const Call &call) {
  auto instance = std::make_unique<Instance>();
  instance->target = Py_NewRef(reinterpret_cast<PyObject *>(direct));
  take_key(call, *instance);
  return instance.release();
}

}  // namespace rushlight
