// Python's view of the allocator and the thread pool.
#include "services.h"

namespace rushlight {
namespace {

PyObject *py_allocator_statistics(PyObject *, PyObject *) {
  AllocatorStatistics s = allocator_statistics();
  PyObject *limit = s.limit == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(s.limit);
  if (!limit) return nullptr;
  return Py_BuildValue("{s:n,s:n,s:n,s:N,s:n,s:n}", "in_use", Py_ssize_t(s.in_use), "cached", Py_ssize_t(s.cached),
                       "peak", Py_ssize_t(s.peak), "limit", limit, "allocations", Py_ssize_t(s.allocations), "hits",
                       Py_ssize_t(s.hits));
}

PyObject *py_empty_cache(PyObject *, PyObject *) {
  Py_BEGIN_ALLOW_THREADS
  allocator_empty_cache();
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

PyObject *py_set_memory_limit(PyObject *, PyObject *argument) {
  size_t limit = SIZE_MAX;
  if (argument != Py_None) {
    Py_ssize_t bytes = PyNumber_AsSsize_t(argument, PyExc_OverflowError);
    if (bytes == -1 && PyErr_Occurred()) return nullptr;
    if (bytes < 0) {
      return PyErr_Format(PyExc_ValueError, "set_memory_limit expects a number of bytes >= 0 or None, but got %zd",
                          bytes);
    }
    limit = size_t(bytes);
  }
  Py_BEGIN_ALLOW_THREADS
  allocator_set_limit(limit);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

PyObject *py_get_num_threads(PyObject *, PyObject *) { return PyLong_FromLong(thread_count()); }

PyObject *py_set_num_threads(PyObject *, PyObject *argument) {
  if (!PyIndex_Check(argument) || PyBool_Check(argument)) {
    return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects an int, but got %s", Py_TYPE(argument)->tp_name);
  }
  Py_ssize_t count = PyNumber_AsSsize_t(argument, PyExc_ValueError);
  if (count == -1 && PyErr_Occurred()) return nullptr;
  if (count <= 0 || count > INT32_MAX) {
    return PyErr_Format(PyExc_RuntimeError, "set_num_threads expects a positive 32-bit integer, but got %zd", count);
  }
  set_thread_count(int(count));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"allocator_statistics", py_allocator_statistics, METH_NOARGS,
     "Bytes in_use, cached, peak and limit (None: no limit); counts of allocations and of hits in the cache."},
    {"empty_cache", py_empty_cache, METH_NOARGS, "Give cached memory back to the system."},
    {"set_memory_limit", py_set_memory_limit, METH_O,
     "Bound the bytes held for tensors, cached ones included; None removes the bound."},
    {"get_num_threads", py_get_num_threads, METH_NOARGS, "The number of threads that work on one operator."},
    {"set_num_threads", py_set_num_threads, METH_O, "Set the number of threads that work on one operator."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int init_services(PyObject *module) {
  if (!guard_pool_across_forks()) {
    PyErr_NoMemory();
    return -1;
  }
  set_thread_count(default_thread_count());
  if (PyModule_AddFunctions(module, methods) < 0) return -1;
  return init_generator(module);
}

}  // namespace rushlight
