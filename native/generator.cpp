// The random number generator: MT19937, seeded and read as PyTorch's CPU generator is, so that equal seeds give equal
// streams and saved states can be exchanged.
#include "services.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace rushlight {
namespace {

constexpr int kWords = 624, kShift = 397;
constexpr uint64_t kDefaultSeed = 67280421310721;

class MersenneTwister {
 public:
  void seed(uint32_t value) {
    words_[0] = value;
    for (int i = 1; i < kWords; ++i) words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + uint32_t(i);
    position_ = kWords;
    fresh_ = true;
  }

  void fill(uint32_t *out, int64_t count) {
    while (count > 0) {
      if (position_ == kWords) advance();
      int64_t taken = std::min<int64_t>(count, kWords - position_);
      const uint32_t *words = words_ + position_;
      for (int64_t i = 0; i < taken; ++i) out[i] = temper(words[i]);
      position_ += int(taken);
      out += taken;
      count -= taken;
    }
  }

  // The saved form counts the words left before the next block (1: none) and names the next word.
  uint32_t left() const { return position_ == kWords ? 1 : uint32_t(kWords + 1 - position_); }
  uint64_t next() const { return fresh_ ? 0 : uint64_t(position_); }
  uint32_t word(int i) const { return words_[i]; }

  // False if the numbers are not a state.
  bool restore(uint32_t left, uint64_t next, const uint64_t *words) {
    bool fresh = left == 1 && next == 0;
    if (!fresh && (next < 1 || next > kWords || left != kWords + 1 - next)) return false;
    for (int i = 0; i < kWords; ++i) words_[i] = uint32_t(words[i]);
    position_ = fresh ? kWords : int(next);
    fresh_ = fresh;
    return true;
  }

 private:
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static uint32_t twist(uint32_t high, uint32_t low) {
    return (((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1) ^ (-(low & 1) & 0x9908b0dfu);
  }

  // The next block of words.
  void advance() {
    for (int i = 0; i < kWords - kShift; ++i) words_[i] = words_[i + kShift] ^ twist(words_[i], words_[i + 1]);
    for (int i = kWords - kShift; i < kWords - 1; ++i) {
      words_[i] = words_[i + kShift - kWords] ^ twist(words_[i], words_[i + 1]);
    }
    words_[kWords - 1] = words_[kShift - 1] ^ twist(words_[kWords - 1], words_[0]);
    position_ = 0;
    fresh_ = false;
  }

  uint32_t words_[kWords];
  int position_ = kWords;
  bool fresh_ = true;  // no number drawn since seeding
};

// PyTorch's layout of a saved state.
struct SavedState {
  uint64_t seed;
  int32_t left, seeded;
  uint64_t next, words[kWords];
  double unused_x, normal, unused_rho;
  int32_t has_normal;
  int32_t padding;
  float unused_normal;
  bool has_unused_normal;
};
static_assert(sizeof(SavedState) == 5056);

}  // namespace

struct Generator {
  PyObject_HEAD
  MersenneTwister engine;
  uint64_t seed;
  double next_normal;
  bool has_next_normal;

  void reseed(uint64_t value) {
    seed = value;
    engine.seed(uint32_t(value));
    has_next_normal = false;
  }
};

PyTypeObject GeneratorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

PyObject *default_generator = nullptr;

Generator *as_generator(PyObject *object) { return reinterpret_cast<Generator *>(object); }

// -1 with an error set unless `device` is None or names the CPU.
int check_device(PyObject *device) {
  if (device == Py_None) return 0;
  PyObject *text = PyObject_Str(device);
  if (!text) return -1;
  bool cpu = PyUnicode_CompareWithASCIIString(text, "cpu") == 0 || PyUnicode_CompareWithASCIIString(text, "cpu:0") == 0;
  if (!cpu) PyErr_Format(PyExc_RuntimeError, "Generator: device %R has no generator; use device='cpu'", text);
  Py_DECREF(text);
  return cpu ? 0 : -1;
}

PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static const char *names[] = {"device", nullptr};
  PyObject *device = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", const_cast<char **>(names), &device)) return nullptr;
  if (check_device(device) < 0) return nullptr;
  PyObject *self = type->tp_alloc(type, 0);
  if (self) as_generator(self)->reseed(kDefaultSeed);
  return self;
}

PyObject *generator_manual_seed(PyObject *self, PyObject *argument) {
  if (!PyIndex_Check(argument) || PyBool_Check(argument)) {
    return PyErr_Format(PyExc_RuntimeError, "manual_seed expected a long, but got %s", Py_TYPE(argument)->tp_name);
  }
  PyObject *number = PyNumber_Index(argument);
  if (!number) return nullptr;
  int overflow;
  uint64_t seed = uint64_t(PyLong_AsLongLongAndOverflow(number, &overflow));
  if (overflow > 0) seed = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Format(PyExc_ValueError, "manual_seed: the seed %R does not fit into 64 bits", argument);
    return nullptr;
  }
  as_generator(self)->reseed(seed);
  return Py_NewRef(self);
}

PyObject *generator_seed(PyObject *self, PyObject *) try {
  std::random_device source;
  uint64_t seed = uint64_t(source()) << 32 | source();
  as_generator(self)->reseed(seed);
  return PyLong_FromUnsignedLongLong(seed);
} catch (const std::exception &error) {
  return PyErr_Format(PyExc_RuntimeError, "seed: the system gives no random numbers: %s", error.what());
}

PyObject *generator_initial_seed(PyObject *self, PyObject *) {
  return PyLong_FromUnsignedLongLong(as_generator(self)->seed);
}

PyObject *generator_get_state(PyObject *self, PyObject *) {
  const Generator *g = as_generator(self);
  SavedState state;
  std::memset(static_cast<void *>(&state), 0, sizeof state);
  state.seed = g->seed;
  state.left = int32_t(g->engine.left());
  state.seeded = 1;
  state.next = g->engine.next();
  for (int i = 0; i < kWords; ++i) state.words[i] = g->engine.word(i);
  state.has_normal = g->has_next_normal;
  if (g->has_next_normal) state.normal = g->next_normal;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(&state), sizeof state);
}

PyObject *generator_set_state(PyObject *self, PyObject *argument) {
  Py_buffer view;
  if (PyObject_GetBuffer(argument, &view, PyBUF_SIMPLE) < 0) return nullptr;
  SavedState state;
  Py_ssize_t bytes = view.len;
  if (bytes == sizeof state) std::memcpy(static_cast<void *>(&state), view.buf, sizeof state);
  PyBuffer_Release(&view);
  if (bytes != sizeof state) {
    return PyErr_Format(PyExc_RuntimeError, "the state of a generator has %zu bytes, not %zd; pass what get_state() "
                        "returned", sizeof state, bytes);
  }
  Generator *g = as_generator(self);
  if (state.seeded != 1 || !g->engine.restore(uint32_t(state.left), state.next, state.words)) {
    PyErr_SetString(PyExc_RuntimeError, "Invalid mt19937 state; pass what get_state() returned");
    return nullptr;
  }
  g->seed = state.seed;
  g->next_normal = state.normal;
  g->has_next_normal = state.has_normal != 0;
  return Py_NewRef(self);
}

PyObject *generator_fill_buffer(PyObject *self, PyObject *argument) {
  Py_buffer view;
  if (PyObject_GetBuffer(argument, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) return nullptr;
  bool valid = view.itemsize == 4 || view.itemsize == 8;
  if (valid) generator_fill(self, view.buf, view.len / view.itemsize, int(view.itemsize * 8));
  Py_ssize_t itemsize = view.itemsize;
  PyBuffer_Release(&view);
  if (!valid) {
    return PyErr_Format(PyExc_ValueError, "fill: expected a buffer of 4- or 8-byte items, but got %zd-byte items",
                        itemsize);
  }
  Py_RETURN_NONE;
}

PyObject *generator_get_next_normal(PyObject *self, void *) {
  const Generator *g = as_generator(self);
  return g->has_next_normal ? PyFloat_FromDouble(g->next_normal) : Py_NewRef(Py_None);
}

int generator_set_next_normal(PyObject *self, PyObject *value, void *) {
  Generator *g = as_generator(self);
  if (!value || value == Py_None) {
    g->has_next_normal = false;
    return 0;
  }
  double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return -1;
  g->next_normal = number;
  g->has_next_normal = true;
  return 0;
}

PyObject *py_default_generator(PyObject *, PyObject *) { return Py_NewRef(default_generator); }

PyObject *py_set_default_generator(PyObject *, PyObject *generator) {
  if (!PyObject_TypeCheck(generator, &GeneratorType)) {
    return PyErr_Format(PyExc_TypeError, "set_default_generator expects a Generator, but got %s",
                        Py_TYPE(generator)->tp_name);
  }
  Py_SETREF(default_generator, Py_NewRef(generator));
  Py_RETURN_NONE;
}

PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O, "Seed with a number; returns the generator."},
    {"seed", generator_seed, METH_NOARGS, "Seed with a number from the system and return it."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The number that the generator was last seeded with."},
    {"get_state", generator_get_state, METH_NOARGS, "The state as bytes."},
    {"set_state", generator_set_state, METH_O, "Go on from a state that get_state() returned."},
    {"fill", generator_fill_buffer, METH_O, "Write the next outputs into a contiguous buffer of 4- or 8-byte items."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef generator_attributes[] = {
    {"next_normal", generator_get_next_normal, generator_set_next_normal,
     "The second value of the last pair of normal numbers, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef functions[] = {
    {"default_generator", py_default_generator, METH_NOARGS, "The generator used when none is given."},
    {"set_default_generator", py_set_default_generator, METH_O, "Replace the generator used when none is given."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void generator_fill(PyObject *generator, void *out, int64_t count, int bits) {
  Generator *g = as_generator(generator && generator != Py_None ? generator : default_generator);
  if (bits == 32) return g->engine.fill(static_cast<uint32_t *>(out), count);
  auto *words = static_cast<uint64_t *>(out);
  constexpr int64_t kBlock = 4096;  // stays in the cache between the two passes
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t length = std::min(kBlock, count - begin);
    g->engine.fill(reinterpret_cast<uint32_t *>(words + begin), 2 * length);
    if constexpr (std::endian::native == std::endian::little) {  // the word drawn first is the high one
      for (int64_t i = begin; i < begin + length; ++i) words[i] = words[i] << 32 | words[i] >> 32;
    }
  }
}

int init_generator(PyObject *module) {
  GeneratorType.tp_name = "rushlight._core.Generator";
  GeneratorType.tp_doc = "Generator(device=None): a stream of random numbers.";
  GeneratorType.tp_basicsize = sizeof(Generator);
  GeneratorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  GeneratorType.tp_new = generator_new;
  GeneratorType.tp_methods = generator_methods;
  GeneratorType.tp_getset = generator_attributes;
  if (PyModule_AddType(module, &GeneratorType) < 0 || PyModule_AddFunctions(module, functions) < 0) return -1;
  default_generator = PyObject_CallNoArgs(reinterpret_cast<PyObject *>(&GeneratorType));
  return default_generator ? 0 : -1;
}

}  // namespace rushlight
