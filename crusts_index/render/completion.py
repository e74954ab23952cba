"""Completion scripts for bash, zsh, fish and PowerShell, made from the words of the command line."""

from collections.abc import Callable, Iterator
from typing import NamedTuple


class Option(NamedTuple):
    """An option: its names, and what it takes, if anything: one of `choices`, or what `wants` says."""

    names: list[str]
    help: str
    takes_value: bool
    choices: list[str]
    wants: str
    """choice, folder, file or session; empty: any text."""

    @property
    def takes(self) -> str:
        """`choice a b`, folder, file, session or value; empty for a switch."""
        if not self.takes_value:
            return ""
        return f"choice {' '.join(self.choices)}" if self.choices else self.wants or "value"


class Command(NamedTuple):
    """A command with all that can be typed behind it."""

    name: str
    help: str
    options: list[Option]
    values: list[str]
    wants_session: bool
    commands: "list[Command]"


class _Place(NamedTuple):
    """A command and the words that lead to it: `` for the program, `/hooks/enable`."""

    path: str
    command: Command
    own: list[Option]
    """Options that are not the program's own."""

    @property
    def words(self) -> list[tuple[str, str]]:
        """Subcommands and values that can stand here, with what they are."""
        return [(one.name, one.help) for one in self.command.commands] + [(one, "") for one in self.command.values]


def bash(root: Command) -> str:
    """For bash 3.2 and later."""
    return _fill(_BASH, takes=_sh_takes(root), words=_sh_words(root), options=_sh_options(root))


def zsh(root: Command) -> str:
    """For zsh, with descriptions."""
    lines = []
    for place in _places(root):
        entries = " ".join(_quoted(_described(*word)) for word in place.words)
        named = " ".join(_quoted(_described(name, one.help)) for one in place.command.options for name in one.names)
        lines.append(f"        {_quoted(place.path)}) words_=({entries}); options_=({named}) ;;")
    sessions = " | ".join(_quoted(place.path) for place in _places(root) if place.command.wants_session)
    return _fill(_ZSH, takes=_sh_takes(root), entries="\n".join(lines), sessions=sessions or "'-'")


def fish(root: Command) -> str:
    """For fish 3 and later, with descriptions."""
    lines = [_fish_option("", one) for one in root.options]
    for place in _places(root):
        here = f"-n {_quoted('__crusts_is ' + (place.path or '/'))}"
        lines += [f"complete -c crusts {here} -a {_quoted(name)}{_fish_help(text)}" for name, text in place.words]
        if place.command.wants_session:
            lines.append(f"complete -c crusts {here} -a '(crusts completion ids 2>/dev/null)'")
        if place.path:
            lines += [_fish_option(here + " ", one) for one in place.own]
    paths = " ".join(place.path for place in _places(root) if place.path)
    valued = sorted({name for place in _places(root) for one in place.own if one.takes for name in one.names})
    return _fill(_FISH, paths=paths, valued=" ".join(valued), lines="\n".join(lines))


def pwsh(root: Command) -> str:
    """For PowerShell 5 and later."""
    lines = []
    for place in _places(root):
        words = ", ".join(_ps(name) for name, _ in place.words)
        named = ", ".join(_ps(name) for one in place.command.options for name in one.names)
        ids = "$true" if place.command.wants_session else "$false"
        lines.append(f"        {_ps(place.path)} = @{{ words = @({words}); options = @({named}); ids = {ids} }}")
    takes = [f"        {_ps(f'{path} {name}')} = {_ps(kind)}" for path, name, kind in _taking(root, everywhere="*")]
    return _fill(_PWSH, places="\n".join(lines), takes="\n".join(takes))


SCRIPTS: dict[str, Callable[[Command], str]] = {"bash": bash, "zsh": zsh, "fish": fish, "pwsh": pwsh}


def _places(root: Command) -> list[_Place]:
    common = {name: one for one in root.options for name in one.names}

    def walk(path: str, command: Command) -> Iterator[_Place]:
        own = command.options if not path else [one for one in command.options if common.get(one.names[0]) != one]
        yield _Place(path, command, own)
        for inner in command.commands:
            yield from walk(f"{path}/{inner.name}", inner)

    return list(walk("", root))


def _taking(root: Command, *, everywhere: str) -> list[tuple[str, str, str]]:
    """(path, option, what it takes), a command's own options before the common ones, which hold everywhere."""
    places = _places(root)
    own = [(place.path, name, one.takes) for place in places[1:] for one in place.own for name in one.names]
    common = [(everywhere, name, one.takes) for one in root.options for name in one.names]
    overridden = {name for _, name, _ in common}
    return [row for row in own if row[2] or row[1] in overridden] + [row for row in common if row[2]]


def _sh_takes(root: Command) -> str:
    return "\n".join(
        f"        {'*' if path == '*' else ''}{_quoted(f'{path} {name}'.removeprefix('*'))}) REPLY={_quoted(takes)} ;;"
        for path, name, takes in _taking(root, everywhere="*")
    )


def _sh_words(root: Command) -> str:
    lines = []
    for place in _places(root):
        ids = " ids=1" if place.command.wants_session else ""
        words = " ".join(name for name, _ in place.words)
        lines.append(f"        {_quoted(place.path)}) REPLY={_quoted(words)}{ids} ;;")
    return "\n".join(lines)


def _sh_options(root: Command) -> str:
    lines = []
    for place in _places(root):
        named = " ".join(name for one in place.command.options for name in one.names)
        lines.append(f"        {_quoted(place.path)}) REPLY={_quoted(named)} ;;")
    return "\n".join(lines)


def _fish_option(condition: str, option: Option) -> str:
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    kinds = {
        "": "",
        "value": " -x",
        "folder": " -x -a '(__fish_complete_directories)'",
        "file": " -r -F",
        "session": " -x -a '(crusts completion ids 2>/dev/null)'",
    }
    kind = kinds.get(option.takes) if not option.choices else f" -x -a {_quoted(' '.join(option.choices))}"
    return f"complete -c crusts {condition}{names.strip()}{kind}{_fish_help(option.help)}"


def _fish_help(text: str) -> str:
    return f" -d {_quoted(text)}" if text else ""


def _described(name: str, text: str) -> str:
    return name.replace(":", "\\:") + (f":{text}" if text else "")


def _quoted(text: str) -> str:
    """In single quotes, for shells; quotes inside are turned into typographic ones, as only help texts have them."""
    return "'" + text.replace("'", "’") + "'"


def _ps(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _fill(template: str, **parts: str) -> str:
    script = template
    for name, part in parts.items():
        script = script.replace(f"        @{name}@", part).replace(f"@{name}@", part)
    return script


_BASH = """\
# Completion of crusts for bash: put `source <(crusts completion bash)` into ~/.bashrc.
_crusts_takes() { # what option $2 takes behind the commands $1; nothing if it is a switch
    REPLY=
    case "$1 $2" in
        @takes@
    esac
}
_crusts_words() { # commands and values behind the commands $1; ids=1 if a session can be named
    REPLY='-' ids=
    case "$1" in
        @words@
    esac
}
_crusts_options() {
    REPLY=
    case "$1" in
        @options@
    esac
}
_crusts() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at= ids= word i=1 REPLY
    COMPREPLY=()
    # --name=value reaches us in three words
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" ]]; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    while (( i < COMP_CWORD )); do
        word="${COMP_WORDS[i]}"
        if [[ $word == -* ]]; then
            _crusts_takes "$at" "$word"
            if [[ -n $REPLY ]]; then
                if [[ ${COMP_WORDS[i+1]} == "=" ]]; then i=$((i + 1)); fi
                i=$((i + 1))
            fi
        else
            _crusts_words "$at/$word"
            if [[ $REPLY != "-" ]]; then at="$at/$word"; fi
        fi
        i=$((i + 1))
    done
    REPLY=
    if [[ $prev == -* ]]; then _crusts_takes "$at" "$prev"; fi
    local IFS=$' \\t\\n'
    case "$REPLY" in
        choice*) COMPREPLY=($(compgen -W "${REPLY#choice }" -- "$cur")); return ;;
        session) COMPREPLY=($(compgen -W "$(crusts completion ids 2>/dev/null)" -- "$cur")); return ;;
        folder | file)
            local kind=-f
            if [[ $REPLY == folder ]]; then kind=-d; fi
            IFS=$'\\n'
            COMPREPLY=($(compgen "$kind" -- "$cur"))
            compopt -o filenames 2>/dev/null
            return ;;
        value) return ;;
    esac
    if [[ $cur == -* ]]; then
        _crusts_options "$at"
    else
        _crusts_words "$at"
        if [[ $REPLY == "-" ]]; then REPLY=; fi
        if [[ -n $ids ]]; then REPLY="$REPLY $(crusts completion ids 2>/dev/null)"; fi
    fi
    COMPREPLY=($(compgen -W "$REPLY" -- "$cur"))
}
complete -F _crusts crusts
"""

_ZSH = """\
#compdef crusts
# Completion of crusts for zsh: put `source <(crusts completion zsh)` into ~/.zshrc, behind compinit.
_crusts_takes() { # what option $2 takes behind the commands $1; nothing if it is a switch
    REPLY=
    case "$1 $2" in
        @takes@
    esac
}
_crusts_entries() { # what can stand behind the commands $1; fails if there is no such command
    words_=() options_=()
    case "$1" in
        @entries@
        *) return 1 ;;
    esac
}
_crusts() {
    local at= word i=2 REPLY cur="${words[CURRENT]}" prev="${words[CURRENT-1]}"
    local -a words_ options_
    while (( i < CURRENT )); do
        word="${words[i]}"
        if [[ $word == -* ]]; then
            _crusts_takes "$at" "$word"
            if [[ -n $REPLY ]]; then (( i++ )); fi
        elif _crusts_entries "$at/$word"; then
            at="$at/$word"
        fi
        (( i++ ))
    done
    if [[ $cur == --*=* ]]; then
        prev="${cur%%=*}"
        compset -P '*='
    fi
    REPLY=
    if [[ $prev == -* ]]; then _crusts_takes "$at" "$prev"; fi
    case "$REPLY" in
        choice*) compadd -- ${=REPLY#choice }; return ;;
        session) compadd -- ${(f)"$(crusts completion ids 2>/dev/null)"}; return ;;
        folder) _files -/; return ;;
        file) _files; return ;;
        value) return 1 ;;
    esac
    _crusts_entries "$at"
    if [[ $cur == -* ]]; then
        _describe -o 'option' options_
        return
    fi
    if (( $#words_ )); then _describe 'command' words_; fi
    case "$at" in
        @sessions@) compadd -V sessions -- ${(f)"$(crusts completion ids 2>/dev/null)"} ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _crusts "$@"
else
    compdef _crusts crusts
fi
"""

_FISH = """\
# Completion of crusts for fish: crusts completion fish > ~/.config/fish/completions/crusts.fish
function __crusts_is
    # Whether the commands typed so far are these
    set -l at
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word @valued@
            set skip 1
        else if contains -- "$at/$word" @paths@
            set at "$at/$word"
        end
    end
    test "$argv[1]" = "$at" -o "$argv[1]" = / -a -z "$at"
end
complete -c crusts -f
@lines@
"""

_PWSH = """\
# Completion of crusts for PowerShell: put `crusts completion pwsh | Out-String | Invoke-Expression` into $PROFILE.
Register-ArgumentCompleter -Native -CommandName crusts -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $places = @{
        @places@
    }
    $takes = @{
        @takes@
    }
    $typed = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -and $typed.Count -gt 0) { $typed = @($typed | Select-Object -SkipLast 1) }
    $at = ''
    $wanted = ''
    foreach ($word in $typed) {
        if ($wanted) { $wanted = ''; continue }
        if ($word.StartsWith('-')) {
            if ($takes.ContainsKey("$at $word")) { $wanted = $takes["$at $word"] }
            elseif ($takes.ContainsKey("* $word")) { $wanted = $takes["* $word"] }
        }
        elseif ($places.ContainsKey("$at/$word")) { $at = "$at/$word" }
    }
    $found = @()
    if ($wanted.StartsWith('choice ')) { $found = $wanted.Substring(7).Split(' ') }
    elseif ($wanted -eq 'session') { $found = @(crusts completion ids) }
    elseif ($wanted) { return }
    elseif ($wordToComplete.StartsWith('-')) { $found = $places[$at].options }
    else {
        $found = @($places[$at].words)
        if ($places[$at].ids) { $found += @(crusts completion ids) }
    }
    $found | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
"""
