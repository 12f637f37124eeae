// Prints fixnvpe.1. Not a command of fixnvpe: who has the page needs none, and Windows has no man.
#include <iostream>

#include "fixnvpe/ui/cli.hpp"
#include "fixnvpe/ui/man_page.hpp"

int main() {
    std::cout << fixnvpe::man_page(fixnvpe::program_words()) << std::flush;
    return std::cout ? 0 : 1;
}
