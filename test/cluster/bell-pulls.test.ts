import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import { BellPulls } from '../../src/cluster/bell-pulls.ts'
import { Doorbell, openDoorbell } from '../../src/cluster/doorbell.ts'
import { Membership } from '../../src/cluster/index.ts'
import { SLOT_BYTES, SLOTS_OFFSET } from '../../src/cluster/layout.ts'
import { MemberTable } from '../../src/cluster/member-table.ts'
import { native } from '../../src/native/index.ts'
import { descriptors, until, useRuntimeDirectory } from './support.ts'

useRuntimeDirectory()

/** Members of one table, whose doorbells are of this process. */
class Town implements Disposable {
  readonly pulls: BellPulls
  /** Epochs of members whose bell was opened. */
  readonly opened: number[] = []
  readonly #table = new MemberTable(new ArrayBuffer(SLOTS_OFFSET + 256 * SLOT_BYTES))
  /** By epoch. */
  readonly #bells: Doorbell[] = []

  constructor() {
    const openBell = (member: Parameters<typeof openDoorbell>[0] & { readonly epoch: number }) => {
      this.opened.push(member.epoch)
      return openDoorbell(member)
    }
    this.pulls = new BellPulls(this.#table, { openBell })
  }

  settle(slot: number, epoch: number): void {
    const bell = new Doorbell()
    const { pid } = process
    this.#bells[epoch] = bell
    const identity = { processId: pid, threadId: pid, startTime: 1, namespace: 0 }
    this.#table.claim({ ...identity, slot, epoch, doorbell: bell.writeEnd, doorbellInode: bell.inode })
    this.#table.admit(slot, epoch)
  }

  /** How often the member was rung since it was asked last. */
  rings(epoch: number): number {
    return native.drainPipe(this.#bells[epoch]!.readEnd)
  }

  leave(slot: number, epoch: number): void {
    this.#table.end(slot, epoch, 'left')
  }

  /** What becomes of the bell of a process that is killed. */
  closeBell(epoch: number): void {
    this.#bells[epoch]!.close()
  }

  [Symbol.dispose](): void {
    this.pulls.close()
    for (const bell of this.#bells) bell?.close()
  }
}

test('a bell is opened once, however often it is rung', () => {
  using town = new Town()
  town.settle(3, 1)
  for (let count = 0; count < 5; count += 1) town.pulls.ring(3)
  assert.equal(town.rings(1), 5)
  assert.deepEqual(town.opened, [1])
})

test('the next member of a slot is another one; where there is none, nothing is rung', () => {
  using town = new Town()
  town.settle(3, 1)
  town.pulls.ring(3)
  town.leave(3, 1)
  town.pulls.ring(3)
  town.settle(3, 2)
  town.pulls.ring(3)
  assert.deepEqual([town.rings(1), town.rings(2)], [1, 1])
  town.pulls.ring(4)
  assert.deepEqual(town.opened, [1, 2])
})

test('the bell of a process that was killed a moment ago is no error', () => {
  using town = new Town()
  town.settle(3, 1)
  town.pulls.ring(3)
  town.closeBell(1)
  town.pulls.ring(3)
  town.pulls.ring(3)
  assert.deepEqual(town.opened, [1, 1], 'forgotten, and not to be opened again')
})

test('descriptors are closed: of one who is rung once, has ended, or is forgotten with all', () => {
  const before = descriptors()
  {
    using town = new Town()
    town.settle(1, 1)
    town.settle(2, 2)
    const own = descriptors().length
    town.pulls.ringOnce(1)
    assert.equal(descriptors().length, own)
    town.pulls.ring(1)
    town.pulls.ring(2)
    town.pulls.ringOnce(2)
    assert.equal(descriptors().length, own + 2)
    assert.deepEqual([town.rings(1), town.rings(2)], [2, 2])
    town.pulls.forget(1)
    assert.equal(descriptors().length, own + 1)
    town.leave(2, 2)
    town.pulls.ring(2)
    assert.equal(descriptors().length, own)
  }
  assert.deepEqual(descriptors(), before)
})

test('a ring is told to those who wait, and only those who come and go to those who observe', async () => {
  const before = descriptors()
  {
    await using space = await Membership.enter('bell-pulls')
    await using other = await Membership.enter('bell-pulls')
    // What is left of coming in.
    let changes = 0
    space.onChange(() => {
      changes += 1
    })
    await until(() => changes > 0, 'the other is seen')
    let rings = 0
    space.onRing(() => {
      rings += 1
    })
    changes = 0
    other.ring(space.self.slot)
    await until(() => rings > 0, 'the ring is heard')
    await other.close()
    await until(() => changes > 0, 'the other has left')
  }
  assert.deepEqual(descriptors(), before)
})
