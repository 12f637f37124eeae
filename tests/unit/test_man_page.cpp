#include "fixnvpe/ui/man_page.hpp"

#include <string>

#include "support/catch.hpp"

namespace fixnvpe::test {

TEST_CASE("man page: made of the words that it is given") {
    const OptionWords quiet{"--quiet", "-q", "Say less", Takes::nothing, "", {}};
    const OptionWords mode{"--mode", "", "The user's C:\\x", Takes::choice, "gentle|rough", {"gentle", "rough"}};
    const OptionWords target{"TARGET", "", ".dll files", Takes::file, "[TARGET...]", {}};
    const std::string exit_status = "Exit status:\n  0  done\n";
    const ProgramWords program{
        "Mends things: all of them.\n",
        {quiet},
        {{"mend", "Mend", {quiet, mode}, {target}, "Examples:\n  fixnvpe mend\n  .x\n\n" + exit_status}},
        "A note.\n\n" + exit_status};
    CHECK(man_page(program) == R"(.TH FIXNVPE 1 "" "fixnvpe )" FIXNVPE_VERSION R"(" "User Commands"
.nh
.ad l
.SH NAME
fixnvpe \- Mends things
.SH SYNOPSIS
\fBfixnvpe\fR [\fIOPTION\fR]...
.br
\fBfixnvpe mend\fR [\fIOPTION\fR]... \fI[TARGET...]\fR
.SH DESCRIPTION
Mends things: all of them.
.PP
A note.
.SH OPTIONS
.TP
\fB\-q\fR, \fB\-\-quiet\fR
Say less
.SH COMMANDS
.SS mend
Mend.
.TP
\fBTARGET\fR
\&.dll files
.TP
\fB\-\-mode\fR \fIgentle|rough\fR
The user\(aqs C:\ex
.PP
Also \fB\-\-quiet\fR: see above.
.PP
Examples:
.RS 4
.nf
fixnvpe mend
\&.x
.fi
.RE
.SH EXIT STATUS
.RS 4
.nf
0  done
.fi
.RE
)");
}

}  // namespace fixnvpe::test
