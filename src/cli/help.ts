import { type Command, ExitCode } from './command.ts'
import type { CommandEntry } from './commands.ts'
import { findCommand } from './find-command.ts'
import { parseOptions } from './options.ts'
import { toolTable } from './tools.ts'

/** A help text as it is printed: it names the command `aether`, but on npm `aether` is another package. */
export function printedHelp(text: string): string {
  return text.replaceAll(/\baether (?=[a-z<-])/g, 'npx aether-dsm ')
}

/** The list of commands, for `aether help` and plain `aether`. */
export function formatOverview(entries: readonly CommandEntry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length))
  const listed = (some: readonly CommandEntry[]): string =>
    some.map((entry) => `  ${entry.name.padEnd(width)}   ${entry.summary}`).join('\n')
  return printedHelp(`Aether: shared memory for Node.js, between processes and, over RDMA or TCP, between machines.

Usage: aether <command> [options]

Commands:
${listed(entries.filter((entry) => !toolTable.includes(entry)))}

Commands of aether-dsm-tools, a package of its own:
${listed(entries.filter((entry) => toolTable.includes(entry)))}

  aether <command> --help   options and examples of a command
  aether --version          the version

Exit status: 0 done; 1 the command failed, or a check of the demo did; 2 the command line is invalid.
'aether run' ends with the status of the rank that failed, or 128 + the number of the signal that ended it.

Write 'npx aether-dsm', not 'npx aether': on npm 'aether' is another package. In a checkout 'npm start' is the demo.`)
}

const helpText = `Usage: aether help [command]

Lists the commands, or prints the same as 'aether <command> --help'.

Examples:
  aether help
  aether help run`

/** Adds the commands that read the list, and so are not in it themselves. */
export function withHelp(entries: readonly CommandEntry[]): readonly CommandEntry[] {
  const all: CommandEntry[] = [...entries]
  all.push({
    name: 'completion',
    summary: 'print a script by which bash or zsh completes commands, options and spaces',
    load: async () => (await import('./completion.ts')).completionCommand(all),
  })
  all.push({ name: 'help', summary: 'explain a command, or list them all', load: async () => helpCommand(all) })
  return all
}

function helpCommand(entries: readonly CommandEntry[]): Command {
  return {
    help: helpText,
    options: {},
    operands: [entries.map(({ name }) => name)],
    async run(args) {
      const [name] = parseOptions('help', args, {}, 1).positionals
      const text =
        name === undefined ? formatOverview(entries) : printedHelp((await findCommand(entries, name).load()).help)
      process.stdout.write(`${text}\n`)
      return ExitCode.Done
    },
  }
}
