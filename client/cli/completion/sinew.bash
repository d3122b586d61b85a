# Completion of sinew's commands, options and choices for bash. They come from `sinew --help`.

# Words of the help that begin a line of options or commands, after two blanks.
_sinew_words() {
  sinew "$@" --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z]*)  .*/\1/p; s/^  (-[-a-z,]+).*/\1/p' | tr ',' '\n'
}

# The choices a|b|c of option $1 in the help of the following command.
_sinew_choices() {
  local option=$1
  shift
  sinew "$@" --help 2>/dev/null | sed -nE "s/^  (-[a-z],)?$option(,-[a-z])? ([a-z0-9_]+(\|[a-z0-9_]+)+).*/\3/p" | tr '|' '\n'
}

_sinew() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]] && _sinew_words | grep -qx -- "$word"; then
      command=$word
      break
    fi
  done
  if [[ $previous == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_sinew_choices "$previous" $command)" -- "$current")
    [[ ${#COMPREPLY[@]} -gt 0 ]] && return
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$({ _sinew_words $command; _sinew_words; } | grep '^-' | sort -u)" -- "$current")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_sinew_words | grep -v '^-') help" -- "$current")
  elif [[ $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_sinew_words | grep -v '^-')" -- "$current")
  fi  # else files, which `-o default` adds
}
complete -o default -F _sinew sinew
