import process from 'node:process'
import { keepSpace, open, parseDuration } from '../dsm/index.ts'
import { type Command, ExitCode } from './command.ts'
import { parseOptions } from './options.ts'
import { UsageError } from './usage-error.ts'

const table = {
  for: { type: 'string' },
} as const

const help = `Usage: aether keep SPACE [--for TIME]

Keeps a space, whether or not a program has it open: its memory stays over a redeploy, for instance. It is a member of
the space until it is ended (Ctrl-C), or, with --for, until no other process was there for that time. It makes the space
if it does not run.

A space in a directory outlives its processes anyway. A program can have this done by open('shop', { keep: '10min' }).

Options:
  --for TIME   end when no other process was there for that long: 90s, 10min, 2h

Exit status: 0 done; 1 the space cannot be opened; 2 the command line is invalid.

Examples:
  aether keep shop
  aether keep shop --for 10min &`

/** `aether keep`. */
export const keepCommand: Command = {
  help,
  options: table,
  operands: ['space'],

  async run(args) {
    const { values, positionals } = parseOptions('keep', args, table, 1)
    const [name] = positionals
    if (name === undefined) throw new UsageError('the name of the space is missing', 'keep')
    const forMs = values.for === undefined ? undefined : parseDuration(values.for, '--for')
    const stop = new AbortController()
    const onSignal = (): void => stop.abort()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
    await using space = await open(name)
    process.stdout.write(`keeping space '${name}' (process ${process.pid})\n`)
    await keepSpace(space.membership, forMs, stop.signal)
    return ExitCode.Done
  },
}
