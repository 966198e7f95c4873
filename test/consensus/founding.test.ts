/** Who founds a log in a group that grows, by what its members have posted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import { isFounder, VoterRecord } from '../../src/consensus/founding.ts'
import { Meeting, type Met } from '../../src/consensus/meeting.ts'
import {
  type Configuration,
  foundingConfiguration,
  withoutVoter,
  withVoters,
} from '../../src/consensus/replica/configuration.ts'
import type { RegionGroup } from '../../src/dsm/index.ts'

const NAME = 'machine'
const NUMBERS = 16

/** Members of a group that grows, and what they have posted. */
class Village {
  readonly #posted = new Map<number, unknown>()
  readonly #members = new Set<number>()

  enter(rank: number) {
    this.#members.add(rank)
    const group = {
      ...{ rank, closed: false, grows: true },
      isMember: (each: number) => this.#members.has(each),
      lock: async () => ({ [Symbol.dispose]: () => undefined }),
      post: async (_topic: string, value: unknown) => {
        if (value === null) this.#posted.delete(rank)
        else this.#posted.set(rank, value)
      },
      posted: async () => new Map([...this.#posted].sort(([one], [other]) => one - other)),
    }
    const meeting = new Meeting(group as unknown as Group, NAME)
    const record = new VoterRecord(group as unknown as RegionGroup, NAME)
    return { id: meeting.id, record, found: (wanted: number) => record.found(meeting, wanted) }
  }

  /** Its process ends. */
  end(rank: number): void {
    this.#members.delete(rank)
    this.#posted.delete(rank)
  }
}

test('a log whose last voter was left alone and has ended is lost: no one founds another in its place', async () => {
  const village = new Village()
  const [first, second, third, follower] = [0, 1, 2, 3].map((rank) => village.enter(rank))
  let voters: Configuration = (await first!.found(3))!
  voters = withVoters(voters, [second!.id, third!.id], NUMBERS)
  voters = withoutVoter(withoutVoter(voters, third!.id), second!.id)
  for (const each of [first!, follower!]) await each.record.write(voters)
  for (const rank of [0, 1, 2]) village.end(rank)
  await assert.rejects(village.enter(4).found(3), { code: 'ERR_AETHER_CONSENSUS_LOST' })
})

test('a founder that ended before others came is followed by one, and not by several', async () => {
  const village = new Village()
  const [first, waiting] = [village.enter(0), village.enter(1)]
  const founded = (await first.found(3))!
  // One that waits for others has heard of the first log only.
  await waiting.record.write(founded)
  village.end(0)
  const next = village.enter(2)
  assert.deepEqual(await next.found(3), foundingConfiguration([next.id]))
  assert.equal(await village.enter(3).found(3), undefined)
})

test('a log that journals keep is not begun beside one that someone knows to be there, though no one has it', () => {
  const met = (rank: number, expectsLog: boolean, log = 0): [number, Met] => [
    rank + 70,
    { rank, incarnation: 1, log, expectsLog, sight: undefined, machine: 'here' },
  ]
  const group = { rank: 1, grows: true } as unknown as RegionGroup
  const found = (...all: (readonly [number, Met])[]) => isFounder(group, new Map(all), [0, 1, 2])
  assert.equal(found(met(1, false), met(2, false)), false)
  assert.equal(found(met(1, false), met(2, false), met(3, false)), true)
  assert.equal(found(met(0, false), met(1, false), met(2, false)), false)
  assert.equal(found(met(1, false), met(2, true), met(3, false)), false)
  assert.equal(found(met(1, false), met(2, false, 9), met(3, false)), false)
})
