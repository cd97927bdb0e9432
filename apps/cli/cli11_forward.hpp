// Forward declaration of CLI11's parser: its headers take seconds to compile, and only the files
// that add options need them.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}
