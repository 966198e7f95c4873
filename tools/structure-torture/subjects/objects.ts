import { bytes, type MvRluObject } from 'aether-dsm/internal/structures'
import { SEATS_MAX, Word } from '../journal.ts'
import { readStamped, stampedValue } from '../stamped-value.ts'
import {
  type AnyMvRlu,
  type AnySection,
  type CommonStructures,
  operate,
  type Subject,
  sumOf,
  underWay,
} from '../subject.ts'
import { histogramOf, judgeAges, VERSION_AGES_BYTES, VersionAges } from '../version-ages.ts'

const ACCOUNTS = 6
const AMOUNT = 1000
const FILLING_MAX = 300
/** One move in this many replaces an account by a new one. */
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

/**
 * A section takes effect as a whole or not at all, once. A reader sees one snapshot, and no version that was replaced
 * more than a grace period ago.
 */
export const objectsSubject: Subject<CommonStructures> = {
  name: 'mv-rlu',
  commonBytes: VERSION_AGES_BYTES,
  hasAges: true,

  async prepare(shared) {
    const bank = await open(shared)
    await bank.update(async (section) => {
      if (!(await section.tryLock(bank.root))) return await section.abort()
      const account = encodeAccount({ version: 0, amount: AMOUNT, moves: zeros() }, 0)
      const made: MvRluObject[] = []
      for (let count = 0; count < ACCOUNTS; count += 1) made.push(await section.allocate(account))
      await section.assign(bank.root, encodeRoot(made))
    })
  },

  async begin({ shared, words, common, seat, random, wrong }) {
    const bank = await open(shared)
    // The ranks of a group begin while the first one prepares.
    while (!(await isPrepared(bank))) await new Promise((resolve) => setTimeout(resolve, 1))
    const ages = new VersionAges(shared.rcu, words, common)
    /** Gives the versions that it replaces. */
    const move = async (section: AnySection<Uint8Array>): Promise<readonly number[]> => {
      const accounts = await objectsOf(section, bank.root)
      const from = random.below(ACCOUNTS)
      const to = (from + 1 + random.below(ACCOUNTS - 1)) % ACCOUNTS
      const [giver, taker] = [accounts[from]!, accounts[to]!]
      if (!(await section.tryLock(giver)) || !(await section.tryLock(taker))) {
        await section.abort()
        return []
      }
      const [less, more] = [await accountOf(section, giver), await accountOf(section, taker)]
      const moves = less.moves.map((count, at) => (at === seat ? count + 1 : count))
      const value = encodeAccount({ version: ages.next(), amount: less.amount - 1, moves }, random.below(FILLING_MAX))
      await section.assign(taker, encodeAccount({ ...more, version: ages.next(), amount: more.amount + 1 }, 0))
      if (random.below(RENEW_EVERY) === 0 && (await section.tryLock(bank.root))) {
        await section.free(giver)
        await section.assign(bank.root, encodeRoot(accounts.with(from, await section.allocate(value))))
      } else await section.assign(giver, value)
      return [less.version, more.version]
    }
    const look = async (): Promise<void> => {
      const section = await bank.readLock()
      try {
        const first = await accountsOf(section, bank.root)
        if (random.below(4) === 0) await new Promise((resolve) => setImmediate(resolve))
        const second = await accountsOf(section, bank.root)
        const sum = first.reduce((all, { amount }) => all + amount, 0)
        if (sum !== ACCOUNTS * AMOUNT) wrong(`the sum of all accounts is ${sum}, not ${ACCOUNTS * AMOUNT}`)
        if (JSON.stringify(first) !== JSON.stringify(second)) wrong('what is seen changes within a section')
        for (const { version } of first) ages.see(version)
      } finally {
        await section.abort()
      }
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
      if (random.below(GROW_EVERY) === 0) await ages.grow()
    }
  },

  async judge({ shared, processes, wrong }) {
    judgeAges(histogramOf(processes), wrong)
    const bank = await open(shared)
    const section = await bank.readLock()
    const accounts = await accountsOf(section, bank.root)
    await section.abort()
    for (let seat = 0; seat < SEATS_MAX; seat += 1) {
      const count = accounts.reduce((sum, { moves }) => sum + moves[seat]!, 0)
      const of = processes.filter((each) => each.seat === seat)
      const [least, doubt] = [sumOf(of, Word.Done), underWay(of)]
      if (count < least || count > least + doubt)
        wrong(`${count} moves of seat ${seat} are there; ${least} were acknowledged, ${doubt} in doubt`)
    }
  },

  async empty(shared) {
    const bank = await open(shared)
    await bank.update(async (section) => {
      if (!(await section.tryLock(bank.root))) return await section.abort()
      for (const account of await objectsOf(section, bank.root)) {
        if (!(await section.tryLock(account))) return await section.abort()
        await section.free(account)
      }
      await section.assign(bank.root, encodeRoot([]))
    })
    // The log keeps the last write set.
    await bank.update(async (section) => {
      if (!(await section.tryLock(bank.root))) return await section.abort()
      await section.assign(bank.root, encodeRoot([]))
    })
  },
}

function open(shared: CommonStructures): Promise<AnyMvRlu<Uint8Array>> {
  return shared.mvRlu<Uint8Array>('bank', { codec: bytes })
}

async function isPrepared(bank: AnyMvRlu<Uint8Array>): Promise<boolean> {
  const section = await bank.readLock()
  const root = await section.dereference(bank.root)
  await section.abort()
  return root !== undefined
}

function encodeAccount({ version, amount, moves }: Account, filling: number): Uint8Array {
  return stampedValue([version, amount, ...moves], 4 * (2 + SEATS_MAX) + filling)
}

async function accountOf(section: AnySection<Uint8Array>, object: MvRluObject): Promise<Account> {
  const [version = 0, amount = 0, ...moves] = await wholeOf(section, object, 2 + SEATS_MAX)
  return { version, amount, moves }
}

async function accountsOf(section: AnySection<Uint8Array>, root: MvRluObject): Promise<readonly Account[]> {
  const accounts: Account[] = []
  for (const object of await objectsOf(section, root)) accounts.push(await accountOf(section, object))
  return accounts
}

function encodeRoot(objects: readonly MvRluObject[]): Uint8Array {
  const halves = objects.flatMap((object) => [Math.floor(object / HALF), object % HALF])
  return stampedValue([objects.length, ...halves], 4 * (1 + 2 * ACCOUNTS))
}

async function objectsOf(section: AnySection<Uint8Array>, root: MvRluObject): Promise<readonly MvRluObject[]> {
  const [count = 0, ...halves] = await wholeOf(section, root, 1 + 2 * ACCOUNTS)
  return Array.from({ length: count }, (_, at) => halves[2 * at]! * HALF + halves[2 * at + 1]!)
}

/** @throws Error where it is not whole: there is nothing to go on with. */
async function wholeOf(
  section: AnySection<Uint8Array>,
  object: MvRluObject,
  count: number,
): Promise<readonly number[]> {
  const value = await section.dereference(object)
  if (value === undefined) throw new Error(`object ${object} is gone at clock ${section.clock}, and was there`)
  const fields = readStamped(value, count)
  if (typeof fields === 'string') throw new Error(`object ${object} at clock ${section.clock}: ${fields}`)
  return fields
}

function zeros(): number[] {
  return Array.from({ length: SEATS_MAX }, () => 0)
}
