import { LINK_NUMBERS } from '../wire.ts'
import type { SessionRecord } from './session-format.ts'
import { EVENT_NUMBERS } from './session-format.ts'

type Check = (value: unknown) => boolean

/** The maximum number of pages of a recorded region. The browser keeps two bytes for each. */
export const RECORDED_PAGES_MAX: number = 2 ** 26
/** The maximum length of a name or a line of the log. */
export const RECORDED_TEXT_MAX = 4096
const ROWS_MAX = 100_000
const BLOCK_PAGES = 256
const LIST_MAX = 4_000_000
/** An index has at most as many. */
const SHARDS_MAX = 256

const number: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const text: Check = (value) => typeof value === 'string' && value.length <= RECORDED_TEXT_MAX
const boolean: Check = (value) => typeof value === 'boolean'
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const whole =
  (most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most
const word =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
const list =
  (check: Check, most: number = ROWS_MAX): Check =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.every(check)
const fields =
  (table: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every((name) => Object.hasOwn(table, name)) &&
    Object.entries(table).every(([name, check]) => check((value as Record<string, unknown>)[name]))
const numbers =
  (each: number): Check =>
  (value) =>
    list(number, LIST_MAX)(value) && (value as unknown[]).length % each === 0

const rank = whole(65_534)

const member = fields({
  slot: rank,
  epoch: number,
  processId: number,
  foreign: optional((value) => value === true),
  rank: orNull(rank),
  state: word('running', 'stopped', 'left', 'died'),
  residentBytes: number,
  processors: number,
  waits: number,
  bytesIn: number,
  bytesOut: number,
  waitP50Ns: number,
  waitP99Ns: number,
  regions: number,
})
const cell = fields({ side: word('cache', 'directory'), state: text, event: text, count: number })
const region = fields({
  name: text,
  coherence: text,
  size: number,
  pageBytes: number,
  pages: number,
  openAt: list(rank),
  hasPages: boolean,
  cells: list(cell),
})
const line = fields({ atMs: number, kind: word('joined', 'left', 'died', 'aborted', 'region', 'note'), text })
const histogram = fields({
  name: text,
  slot: rank,
  count: number,
  meanNs: number,
  p50Ns: number,
  p90Ns: number,
  p99Ns: number,
  maxNs: number,
  parts: numbers(2),
})
const operation = fields({
  from: rank,
  to: orNull(rank),
  layer: word('coherence', 'verbs', 'messages', 'calls', 'answers'),
  name: text,
  rate: number,
  bytes: number,
  p50Ns: orNull(number),
  p99Ns: orNull(number),
})

const structure = fields({
  region: text,
  name: text,
  kind: text,
  entries: orNull(number),
  bytes: orNull(number),
  isEstimate: boolean,
  isChanging: boolean,
  now: text,
  reads: number,
  writes: number,
  waiting: number,
  evictions: number,
  expirations: number,
})
const structureMemory = fields({
  region: text,
  sizeBytes: number,
  usedBytes: number,
  isEstimate: boolean,
  isOther: boolean,
})
const failOver = fields({ campaignNs: number, promisedNs: number, caughtUpNs: number, decidedNs: number })
const machine = fields({
  name: text,
  number: rank,
  leads: boolean,
  term: number,
  applied: number,
  behind: number,
  rate: number,
  proposing: number,
  failOver: orNull(failOver),
})
const indexShard = fields({
  shard: rank,
  state: word('holds', 'opening', 'leaving'),
  leads: boolean,
  behind: orNull(number),
  keys: number,
  expiring: number,
  waiting: number,
  bytesUsed: number,
  bytesHeld: number,
  evicted: number,
})
const indexNode = fields({ number: rank, bytesMax: number, slow: number, shards: list(indexShard, SHARDS_MAX) })
const array = fields({
  name: text,
  dtype: text,
  shape: list(number),
  axes: number,
  partition: list(text),
  cells: list(list(number)),
  parts: list(fields({ number: rank, elements: number, bytes: number })),
})
const index = fields({ name: text, shards: whole(SHARDS_MAX), replicas: number, nodes: list(indexNode) })

const checks: Readonly<Record<string, Check>> = {
  frame: fields({
    atMs: number,
    space: text,
    epoch: number,
    running: boolean,
    problem: optional(text),
    isWhole: boolean,
    members: list(member),
    regions: list(region),
    log: list(line),
    lostEvents: number,
    links: numbers(LINK_NUMBERS),
  }),
  histograms: fields({
    isWhole: boolean,
    histograms: list(histogram),
    gone: optional(list((key) => Array.isArray(key) && key.length === 2 && text(key[0]) && rank(key[1]))),
  }),
  operations: fields({ isWhole: boolean, operations: list(operation) }),
  structures: fields({
    isWhole: boolean,
    structures: list(structure),
    gone: optional(list((key) => Array.isArray(key) && key.length === 2 && key.every(text))),
    memory: list(structureMemory),
  }),
  machines: fields({ machines: list(machine) }),
  indexes: fields({ indexes: list(index) }),
  arrays: fields({ arrays: list(array), moved: list(fields({ number: rank, bytes: number, exchanges: number })) }),
  events: fields({ region: text, left: number, beginNs: number, events: numbers(EVENT_NUMBERS) }),
  pages: (value) => {
    if (!fields({ region: text, pages: whole(RECORDED_PAGES_MAX), isNew: boolean, blocks: list(Array.isArray) })(value))
      return false
    const { pages, blocks } = value as { readonly pages: number; readonly blocks: readonly unknown[][] }
    return blocks.every(([block, states]) => isBlock(pages, block, states))
  },
}

function isBlock(pages: number, block: unknown, states: unknown): boolean {
  if (!whole(Math.ceil(pages / BLOCK_PAGES) - 1)(block)) return false
  if (whole(65_535)(states)) return true
  return (
    typeof states === 'string' && isBase64Of(2 * Math.min(BLOCK_PAGES, pages - (block as number) * BLOCK_PAGES), states)
  )
}

/** Whether this is base64 of exactly `bytes` bytes. Readers rely on the length. */
function isBase64Of(bytes: number, letters: string): boolean {
  const padding = (3 - (bytes % 3)) % 3
  return (
    letters.length === 4 * Math.ceil(bytes / 3) &&
    letters.endsWith('='.repeat(padding)) &&
    /^[A-Za-z0-9+/]*$/.test(letters.slice(0, letters.length - padding))
  )
}

const record = fields({ atMs: number, event: text, data: () => true })

/**
 * Whether a recorder could have written this line: each field has the type that the page relies on, and there are no
 * other fields. A recording may come from an untrusted source.
 */
export function isRecord(value: unknown): value is SessionRecord {
  if (!record(value)) return false
  const { event, data } = value as { readonly event: string; readonly data: unknown }
  return Object.hasOwn(checks, event) && checks[event]!(data)
}
