import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Arena } from '../../src/cluster/arena.ts'
import { EpochArchive } from '../../src/cluster/epoch-archive.ts'
import { CONTROL_BYTES } from '../../src/cluster/layout.ts'
import { MemberTable } from '../../src/cluster/member-table.ts'
import { type MemberChange, MemberTracker } from '../../src/cluster/member-tracker.ts'
import { ownNamespace } from '../../src/cluster/process-identity.ts'

/** A table in plain memory, changed the way `enter` and `Membership` change it. */
class Model {
  readonly table: MemberTable
  readonly archive: EpochArchive
  readonly arena: Arena
  announced = 0

  constructor() {
    const control = new ArrayBuffer(CONTROL_BYTES)
    this.table = new MemberTable(control)
    this.archive = new EpochArchive(control)
    const lastEpoch = () => this.announced
    this.arena = {
      get lastEpoch() {
        return lastEpoch()
      },
    } as Arena
  }

  claim(processId: number = 1000): { readonly slot: number; readonly epoch: number } {
    const slot = this.table.freeSlot()!
    const before = this.table.glance(slot)
    if (before.fate !== undefined) {
      this.archive.write(before.epoch, { fate: before.fate, slot, ...this.table.processOf(slot) })
    }
    this.announced += 1
    const epoch = this.announced
    const thread = { processId, threadId: processId, startTime: 1, namespace: ownNamespace() }
    this.table.claim({ slot, epoch, ...thread, doorbell: 0, doorbellInode: 0 })
    return { slot, epoch }
  }

  join(processId: number = 1000): { readonly slot: number; readonly epoch: number } {
    const member = this.claim(processId)
    this.table.admit(member.slot, member.epoch)
    return member
  }

  tracker(): MemberTracker {
    return new MemberTracker(this.arena, this.table, this.archive)
  }
}

function say(changes: readonly MemberChange[]): readonly string[] {
  return changes.map(({ type, member }) => `${member.epoch} ${type}`)
}

test('those who are there at the begin are no change; who joins and leaves then is one each, once', () => {
  const model = new Model()
  const first = model.join()
  const tracker = model.tracker()
  assert.deepEqual(tracker.advance(), [])
  model.join(42)
  assert.deepEqual(tracker.advance(), [{ type: 'joined', member: { slot: 1, epoch: 2, processId: 42 } }])
  model.table.end(first.slot, first.epoch, 'left')
  assert.deepEqual(say(tracker.advance()), ['1 left'])
  assert.deepEqual(tracker.advance(), [])
})

test('the first to say how a member ended is believed', () => {
  const model = new Model()
  const { slot, epoch } = model.join()
  assert.equal(model.table.end(slot, epoch, 'died'), true)
  assert.equal(model.table.end(slot, epoch, 'left'), false)
  assert.equal(model.table.glance(slot).fate, 'died')
})

test('a member that came and went between two looks is told of, with its process', () => {
  const model = new Model()
  const tracker = model.tracker()
  const { slot, epoch } = model.join(77)
  model.table.end(slot, epoch, 'died')
  const changes = tracker.advance()
  assert.deepEqual(say(changes), ['1 joined', '1 died'])
  assert.equal(changes[0]?.member.processId, 77)
})

test('so are those whose slot was given away again since', () => {
  const model = new Model()
  const tracker = model.tracker()
  for (let i = 0; i < 600; i += 1) {
    const { slot, epoch } = model.join()
    model.table.end(slot, epoch, i % 2 === 0 ? 'left' : 'died')
  }
  const said = say(tracker.advance())
  assert.equal(said.length, 1200)
  assert.deepEqual(said.slice(0, 4), ['1 joined', '1 left', '2 joined', '2 died'])
})

test('a claim that is not finished is told of when it is, and one that was cut off never', () => {
  const model = new Model()
  const tracker = model.tracker()
  const slow = model.claim()
  model.join()
  assert.deepEqual(say(tracker.advance()), ['2 joined'])
  model.table.admit(slow.slot, slow.epoch)
  assert.deepEqual(say(tracker.advance()), ['1 joined'])
  const dead = model.claim()
  assert.deepEqual(tracker.advance(), [])
  model.table.undoClaims()
  assert.deepEqual(tracker.advance(), [])
  model.table.end(dead.slot, dead.epoch, 'died')
  assert.deepEqual(tracker.advance(), [])
})

test('a tracker that begins while a claim is under way learns of it later', () => {
  const model = new Model()
  const { slot, epoch } = model.claim()
  const tracker = model.tracker()
  model.table.admit(slot, epoch)
  assert.deepEqual(say(tracker.advance()), ['1 joined'])
})

test('a slot seen before its epoch was announced is not forgotten', () => {
  const model = new Model()
  const tracker = model.tracker()
  const { slot, epoch } = model.claim()
  model.announced = 0
  model.table.admit(slot, epoch)
  tracker.advance()
  model.announced = 1
  assert.deepEqual(say(tracker.advance()), ['1 joined'])
  assert.deepEqual(tracker.advance(), [])
})

test('what a dead member held is told until its slot is claimed again', () => {
  const model = new Model()
  const tracker = model.tracker()
  const { slot, epoch } = model.join()
  model.table.held(slot)[3] = 5
  tracker.advance()
  model.table.end(slot, epoch, 'died')
  const [change] = tracker.advance()
  assert.equal(change?.type === 'died' ? change.held[3] : undefined, 5)
})

test('slots are given in the order in which they became free, and none that is taken', () => {
  const model = new Model()
  const a = model.join()
  const b = model.join()
  const fresh = new Set<number>()
  for (let i = 0; i < 254; i += 1) fresh.add(model.join().slot)
  assert.equal(fresh.size, 254)
  assert.equal(model.table.freeSlot(), undefined)
  model.table.end(b.slot, b.epoch, 'left')
  model.table.end(a.slot, a.epoch, 'died')
  assert.equal(model.join().slot, a.slot)
  assert.equal(model.join().slot, b.slot)
})

test('whenever it looks, a tracker tells every join and every end exactly once, in order', () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.constant('join' as const) },
    { weight: 3, arbitrary: fc.constant('end' as const) },
    { weight: 2, arbitrary: fc.constant('look' as const) },
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), fc.infiniteStream(fc.nat()), (actions, numbers) => {
      const model = new Model()
      const tracker = model.tracker()
      const living: { readonly slot: number; readonly epoch: number }[] = []
      const expected: string[] = []
      const told: string[] = []
      for (const what of actions) {
        if (what === 'look') told.push(...say(tracker.advance()))
        if (what === 'join' && living.length < 256) {
          living.push(model.join())
          expected.push(`${living.at(-1)?.epoch} joined`)
        }
        if (what === 'end' && living.length > 0) {
          const number = numbers.next().value as number
          const [member] = living.splice(number % living.length, 1)
          const fate = number % 2 === 0 ? 'left' : 'died'
          if (member !== undefined) model.table.end(member.slot, member.epoch, fate)
          expected.push(`${member?.epoch} ${fate}`)
        }
      }
      told.push(...say(tracker.advance()))
      assert.deepEqual([...told].sort(), [...expected].sort())
      for (const line of told.filter((text) => !text.endsWith('joined'))) {
        const epoch = line.split(' ')[0]
        assert.ok(told.indexOf(`${epoch} joined`) < told.indexOf(line), `${line} before it joined`)
      }
    }),
    { numRuns: 100 },
  )
})
