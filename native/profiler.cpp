#include "profiler.h"

#include <chrono>
#include <vector>

#include "tape.h"

namespace rushlight {

bool profiling = false;

namespace {

struct Range {
  PyObject *name;    // owned
  PyObject *shapes;  // owned, or null
  int64_t start, end;
  RangeKind kind;
};

// Of the profiler that runs. All under the GIL.
struct Profile {
  std::vector<Range> ranges;
  unsigned long thread = 0;
  uint64_t number = 0;  // which profiler: ranges may outlive the one they were begun under
  bool shapes = false;
} profile;

constexpr int kNumberShift = 40;  // a token: the profiler's number, then the range's place + 1

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

PyObject *shape_of(PyObject *argument) {
  if (tensor_check(argument)) return int_tuple(as_tensor(argument)->meta->sizes(), as_tensor(argument)->meta->ndim);
  if (!PyList_Check(argument) && !PyTuple_Check(argument)) return PyTuple_New(0);
  ObjectRef items(PySequence_Tuple(argument));
  bool tensors = false;
  for (Py_ssize_t i = 0; items && i < PyTuple_GET_SIZE(items.get()); ++i) {
    tensors |= tensor_check(PyTuple_GET_ITEM(items.get(), i));
  }
  if (!items || !tensors) return items ? PyTuple_New(0) : nullptr;
  ObjectRef shapes(PyList_New(0));
  for (Py_ssize_t i = 0; shapes && i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject *item = PyTuple_GET_ITEM(items.get(), i);
    ObjectRef shape(tensor_check(item) ? shape_of(item) : PyTuple_New(0));
    if (!shape || PyList_Append(shapes.get(), shape.get()) < 0) return nullptr;
  }
  return shapes.release();
}

PyObject *shapes_of(PyObject *const *arguments, size_t count) {
  ObjectRef shapes(PyTuple_New(Py_ssize_t(count)));
  for (size_t i = 0; shapes && i < count; ++i) {
    PyObject *shape = shape_of(arguments[i]);
    if (!shape) return nullptr;
    PyTuple_SET_ITEM(shapes.get(), Py_ssize_t(i), shape);
  }
  return shapes.release();
}

// The token of a new range; 0: not recorded. Takes the reference to the name, which may be null after an error.
uint64_t begin(RangeKind kind, PyObject *name, PyObject *const *arguments, size_t count) {
  PyObject *shapes = name && arguments && profile.shapes ? shapes_of(arguments, count) : nullptr;
  if (PyErr_Occurred()) PyErr_Clear();  // a lack of memory: this range is left out
  if (!name) return 0;
  try {
    profile.ranges.push_back({name, shapes, now(), 0, kind});
  } catch (const std::bad_alloc &) {
    Py_DECREF(name);
    Py_XDECREF(shapes);
    return 0;
  }
  return profile.number << kNumberShift | profile.ranges.size();
}

void finish(uint64_t token) {
  const size_t place = size_t(token & ((uint64_t(1) << kNumberShift) - 1));
  if (!place || token >> kNumberShift != profile.number || place > profile.ranges.size()) return;
  profile.ranges[place - 1].end = now();
}

bool wanted() { return profiling && PyThread_get_thread_ident() == profile.thread; }

PyObject *profile_start(PyObject *, PyObject *shapes) {
  if (profiling) {
    PyErr_SetString(PyExc_RuntimeError, "a profiler is running already; stop it before another one starts");
    return nullptr;
  }
  ++profile.number;
  profile.thread = PyThread_get_thread_ident();
  profile.shapes = PyObject_IsTrue(shapes) == 1;
  profiling = true;
  Py_RETURN_NONE;
}

PyObject *profile_stop(PyObject *, PyObject *) {
  profiling = false;
  ++profile.number;
  std::vector<Range> ranges;
  ranges.swap(profile.ranges);
  const int64_t end = now();
  ObjectRef list(PyList_New(Py_ssize_t(ranges.size())));
  for (size_t i = 0; i < ranges.size(); ++i) {
    Range &range = ranges[i];
    PyObject *item = nullptr;
    if (list && !PyErr_Occurred()) {
      item = Py_BuildValue("OiLLO", range.name, int(range.kind), static_cast<long long>(range.start),
                           static_cast<long long>(range.end ? range.end : end),
                           range.shapes ? range.shapes : Py_None);
    }
    Py_DECREF(range.name);
    Py_XDECREF(range.shapes);
    if (list) PyList_SET_ITEM(list.get(), Py_ssize_t(i), item);
  }
  return PyErr_Occurred() ? nullptr : list.release();
}

PyObject *profile_begin(PyObject *, PyObject *name) {
  if (!PyUnicode_Check(name)) {
    return PyErr_Format(PyExc_TypeError, "record_function(): argument 'name' must be str, not %s",
                        Py_TYPE(name)->tp_name);
  }
  return PyLong_FromUnsignedLongLong(wanted() ? begin(RangeKind::User, Py_NewRef(name), nullptr, 0) : 0);
}

PyObject *profile_end(PyObject *, PyObject *token) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(token);
  if (PyErr_Occurred()) return nullptr;
  finish(number);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"profile_start", profile_start, METH_O, "profile_start(shapes): collect the ranges of this thread from now on."},
    {"profile_stop", profile_stop, METH_NOARGS,
     "profile_stop(): the ranges in the order of their starts, each (name, kind, start, end, shapes); nanoseconds."},
    {"profile_begin", profile_begin, METH_O, "profile_begin(name): begin a range; its token."},
    {"profile_end", profile_end, METH_O, "profile_end(token): end a range."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

ProfiledRange::ProfiledRange(RangeKind kind, PyObject *name, PyObject *const *arguments, size_t count) {
  if (wanted()) token_ = begin(kind, Py_NewRef(name), arguments, count);
}

ProfiledRange::ProfiledRange(RangeKind kind, const char *name) {
  if (wanted()) token_ = begin(kind, PyUnicode_FromString(name), nullptr, 0);
}

ProfiledRange::~ProfiledRange() {
  if (token_) finish(token_);
}

int init_profiler(PyObject *module) { return PyModule_AddFunctions(module, functions); }

}  // namespace rushlight
