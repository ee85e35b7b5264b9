// Python's operators on tensors: each calls the operator that was registered under its name.
#include <cstring>

#include "tensor.h"

namespace rushlight {

namespace {

// The operators of the slots, in one table so that a slot finds its own without a lookup.
enum Slot {
  Add, Sub, Mul, Div, FloorDivide, Remainder, Pow, Matmul, And, Or, Xor, LeftShift, RightShift,
  AddInPlace, SubInPlace, MulInPlace, DivInPlace, FloorDivideInPlace, RemainderInPlace, PowInPlace,
  AndInPlace, OrInPlace, XorInPlace, LeftShiftInPlace, RightShiftInPlace,
  Neg, Not, Abs, Less, LessEqual, Equal, NotEqual, Greater, GreaterEqual, SlotCount
};

constexpr const char *kNames[SlotCount] = {
    "add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "matmul", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
    "add_", "sub_", "mul_", "div_", "floor_divide_", "remainder_", "pow_",
    "bitwise_and_", "bitwise_or_", "bitwise_xor_", "bitwise_left_shift_", "bitwise_right_shift_",
    "neg", "bitwise_not", "abs", "lt", "le", "eq", "ne", "gt", "ge",
};

PyObject *operators[SlotCount];  // borrowed from the registry

PyObject *call(Slot slot, PyObject *const *args, size_t count) {
  PyObject *function = operators[slot];
  if (function) return PyObject_Vectorcall(function, args, count, nullptr);
  return PyErr_Format(PyExc_TypeError, "the operator '%s' has not been registered", kNames[slot]);
}

// Whether an operator takes this object beside a tensor. Anything else may know better itself.
bool is_operand(PyObject *object) {
  if (tensor_check(object) || PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  if (object == Py_None || PyUnicode_Check(object) || PyList_Check(object) || PyTuple_Check(object)) return false;
  return is_numpy_scalar(object) ||
         PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__torch_function__");
}

// A NumPy scalar as a Python number: operators know only those. Other operands stay as they are.
PyObject *plain_operand(PyObject *object) {
  const bool plain = tensor_check(object) || PyFloat_CheckExact(object) || PyLong_Check(object);
  if (plain || !is_numpy_scalar(object)) return Py_NewRef(object);
  return PyObject_CallMethod(object, "item", nullptr);
}

template <Slot slot>
PyObject *binary(PyObject *left, PyObject *right) {
  if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
  Reference first(plain_operand(left)), second(plain_operand(right));
  if (!first || !second) return nullptr;
  PyObject *args[] = {first.get(), second.get()};
  return call(slot, args, 2);
}

template <Slot slot>
PyObject *unary(PyObject *self) {
  return call(slot, &self, 1);
}

// Numbers are no matrices: let Python say that @ is unsupported.
PyObject *matrix_multiply(PyObject *left, PyObject *right) {
  if (!tensor_check(left) && (PyLong_Check(left) || PyFloat_Check(left))) Py_RETURN_NOTIMPLEMENTED;
  if (!tensor_check(right) && (PyLong_Check(right) || PyFloat_Check(right))) Py_RETURN_NOTIMPLEMENTED;
  return binary<Matmul>(left, right);
}

template <Slot slot>
PyObject *power(PyObject *base, PyObject *exponent, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<slot>(base, exponent);
}

PyObject *positive(PyObject *self) {
  if (as_tensor(self)->meta->dtype != DType::Bool) return Py_NewRef(self);
  PyErr_SetString(PyExc_RuntimeError, "+x has no meaning for a bool tensor; convert it first, as with .int()");
  return nullptr;
}

// ---------------------------------------------------------------- conversions to Python numbers

int is_true(PyObject *self) {
  Tensor *t = as_tensor(self);
  if (t->meta->numel != 1) {
    PyErr_Format(PyExc_RuntimeError, "Boolean value of Tensor with %s is ambiguous",
                 t->meta->numel ? "more than one value" : "no values");
    return -1;
  }
  Reference number(tensor_item(t));
  return number ? PyObject_IsTrue(number.get()) : -1;
}

// The only element; complex numbers without an imaginary part as floats.
PyObject *real_item(PyObject *self, const char *target) {
  if (!require_one_element(as_tensor(self))) return nullptr;
  Reference number(tensor_item(as_tensor(self)));
  if (!number || !PyComplex_Check(number.get())) return number.release();
  const Py_complex value = PyComplex_AsCComplex(number.get());
  if (value.imag == 0) return PyFloat_FromDouble(value.real);
  return PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow", target);
}

PyObject *to_int(PyObject *self) {
  Reference number(real_item(self, "int64_t"));
  return number ? PyNumber_Long(number.get()) : nullptr;
}

PyObject *to_float(PyObject *self) {
  Reference number(real_item(self, "double"));
  return number ? PyNumber_Float(number.get()) : nullptr;
}

PyObject *to_index(PyObject *self) {
  Tensor *t = as_tensor(self);
  if (t->meta->numel != 1 || is_differentiable(t->meta->dtype)) {
    PyErr_Format(PyExc_TypeError, "only integer tensors of a single element serve as an index, not torch.%s of shape %s",
                 dtype_name(t->meta->dtype), format_ints(t->meta->sizes(), t->meta->ndim).c_str());
    return nullptr;
  }
  Reference number(tensor_item(t));
  return number ? PyNumber_Long(number.get()) : nullptr;
}

}  // namespace

PyObject *tensor_compare(PyObject *left, PyObject *right, int operation) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  if (!is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
  Reference second(plain_operand(right));
  if (!second) return nullptr;
  PyObject *args[] = {left, second.get()};
  return call(static_cast<Slot>(Less + operation), args, 2);
}

void set_operator_slot(const char *name, PyObject *object) {
  for (int slot = 0; slot < SlotCount; ++slot) {
    if (std::strcmp(name, kNames[slot]) == 0) operators[slot] = object;
  }
}

PyNumberMethods tensor_number_slots = [] {
  PyNumberMethods slots{};
  slots.nb_add = binary<Add>;
  slots.nb_subtract = binary<Sub>;
  slots.nb_multiply = binary<Mul>;
  slots.nb_true_divide = binary<Div>;
  slots.nb_floor_divide = binary<FloorDivide>;
  slots.nb_remainder = binary<Remainder>;
  slots.nb_power = power<Pow>;
  slots.nb_matrix_multiply = matrix_multiply;
  slots.nb_and = binary<And>;
  slots.nb_or = binary<Or>;
  slots.nb_xor = binary<Xor>;
  slots.nb_lshift = binary<LeftShift>;
  slots.nb_rshift = binary<RightShift>;
  slots.nb_inplace_add = binary<AddInPlace>;
  slots.nb_inplace_subtract = binary<SubInPlace>;
  slots.nb_inplace_multiply = binary<MulInPlace>;
  slots.nb_inplace_true_divide = binary<DivInPlace>;
  slots.nb_inplace_floor_divide = binary<FloorDivideInPlace>;
  slots.nb_inplace_remainder = binary<RemainderInPlace>;
  slots.nb_inplace_power = power<PowInPlace>;
  slots.nb_inplace_and = binary<AndInPlace>;
  slots.nb_inplace_or = binary<OrInPlace>;
  slots.nb_inplace_xor = binary<XorInPlace>;
  slots.nb_inplace_lshift = binary<LeftShiftInPlace>;
  slots.nb_inplace_rshift = binary<RightShiftInPlace>;
  slots.nb_negative = unary<Neg>;
  slots.nb_positive = positive;
  slots.nb_invert = unary<Not>;
  slots.nb_absolute = unary<Abs>;
  slots.nb_bool = is_true;
  slots.nb_int = to_int;
  slots.nb_float = to_float;
  slots.nb_index = to_index;
  return slots;
}();

}  // namespace rushlight
