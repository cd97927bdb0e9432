// Sanitizer settings shared by all test and fuzz programs: an allocation that cannot be had must
// fail as it does in production (bad_alloc or null) instead of ending the program. The symbol has
// to be visible, for the run-time library looks it up by name.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
