import { setImmediate as nextTurn } from 'node:timers/promises'
import { native } from 'aether-dsm/internal/native'
import { quantileOf } from '../quantiles.ts'

/** An operation; `index` grows with each. */
export type Step = (index: number) => unknown

/** What one kind of operation did in one turn. */
export interface Turn {
  readonly operations: number
  /** Of that many operations, with few looks at the clock between them. */
  readonly totalNs: number
  /** Of one operation: the median of batches, so that it does not have what interrupts some of them. */
  readonly typicalNs: number
  /** Of as many more operations, each timed alone. */
  readonly samplesNs: Float64Array
}

/** How long a turn takes, about: shorter than a slow phase of the machine. */
export const TURN_NS = 5e6
const OPERATIONS_MAX = 4096
/** Operations between two looks at the clock: both powers of two. */
const BATCH = 32

/** The operations of one store, which take turns with those of others. Several alternate, as pushes and pops do. */
export class TurnTaker {
  readonly #steps: readonly Step[]
  #count = 8
  #index = 0

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  /** For this long, until the engine has compiled the code; also finds how many operations make a turn. */
  async warmUp(ms: number): Promise<void> {
    const until = native.monotonicNs() + ms * 1e6
    for (let now = native.monotonicNs(); now < until; ) {
      this.take()
      const took = native.monotonicNs() - now
      if (took < TURN_NS / 2 && this.#count < OPERATIONS_MAX) this.#count *= 2
      else if (took > 2 * TURN_NS && this.#count > 1) this.#count /= 2
      await nextTurn()
      now = native.monotonicNs()
    }
  }

  /** One turn: of each kind of operation what it did. */
  take(): Turn[] {
    const [from, count] = [this.#index, this.#count]
    this.#index += 2 * count
    const batches = this.#steps.map((step) => inBatches(step, from, count))
    return this.#steps.map((step, which) => ({
      operations: count,
      ...batches[which]!,
      samplesNs: singly(step, from + count, count),
    }))
  }
}

/** What operations gave last, so that the engine has to do them. */
const kept: { last: unknown } = { last: undefined }

function inBatches(step: Step, from: number, count: number): Pick<Turn, 'totalNs' | 'typicalNs'> {
  const size = Math.min(BATCH, count)
  const batches = new Float64Array(count / size)
  let [began, index] = [native.monotonicNs(), from]
  for (let at = 0; at < batches.length; at += 1) {
    for (const end = index + size; index < end; index += 1) kept.last = step(index)
    const ended = native.monotonicNs()
    batches[at] = ended - began
    began = ended
  }
  const totalNs = batches.reduce((sum, ns) => sum + ns, 0)
  return { totalNs, typicalNs: quantileOf(batches.sort(), 0.5) / size }
}

function singly(step: Step, from: number, count: number): Float64Array {
  const samples = new Float64Array(count)
  for (let at = 0, began = native.monotonicNs(); at < count; at += 1) {
    kept.last = step(from + at)
    const ended = native.monotonicNs()
    samples[at] = ended - began
    began = ended
  }
  return samples
}
