// A map from requests for kernels to what was made of them. Look-ups take a shared lock and
// allocate nothing; of several threads that want the same new entry one makes it and the others
// wait. A failure reaches all of them and is not kept.
#pragma once

#include <cstdint>
#include <exception>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/checksum.hpp"
#include "gpu/kernel_config.hpp"

namespace tamis::gpu {

/// What is asked for, without copies; `scope` is an architecture or a device.
struct RequestView {
  const Hash128& source;
  const KernelConfig& config;
  std::string_view scope;
};

struct RequestKey {
  Hash128 source;
  KernelConfig config;
  std::string scope;

  explicit RequestKey(const RequestView& view)
      : source(view.source), config(view.config), scope(view.scope) {}
  operator RequestView() const noexcept { return {source, config, scope}; }
};

struct RequestHash {
  using is_transparent = void;
  std::size_t operator()(const RequestView& view) const noexcept {
    return view.source.low ^ view.config.hash() ^ std::hash<std::string_view>()(view.scope);
  }
};
struct RequestEqual {
  using is_transparent = void;
  bool operator()(const RequestView& a, const RequestView& b) const noexcept {
    return a.source == b.source && a.scope == b.scope && a.config == b.config;
  }
};

/// Value is copied out, so make it a shared pointer.
template <typename Value>
class OnceMap {
 public:
  struct Answer {
    Value value;
    bool made;  // by this call
  };

  /// The value of the request; make() gives it where there is none yet.
  template <typename Make>
  Answer get(const RequestView& request, const Make& make) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto at = entries_.find(request); at != entries_.end()) return {at->second, false};
    }
    std::promise<Value> promise;
    {
      std::unique_lock lock(mutex_);
      if (const auto at = entries_.find(request); at != entries_.end()) return {at->second, false};
      if (const auto at = pending_.find(request); at != pending_.end()) {
        const std::shared_future<Value> other = at->second;
        lock.unlock();
        return {other.get(), false};
      }
      pending_.emplace(RequestKey(request), promise.get_future().share());
    }
    return {finish(request, promise, make), true};
  }

  /// Replaces the value of a request.
  void put(const RequestView& request, Value value) {
    const std::unique_lock lock(mutex_);
    entries_.insert_or_assign(RequestKey(request), std::move(value));
  }

  void clear() {
    const std::unique_lock lock(mutex_);
    entries_.clear();
  }

 private:
  template <typename Make>
  Value finish(const RequestView& request, std::promise<Value>& promise, const Make& make) {
    try {
      Value value = make();
      const std::unique_lock lock(mutex_);
      entries_.insert_or_assign(RequestKey(request), value);
      pending_.erase(RequestKey(request));
      promise.set_value(value);
      return value;
    } catch (...) {
      const std::unique_lock lock(mutex_);
      pending_.erase(RequestKey(request));
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  std::shared_mutex mutex_;
  std::unordered_map<RequestKey, Value, RequestHash, RequestEqual> entries_;
  std::unordered_map<RequestKey, std::shared_future<Value>, RequestHash, RequestEqual> pending_;
};

}  // namespace tamis::gpu
