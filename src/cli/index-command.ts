import process from 'node:process'
import { type BackupOptions, connectIndex, type Index, type IndexNodeFigures } from '../index-service/index.ts'
import { type Command, ExitCode } from './command.ts'
import { endingSignals } from './interruption.ts'
import { parseOptions } from './options.ts'
import { ProgressLine } from './output/progress-line.ts'
import { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatCount } from './output/units.ts'
import { UsageError } from './usage-error.ts'

const table = {
  address: { type: 'string' },
  merge: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether index show [NAME] [--address HOST:PORT] [--json]
       aether index backup FILE [NAME] [--address HOST:PORT]
       aether index restore FILE [NAME] [--merge] [--address HOST:PORT]

Looks after an index that 'aether serve' or openIndex serves. NAME is 'index' if you leave it out.

  show      a line for each node: the shards that it leads and holds, keys, memory, and keys that were evicted.
  backup    writes all keys of all databases to FILE while the index is in use. What FILE says of the keys of one shard
            was so at one moment. FILE is replaced as a whole, and belongs to you alone (mode 0600).
  restore   puts the keys of FILE into the index, which may have another number of shards. A FILE that is not whole is
            refused before anything is restored. So is an index that has keys, unless you pass --merge.

Options:
  --address HOST:PORT   where a node of another machine listens; default: the nodes of this machine
  --merge               keys of FILE take the place of keys of the same names, and others stay
  --json                print the nodes as one JSON document

Exit status: 0 done; 1 it failed; 2 the command line is invalid.

Examples:
  aether index show
  aether index backup /var/backups/shop.index shop
  aether index restore /var/backups/shop.index shop`

const WORDS = ['show', 'backup', 'restore'] as const
const DEFAULT_NAME = 'index'

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
    if (word === 'show' && operands.length > 1) throw new UsageError(`'${operands[1]}' is one word too many`, 'index')
    const file = word === 'show' ? '' : operands[0]
    if (file === undefined) throw new UsageError(`say to which file: aether index ${word} FILE`, 'index')
    const name = (word === 'show' ? operands[0] : operands[1]) ?? DEFAULT_NAME
    await using index = await connectIndex(name, values.address === undefined ? {} : { addresses: [values.address] })
    if (word === 'show') show(await index.nodes(), values.json)
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

function show(nodes: readonly IndexNodeFigures[], isJson: boolean): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify(nodes, undefined, 2)}\n`)
    return
  }
  const titles = ['node', 'process', 'leads', 'holds', 'keys', 'memory', 'of', 'waiting', 'evicted']
  const columns = titles.map((title): Column => ({ title, align: 'right' }))
  const rows = nodes.map(({ rank, processId, memoryBytes, shards }) => {
    const sum = (of: (shard: (typeof shards)[number]) => number): number =>
      shards.reduce((all, each) => all + of(each), 0)
    return [
      String(rank),
      String(processId),
      String(shards.filter(({ leader }) => leader === rank).length),
      String(shards.length),
      formatCount(sum(({ keys }) => keys)),
      formatBytes(sum(({ usedBytes }) => usedBytes)),
      formatBytes(memoryBytes),
      formatCount(sum(({ waiting }) => waiting)),
      formatCount(sum(({ evicted }) => evicted)),
    ]
  })
  new Screen(process.stdout).table(columns, rows)
}
