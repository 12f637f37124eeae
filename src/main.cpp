#include <exception>

#include "fixnvpe/ui/cli.hpp"
#include "fixnvpe/commands/run.hpp"
#include "fixnvpe/base/error.hpp"
#include "fixnvpe/ui/log.hpp"
#include "fixnvpe/os/process.hpp"

int main(int argc, char* argv[]) {
    using namespace fixnvpe;
    try {
        os::prepare_streams();
        os::catch_interrupts();
        return run_cli(os::arguments(argc, argv));
    } catch (const Error& error) {
        log::error(describe(error));
    } catch (const std::exception& error) {
        log::error(std::string("internal error: ") + error.what());
    }
    return static_cast<int>(os::interrupted() ? ExitStatus::interrupted : ExitStatus::error);
}
