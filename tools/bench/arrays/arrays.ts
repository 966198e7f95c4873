import { availableParallelism } from 'node:os'
import { AetherError } from 'aether-dsm/internal/native'
import { whyOf } from '../ask-process.ts'
import { NumpyProcess } from '../peers/numpy-process.ts'
import { type OnMissing, type PeerName, peerNames } from '../peers/peer-name.ts'
import { unlessMissing } from '../peers/unless-missing.ts'
import { ArrayCrew } from './array-crew.ts'
import type { ArrayOrder } from './array-order.ts'
import { type LocalWork, localWorks, type RankWork, rankWorks } from './array-works.ts'
import { type ArraysRow, arraysRow, heldAgainst } from './arrays-row.ts'

export interface ArraysBenchOptions {
  /** Elements of an array. */
  readonly elements?: readonly number[]
  readonly ranks?: readonly number[]
  readonly threads?: readonly number[]
  /** How long each row is measured. */
  readonly timeMs?: number
  /** Of these NumPy is measured. */
  readonly peers?: readonly PeerName[]
  readonly onRow?: (row: ArraysRow) => void
  readonly onMissing?: (what: string, why: string) => void
}

export const defaultElements: readonly number[] = [1e3, 1e6, 1e8]
export const defaultArrayRanks: readonly number[] = [1, 2, 4]
export const defaultThreads: readonly number[] = [...new Set([1, availableParallelism()])]
export const DEFAULT_ARRAYS_TIME_MS = 200

const TURNS = 3
const SAMPLES_MIN = 3
const SAMPLES_MAX = 5000
/** So that reading the clock is noise. */
const SAMPLE_NS_MIN = 10_000
const BATCH_MAX = 1 << 14
const WARM_OPERATIONS = 50_000
const WARM_MS_MAX = 500
const WARM_TIMES_MAX = 8
/** Operands and results of two processes that take turns, in bytes for each element. */
const BYTES_EACH = 120

type Timed = (order: Pick<ArrayOrder, 'samples' | 'batch'>) => Promise<readonly number[]>

/**
 * Operations on arrays of float64. In one process, with one thread and with several, they take turns with NumPy. Ranks
 * have one thread each, and tell the bytes that moved.
 */
export async function benchArrays(options: ArraysBenchOptions = {}): Promise<ArraysRow[]> {
  const { elements = defaultElements, ranks = defaultArrayRanks, threads = defaultThreads, onRow, onMissing } = options
  const { timeMs = DEFAULT_ARRAYS_TIME_MS, peers = peerNames } = options
  const fitting = elements.filter((each) => fits(each, onMissing))
  const rows: ArraysRow[] = []
  const keep = (row: ArraysRow): void => {
    rows.push(row)
    onRow?.(row)
  }
  for (const count of threads) {
    await using crew = await ArrayCrew.start({ threads: count })
    await using numpy = peers.includes('NumPy')
      ? await unlessMissing('NumPy', onMissing as OnMissing | undefined, () => NumpyProcess.start(count))
      : undefined
    for (const each of fitting)
      for (const work of localWorks)
        if (each <= (work.elementsMax ?? each))
          await benchLocal({ work, elements: each, threads: count, timeMs, crew, numpy }, keep)
  }
  for (const size of ranks) {
    await unlessFailed(`${size} ranks`, onMissing, async () => {
      await using crew = await ArrayCrew.start({ ranks: size, threads: 1 })
      for (const each of fitting)
        for (const work of rankWorks)
          if (size > 1 || work.isOneSided !== true)
            keep(await benchRanks({ work, elements: each, size, timeMs, crew }, rows))
    })
  }
  return rows
}

async function unlessFailed(
  what: string,
  onMissing: ArraysBenchOptions['onMissing'],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof AetherError)) throw error
    onMissing?.(what, whyOf(error))
  }
}

function fits(elements: number, onMissing: ArraysBenchOptions['onMissing']): boolean {
  const needed = elements * BYTES_EACH
  const available = process.availableMemory()
  if (needed <= available) return true
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1)
  onMissing?.(`${elements} elements`, `they need ${gib(needed)} GiB, and ${gib(available)} are available`)
  return false
}

interface LocalCell {
  readonly work: LocalWork
  readonly elements: number
  readonly threads: number
  readonly timeMs: number
  readonly crew: ArrayCrew
  readonly numpy: NumpyProcess | undefined
}

async function benchLocal(cell: LocalCell, keep: (row: ArraysRow) => void): Promise<void> {
  const { work, elements, threads, timeMs, crew, numpy } = cell
  const head = { op: work.op, elements, ranks: 0, threads }
  const own: Timed = async (order) => (await crew.measure({ ...order, op: work.op, elements })).ns
  const other: Timed | undefined = numpy && ((order) => numpy.measure({ ...work.python, ...order, elements }))
  const turnMs = timeMs / TURNS
  const [ownFit, otherFit] = [await fitted(own, turnMs), other && (await fitted(other, turnMs))]
  const found: { readonly own: number[]; readonly other: number[] } = { own: [], other: [] }
  for (let turn = 0; turn < TURNS; turn += 1) {
    found.own.push(...(await own(ownFit)))
    if (other !== undefined) found.other.push(...(await other(otherFit!)))
  }
  const ownRow = arraysRow({ ...head, provider: 'aether' }, found.own)
  keep(ownRow)
  if (numpy !== undefined)
    keep(heldAgainst(arraysRow({ ...head, provider: numpy.provider }, found.other), ownRow, 'aether'))
}

/** How many operations take the time, after so many that the engine has compiled the code. */
export async function fitted(timed: Timed, timeMs: number): Promise<Pick<ArrayOrder, 'samples' | 'batch'>> {
  let eachNs = Math.min(...(await timed({ samples: 3, batch: 1 })))
  let done = 0
  const mostMs = Math.min(WARM_MS_MAX, WARM_TIMES_MAX * timeMs)
  for (const began = performance.now(); done < WARM_OPERATIONS; ) {
    const order = orderFor(eachNs, timeMs)
    if (performance.now() - began + (eachNs * order.samples * order.batch) / 1e6 > mostMs) break
    const warm = await timed(order)
    eachNs = [...warm].sort((one, two) => one - two)[warm.length >> 1]!
    done += order.samples * order.batch
  }
  return orderFor(eachNs, timeMs)
}

function orderFor(eachNs: number, timeMs: number): Pick<ArrayOrder, 'samples' | 'batch'> {
  const batch = Math.min(BATCH_MAX, Math.max(1, Math.ceil(SAMPLE_NS_MIN / eachNs)))
  const samples = Math.round((timeMs * 1e6) / (eachNs * batch))
  return { batch, samples: Math.min(SAMPLES_MAX, Math.max(SAMPLES_MIN, samples)) }
}

interface RankCell {
  readonly work: RankWork
  readonly elements: number
  readonly size: number
  readonly timeMs: number
  readonly crew: ArrayCrew
}

async function benchRanks(
  { work, elements, size, timeMs, crew }: RankCell,
  rows: readonly ArraysRow[],
): Promise<ArraysRow> {
  const { op } = work
  const order = await fitted(async (each) => (await crew.measure({ ...each, op, elements })).ns, timeMs)
  const report = await crew.measure({ ...order, op, elements })
  const movedBytes = Math.round(report.movedBytes)
  const neededBytes = work.neededBytes(elements, size)
  const row = arraysRow(
    { op, provider: 'aether', elements, ranks: size, threads: 1, movedBytes, neededBytes },
    report.ns,
  )
  const base = rows.find((each) => each.op === op && each.elements === elements && each.ranks > 0)
  return heldAgainst(row, base, base?.ranks === 1 ? '1 rank' : `${base?.ranks} ranks`)
}
