import assert from 'node:assert/strict'

interface Section {
  readUnlock(): void
}

/** A rank or process with its own hold of the cell, wherever that is. */
export interface AnyReader {
  readLock(): Section
  /** What is in the cell, in a section of its own. */
  present(): Promise<number | undefined>
  assign(value: number): Promise<number>
  update(change: (value: number | undefined) => number): Promise<number>
  /** A moment; whether a grace period has passed since. */
  moment(): () => Promise<boolean>
}

/** A new cell is replaced as a whole, by whoever, and each replacement has a number. */
export async function playCell(a: AnyReader, b: AnyReader): Promise<void> {
  assert.equal(await a.present(), undefined)
  assert.deepEqual([await a.assign(7), await b.assign(8)], [1, 2])
  assert.deepEqual([await a.present(), await b.present()], [8, 8])
  const change = (value: number | undefined): number => (value ?? 0) + 1
  const updated = await Promise.all([a.update(change), b.update(change)])
  assert.deepEqual(
    [...updated].sort((x, y) => x - y),
    [9, 10],
  )
  assert.deepEqual([await a.present(), await a.assign(20), await b.present()], [10, 5, 20])
}

/** A grace period is over when those have left who were in a section at its begin, and not before. */
export async function playPeriods(writer: AnyReader, readers: readonly [AnyReader, AnyReader]): Promise<void> {
  const [early, later] = readers.map((reader) => reader.readLock())
  const hasPassed = writer.moment()
  assert.equal(await hasPassed(), false)
  early?.readUnlock()
  assert.equal(await hasPassed(), false)
  // One that enters after the begin is not waited for.
  const after = readers[0].readLock()
  later?.readUnlock()
  assert.equal(await hasPassed(), true)
  const next = writer.moment()
  assert.equal(await next(), false)
  after.readUnlock()
  after.readUnlock()
  assert.equal(await next(), true)
}

/** Sections of one reader that overlap without end do not stop grace periods. */
export async function playOverlaps(writer: AnyReader, reader: AnyReader): Promise<void> {
  let section = reader.readLock()
  for (let round = 0; round < 10; round += 1) {
    const hasPassed = writer.moment()
    let passed = false
    for (let turn = 0; turn < 3 && !passed; turn += 1) {
      const next = reader.readLock()
      section.readUnlock()
      section = next
      passed = await hasPassed()
    }
    assert.ok(passed, `round ${round}`)
  }
  section.readUnlock()
}
