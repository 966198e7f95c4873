import type { Index } from '../index-service/index.ts'
import type { Screen } from './output/screen.ts'
import type { Column } from './output/table.ts'
import { formatBytes, formatCount, formatTime } from './output/units.ts'
import { plainName } from './structures/structures-table.ts'

type Nodes = Awaited<ReturnType<Index['nodes']>>
type SlowCalls = Awaited<ReturnType<Index['slowLog']>>
type Uses = Awaited<ReturnType<Index['hotKeys']>>
type Sizes = Awaited<ReturnType<Index['sizesByPrefix']>>
type ShownKey = Uses[number]['key']

const right = (title: string): Column => ({ title, align: 'right' })
const left = (title: string): Column => ({ title, align: 'left' })

/** A longer key would push everything else off the line. */
const KEY_MAX = 60
const COMMAND_MAX = 80

export function showNodes(nodes: Nodes, screen: Screen): void {
  const titles = ['node', 'process', 'leads', 'holds', 'keys', 'memory', 'of', 'waiting', 'evicted', 'slow']
  const rows = nodes.map(({ rank, processId, memoryBytes, slow, shards }) => {
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
      formatCount(slow),
    ]
  })
  screen.table(titles.map(right), rows)
}

export function showSlowCalls(calls: SlowCalls, screen: Screen): void {
  const rows = calls.map(({ node, atMs, tookMs, command, client }) => [
    new Date(atMs).toISOString().replace('T', ' ').slice(0, 19),
    formatTime(tookMs),
    String(node),
    plainName(client),
    cut(command.map((part) => plainName(String(part))).join(' '), COMMAND_MAX),
  ])
  screen.table([left('time (UTC)'), right('took'), right('node'), left('client'), left('command')], rows)
}

export function showHotKeys(keys: Uses, screen: Screen): void {
  const rows = keys.map(({ db, key, uses }) => [formatCount(uses), String(db), textOf(key)])
  screen.table([right('uses'), right('database'), left('key')], rows)
}

export function showSizes({ prefixes, rest }: Sizes, screen: Screen): void {
  const rows = prefixes.map(({ db, prefix, keys, bytes }) => [
    formatBytes(bytes),
    formatCount(keys),
    String(db),
    textOf(prefix),
  ])
  if (rest.bytes > 0) rows.push([formatBytes(rest.bytes), formatCount(rest.keys), '', '(the rest)'])
  screen.table([right('memory'), right('keys'), right('database'), left('prefix')], rows)
}

/** Keys and arguments are bytes, which JSON has as text. */
export function shownJson(what: unknown): string {
  return JSON.stringify(asText(what), undefined, 2)
}

function asText(what: unknown): unknown {
  if (what instanceof Uint8Array) return String(what)
  if (typeof what === 'bigint') return String(what)
  if (Array.isArray(what)) return what.map(asText)
  if (typeof what !== 'object' || what === null) return what
  return Object.fromEntries(Object.entries(what).map(([name, value]) => [name, asText(value)]))
}

function textOf(key: ShownKey): string {
  const text = Buffer.isBuffer(key) ? plainName(String(key)) : JSON.stringify(asText(key))
  return cut(text === '' ? "''" : text, KEY_MAX)
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`
}
