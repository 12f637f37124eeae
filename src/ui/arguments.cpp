#include "fixnvpe/ui/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fixnvpe/base/error.hpp"

namespace fixnvpe {
namespace {

/// One word of the command line.
struct Word {
    enum Kind { option, value, plain } kind = plain;
    std::string text;
    std::string option_name;  ///< of an option without what follows "="; of a value, the option's that it belongs to
};

/// "-nj 4": the last letter may want the next word, unless one before it has taken the rest.
bool wants_next(const std::string& word, const Grammar& grammar) {
    if (word.starts_with("--")) {
        return word.find('=') == std::string::npos && grammar.takes_value(word);
    }
    const auto takes_value = [&](char letter) { return grammar.takes_value(std::string{'-', letter}); };
    return takes_value(word.back()) && std::none_of(word.begin() + 1, word.end() - 1, takes_value);
}

std::vector<Word> split(const std::vector<std::string>& arguments, const Grammar& grammar) {
    std::vector<Word> words;
    bool only_plain = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& text = arguments[i];
        if (only_plain || text.size() < 2 || text[0] != '-') {
            words.push_back({Word::plain, text, {}});
        } else if (text == "--") {
            only_plain = true;
        } else {
            const std::string name = text.substr(0, text.find('='));
            words.push_back({Word::option, text, name});
            if (wants_next(text, grammar) && i + 1 < arguments.size()) {
                words.push_back({Word::value, arguments[++i], name});
            }
        }
    }
    return words;
}

bool is_path_option(const std::string& name) {
    return name == "--input" || name == "--env" || name == "--exclude" || name == "--package";
}

/// A quote behind a backslash is none to Windows. A final one is dropped later (to_path).
std::string marked(const std::string& path, const Grammar& grammar) {
    const std::size_t quote = path.find('"');
    if (!grammar.quotes_in_names && quote < path.size() - 1) {
        std::string before = path.substr(0, quote);
        while (before.ends_with('\\')) {
            before.pop_back();
        }
        throw Error(
            ErrorCode::usage, fmt::format("there is a quotation mark in {}", path),
            fmt::format("Windows takes \\\" for one: write the path without its last backslash: \"{}\"", before));
    }
    return PATH_MARK + path;
}

/// How many letters have to be put in, left out or changed to get from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row[b.size()];
}

/// Takes the command out of the words. @return the command; empty if there is none, which only options may do without
std::string take_command(std::vector<Word>& words, const Grammar& grammar) {
    const auto first = std::find_if(words.begin(), words.end(), [](const Word& w) { return w.kind == Word::plain; });
    const bool known = first != words.end() && std::find(grammar.commands.begin(), grammar.commands.end(),
                                                         first->text) != grammar.commands.end();
    if (known || (first != words.end() && first->text == "help")) {
        std::string command = first->text;
        words.erase(first);
        return command;
    }
    const bool has_input =
        std::any_of(words.begin(), words.end(), [](const Word& w) { return w.option_name == "--input"; });
    if (has_input) {
        return "patch";
    }
    if (first != words.end()) {
        std::string hint = suggestion(first->text, grammar.commands);
        if (hint.empty()) {
            hint = fmt::format("the commands are {}; to patch a file: fixnvpe patch FILE",
                               fmt::join(grammar.commands, ", "));
        }
        throw Error(ErrorCode::usage, fmt::format("there is no command \"{}\"", first->text), hint);
    }
    return {};
}

}  // namespace

std::vector<std::string> prepared_for_cli11(const std::vector<std::string>& arguments, const Grammar& grammar) {
    std::vector<Word> words = split(arguments, grammar);
    std::string command = take_command(words, grammar);
    const bool asks_for_help = command == "help";
    if (asks_for_help) {
        const bool no_other =
            std::none_of(words.begin(), words.end(), [](const Word& w) { return w.kind == Word::plain; });
        command = no_other ? std::string() : take_command(words, grammar);
    }
    std::vector<std::string> result;
    if (!command.empty()) {
        result.push_back(command);
    }
    for (const Word& word : words) {
        const bool is_path = (word.kind == Word::plain && grammar.takes_files(command)) ||
                             (word.kind == Word::value && is_path_option(word.option_name));
        if (word.kind == Word::option && is_path_option(word.option_name) && word.text != word.option_name) {
            result.push_back(word.option_name);
            result.push_back(marked(word.text.substr(word.option_name.size() + 1), grammar));
        } else {
            result.push_back(is_path ? marked(word.text, grammar) : word.text);
        }
        if (word.text == "--version" && word.kind == Word::option) {
            return {"--version"};
        }
    }
    if (asks_for_help) {
        result.emplace_back("--help");
    }
    return result;
}

std::vector<std::string> take_command_of_measure(std::vector<std::string>& arguments, const Grammar& grammar) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<Word> before = split({arguments.begin(), end}, grammar);
    const auto first = std::find_if(before.begin(), before.end(), [](const Word& w) { return w.kind == Word::plain; });
    if (end == arguments.end() || first == before.end() || first->text != "measure") {
        return {};
    }
    std::vector<std::string> command(end + 1, arguments.end());
    arguments.erase(end, arguments.end());
    return command;
}

bool has_flag(const std::vector<std::string>& arguments, std::string_view flag, const Grammar& grammar) {
    const std::vector<Word> words = split(arguments, grammar);
    return std::any_of(words.begin(), words.end(),
                       [&](const Word& w) { return w.kind == Word::option && w.text == flag; });
}

std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
    constexpr std::size_t farthest = 2;
    const auto nearest = std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) {
        return distance(word, a) < distance(word, b);
    });
    return nearest != words.end() && distance(word, *nearest) <= farthest ? fmt::format("did you mean {}?", *nearest)
                                                                          : std::string();
}

}  // namespace fixnvpe
