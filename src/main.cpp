#include <exception>
#include <string>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/ui/log.hpp"
#include "fixnvpe/ui/program.hpp"

#if defined(_WIN32)
int wmain(int argc, wchar_t* argv[]) {
#else
int main(int argc, char* argv[]) {
#endif
    using namespace fixnvpe;
    try {
        os::prepare_streams();
        os::catch_interrupts();
        return run_program(os::arguments(argc, argv));
    } catch (const Error& error) {
        say(message_of(error));
    } catch (const std::exception& error) {
        log::error(std::string("internal error: ") + error.what());
    }
    return static_cast<int>(os::interrupted() ? ExitStatus::interrupted : ExitStatus::error);
}
