import { type Command, ExitCode } from './command.ts'
import type { CommandEntry } from './commands.ts'
import { bashCompletion } from './completion/bash.ts'
import { completedCommand } from './completion/completed-command.ts'
import { zshCompletion } from './completion/zsh.ts'
import { parseOptions, wordOption } from './options.ts'
import { UsageError } from './usage-error.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion } as const
const names = Object.keys(shells) as (keyof typeof shells)[]

const help = `Usage: aether completion bash|zsh

Prints a script by which the shell completes commands, options and the names of running spaces. It is made from the
option tables of the commands that are installed.

Examples:
  aether completion bash >> ~/.bash_completion       (bash reads that file at its start)
  source <(aether completion zsh)                    (in ~/.zshrc, after compinit)`

/** `aether completion`, of `entries`. */
export function completionCommand(entries: readonly CommandEntry[]): Command {
  return {
    help,
    options: {},
    operands: [names],

    async run(args) {
      const [shell] = parseOptions('completion', args, {}, 1).positionals
      if (shell === undefined)
        throw new UsageError(`the name of the shell is missing: ${names.join(' or ')}`, 'completion')
      const script = shells[wordOption('completion', 'the shell', shell, names)]
      // A command of the tools cannot be loaded if they are not installed.
      const commands = entries.map(async (entry) => completedCommand(entry, await entry.load().catch(() => undefined)))
      process.stdout.write(script(await Promise.all(commands)))
      return ExitCode.Done
    },
  }
}
