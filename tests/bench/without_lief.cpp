// Stands in for reader.cpp, which alone calls reader_lief.cpp, so that nothing of LIEF is linked: the same program, but
// for LIEF.
#undef FIXNVPE_WITH_LIEF
#define FIXNVPE_WITH_LIEF 0
#include "../../src/pe/reader.cpp"
