import type { Operand } from '../command.ts'
import type { CompletedCommand } from './completed-command.ts'
import { COMMAND_NAMES, quoted, SPACES_IN_SHELL } from './shell-words.ts'

/** A completion script for bash; see *Programmable Completion* of its manual. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# Completion of aether for bash. To use it: source <(npx aether-dsm completion bash)
_aether() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} options valued others
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(commands.map(({ name }) => name).join(' '))} -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map(caseOf).join('\n')}
    *) return ;;
  esac
  if [[ " $valued " == *" $before "* ]]; then COMPREPLY=($(compgen -f -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$others" = file ]; then COMPREPLY=($(compgen -f -- "$word"))
  elif [ "$others" = space ]; then COMPREPLY=($(compgen -W "$(${SPACES_IN_SHELL})" -- "$word"))
  else COMPREPLY=($(compgen -W "$others" -- "$word"))
  fi
}
complete -o filenames -F _aether ${COMMAND_NAMES.join(' ')}
`
}

function caseOf({ name, options, operands }: CompletedCommand): string {
  const flags = options.flatMap((option) => option.flags)
  const valued = options.flatMap((option) => (option.takesValue ? option.flags : []))
  const others = wordsOf(operands[0])
  return `    ${name}) options=${quoted(flags.join(' '))} valued=${quoted(valued.join(' '))} others=${quoted(others)} ;;`
}

function wordsOf(operand: Operand | undefined): string {
  return typeof operand === 'object' ? operand.join(' ') : (operand ?? '')
}
