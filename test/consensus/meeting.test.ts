import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '../../src/cluster/index.ts'
import type { MetReplica } from '../../src/consensus/agent/agent-contract.ts'
import type { ReplicaProcess } from '../../src/consensus/agent/replica-process.ts'
import type { ConsensusError } from '../../src/consensus/errors.ts'
import { type JournalOf, Meeting } from '../../src/consensus/meeting.ts'
import type { ReplicaCard } from '../../src/consensus/replica/connections.ts'
import type { ReplicaSight } from '../../src/consensus/replica/replica-head.ts'

/** Programs of a group, whose messages arrive when the test says. */
class Town {
  readonly #hear = new Map<number, Set<(rank: number, value: unknown) => void>>()
  readonly #events = new Set<(event: { readonly type: string; readonly rank: number }) => void>()
  readonly #under: (() => void)[] = []

  /** `changes`: what it says in place of the truth. */
  enter(rank: number, journal?: JournalOf, changes: object = {}) {
    const heard = this.#hear.get(rank) ?? new Set()
    this.#hear.set(rank, heard)
    const group = {
      ...{ rank, closed: false, members: () => [...this.#hear.keys()].map((each) => ({ rank: each })) },
      onEvent: (listener: (event: { readonly type: string; readonly rank: number }) => void) => {
        this.#events.add(listener)
        return () => this.#events.delete(listener)
      },
      onTold: (_topic: string, listener: (from: number, value: unknown) => void) => {
        heard.add(listener)
        return () => heard.delete(listener)
      },
      tell: async (to: number, _topic: string, value: unknown) => {
        const text = JSON.stringify({ ...(value as object), ...changes })
        this.#under.push(() => {
          for (const listener of this.#hear.get(to) ?? []) listener(rank, JSON.parse(text))
        })
      },
    }
    const meeting = new Meeting(group as unknown as Group, 'machine', journal)
    const calls: string[] = []
    const note =
      (name: string) =>
      (about: number | ReplicaCard | MetReplica): void => {
        calls.push(`${name} ${textOf(about)}`)
      }
    const names = ['hear', 'meet', 'ended', 'restarted']
    const process = Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as ReplicaProcess
    const strangers: string[] = []
    meeting.onStranger = (error: ConsensusError) => strangers.push(error.code)
    return { meeting, process, calls, strangers, begin: (sight?: ReplicaSight) => meeting.begin(process, sight) }
  }

  /** All that is under way arrives. */
  settle(): void {
    for (let next = this.#under.shift(); next !== undefined; next = this.#under.shift()) next()
  }

  ended(rank: number): void {
    for (const listener of this.#events) listener({ type: 'died', rank })
  }
}

function textOf(about: number | ReplicaCard | MetReplica): string {
  if (typeof about === 'number') return `${about}`
  if ('attempt' in about) return `${about.id}/${about.attempt}`
  const { id, life } = about
  return life === undefined ? `${id}` : `${id} in ${life.processId}/${life.lifeThread}`
}

function card(id: number, attempt: number): ReplicaCard {
  const rest = { endpoint: { gid: 1n }, region: { address: 0, key: 0 }, frame: 0 }
  return { id, attempt, ...rest } as unknown as ReplicaCard
}

test('a card for the replica that this process had before is not taken by its next one', () => {
  const town = new Town()
  const sender = town.enter(0)
  sender.begin()
  const before = town.enter(2, { id: 7, log: 0 })
  const first = town.enter(1)
  first.begin()
  town.settle()
  sender.meeting.say(first.meeting.id, card(sender.meeting.id, 2))
  town.settle()
  assert.deepEqual(first.calls, ['meet 1', 'hear 1/2'])
  assert.deepEqual(before.calls, [])
  first.meeting.close()
  const next = town.enter(1)
  next.begin()
  sender.meeting.say(first.meeting.id, card(sender.meeting.id, 3))
  town.settle()
  sender.meeting.say(next.meeting.id, card(sender.meeting.id, 1))
  town.settle()
  assert.deepEqual(next.calls, ['meet 1', 'hear 1/1'])
})

test('neither memory nor process of a replica of another machine is looked for here: numbers mean something else', () => {
  const town = new Town()
  const sightOf = (id: number): ReplicaSight => ({ id, processId: 17, lifeThread: 18, descriptor: 20 + id })
  const own = town.enter(0)
  own.begin(sightOf(1))
  town.enter(1).begin(sightOf(2))
  town.enter(2, undefined, { machine: 'another' }).begin(sightOf(3))
  town.settle()
  assert.deepEqual(own.calls, ['meet 2 in 17/18', 'meet 3'])
  assert.deepEqual(own.meeting.sights, [sightOf(1), sightOf(2)])
})

test('a replica that was begun again from its journal is another incarnation, wherever it is', () => {
  const town = new Town()
  const watcher = town.enter(0, { id: 70, log: 9 })
  watcher.begin()
  const before = town.enter(1, { id: 71, log: 9 })
  before.begin()
  town.settle()
  before.meeting.say(70, card(71, 5))
  const after = town.enter(4, { id: 71, log: 9 })
  after.begin()
  // What the one before has said arrives first, and once more when it is known to be the past.
  before.meeting.say(70, card(71, 6))
  town.settle()
  assert.deepEqual(watcher.calls, ['meet 71', 'hear 71/5', 'restarted 71', 'meet 71'])
  assert.equal(watcher.meeting.rankOf(71), 4)
  // The end of the process before is not the end of this one.
  town.ended(1)
  assert.equal(watcher.calls.includes('ended 71'), false)
  town.ended(4)
  assert.equal(watcher.calls.at(-1), 'ended 71')
})

test('one of another log, or one that keeps its log in another way, is told so and not met', () => {
  const town = new Town()
  const one = town.enter(0, { id: 70, log: 9 })
  const fresh = town.enter(1, { id: 71, log: 0 })
  const other = town.enter(2, { id: 72, log: 8 })
  const memory = town.enter(3)
  for (const { begin } of [one, fresh, other, memory]) begin()
  town.settle()
  assert.deepEqual(new Set(one.calls), new Set(['meet 71']))
  assert.ok(other.strangers.includes('ERR_AETHER_CONSENSUS_STRANGER'))
  assert.ok(memory.strangers.length >= 3)
  assert.deepEqual(memory.calls, [])
  assert.deepEqual(new Set(fresh.calls), new Set(['meet 70', 'meet 72']))
})

test('one that keeps its log by another protocol is told so and not met', () => {
  const town = new Town()
  const one = town.enter(0, { id: 70, log: 9 })
  const other = town.enter(1, { id: 71, log: 9 }, { protocol: 2 })
  for (const { begin } of [one, other]) begin()
  town.settle()
  assert.deepEqual(one.calls, [])
  assert.deepEqual(new Set(one.strangers), new Set(['ERR_AETHER_CONSENSUS_STRANGER']))
})
