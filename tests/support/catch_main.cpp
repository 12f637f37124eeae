// main() of every Catch2 2 test program; it is slow to compile, so it is compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
