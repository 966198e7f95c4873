import { bytes, type MvRlu, type MvRluObject, type MvRluSection, type Structures } from '../../../structures/index.ts'
import { SEATS_MAX, Word } from '../journal.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import { operate, type Subject, sumOf, underWay } from '../subject.ts'
import { histogramOf, judgeAges, VERSION_AGES_BYTES, VersionAges } from '../version-ages.ts'

const ACCOUNTS = 6
const AMOUNT = 1000
const FILLING_MAX = 300
/** One move in so many makes an account anew. */
const RENEW_EVERY = 8
const GROW_EVERY = 8
/** Numbers are in two words. */
const HALF = 2 ** 31

/** What an account says. */
interface Account {
  /** Which version this is: see {@link VersionAges}. */
  readonly version: number
  readonly amount: number
  /** How often each seat has moved something out of it. */
  readonly moves: readonly number[]
}

/** A section is there as a whole or not at all, once; a reader sees one moment; and no version that was replaced a grace period before. */
export const objectsSubject: Subject<Structures> = {
  name: 'mv-rlu',
  commonBytes: VERSION_AGES_BYTES,
  hasAges: true,

  async prepare(shared) {
    const bank = await open(shared)
    await bank.update((section) => {
      if (!section.tryLock(bank.root)) return section.abort()
      const account = encodeAccount({ version: 0, amount: AMOUNT, moves: zeros() }, 0)
      section.assign(bank.root, encodeRoot(Array.from({ length: ACCOUNTS }, () => section.allocate(account))))
    })
  },

  async begin({ shared, words, common, seat, random, wrong }) {
    const bank = await open(shared)
    const ages = new VersionAges(shared.rcu, words, common)
    /** Gives the versions that it replaces. */
    const move = (section: MvRluSection<Uint8Array>): readonly number[] => {
      const accounts = objectsOf(section, bank.root)
      const from = random.below(ACCOUNTS)
      const to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS
      const [giver, taker] = [accounts[from] as MvRluObject, accounts[to] as MvRluObject]
      if (!section.tryLock(giver) || !section.tryLock(taker)) {
        section.abort()
        return []
      }
      const [less, more] = [accountOf(section, giver), accountOf(section, taker)]
      const moves = less.moves.map((count, at) => (at === seat ? count + 1 : count))
      const value = encodeAccount({ version: ages.next(), amount: less.amount - 1, moves }, random.below(FILLING_MAX))
      section.assign(taker, encodeAccount({ ...more, version: ages.next(), amount: more.amount + 1 }, 0))
      if (random.below(RENEW_EVERY) === 0 && section.tryLock(bank.root)) {
        section.free(giver)
        section.assign(bank.root, encodeRoot(accounts.with(from, section.allocate(value))))
      } else section.assign(giver, value)
      return [less.version, more.version]
    }
    const look = async (): Promise<void> => {
      using section = bank.readLock()
      const first = accountsOf(section, bank.root)
      if (random.below(4) === 0) await new Promise((resolve) => setImmediate(resolve))
      const second = accountsOf(section, bank.root)
      const sum = first.reduce((all, { amount }) => all + amount, 0)
      if (sum !== ACCOUNTS * AMOUNT) wrong(`the sum of all accounts is ${sum}, not ${ACCOUNTS * AMOUNT}`)
      if (JSON.stringify(first) !== JSON.stringify(second)) wrong('what is seen changes within a section')
      for (const { version } of first) ages.see(version)
    }
    return async () => {
      if (random.below(2) === 0) {
        await operate(
          words,
          1,
          () => bank.update(move),
          (replaced) => {
            for (const version of replaced) ages.replace(version)
          },
        )
      } else await look()
      if (random.below(GROW_EVERY) === 0) ages.grow()
    }
  },

  async judge({ shared, processes, wrong }) {
    judgeAges(histogramOf(processes), wrong)
    const bank = await open(shared)
    using section = bank.readLock()
    const accounts = accountsOf(section, bank.root)
    for (let seat = 0; seat < SEATS_MAX; seat += 1) {
      const count = accounts.reduce((sum, { moves }) => sum + (moves[seat] as number), 0)
      const of = processes.filter((each) => each.seat === seat)
      const [least, doubt] = [sumOf(of, Word.Done), underWay(of)]
      if (count < least || count > least + doubt)
        wrong(`${count} moves of seat ${seat} are there; ${least} were acknowledged, ${doubt} in doubt`)
    }
  },

  async empty(shared) {
    const bank = await open(shared)
    await bank.update((section) => {
      if (!section.tryLock(bank.root)) return section.abort()
      for (const account of objectsOf(section, bank.root)) {
        if (!section.tryLock(account)) return section.abort()
        section.free(account)
      }
      section.assign(bank.root, encodeRoot([]))
    })
    // The log keeps the last write set.
    await bank.update((section) => {
      if (!section.tryLock(bank.root)) return section.abort()
      section.assign(bank.root, encodeRoot([]))
    })
  },
}

function open(shared: Structures): Promise<MvRlu<Uint8Array>> {
  return shared.mvRlu<Uint8Array>('bank', { codec: bytes })
}

function encodeAccount({ version, amount, moves }: Account, filling: number): Uint8Array {
  return stampedValue([version, amount, ...moves], 4 * (2 + SEATS_MAX) + filling)
}

function accountOf(section: MvRluSection<Uint8Array>, object: MvRluObject): Account {
  const [version = 0, amount = 0, ...moves] = wholeOf(section, object, 2 + SEATS_MAX)
  return { version, amount, moves }
}

function accountsOf(section: MvRluSection<Uint8Array>, root: MvRluObject): readonly Account[] {
  return objectsOf(section, root).map((object) => accountOf(section, object))
}

function encodeRoot(objects: readonly MvRluObject[]): Uint8Array {
  const halves = objects.flatMap((object) => [Math.floor(object / HALF), object % HALF])
  return stampedValue([objects.length, ...halves], 4 * (1 + 2 * ACCOUNTS))
}

function objectsOf(section: MvRluSection<Uint8Array>, root: MvRluObject): readonly MvRluObject[] {
  const [count = 0, ...halves] = wholeOf(section, root, 1 + 2 * ACCOUNTS)
  return Array.from({ length: count }, (_, at) => (halves[2 * at] as number) * HALF + (halves[2 * at + 1] as number))
}

/** @throws Error where it is not whole: there is nothing to go on with. */
function wholeOf(section: MvRluSection<Uint8Array>, object: MvRluObject, count: number): readonly number[] {
  const value = section.dereference(object)
  if (value === undefined) throw new Error(`object ${object} is gone at clock ${section.clock}, and was there`)
  const fields = readStamped(value, count)
  if (typeof fields === 'string') throw new Error(`object ${object} at clock ${section.clock}: ${fields}`)
  return fields
}

function zeros(): number[] {
  return Array.from({ length: SEATS_MAX }, () => 0)
}
