import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CopyProgress, ServerCopier } from '../redis-door/index.ts'
import { type Command, ExitCode } from './command.ts'
import { endingSignals } from './interruption.ts'
import { parseOptions } from './options.ts'
import { ProgressLine } from './output/progress-line.ts'
import { UsageError } from './usage-error.ts'

const table = {
  to: { type: 'string', default: 'redis://127.0.0.1:6379' },
  once: { type: 'boolean', default: false },
} as const

const help = `Usage: aether import redis://HOST:PORT [options]

Copies a living Redis server into an index that 'aether serve --port' serves: keys of all types and databases,
and when they expire. Then it follows: what changes there is copied, too, until Ctrl-C. So you can switch programs to
the index when it says that it is in step. Keys that are in the index only stay. It needs the package ioredis.

To be told of changes it sets notify-keyspace-events of the Redis server, and sets it back at the end. Where it may
not, it copies once and says so. FLUSHALL and FLUSHDB are not told.

Options:
  --to URL      where the index is served (default redis://127.0.0.1:6379)
  --once        copy all keys once, and do not follow

Exit status: 0 copied; 1 a server cannot be reached, or some keys were not copied; 2 the command line is invalid.

Examples:
  aether import redis://10.0.0.5:6379
  aether import rediss://user:password@redis.example.com:6380 --to redis://127.0.0.1:7000 --once`

const SHOW_MS = 200
const SHOWN_FAILURES = 5

/** `aether import`. */
export const importCommand: Command = {
  help,
  options: table,
  operands: [],

  async run(args) {
    const { values, positionals } = parseOptions('import', args, table, 1)
    const [from] = positionals
    if (from === undefined || !/^rediss?:\/\//.test(from))
      throw new UsageError("'aether import' takes the URL of a Redis server, such as redis://127.0.0.1:6379", 'import')
    if (from === values.to) throw new UsageError(`--to is ${from} itself; pass the URL of the index`, 'import')
    const stop = new AbortController()
    for (const signal of endingSignals) process.on(signal, () => stop.abort())
    await using copier = await ServerCopier.open(from, values.to)
    const follows = !values.once && (await copier.listen())
    if (!values.once && !follows) say('the server does not tell changes (CONFIG SET is refused): copying once')
    await show(copier, copier.copyAll(stop.signal))
    const { copied } = copier.progress
    say(`copied ${copied} keys${follows ? '; following changes. Switch your programs, then press Ctrl-C' : ''}`)
    if (follows) {
      await copier.follow(stop.signal)
      say(`in step: ${copier.progress.copied - copied} changes were copied`)
    }
    return sayFailures(copier.progress)
  },
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** How far it is, while it works. */
async function show(copier: ServerCopier, work: Promise<void>): Promise<void> {
  const line = new ProgressLine(process.stderr)
  const isOver = work.then(() => true)
  try {
    while (!(await Promise.race([isOver, sleep(SHOW_MS, false)]))) {
      const { copied, total } = copier.progress
      line.show(`${copied} of ${total} keys`)
    }
  } finally {
    line.clear()
  }
}

function sayFailures({ failed }: CopyProgress): number {
  if (failed.size === 0) return ExitCode.Done
  say(`${failed.size} keys were not copied:`)
  for (const [key, why] of [...failed].slice(0, SHOWN_FAILURES)) say(`  ${key}: ${why}`)
  return ExitCode.Failed
}
