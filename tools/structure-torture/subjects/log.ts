import { bytes, type LogEntry, type Structures } from 'aether-dsm/internal/structures'
import { Word } from '../journal.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { type CommonStructures, operate, type Subject, sumOf, underWay } from '../subject.ts'

const CAPACITY = 300
const ENTRIES_MAX = 2 ** 21
const FILLING_MAX = 500
/** In the words that all share: the number of the next value; then which value is at each index. */
const Common = { Next: 0, Values: 16 } as const
const TRIM_EVERY = 2000
const READ_MAX = 4

/**
 * An index belongs to one entry for ever. Every acknowledged entry is at its index, and no reader misses an entry that
 * was not dropped.
 */
export const logSubject: Subject<CommonStructures> = subjectOf('log', openLog)
export const channelSubject: Subject<Structures> = subjectOf('channel', openChannel)

function subjectOf<Shared>(name: string, openIt: (shared: Shared) => Promise<Opened>): Subject<Shared> {
  return {
    name,
    commonBytes: 4 * (Common.Values + ENTRIES_MAX),

    async begin({ shared, words, common, incarnation, random, wrong }) {
      const { add, readerFromEnd, look } = await openIt(shared)
      const read = await readerFromEnd()
      const append = async (): Promise<void> => {
        const number = 1 + Atomics.add(common, Common.Next, 1)
        if (number + 1000 > ENTRIES_MAX) return
        const value = stampedValue([incarnation, number], random.below(FILLING_MAX))
        await operate(
          words,
          1,
          () => add(value),
          (index) => claim(common, index, number, wrong),
        )
      }
      let wanted: number | undefined
      const readOn = async (): Promise<void> => {
        for (const { index, value, missed } of await read()) {
          if (index !== (wanted ?? index - missed) + missed)
            wrong(`entry ${index} comes where ${wanted} was wanted, and ${missed} were said to be missed`)
          wanted = index + 1
          claimValue(common, index, value, wrong)
        }
      }
      return async () => {
        if (random.below(TRIM_EVERY) === 0)
          await look(random.below(50), (index, value) => claimValue(common, index, value, wrong))
        else if (random.below(2) === 0) await append()
        else await readOn()
      }
    },

    async judge({ shared, processes, common, wrong }) {
      const { end, look } = await openIt(shared)
      const [least, doubt] = [sumOf(processes, Word.Done), underWay(processes)]
      const count = await end()
      if (count < least || count > least + doubt)
        wrong(`${count} were appended; ${least} were acknowledged, ${doubt} in doubt`)
      await look(0, (index, value) => claimValue(common, index, value, wrong))
      const seen = new Set<number>()
      for (let index = 0; index < count; index += 1) {
        const number = common[Common.Values + index]!
        if (number !== 0 && seen.has(number)) wrong(`value ${number} is there twice, once at ${index}`)
        seen.add(number)
      }
    },

    async empty(shared) {
      const { add } = await openIt(shared)
      for (let count = 0; count < CAPACITY + 1; count += 1) await add(stampedValue([], 0))
    },
  }
}

/** What logs and channels do alike. */
interface Opened {
  add(value: Uint8Array): Promise<number>
  /** Gives what gives some more entries with each call. */
  readerFromEnd(): Promise<() => Promise<readonly LogEntry<Uint8Array>[]>>
  end(): Promise<number>
  /** Look at all that is there, and drop some. */
  look(dropped: number, see: (index: number, value: Uint8Array) => void): Promise<void>
}

async function openChannel(shared: Structures): Promise<Opened> {
  const channel = await shared.channel<Uint8Array>('channel', { codec: bytes, capacity: CAPACITY })
  return {
    add: (value) => channel.publish(value),
    async readerFromEnd() {
      const follower = channel.subscribe()
      return async () =>
        Array.from({ length: READ_MAX }, () => follower.tryNextSync()).filter((one) => one !== undefined)
    },
    end: async () => channel.subscribe().position,
    look: async () => {},
  }
}

async function openLog(shared: CommonStructures): Promise<Opened> {
  const log = await shared.log<Uint8Array>('log', { codec: bytes, capacity: CAPACITY })
  return {
    add: (value) => log.append(value),
    async readerFromEnd() {
      let from = (await log.bounds()).end
      return async () => {
        const entries = await log.read(from, READ_MAX)
        from = (entries.at(-1)?.index ?? from - 1) + 1
        return entries
      }
    },
    end: async () => (await log.bounds()).end,
    async look(dropped, see) {
      for (const { index, value } of await log.tail(CAPACITY)) see(index, value)
      await log.trim((await log.bounds()).first + dropped)
    },
  }
}

function claimValue(common: Int32Array, index: number, value: Uint8Array, wrong: (text: string) => void): void {
  const fields = readStamped(value, 2)
  if (typeof fields === 'string') wrong(`entry ${index}: ${fields}`)
  else claim(common, index, fields[1]!, wrong)
}

function claim(common: Int32Array, index: number, number: number, wrong: (text: string) => void): void {
  if (index >= ENTRIES_MAX) return
  const there = Atomics.compareExchange(common, Common.Values + index, 0, number)
  if (there !== 0 && there !== number) wrong(`at ${index} is value ${number}, and was value ${there}`)
}
