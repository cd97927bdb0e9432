// What the fake driver noted; fake_driver_counts() of the library gives it.
#pragma once

struct FakeDriverCounts {
  int allocations = 0;
  int live_allocations = 0;
  int live_streams = 0;
  int module_loads = 0;
  int live_modules = 0;
  int live_graphs = 0;
  int graph_launches = 0;
  int compilations = 0;
  int capturing = 0;
  int shared_limit = 0;
  int launches = 0;
  unsigned last_grid = 0;
  unsigned last_shared_bytes = 0;
  void* last_stream = nullptr;
  void* last_pointer = nullptr;
  int last_number = 0;
};
