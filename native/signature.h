// Keys of operator calls. See "Arguments of an operator" in docs/design.md.
#pragma once
#include "core.h"
#include "small_vector.h"

namespace rushlight {

struct Parameter {
  PyObject *name;  // interned string, owned by the Signature
  char mode;       // 'T', 'S' or 'Z'
  bool mutated;    // written as "T!"
};

struct Signature {
  std::vector<Parameter> parameters;
  int variadic = -1;   // index of the parameter that takes any number of positional arguments
  bool mutates = false;
  bool fills = false;  // a mode is "T!!": elements of what is written may share memory
  ~Signature() { clear(); }
  void clear();
  // From a tuple of (name, mode); throws Failure with an error set.
  void parse(PyObject *parameters);
};

// A Python error is set: unwinds to the nearest entry point of the core.
struct Failure {};

// `mutated` and `other` are tensors of one call (by number) that share memory.
struct Alias {
  enum Relation : int { Same = 1, Overlap = 2 };  // Same: one data pointer and one layout
  int mutated, other, relation;
};

// What one call's arguments consist of. Pointers are borrowed from the arguments, and `held` owns what came out of
// containers, which others may change while the call runs.
struct Call {
  static constexpr size_t kInlineTensors = 16;
  SmallVector<uint64_t, 64> words;      // the exact key
  uint64_t hash = 0;
  SmallVector<PyObject *, 8> objects;   // values behind the key's object words, in order
  SmallVector<Tensor *, kInlineTensors> tensors;
  SmallVector<int, 8> mutated;          // tensors given for "T!" parameters
  SmallVector<int64_t, 8> scalars;      // run-time numbers as words
  SmallVector<char, 8> kinds;           // of each word: b, i, f, c; '-' is the second word of a complex
  SmallVector<int64_t, 16> ints;        // Z ints
  SmallVector<PyObject *, 8> held;
  std::vector<Alias> aliases;
  ~Call() {
    for (PyObject *object : held) Py_DECREF(object);
  }
};

enum class KeyStatus {
  Keyed,
  Fallback,   // an argument that only Python understands
  Unbound,    // too many arguments or an unknown keyword: the planner says what is wrong
  Error,      // a Python error is set
};
KeyStatus build_key(const Signature &signature, const char *name, PyObject *const *args, size_t count,
                    PyObject *keyword_names, Call &call);

using StructuralKey = SmallVector<uint64_t, 128>;
void structural_key(const Call &call, StructuralKey &key);
uint64_t hash_words(const uint64_t *words, size_t count);

// Are the objects behind two keys with equal words equal? May run Python code. -1 with an error set.
int objects_equal(PyObject *const *a, PyObject *const *b, size_t count);

}  // namespace rushlight
