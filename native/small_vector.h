// A growable array of trivially copyable items whose first N live on the stack.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace rushlight {

template <typename T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() : data_(reinterpret_cast<T *>(inline_)) {}
  explicit SmallVector(size_t count) : SmallVector() { resize(count); }
  ~SmallVector() {
    if (!is_inline()) std::free(data_);
  }
  SmallVector(const SmallVector &) = delete;
  SmallVector &operator=(const SmallVector &) = delete;

  void push_back(T item) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = item;
  }
  // New items are left uninitialised.
  void resize(size_t count) {
    if (count > capacity_) grow(count);
    size_ = count;
  }
  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *data() { return data_; }
  const T *data() const { return data_; }
  T &operator[](size_t i) { return data_[i]; }
  const T &operator[](size_t i) const { return data_[i]; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }

 private:
  bool is_inline() const { return data_ == reinterpret_cast<const T *>(inline_); }
  void grow(size_t needed) {
    size_t capacity = capacity_ * 2 > needed ? capacity_ * 2 : needed;
    T *larger = static_cast<T *>(std::malloc(capacity * sizeof(T)));
    if (!larger) throw std::bad_alloc();
    std::memcpy(static_cast<void *>(larger), data_, size_ * sizeof(T));
    if (!is_inline()) std::free(data_);
    data_ = larger;
    capacity_ = capacity;
  }

  T *data_;
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace rushlight
