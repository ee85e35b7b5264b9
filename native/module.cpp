// The extension module rushlight._core.
#include "core.h"
#include "profiler.h"

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "rushlight._core", "The native core of Rushlight.", -1,
                          nullptr,               nullptr,           nullptr,                         nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__core() {
  using namespace rushlight;
  PyObject *module = PyModule_Create(&definition);
  if (!module) return nullptr;
#ifdef Py_GIL_DISABLED
  // The core relies on the GIL: a free-threaded interpreter must keep it on.
  if (PyUnstable_Module_SetGIL(module, Py_MOD_GIL_USED) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
#endif
  for (auto *init : {init_dtypes, init_services, init_tensor, init_views, init_interop, init_tape, init_operator,
                     init_plan, init_profiler,
                     init_module_base}) {
    if (init(module) < 0) {
      Py_DECREF(module);
      return nullptr;
    }
  }
  return module;
}
