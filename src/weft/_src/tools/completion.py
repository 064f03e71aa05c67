"""`weft completion SHELL`: what makes Tab complete the command, for bash, zsh and fish."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The text to put into the start-up file of a shell."""
    commands = _commands(parser)
    if shell == "fish":
        return _fish(commands)
    cases = "\n".join(
        [
            f'    {name}) words="{" ".join(_options(inner))}" ;;'
            for name, (_, inner) in commands.items()
        ]
    )
    text = f"""_weft() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join([*commands, "--help", "--version"])}" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _weft weft
"""
    if shell == "zsh":
        return f"autoload -U +X bashcompinit && bashcompinit\n{text}"
    return text


def _commands(
    parser: argparse.ArgumentParser,
) -> dict[str, tuple[str, argparse.ArgumentParser]]:
    """The commands by name, with their help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {name: (helps.get(name, ""), inner) for name, inner in action.choices.items()}
    raise AssertionError("the command has no commands")


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [text for action in parser._actions for text in action.option_strings if len(text) > 2]


def _fish(commands: dict[str, tuple[str, argparse.ArgumentParser]]) -> str:
    lines = []
    for name, (text, inner) in commands.items():
        shown = text.replace("'", "")
        lines.append(f"complete -c weft -n __fish_use_subcommand -f -a {name} -d '{shown}'")
        for option in _options(inner):
            when = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c weft -n {when} -l {option.removeprefix('--')}")
    return "\n".join(lines) + "\n"
