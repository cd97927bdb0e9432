// The temporary files that exist right now, so that a signal can remove them. The handlers do only
// what is allowed in a signal handler: unlink, write, restore the default action, raise.
#pragma once

#include <string>

namespace tamis::cli {

/// Installs handlers for SIGINT, SIGTERM, SIGHUP and SIGBUS (a mapped input that shrank) and
/// ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a full quota are ordinary write errors.
void install_signal_handlers();

/// Creates an empty file beside `path` with a random name, O_EXCL, permissions from the umask, and
/// registers it. Returns its name; throws Error(kIo).
std::string create_temp_file(const std::string& path);

/// Takes the name off the list; the file itself stays.
void forget_temp_file(const std::string& temp_path) noexcept;

}  // namespace tamis::cli
