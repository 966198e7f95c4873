import { type Lane, type LanesRun, runLanes, together, warmLanes } from '../lanes.ts'
import { joined } from '../quantiles.ts'
import { keysOf } from '../structures/job.ts'
import { keySequence, SEQUENCE_LENGTH } from '../structures/key-sequence.ts'
import { atOnce, awaited, keyName, type Step } from '../structures/measurement.ts'
import { type Batch, measureTurns, warmUp } from '../structures/stopwatch.ts'
import type { KeyOp, KeysWork } from './client-orders.ts'
import { fillKeys, inParts } from './filling.ts'
import type { KeyStore } from './key-store.ts'
import { mixLane } from './ycsb.ts'

const FIELD = 'field'
/** Values in order, and of each range. */
const ORDERED = 1000
const RANGE = 100

/** One operation of one store, which is repeated, now and then for some time. */
export interface KeyTurn {
  prepare(timeMs: number): Promise<void>
  run(timeMs: number): Promise<LanesRun>
}

export function turnOf(store: KeyStore, work: KeysWork, seed: number): KeyTurn {
  if (work.kind === 'mix') return laneTurn(mixLane(store, work.plan, seed))
  const step = stepOf(store, work.op, work.bytes, seed)
  return batchTurn((isAwaited(store, work.op) ? awaited : atOnce)(step))
}

/** What the operation finds. */
export async function fillFor(store: KeyStore, op: KeyOp, bytes: number): Promise<void> {
  const value = Buffer.alloc(bytes, 1)
  const inTurn = (count: number, put: (index: number) => unknown): Promise<void> =>
    inParts(count, (numbers) => Promise.all(numbers.map(put)))
  if (op === 'range 100') return await inTurn(ORDERED, (place) => store.insert!(place, value))
  if (op === 'hash get')
    return await inTurn(keysOf(bytes), (key) => store.setFields!(`hash:${key}`, { [FIELD]: value }))
  if (op !== 'increment') await fillKeys(store, keysOf(bytes), bytes)
}

function isAwaited(store: KeyStore, op: KeyOp): boolean {
  return store.waits || op === 'range 100'
}

function stepOf(store: KeyStore, op: KeyOp, bytes: number, seed: number): Step {
  const value = Buffer.alloc(bytes, 1 + (seed % 255))
  const keys = keySequence('uniform', op === 'range 100' ? ORDERED - RANGE : keysOf(bytes), seed)
  const names = Array.from({ length: keysOf(bytes) }, (_, key) => (op === 'hash get' ? `hash:${key}` : keyName(key)))
  const nameAt = (index: number): string => names[keys[index & (SEQUENCE_LENGTH - 1)]!]!
  switch (op) {
    case 'get':
      return (index) => store.get(nameAt(index))
    case 'set':
      return (index) => store.set(nameAt(index), value)
    case 'increment':
      return () => store.increment!('counter')
    case 'hash get':
      return (index) => store.field!(nameAt(index), FIELD)
    case 'range 100':
      return (index) => store.range!(keys[index & (SEQUENCE_LENGTH - 1)]!, RANGE)
  }
}

/** Timed in batches of at least 20 µs: what takes longer is timed singly. */
function batchTurn(batch: Batch): KeyTurn {
  let size = 1
  return {
    async prepare(timeMs) {
      size = await warmUp(batch, false, timeMs)
    },
    async run(timeMs) {
      const [found] = await measureTurns([{ op: '', batch }], size, timeMs)
      const { ns, operations, totalNs } = found!
      return { samples: ns, count: operations, tookNs: totalNs }
    },
  }
}

function laneTurn(lane: Lane): KeyTurn {
  return {
    prepare: (timeMs) => warmLanes([lane], timeMs),
    run: (timeMs) => runLanes([lane], timeMs),
  }
}

/** What was measured in parts, one after the other. */
export function takenTogether(runs: readonly LanesRun[]): LanesRun {
  const { count } = together(runs)
  return {
    samples: joined(runs.map(({ samples }) => samples)),
    count,
    tookNs: runs.reduce((sum, { tookNs }) => sum + tookNs, 0),
  }
}
