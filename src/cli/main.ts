#!/usr/bin/env node
/**
 * The command line: runs the command, and turns an error into one line and an exit status.
 * @module
 */
import { AetherError } from '../native/index.ts'
import { ExitCode } from './command.ts'
import { perform } from './perform.ts'
import { UsageError } from './usage-error.ts'

/** The message of an `AetherError` is enough; of any other error, print the stack. */
function report(error: unknown): number {
  if (error instanceof UsageError) {
    const command = error.command === undefined ? 'help' : `${error.command} --help`
    process.stderr.write(`aether: ${error.message}\nSee 'npx aether-dsm ${command}'.\n`)
    return ExitCode.Usage
  }
  const text = error instanceof AetherError ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`aether: ${text}\n`)
  return ExitCode.Failed
}

// If the reader closes the pipe early (`aether help | head -1`), that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
process.exitCode = await perform(process.argv.slice(2)).catch(report)
