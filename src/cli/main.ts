#!/usr/bin/env node
/**
 * The command line: finds the command, runs it, and turns an error into one line and an exit status.
 * @module
 */
import { AetherError, packageVersion } from '../native/index.ts'
import { ExitCode } from './command.ts'
import { commandTable } from './commands.ts'
import { findCommand } from './find-command.ts'
import { formatOverview, withHelp } from './help.ts'
import { toolTable } from './tools.ts'
import { UsageError } from './usage-error.ts'

const entries = withHelp([...commandTable, ...toolTable])

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === undefined || first === '--help' || first === '-h') return print(formatOverview(entries))
  if (first === '--version' || first === '-v') return print(packageVersion())
  if (first.startsWith('-')) throw new UsageError(`unknown option '${first}'; options come after a command`)
  const command = await findCommand(entries, first).load()
  const own = command.passesArguments ? rest.slice(0, 1) : rest
  return own.some(asksForHelp) ? print(command.help) : command.run(rest)
}

function asksForHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return ExitCode.Done
}

/** The message of an `AetherError` is enough; of any other error, print the stack. */
function report(error: unknown): number {
  if (error instanceof UsageError) {
    const command = error.command === undefined ? 'aether help' : `aether ${error.command} --help`
    process.stderr.write(`aether: ${error.message}\nSee '${command}'.\n`)
    return ExitCode.Usage
  }
  const text = error instanceof AetherError ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`aether: ${text}\n`)
  return ExitCode.Failed
}

// If the reader closes the pipe early (`aether help | head -1`), that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.exitCode = await main(process.argv.slice(2)).catch(report)
