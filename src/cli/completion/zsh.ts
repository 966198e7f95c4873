import type { Operand } from '../command.ts'
import type { CompletedCommand, CompletedOption } from './completed-command.ts'
import { COMMAND_NAMES, quoted, SPACES_IN_SHELL } from './shell-words.ts'

/** A completion function for zsh; see zshcompsys(1), `_describe` and `_arguments`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => quoted(`${name}:${summary.replaceAll(':', '\\:')}`))
  return `#compdef ${COMMAND_NAMES.join(' ')}
# Completion of aether for zsh. To use it: source <(npx aether-dsm completion zsh), after compinit
_aether_spaces() {
  local -a spaces
  spaces=(\${(f)"$(${SPACES_IN_SHELL})"})
  _describe 'space' spaces
}
_aether() {
  local -a commands
  commands=(
${described.map((line) => `    ${line}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT -= 1 ))
  case $command in
${commands.map(caseOf).join('\n')}
  esac
}
compdef _aether ${COMMAND_NAMES.join(' ')}
`
}

function caseOf({ name, options, operands }: CompletedCommand): string {
  const specifications = [...options.flatMap(specificationsOf), ...operands.map(operandOf)]
  return `    ${name}) _arguments ${specifications.map(quoted).join(' ')} ;;`
}

/** One for each form, since a form may come more than once. */
function specificationsOf({ flags, takesValue }: CompletedOption): string[] {
  return flags.map((flag) => (takesValue ? `*${flag}:value:_files` : `*${flag}`))
}

function operandOf(operand: Operand): string {
  if (operand === 'file') return '*:file:_files'
  return operand === 'space' ? ':space:_aether_spaces' : `:argument:(${operand.join(' ')})`
}
