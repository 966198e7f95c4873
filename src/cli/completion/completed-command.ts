import type { Command, Operand } from '../command.ts'
import type { CommandEntry } from '../commands.ts'

/** An option as a shell completes it. */
export interface CompletedOption {
  /** `--ranks`, and `-n` if there is a short form. */
  readonly flags: readonly string[]
  readonly takesValue: boolean
}

/** What a shell has to know of a command. */
export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly options: readonly CompletedOption[]
  readonly operands: readonly Operand[]
}

const HELP: CompletedOption = { flags: ['--help', '-h'], takesValue: false }

/** The command as its option table has it. Without `command`, as where its package is not installed, only its name. */
export function completedCommand({ name, summary }: CommandEntry, command: Command | undefined): CompletedCommand {
  const options = Object.entries(command?.options ?? {}).map(([option, { type, short }]) => ({
    flags: short === undefined ? [`--${option}`] : [`--${option}`, `-${short}`],
    takesValue: type === 'string',
  }))
  return { name, summary, options: [...options, HELP], operands: command?.operands ?? [] }
}
