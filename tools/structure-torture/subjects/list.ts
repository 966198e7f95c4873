import { bytes } from 'aether-dsm/internal/structures'
import { readStamped, stampedValue } from '../stamped-value.ts'
import {
  type CommonStructures,
  forAtMost,
  operate,
  type Subject,
  type Trial,
  underWay,
  type Worker,
} from '../subject.ts'

type ListKind = 'queue' | 'stack'

const VALUES_MAX = 2 ** 22
const FILLING_MAX = 400
/** Without a bound there would be more and more now and then. */
const LENGTH_MAX = 2000
const WAIT_EVERY = 64
const WAIT_MS = 5

/** What is under way. */
const Kind = { Push: 1, Pop: 2 } as const
/** In the words that all share: the number of the next value; then a byte for each. */
const NEXT = 0
const MARKS = 64
/** What has come of a value. */
const Mark = { Pushed: 1, Popped: 2, Refused: 4 } as const

/**
 * What was pushed is popped, once; in a queue the values of one producer in its order. Only one that was killed with a
 * value in its hands has lost it.
 */
export function listSubject(kind: ListKind, capacity: number | undefined): Subject<CommonStructures> {
  const name = capacity === undefined ? kind : `bounded ${kind}`
  const options = { codec: bytes, ...(capacity === undefined ? {} : { capacity }) }
  const open = (shared: CommonStructures) => shared[kind]<Uint8Array>(name, options)
  return {
    name,
    commonBytes: MARKS + VALUES_MAX,

    async begin(worker) {
      const { shared, words, common, incarnation, random } = worker
      const list = await open(shared)
      const marks = marksOf(common)
      const order = new Order(kind)
      const push = async (): Promise<void> => {
        const number = Atomics.add(common, NEXT, 1)
        if (number >= VALUES_MAX) return
        const value = stampedValue([incarnation, number], random.below(FILLING_MAX))
        const given = await operate(
          words,
          Kind.Push,
          () => pushOnce(value),
          (pushed) => {
            Atomics.or(marks, number, pushed ? Mark.Pushed : Mark.Refused)
          },
        )
        if (given === undefined) Atomics.or(marks, number, Mark.Refused)
      }
      const pushOnce = async (value: Uint8Array): Promise<boolean> => {
        if (random.below(WAIT_EVERY) > 0) return await list.tryPush(value)
        return (await forAtMost(WAIT_MS, (signal) => list.push(value, { signal }).then(() => true))) ?? false
      }
      const pop = async (): Promise<void> => {
        await operate(
          words,
          Kind.Pop,
          () => (random.below(WAIT_EVERY) > 0 ? list.tryPop() : forAtMost(WAIT_MS, (signal) => list.pop({ signal }))),
          (value) => value !== undefined && take(value, marks, order, worker),
        )
      }
      return async () => {
        const length = await list.length()
        if (length > (capacity ?? Number.POSITIVE_INFINITY)) worker.wrong(`${length} values are in it`)
        await (length < LENGTH_MAX && random.below(2) === 0 ? push() : pop())
      }
    },

    async judge(trial) {
      const { shared, processes, common, wrong } = trial
      const list = await open(shared)
      const marks = marksOf(common)
      const order = new Order(kind)
      for (let left = await list.length(); ; left -= 1) {
        const value = await list.tryPop()
        if (value === undefined) {
          if (left !== 0) wrong(`its length is wrong by ${left}`)
          break
        }
        take(value, marks, order, trial)
      }
      const lost = countLost(marks, Math.min(VALUES_MAX, common[NEXT]!))
      const doubt = underWay(processes, Kind.Pop)
      if (lost > doubt) wrong(`${lost} values that were pushed are gone; ${doubt} were killed while they popped`)
    },

    async empty(shared) {
      const list = await open(shared)
      while ((await list.tryPop()) !== undefined);
      // The last one that was popped stays as the list's dummy.
      await list.push(stampedValue([], 0))
      await list.pop()
    },
  }
}

/** Whether the values of each producer come in its order. */
class Order {
  readonly #kind: ListKind
  readonly #last = new Map<number, number>()

  constructor(kind: ListKind) {
    this.#kind = kind
  }

  /** The one that came before and should not have; undefined where all is well. */
  breach(producer: number, number: number): number | undefined {
    const last = this.#last.get(producer) ?? -1
    this.#last.set(producer, number)
    return this.#kind === 'queue' && last >= number ? last : undefined
  }
}

function take(
  value: Uint8Array,
  marks: Uint8Array,
  order: Order,
  { wrong }: Pick<Worker<CommonStructures> | Trial<CommonStructures>, 'wrong'>,
): void {
  const fields = readStamped(value, 2)
  if (typeof fields === 'string') {
    wrong(fields)
    return
  }
  const [producer = 0, number = 0] = fields
  const before = Atomics.or(marks, number, Mark.Popped)
  if ((before & Mark.Popped) !== 0) wrong(`value ${number} was popped twice`)
  if ((before & Mark.Refused) !== 0) wrong(`value ${number} was refused, and is there`)
  const breach = order.breach(producer, number)
  if (breach !== undefined) wrong(`value ${number} of process ${producer} comes after ${breach}`)
}

function countLost(marks: Uint8Array, count: number): number {
  let lost = 0
  for (let number = 0; number < count; number += 1)
    if ((marks[number]! & (Mark.Pushed | Mark.Popped)) === Mark.Pushed) lost += 1
  return lost
}

function marksOf(common: Int32Array): Uint8Array {
  return new Uint8Array(common.buffer, common.byteOffset + MARKS, VALUES_MAX)
}
