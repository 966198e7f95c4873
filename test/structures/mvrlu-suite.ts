import assert from 'node:assert/strict'
import fc from 'fast-check'

type Awaitable<T> = T | Promise<T>

/** A section, wherever that is. */
export interface AnySection {
  readonly clock: number
  readonly aborted: boolean
  dereference(object: number): Awaitable<number | undefined>
  tryLock(object: number): Awaitable<boolean>
  tryLockConst(object: number): Awaitable<boolean>
  assign(object: number, value: number): Awaitable<void>
  allocate(value: number): Awaitable<number>
  free(object: number): Awaitable<void>
  readUnlock(): Awaitable<void>
  abort(): Awaitable<void>
}

/** A rank or process with its own hold of the objects, wherever that is. */
export interface AnyObjects {
  readonly root: number
  readLock(options?: { readonly objectsMax?: number }): Awaitable<AnySection>
}

/** Have something done in a section; again where it says that it was not to be. */
export async function change<T>(objects: AnyObjects, work: (section: AnySection) => Promise<T | false>): Promise<T> {
  for (;;) {
    const section = await objects.readLock()
    const done = await work(section)
    if (done === false) await section.abort()
    else {
      await section.readUnlock()
      return done
    }
  }
}

/** Make objects with these values. */
export function make(objects: AnyObjects, values: readonly number[]): Promise<number[]> {
  return change(objects, async (section) => {
    const made: number[] = []
    for (const value of values) made.push(await section.allocate(value))
    return made
  })
}

export async function valuesOf(objects: AnyObjects, of: readonly number[]): Promise<(number | undefined)[]> {
  const section = await objects.readLock()
  const values: (number | undefined)[] = []
  for (const object of of) values.push(await section.dereference(object))
  await section.abort()
  return values
}

/** False where a lock was not to be had. */
export async function move(section: AnySection, from: number, to: number, amount: number): Promise<boolean> {
  if (!(await section.tryLock(from)) || !(await section.tryLock(to))) return false
  await section.assign(from, (await section.dereference(from))! - amount)
  await section.assign(to, (await section.dereference(to))! + amount)
  return true
}

/** A section sees one moment, and its own changes; others see them from the commit on, together. */
export async function playSnapshots(a: AnyObjects, b: AnyObjects): Promise<void> {
  assert.deepEqual(await valuesOf(a, [a.root]), [undefined])
  const [x, y] = (await make(a, [1, 2])) as [number, number]
  const before = await b.readLock()
  const writer = await a.readLock()
  assert.equal(await move(writer, x, y, 10), true)
  assert.deepEqual([await writer.dereference(x), await writer.dereference(y)], [-9, 12])
  assert.deepEqual(await valuesOf(b, [x, y]), [1, 2])
  await writer.readUnlock()
  await writer.readUnlock()
  assert.deepEqual([await before.dereference(x), await before.dereference(y)], [1, 2])
  assert.deepEqual(await valuesOf(b, [x, y]), [-9, 12])
  assert.equal(await before.tryLock(x), false, 'it was changed since')
  await before.abort()
  const undone = await a.readLock()
  assert.equal(await move(undone, x, y, 100), true)
  await undone.abort()
  await undone.abort()
  assert.equal(undone.aborted, true)
  assert.deepEqual(await valuesOf(b, [x, y]), [-9, 12])
  const after = await b.readLock()
  assert.equal(after.clock, before.clock + 1)
  await after.abort()
}

/** An object is locked by one section at a time; what was only read is not guarded, unless it is locked, too. */
export async function playLocks(a: AnyObjects, b: AnyObjects): Promise<void> {
  const [x, y] = (await make(a, [1, 1])) as [number, number]
  const skew = async (locks: boolean) => {
    const sections = [await a.readLock(), await b.readLock()] as const
    for (const [index, section] of sections.entries()) {
      const [mine, other] = index === 0 ? [x, y] : [y, x]
      const locked = (await section.tryLock(mine)) && (!locks || (await section.tryLockConst(other)))
      if (!locked || (await section.dereference(other)) !== 1) await section.abort()
      else await section.assign(mine, 0)
    }
    for (const section of sections) if (!section.aborted) await section.readUnlock()
    return await valuesOf(a, [x, y])
  }
  assert.deepEqual(await skew(false), [0, 0])
  await change(a, async (section) => {
    for (const object of [x, y]) {
      assert.equal(await section.tryLock(object), true)
      await section.assign(object, 1)
    }
  })
  assert.deepEqual(await skew(true), [0, 1], 'the second finds that the first has it')
  const section = await a.readLock()
  const got = [await section.tryLockConst(x), await section.tryLock(x), await section.tryLock(x)]
  assert.deepEqual(got, [true, true, true])
  const refused = await b.readLock()
  assert.equal(await refused.tryLock(x), false)
  await refused.abort()
  await section.readUnlock()
  const later = await b.readLock()
  assert.equal(await later.tryLock(x), true)
  await later.abort()
}

/** What is misused says so. `none`: numbers that are no objects. */
export async function playMisuse(objects: AnyObjects, none: readonly number[]): Promise<void> {
  const [x] = (await make(objects, [1])) as [number]
  const misuse = { code: 'ERR_AETHER_READ_SECTION' }
  const section = await objects.readLock({ objectsMax: 2 })
  await assert.rejects(async () => await section.assign(x, 2), misuse)
  await assert.rejects(async () => await section.free(x), misuse)
  assert.equal(await section.tryLockConst(x), true)
  await assert.rejects(async () => await section.assign(x, 2), misuse)
  assert.equal(await section.tryLock(objects.root), true)
  await assert.rejects(async () => await section.free(objects.root), misuse)
  await assert.rejects(async () => await section.allocate(3), /at most 2 objects/)
  await assert.rejects(async () => await section.readUnlock(), misuse)
  await section.abort()
  await assert.rejects(async () => await section.dereference(x), misuse)
  await assert.rejects(async () => await section.readUnlock(), misuse)
  const other = await objects.readLock()
  for (const wrong of [-1, 0.5, Number.NaN, ...none])
    await assert.rejects(async () => await other.dereference(wrong), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await other.abort()
  await assert.rejects(async () => await objects.readLock({ objectsMax: 0 }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
}

/** What is freed is gone for later sections, there for earlier ones. `settle`: whatever can be used again is. */
export async function playFreeing(
  a: AnyObjects,
  b: AnyObjects,
  rounds: number,
  settle: () => Awaitable<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const [x, y] = (await make(a, [1, 2])) as [number, number]
    const early = await b.readLock()
    await change(a, async (section) => {
      const made = await section.allocate(5)
      await section.free(made)
      assert.equal((await section.tryLock(x)) && (await section.tryLock(y)), true)
      await section.assign(x, 7)
      await section.free(x)
      await section.free(y)
      assert.deepEqual([await section.dereference(x), await section.tryLock(x)], [undefined, false])
    })
    await settle()
    assert.deepEqual([await early.dereference(x), await early.dereference(y)], [1, 2])
    assert.deepEqual(await valuesOf(a, [x, y]), [undefined, undefined])
    await early.abort()
    await change(a, async (section) => assert.equal(await section.tryLock(x), false))
    await settle()
    assert.deepEqual(await valuesOf(a, [x, y]), [undefined, undefined])
  }
}

/** Several in a town of their own, and what has each of them look for memory. */
export interface AnyTown {
  readonly all: readonly AnyObjects[]
  collect(by: number): Awaitable<void>
}

type Action =
  | { readonly type: 'read' | 'write' | 'hold'; readonly by: number; readonly object: number }
  | { readonly type: 'commit' | 'abort' | 'collect'; readonly by: number }

const PARTICIPANTS = 3
const OBJECTS = 3

/** What {@link playHistory} plays: actions of a few on a few objects. */
export function someActions(): fc.Arbitrary<readonly Action[]> {
  const by = fc.nat(PARTICIPANTS - 1)
  const object = fc.nat(OBJECTS - 1)
  const onObject = (type: 'read' | 'write' | 'hold') => fc.record({ type: fc.constant(type), by, object })
  const other = (type: 'commit' | 'abort' | 'collect') => fc.record({ type: fc.constant(type), by })
  const action: fc.Arbitrary<Action> = fc.oneof(
    { weight: 3, arbitrary: onObject('read') },
    { weight: 4, arbitrary: onObject('write') },
    onObject('hold'),
    { weight: 2, arbitrary: other('commit') },
    other('abort'),
    other('collect'),
  )
  return fc.array(action, { minLength: 40, maxLength: 200, size: 'max' })
}

/** Sections of several participants do what snapshots of one history do. */
export async function playHistory({ all, collect }: AnyTown, actions: readonly Action[]): Promise<void> {
  const ids = await make(all[0]!, Array(OBJECTS).fill(0))
  // The model: what is committed, when each was changed last, and each participant's section.
  const committed = Array<number>(OBJECTS).fill(0)
  const changedAt = Array<number>(OBJECTS).fill(0)
  let [time, lastValue] = [0, 0]
  interface Open {
    readonly section: AnySection
    readonly sees: number[]
    readonly began: number
    readonly held: Set<number>
    readonly wrote: Set<number>
  }
  const sections: (Open | undefined)[] = all.map(() => undefined)
  const opened = async (who: number): Promise<Open> => {
    const known = sections[who]
    if (known !== undefined) return known
    const section = await all[who]!.readLock()
    const open = { section, sees: [...committed], began: time, held: new Set<number>(), wrote: new Set<number>() }
    sections[who] = open
    return open
  }
  for (const did of actions) {
    const open = await opened(did.by)
    const { section, sees, held, wrote } = open
    if (did.type === 'read') assert.equal(await section.dereference(ids[did.object]!), sees[did.object])
    else if (did.type === 'write' || did.type === 'hold') {
      const id = ids[did.object]!
      const isFree = sections.every((each) => each === undefined || each === open || !each.held.has(did.object))
      const expected = held.has(did.object) || (isFree && changedAt[did.object]! <= open.began)
      assert.equal(await (did.type === 'hold' ? section.tryLockConst(id) : section.tryLock(id)), expected)
      if (!expected) continue
      held.add(did.object)
      if (did.type === 'hold') continue
      lastValue += 1
      await section.assign(id, lastValue)
      sees[did.object] = lastValue
      wrote.add(did.object)
    } else if (did.type === 'collect') {
      await collect(did.by)
    } else {
      if (did.type === 'commit') {
        await section.readUnlock()
        if (wrote.size > 0) time += 1
        for (const each of wrote) {
          committed[each] = sees[each]!
          changedAt[each] = time
        }
      } else await section.abort()
      sections[did.by] = undefined
    }
  }
}

/** Move 1 from x to y, and replace what the root refers to. */
export async function work(objects: AnyObjects, x: number, y: number): Promise<void> {
  const { root } = objects
  await change(objects, async (section) => {
    if (!(await section.tryLock(root)) || !(await move(section, x, y, 1))) return false
    const old = await section.dereference(root)
    const made = await section.allocate((await section.dereference(x))! * 1000)
    await section.assign(root, made)
    if (old === undefined) return true
    if (!(await section.tryLock(old))) return false
    await section.free(old)
    return true
  })
}

/** It was done so many times, as a whole. Gives how often. */
export async function assertWhole(
  objects: AnyObjects,
  x: number,
  y: number,
  times: readonly number[],
  what: string,
): Promise<number> {
  const section = await objects.readLock()
  const [left, right] = [(await section.dereference(x))!, (await section.dereference(y))!]
  assert.equal(left + right, 100, what)
  assert.ok(times.includes(right), `${what}: ${right} moves, not ${times.join(' or ')}`)
  const top = await section.dereference(objects.root)
  assert.equal(
    top === undefined ? undefined : await section.dereference(top),
    right === 0 ? undefined : left * 1000,
    what,
  )
  await section.abort()
  return right
}

const AMOUNT = 100

/** Accounts of {@link AMOUNT} each; the root's value says nothing, so all know them. */
export interface Bank {
  accounts: readonly number[]
}

/**
 * Move amounts between accounts, `turns` times, and look at them in between: the sum is right, and nothing changes
 * within a section. Gives how many moves were committed.
 */
export async function bankTurns(
  objects: AnyObjects,
  { accounts }: Bank,
  turns: number,
  below: (bound: number) => number,
  pause: () => Promise<void>,
): Promise<number> {
  let moves = 0
  const look = async (): Promise<void> => {
    const section = await objects.readLock()
    const read = async (): Promise<readonly unknown[]> => {
      const values: unknown[] = []
      for (const account of accounts) values.push(await section.dereference(account))
      return values
    }
    const first = await read()
    await pause()
    assert.deepEqual(await read(), first, 'what is seen changes within a section')
    assert.equal(sumOf(first), AMOUNT * accounts.length)
    await section.abort()
  }
  for (let turn = 0; turn < turns; turn += 1) {
    if (below(3) === 0) await look()
    const from = below(accounts.length)
    const to = (from + 1 + below(accounts.length - 1)) % accounts.length
    const section = await objects.readLock()
    if (await move(section, accounts[from]!, accounts[to]!, below(5))) {
      await section.readUnlock()
      moves += 1
    } else await section.abort()
  }
  return moves
}

/** Make so many accounts. */
export async function openBank(objects: AnyObjects, accounts: number): Promise<Bank> {
  return { accounts: await make(objects, Array(accounts).fill(AMOUNT)) }
}

/** All is there. */
export async function assertBank(objects: AnyObjects, { accounts }: Bank, what: string): Promise<void> {
  assert.equal(sumOf(await valuesOf(objects, accounts)), AMOUNT * accounts.length, what)
}

function sumOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (value as number), 0)
}
