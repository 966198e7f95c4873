import process from 'node:process'
import { type BackupOptions, connectIndex, type Index } from '../index-service/index.ts'
import { type Command, ExitCode } from './command.ts'
import { showHotKeys, showNodes, shownJson, showSizes, showSlowCalls } from './index-tables.ts'
import { endingSignals } from './interruption.ts'
import { integerOption, parseOptions } from './options.ts'
import { ProgressLine } from './output/progress-line.ts'
import { Screen } from './output/screen.ts'
import { formatBytes, formatCount } from './output/units.ts'
import { UsageError } from './usage-error.ts'

const table = {
  address: { type: 'string' },
  merge: { type: 'boolean', default: false },
  reset: { type: 'boolean', default: false },
  count: { type: 'string', default: '20' },
  for: { type: 'string', default: '1000' },
  separator: { type: 'string', default: ':' },
  depth: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether index show [NAME] [--address HOST:PORT] [--json]
       aether index slow [NAME] [--count N] [--reset] [--address HOST:PORT] [--json]
       aether index hot [NAME] [--for MS] [--count N] [--address HOST:PORT] [--json]
       aether index sizes [NAME] [--separator TEXT] [--depth N] [--count N] [--address HOST:PORT] [--json]
       aether index backup FILE [NAME] [--address HOST:PORT]
       aether index restore FILE [NAME] [--merge] [--address HOST:PORT]

Looks after an index that 'aether serve' or openIndex serves. NAME is 'index' if you leave it out.

  show      a line for each node: the shards that it leads and holds, keys, memory, keys that were evicted,
            and calls that took long.
  slow      the calls that took 10 ms or longer, or what --slow-ms of 'aether serve', openIndex or CONFIG SET
            says: the latest first. With --reset the nodes then forget them.
  hot       the keys that are used most in the next second, or in --for MS.
  sizes     how many keys begin alike, and what they take: the largest first. The index is in use meanwhile.
  backup    writes all keys of all databases to FILE while the index is in use. What FILE says of the keys of one shard
            was so at one moment. FILE is replaced as a whole, and belongs to you alone (mode 0600).
  restore   puts the keys of FILE into the index, which may have another number of shards. A FILE that is not whole is
            refused before anything is restored. So is an index that has keys, unless you pass --merge.

Options:
  --address HOST:PORT   where a node of another machine listens; default: the nodes of this machine
  --count N             print N lines at most; default: 20
  --for MS              how long uses are counted; default: 1000
  --separator TEXT      where parts of keys end; default: ':'. Those of tuples are their own
  --depth N             how many parts a prefix has; default: 1
  --reset               what 'slow' has shown is forgotten
  --merge               keys of FILE take the place of keys of the same names, and others stay
  --json                print what is shown as one JSON document

Exit status: 0 done; 1 it failed; 2 the command line is invalid.

Examples:
  aether index show
  aether index hot shop --for 5000
  aether index sizes shop --depth 2
  aether index backup /var/backups/shop.index shop
  aether index restore /var/backups/shop.index shop`

const WORDS = ['show', 'slow', 'hot', 'sizes', 'backup', 'restore'] as const
/** Those that print something of an index, and need no file. */
const SHOWING: ReadonlySet<string> = new Set(['show', 'slow', 'hot', 'sizes'])
const DEFAULT_NAME = 'index'
/** Until the nodes have gone through their keys. */
const HOT_GRACE_MS = 30_000

/** `aether index`. */
export const indexCommand: Command = {
  help,
  options: table,
  operands: [WORDS, 'file'],

  async run(args) {
    const { values, positionals } = parseOptions('index', args, table, 3)
    const [given, ...operands] = positionals
    const word = WORDS.find((each) => each === given)
    if (word === undefined) {
      const what = given === undefined ? 'say what to do' : `there is no 'npx aether-dsm index ${given}'`
      throw new UsageError(`${what}: ${WORDS.join(', ')}`, 'index')
    }
    const shows = SHOWING.has(word)
    if (shows && operands.length > 1) throw new UsageError(`'${operands[1]}' is one word too many`, 'index')
    const file = shows ? '' : operands[0]
    if (file === undefined) throw new UsageError(`say to which file: aether index ${word} FILE`, 'index')
    const name = (shows ? operands[0] : operands[1]) ?? DEFAULT_NAME
    const count = integerOption('index', '--count', values.count, 1, 10_000)
    const forMs = integerOption('index', '--for', values.for, 1, 600_000)
    const depth = integerOption('index', '--depth', values.depth, 1, 100)
    const { separator, json } = values
    if (separator === '') throw new UsageError('--separator must not be empty, try :', 'index')
    await using index = await connectIndex(name, values.address === undefined ? {} : { addresses: [values.address] })
    const screen = new Screen(process.stdout)
    if (word === 'show') print(await index.nodes(), json, (nodes) => showNodes(nodes, screen))
    else if (word === 'slow')
      print((await index.slowLog({ reset: values.reset })).slice(0, count), json, (calls) =>
        showSlowCalls(calls, screen),
      )
    else if (word === 'hot')
      print(await index.hotKeys({ forMs, count, timeoutMs: forMs + HOT_GRACE_MS }), json, (keys) =>
        showHotKeys(keys, screen),
      )
    else if (word === 'sizes')
      print(await index.sizesByPrefix({ separator, depth, count }), json, (sizes) => showSizes(sizes, screen))
    else if (word === 'backup') await backup(index, file)
    else await restore(index, file, values.merge)
    return ExitCode.Done
  },
}

async function backup(index: Index, file: string): Promise<void> {
  const { bytes } = await withProgress('written', (watched) => index.backup(file, watched))
  process.stdout.write(`${file}: ${formatBytes(bytes)}\n`)
}

async function restore(index: Index, file: string, merge: boolean): Promise<void> {
  const { keys } = await withProgress('restored', (watched) => index.restore(file, { merge, ...watched }))
  process.stdout.write(`restored ${formatCount(keys)} keys\n`)
}

type Watched = Required<BackupOptions>

/** How far it is, while it works. Ctrl-C ends it. */
async function withProgress<T>(what: string, work: (watched: Watched) => Promise<T>): Promise<T> {
  const line = new ProgressLine(process.stderr)
  const stop = new AbortController()
  for (const signal of endingSignals) process.on(signal, () => stop.abort())
  try {
    return await work({
      signal: stop.signal,
      onProgress: ({ bytes, ofBytes }) =>
        line.show(`${formatBytes(bytes)}${ofBytes === undefined ? '' : ` of ${formatBytes(ofBytes)}`} ${what}`),
    })
  } finally {
    line.clear()
  }
}

function print<T>(what: T, isJson: boolean, show: (what: T) => void): void {
  if (isJson) process.stdout.write(`${shownJson(what)}\n`)
  else show(what)
}
