#include "signature.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "tensor.h"

namespace rushlight {
namespace {

// A key is a sequence of words that can be read from left to right: a tensor is one odd word, everything else starts
// with an even word whose low byte is one of these tags.
enum Tag : uint64_t {
  kNone = 2, kFalse = 4, kTrue = 6,
  kScalarBool = 8, kScalarInt = 10, kScalarFloat = 12, kScalarComplex = 14,  // run-time numbers: kind only
  kSize = 16,      // a Z int; its value follows
  kInt = 18,       // selectors by value
  kFloat = 20, kComplex = 22,
  kObject = 24,    // by identity or equality; a pointer or a hash follows
  kTuple = 26, kList = 28,  // the length is in the upper bits
  kKeyword = 30,   // the parameter's index is in the upper bits
  kAlias = 32,     // the pair follows
};
constexpr uint64_t tag_of(uint64_t word) { return word & 0xff; }
constexpr uint64_t with_payload(Tag tag, uint64_t payload) { return payload << 8 | tag; }
constexpr int kMaxDepth = 32;

int words_after(uint64_t tag) {
  switch (tag) {
    case kSize: case kInt: case kFloat: case kObject: case kAlias: return 1;
    case kComplex: return 2;
    default: return 0;
  }
}

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

bool fits_int64(PyObject *object, int64_t *value) {
  int overflow;
  *value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return !overflow;
}

class KeyBuilder {
 public:
  KeyBuilder(Call &call) : call_(call), grad_enabled_(thread_state.grad_enabled) {}

  void add_mode() { call_.words.push_back(mode_word()); }

  // The most frequent calls: a few tensors that are only read. Returns how many arguments were taken.
  size_t add_leading_tensors(const Parameter *parameters, PyObject *const *args, size_t count) {
    constexpr size_t kFew = 8;
    static_assert(kFew < Call::kInlineTensors);
    uint64_t *words = call_.words.data() + 1;
    Tensor **tensors = call_.tensors.data();
    size_t i = 0;
    for (; i < count && i < kFew && parameters[i].mode == 'T' && !parameters[i].mutated; ++i) {
      if (!tensor_exact(args[i])) break;
      tensors[i] = reinterpret_cast<Tensor *>(args[i]);
      words[i] = tensor_word(tensors[i]);
    }
    call_.words.resize(1 + i);
    call_.tensors.resize(i);
    return i;
  }

  KeyStatus add(const Parameter &parameter, PyObject *object, int depth = 0) {
    if (tensor_exact(object)) return add_tensor(parameter, reinterpret_cast<Tensor *>(object));
    if (object == Py_None) return add_word(kNone);
    if (PyTuple_Check(object) || PyList_Check(object)) return add_sequence(parameter, object, depth);
    switch (parameter.mode) {
      case 'T': return add_operand(object);
      case 'Z': return add_size(object);
      default: return add_selector(object);
    }
  }

 private:
  KeyStatus add_word(uint64_t word) {
    call_.words.push_back(word);
    return KeyStatus::Keyed;
  }
  KeyStatus add_words(uint64_t first, uint64_t second) {
    call_.words.push_back(first);
    call_.words.push_back(second);
    return KeyStatus::Keyed;
  }

  static uint64_t mode_word() {
    return uint64_t(default_dtype) << 56 | uint64_t(global_mode_bits & 0xffffff) << 32 | thread_state.mode_bits;
  }
  uint64_t tensor_word(const Tensor *tensor) const {
    bool needs_gradient = tensor->autograd && grad_enabled_ && requires_grad(tensor);
    return reinterpret_cast<uint64_t>(tensor->meta) | 1 | uint64_t(needs_gradient) << 1;
  }

  KeyStatus add_tensor(const Parameter &parameter, Tensor *tensor) {
    if (parameter.mode != 'T') return KeyStatus::Fallback;
    if (parameter.mutated) call_.mutated.push_back(int(call_.tensors.size()));
    call_.tensors.push_back(tensor);
    return add_word(tensor_word(tensor));
  }

  KeyStatus add_sequence(const Parameter &parameter, PyObject *sequence, int depth) {
    if (depth == kMaxDepth) return KeyStatus::Fallback;
    bool list = PyList_Check(sequence);
    Py_ssize_t length = list ? PyList_GET_SIZE(sequence) : PyTuple_GET_SIZE(sequence);
    call_.words.push_back(with_payload(list ? kList : kTuple, uint64_t(length)));
    for (Py_ssize_t i = 0; i < length; ++i) {
      // Hashing an earlier item may have run code that shortened the list.
      if (list && i >= PyList_GET_SIZE(sequence)) return KeyStatus::Fallback;
      PyObject *item = list ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i);
      call_.held.push_back(Py_NewRef(item));
      KeyStatus status = add(parameter, item, depth + 1);
      if (status != KeyStatus::Keyed) return status;
    }
    return KeyStatus::Keyed;
  }

  KeyStatus add_operand(PyObject *object) {
    if (PyFloat_Check(object)) return add_scalar(kScalarFloat, 'f', bits_of(PyFloat_AS_DOUBLE(object)));
    if (PyBool_Check(object)) return add_scalar(kScalarBool, 'b', object == Py_True);
    if (PyLong_Check(object)) {
      int64_t value;
      if (!fits_int64(object, &value)) return KeyStatus::Fallback;
      return add_scalar(kScalarInt, 'i', uint64_t(value));
    }
    if (PyComplex_Check(object)) {
      add_scalar(kScalarComplex, 'c', bits_of(PyComplex_RealAsDouble(object)));
      call_.scalars.push_back(int64_t(bits_of(PyComplex_ImagAsDouble(object))));
      call_.kinds.push_back('-');
      return KeyStatus::Keyed;
    }
    return add_plain_object(object);
  }
  KeyStatus add_scalar(Tag tag, char kind, uint64_t word) {
    call_.scalars.push_back(int64_t(word));
    call_.kinds.push_back(kind);
    return add_word(tag);
  }

  KeyStatus add_size(PyObject *object) {
    if (PyBool_Check(object)) return add_word(object == Py_True ? kTrue : kFalse);
    if (PyLong_Check(object)) {
      int64_t value;
      if (!fits_int64(object, &value)) return KeyStatus::Fallback;
      call_.ints.push_back(value);
      return add_words(kSize, uint64_t(value));
    }
    if (PyFloat_CheckExact(object)) return add_words(kFloat, bits_of(PyFloat_AS_DOUBLE(object)));
    return add_plain_object(object);
  }

  // Strings and dtypes may stand where a number or size is expected; anything else may be a tracer.
  KeyStatus add_plain_object(PyObject *object) {
    DType dtype;
    if (PyUnicode_CheckExact(object) || dtype_from_object(object, &dtype)) return add_object(object);
    return KeyStatus::Fallback;
  }

  KeyStatus add_selector(PyObject *object) {
    if (PyBool_Check(object)) return add_word(object == Py_True ? kTrue : kFalse);
    if (PyLong_CheckExact(object)) {
      int64_t value;
      if (!fits_int64(object, &value)) return KeyStatus::Fallback;
      return add_words(kInt, uint64_t(value));
    }
    if (PyFloat_CheckExact(object)) return add_words(kFloat, bits_of(PyFloat_AS_DOUBLE(object)));
    if (PyComplex_CheckExact(object)) {
      add_words(kComplex, bits_of(PyComplex_RealAsDouble(object)));
      return add_word(bits_of(PyComplex_ImagAsDouble(object)));
    }
    if (tensor_check(object)) return KeyStatus::Fallback;
    return add_object(object);
  }

  KeyStatus add_object(PyObject *object) {
    uint64_t word = reinterpret_cast<uint64_t>(object);
    if (Py_TYPE(object)->tp_richcompare != PyBaseObject_Type.tp_richcompare) {
      Py_hash_t hash = PyObject_Hash(object);
      if (hash == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return KeyStatus::Error;
        PyErr_Clear();  // not hashable
        return KeyStatus::Fallback;
      }
      word = uint64_t(hash);
    }
    call_.objects.push_back(object);
    return add_words(kObject, word);
  }

  Call &call_;
  bool grad_enabled_;
};

int find_parameter(const Signature &signature, PyObject *name) {
  int count = int(signature.parameters.size());
  for (int i = 0; i < count; ++i) {
    if (signature.parameters[i].name == name) return i;  // names in calls are interned
  }
  for (int i = 0; i < count; ++i) {
    if (PyUnicode_Compare(signature.parameters[i].name, name) == 0) return i;
  }
  return -1;
}

// ---------------------------------------------------------------- memory shared with a written tensor

// 0: none; -1 with an error set for an overlap that PyTorch rejects.
int relation_of(const char *name, const Tensor *written, const Tensor *other) {
  if (written->data == other->data && written->meta == other->meta) return Alias::Same;
  if (!written->meta->numel || !other->meta->numel) return 0;
  int64_t low_a, high_a, low_b, high_b;
  meta_extent(written->meta, &low_a, &high_a);
  meta_extent(other->meta, &low_b, &high_b);
  if (written->data + high_a <= other->data + low_b || other->data + high_b <= written->data + low_a) return 0;
  bool dense = (written->meta->flags & kDense) && (other->meta->flags & kDense);
  const Meta *a = written->meta, *b = other->meta;
  bool same_places = written->data + low_a == other->data + low_b && written->data + high_a == other->data + high_b &&
                     a->ndim == b->ndim && std::equal(a->strides(), a->strides() + a->ndim, b->strides());
  if (!dense || same_places) return Alias::Overlap;
  PyErr_Format(PyExc_RuntimeError,
               "%s: unsupported operation: the written tensor shares some elements with another argument, so that two "
               "results would belong in a single memory location. Please clone() one of them.", name);
  return -1;
}

bool add_alias(const char *name, Call &call, int mutated, int other) {
  int relation = relation_of(name, call.tensors[mutated], call.tensors[other]);
  if (relation > 0) call.aliases.push_back({mutated, other, relation});
  return relation >= 0;
}

bool is_mutated(const Call &call, int tensor) {
  return std::binary_search(call.mutated.begin(), call.mutated.end(), tensor);
}

bool find_aliases_directly(const char *name, Call &call) {
  for (int mutated : call.mutated) {
    const Storage *storage = storage_memory(call.tensors[mutated]->storage);
    for (int other = 0; other < int(call.tensors.size()); ++other) {
      if (other == mutated || !storage || storage_memory(call.tensors[other]->storage) != storage) continue;
      if (other < mutated && is_mutated(call, other)) continue;  // each pair once
      if (!add_alias(name, call, mutated, other)) return false;
    }
  }
  return true;
}

// The same for long lists (an optimizer's step): group the tensors by storage first.
bool find_aliases_by_storage(const char *name, Call &call) {
  std::vector<int> order;
  for (int i = 0; i < int(call.tensors.size()); ++i) {
    if (call.tensors[i]->storage) order.push_back(i);
  }
  auto memory = [&call](int i) { return storage_memory(call.tensors[i]->storage); };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::make_pair(memory(a), a) < std::make_pair(memory(b), b); });
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size(); ++end) {
      if (memory(order[end]) != memory(order[begin])) break;
    }
    for (size_t a = begin; a < end && end - begin > 1; ++a) {
      if (!is_mutated(call, order[a])) continue;
      for (size_t b = begin; b < end; ++b) {
        if (a == b || (b < a && is_mutated(call, order[b]))) continue;
        if (!add_alias(name, call, order[a], order[b])) return false;
      }
    }
  }
  std::sort(call.aliases.begin(), call.aliases.end(), [](const Alias &a, const Alias &b) {
    return std::make_pair(a.mutated, a.other) < std::make_pair(b.mutated, b.other);
  });
  return true;
}

bool add_aliases(const char *name, bool fills, Call &call) {
  for (int mutated : call.mutated) {
    if (fills || !(call.tensors[mutated]->meta->flags & kOverlapping)) continue;
    PyErr_Format(PyExc_RuntimeError,
                 "%s: unsupported operation: several elements of the written tensor have a single memory location, as "
                 "after expand(). Please clone() it.", name);
    return false;
  }
  bool few = call.mutated.size() * call.tensors.size() <= 256;
  if (!(few ? find_aliases_directly(name, call) : find_aliases_by_storage(name, call))) return false;
  for (const Alias &alias : call.aliases) {
    call.words.push_back(kAlias);
    call.words.push_back(uint64_t(alias.mutated) << 34 | uint64_t(alias.other) << 4 | uint64_t(alias.relation));
  }
  return true;
}

}  // namespace

// ---------------------------------------------------------------- signatures

void Signature::clear() {
  for (Parameter &parameter : parameters) Py_DECREF(parameter.name);
  parameters.clear();
  variadic = -1;
  mutates = false;
}

void Signature::parse(PyObject *tuple) {
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "parameters must be a tuple of (name, mode)");
    throw Failure();
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject *name;
    const char *mode;
    PyObject *item = PyTuple_GET_ITEM(tuple, i);
    if (!PyTuple_Check(item)) {
      PyErr_SetString(PyExc_TypeError, "each parameter must be a tuple (name, mode)");
      throw Failure();
    }
    if (!PyArg_ParseTuple(item, "Us;each parameter must be (name, mode)", &name, &mode)) throw Failure();
    std::string text = mode;
    bool variadic_mode = !text.empty() && text.back() == '*';
    if (variadic_mode) text.pop_back();
    if (text == "T!!") {
      fills = true;
      text.pop_back();
    }
    if ((text != "T" && text != "T!" && text != "S" && text != "Z") || (variadic_mode && variadic >= 0)) {
      PyErr_Format(PyExc_ValueError, "parameter %R: mode %s is not one of T T! T!! S Z (with * for one of them)", name,
                   mode);
      throw Failure();
    }
    if (variadic_mode) variadic = int(i);
    bool mutated = text == "T!";
    mutates |= mutated;
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    parameters.push_back({name, text[0], mutated});
  }
}

// ---------------------------------------------------------------- keys

// The multiplications do not depend on each other; the last one spreads all bits over the result.
uint64_t hash_words(const uint64_t *words, size_t count) {
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15u, kSecond = 0xd6e8feb86659fd93u;
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i) hash = std::rotl(hash, 23) + words[i] * kFirst;
  unsigned __int128 product = static_cast<unsigned __int128>(hash ^ hash >> 32) * kSecond;
  return uint64_t(product) ^ uint64_t(product >> 64);
}

KeyStatus build_key(const Signature &signature, const char *name, PyObject *const *args, size_t count,
                    PyObject *keyword_names, Call &call) {
  KeyBuilder builder(call);
  builder.add_mode();
  const Parameter *parameters = signature.parameters.data();
  size_t positional = signature.parameters.size(), variadic = SIZE_MAX;
  if (signature.variadic >= 0) {
    variadic = size_t(signature.variadic);
  } else if (count > positional) {
    return KeyStatus::Unbound;
  }
  size_t taken = builder.add_leading_tensors(parameters, args, std::min(count, variadic));
  for (size_t i = taken; i < count; ++i) {
    KeyStatus status = builder.add(parameters[i < variadic ? i : variadic], args[i]);
    if (status != KeyStatus::Keyed) return status;
  }
  size_t keywords = keyword_names ? size_t(PyTuple_GET_SIZE(keyword_names)) : 0;
  for (size_t k = 0; k < keywords; ++k) {
    int index = find_parameter(signature, PyTuple_GET_ITEM(keyword_names, Py_ssize_t(k)));
    if (index < 0) return KeyStatus::Unbound;
    call.words.push_back(with_payload(kKeyword, uint64_t(index)));
    KeyStatus status = builder.add(parameters[index], args[count + k]);
    if (status != KeyStatus::Keyed) return status;
  }
  if (!call.mutated.empty() && !add_aliases(name, signature.fills, call)) return KeyStatus::Error;
  call.hash = hash_words(call.words.data(), call.words.size());
  return KeyStatus::Keyed;
}

// Sizes other than 0 and 1 become the number of their equality class; so do size ints above 1.
void structural_key(const Call &call, StructuralKey &key) {
  std::unordered_map<int64_t, uint64_t> classes;
  auto class_of = [&](int64_t size) { return classes.emplace(size, classes.size()).first->second; };
  key.push_back(call.words[0]);
  for (size_t i = 1; i < call.words.size(); ++i) {
    uint64_t word = call.words[i];
    if (word & 1) {
      const Meta *meta = reinterpret_cast<const Meta *>(word & ~uint64_t(3));
      key.push_back(uint64_t(meta->device) << 2 | (word & 3));
      key.push_back(meta->structure);
      for (int d = 0; d < meta->ndim; ++d) {
        if (meta->sizes()[d] > 1) key.push_back(class_of(meta->sizes()[d]));
      }
    } else if (word == kSize) {
      int64_t value = int64_t(call.words[++i]);
      key.push_back(value > 1 ? kSize : kInt);
      key.push_back(value > 1 ? class_of(value) : uint64_t(value));
    } else {
      key.push_back(word);
      for (int following = words_after(tag_of(word)); following > 0; --following) key.push_back(call.words[++i]);
    }
  }
}

int objects_equal(PyObject *const *a, PyObject *const *b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue;
    if (Py_TYPE(a[i]) != Py_TYPE(b[i])) return 0;
    int equal = PyObject_RichCompareBool(a[i], b[i], Py_EQ);
    if (equal <= 0) return equal;
  }
  return 1;
}

}  // namespace rushlight
