#include "fixnvpe/ui/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

namespace fixnvpe {
namespace {

/// Text that troff prints as it is: it would make typographic signs of some, and a command of a line's first dot.
std::string literal(std::string_view text) {
    std::string result = text.starts_with('.') ? "\\&" : "";
    for (const char c : text) {
        switch (c) {
            case '\\': result += "\\e"; break;
            case '-': result += "\\-"; break;
            case '\'': result += "\\(aq"; break;
            case '`': result += "\\(ga"; break;
            case '^': result += "\\(ha"; break;
            case '~': result += "\\(ti"; break;
            default: result += c;
        }
    }
    return result;
}

/// As the headings of manual pages are.
std::string upper_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return text;
}

std::string bold(std::string_view text) {
    return "\\fB" + literal(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + literal(text) + "\\fR";
}

/// A text without a heading, or what is indented below one.
struct Note {
    std::string heading;
    std::string text;
    std::vector<std::string> lines;
    friend bool operator==(const Note&, const Note&) = default;
};

std::vector<Note> notes_in(const std::string& text) {
    std::vector<Note> notes(1);
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        Note& note = notes.back();
        if (line.empty()) {
            notes.emplace_back();
        } else if (line.starts_with("  ")) {
            note.lines.push_back(line.substr(2));
        } else if (line.ends_with(':')) {
            note.heading = line.substr(0, line.size() - 1);
        } else {
            note.text += line + "\n";
        }
    }
    std::erase_if(notes, [](const Note& note) { return note.text.empty() && note.lines.empty(); });
    return notes;
}

std::string body_of(const Note& note) {
    std::string body = literal(note.text);
    if (!note.lines.empty()) {
        body += ".RS 4\n.nf\n";
        for (const std::string& line : note.lines) {
            body += literal(line) + "\n";
        }
        body += ".fi\n.RE\n";
    }
    return body;
}

/// "fixnvpe patch [OPTION]... [TARGET...]"
std::string usage_of(const std::string& name, const std::vector<OptionWords>& operands) {
    std::string usage = bold(name) + " [" + italic("OPTION") + "]...";
    for (const OptionWords& operand : operands) {
        usage += " " + italic(operand.value);
    }
    return usage + "\n";
}

std::string item(const OptionWords& word) {
    std::string tag = word.letter.empty() ? "" : bold(word.letter) + ", ";
    tag += bold(word.name);
    if (word.takes != Takes::nothing && word.name.starts_with('-')) {
        tag += " " + italic(word.value);
    }
    return ".TP\n" + tag + "\n" + literal(word.help) + "\n";
}

std::string command_section(const CommandWords& command, const ProgramWords& program) {
    std::string section = ".SS " + literal(command.name) + "\n" + literal(command.help) + ".\n";
    for (const OptionWords& operand : command.operands) {
        section += item(operand);
    }
    std::vector<std::string> common;
    for (const OptionWords& option : command.options) {
        const bool is_common = std::any_of(program.options.begin(), program.options.end(), [&](const OptionWords& own) {
            return own.name == option.name && own.help == option.help;
        });
        if (is_common) {
            common.push_back(bold(option.name));
        } else {
            section += item(option);
        }
    }
    if (!common.empty()) {
        section += fmt::format(".PP\nAlso {}: see above.\n", fmt::join(common, ", "));
    }
    const std::vector<Note> known = notes_in(program.notes);
    for (const Note& note : notes_in(command.notes)) {
        if (std::find(known.begin(), known.end(), note) == known.end()) {
            section += ".PP\n" + (note.heading.empty() ? "" : literal(note.heading) + ":\n") + body_of(note);
        }
    }
    return section;
}

}  // namespace

std::string man_page(const ProgramWords& program) {
    std::string page = ".TH FIXNVPE 1 \"\" \"fixnvpe " FIXNVPE_VERSION "\" \"User Commands\"\n";
    page += ".nh\n.ad l\n";  // file names are not to be broken
    page += ".SH NAME\nfixnvpe \\- " + literal(program.help.substr(0, program.help.find(':'))) + "\n";
    page += ".SH SYNOPSIS\n" + usage_of("fixnvpe", {});
    for (const CommandWords& command : program.commands) {
        page += ".br\n" + usage_of("fixnvpe " + command.name, command.operands);
    }
    page += ".SH DESCRIPTION\n" + literal(program.help);
    std::string sections;
    for (const Note& note : notes_in(program.notes)) {
        if (note.heading.empty()) {
            page += ".PP\n" + body_of(note);
        } else {
            sections += ".SH " + upper_case(note.heading) + "\n" + body_of(note);
        }
    }
    page += ".SH OPTIONS\n";
    for (const OptionWords& option : program.options) {
        page += item(option);
    }
    page += ".SH COMMANDS\n";
    for (const CommandWords& command : program.commands) {
        page += command_section(command, program);
    }
    return page + sections;
}

}  // namespace fixnvpe
