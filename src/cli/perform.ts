import { packageVersion } from '../native/index.ts'
import { ExitCode } from './command.ts'
import { commandTable } from './commands.ts'
import { findCommand } from './find-command.ts'
import { formatOverview, printedHelp, withHelp } from './help.ts'
import { toolTable } from './tools.ts'
import { UsageError } from './usage-error.ts'

const entries = withHelp([...commandTable, ...toolTable])

/** Does what a command line says, and resolves with the exit status. @throws UsageError */
export async function perform(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === undefined || first === '--help' || first === '-h') return print(formatOverview(entries))
  if (first === '--version' || first === '-v') return print(packageVersion())
  if (first.startsWith('-')) throw new UsageError(`unknown option '${first}'; options come after a command`)
  const command = await findCommand(entries, first).load()
  const own = command.passesArguments ? rest.slice(0, 1) : rest
  return own.some(asksForHelp) ? print(printedHelp(command.help)) : command.run(rest)
}

function asksForHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return ExitCode.Done
}
