/**
 * Memberships under random faults: members crash in the middle of what they say, are stopped for longer than a lease,
 * are cut off from each other, reject what another says; messages take their time. Asserted at every step: views that
 * all their members have installed form one chain. At the end: whoever lives either ended itself or is in one and the
 * same view, which has nobody else.
 */
import assert from 'node:assert/strict'
import process from 'node:process'
import { test } from 'node:test'
import {
  type MembershipEffect,
  MembershipMachine,
  type MembershipStatement,
  type MembershipView,
} from '../../../src/cluster/group/membership-machine.ts'
import { Random } from '../../../src/runtime/index.ts'

const MS = 1e6
const LEASE_MS = 1000
const BEAT_MS = 100
/** Simulated time advances by so much a step. */
const STEP_MS = 10

interface Member {
  readonly machine: MembershipMachine
  alive: boolean
  ended: string | undefined
  stoppedUntilMs: number
  tickedMs: number
  readonly heard: Set<number>
  /** By rank: whom it has closed its connection to. */
  readonly closed: boolean[]
  /** By rank: told of its death, or that it is not reached. */
  readonly told: (undefined | 'suspected' | 'ended')[]
}

interface Faults {
  readonly crashes: number
  readonly pauses: number
  readonly pauseMsMax: number
  readonly cuts: number
  /**
   * A member finds that another sends nonsense: it says nothing more to it, which the other does not notice. Where this
   * may happen, a connection that is closed may also lose what was said last. So a group may die out without a word,
   * and who was not in it may go on afterwards.
   */
  readonly rejections?: number
}

class Run {
  readonly size: number
  readonly random: Random
  readonly members: Member[]
  /** Statements under way, by pair, each with the time at which it arrives at the earliest. */
  readonly channels: { readonly atMs: number; readonly statement: MembershipStatement }[][]
  readonly cut: boolean[]
  /** Views that all their members have installed, by epoch. */
  readonly complete = new Map<number, readonly number[]>()
  readonly installed = new Map<string, Set<number>>()
  readonly trace: string[] = []
  readonly faults: Faults
  nowMs = 0
  left: { crashes: number; pauses: number; cuts: number; rejections: number }

  constructor(seed: number, size: number, faults: Faults) {
    this.random = new Random(seed)
    this.size = size
    this.faults = faults
    this.left = { rejections: 0, ...faults }
    this.cut = new Array<boolean>(size * size).fill(false)
    this.channels = Array.from({ length: size * size }, () => [])
    this.members = Array.from({ length: size }, (_, rank) => ({
      machine: new MembershipMachine({ rank, size, leaseNs: LEASE_MS * MS, beatNs: BEAT_MS * MS }),
      alive: true,
      ended: undefined,
      stoppedUntilMs: 0,
      tickedMs: -BEAT_MS,
      heard: new Set<number>(),
      closed: new Array<boolean>(size).fill(false),
      told: new Array<undefined | 'suspected' | 'ended'>(size).fill(undefined),
    }))
  }

  run(): this {
    // Faults in the first second, so that they meet; then time enough for everything to be noticed.
    while (this.nowMs < 12 * LEASE_MS) {
      if (this.nowMs < 2 * LEASE_MS) this.#maybeFault()
      for (let rank = 0; rank < this.size; rank += 1) this.#turn(rank)
      this.nowMs += STEP_MS
    }
    this.#assertOneGroup()
    return this
  }

  #maybeFault(): void {
    const { random, left } = this
    if (random.below(12) !== 0) return
    const rank = random.below(this.size)
    const member = this.members[rank]!
    const kind = random.below(left.rejections > 0 ? 4 : 3)
    if (kind === 0 && left.crashes > 0 && member.alive) {
      left.crashes -= 1
      this.#kill(rank, 'is killed')
    } else if (kind === 1 && left.pauses > 0 && member.alive && member.tickedMs > member.stoppedUntilMs) {
      left.pauses -= 1
      member.stoppedUntilMs = this.nowMs + random.below(this.faults.pauseMsMax)
      this.trace.push(`${this.nowMs}: rank ${rank} is stopped until ${member.stoppedUntilMs}`)
    } else if (kind === 2 && left.cuts > 0) {
      left.cuts -= 1
      this.#cutOff(random.below(1 << this.size))
    } else if (kind === 3 && member.alive) {
      left.rejections -= 1
      this.#reject(rank, (rank + 1 + random.below(this.size - 1)) % this.size)
    }
  }

  #reject(rank: number, other: number): void {
    this.trace.push(`${this.nowMs}: rank ${rank} rejects rank ${other}`)
    this.cut[rank * this.size + other] = true
    this.channels[rank * this.size + other]!.length = 0
    const { machine, told } = this.members[rank]!
    if (told[other] !== undefined) return
    told[other] = 'suspected'
    this.#apply(rank, machine.step({ type: 'suspected', rank: other, why: 'nonsense' }, this.nowMs * MS))
  }

  /** Ranks whose bit is set do not reach the others any more. */
  #cutOff(side: number): void {
    this.trace.push(`${this.nowMs}: cut ${side.toString(2)}`)
    for (let from = 0; from < this.size; from += 1) {
      for (let to = 0; to < this.size; to += 1) {
        if (((side >> from) & 1) === ((side >> to) & 1)) continue
        this.cut[from * this.size + to] = true
        this.channels[from * this.size + to]!.length = 0
      }
    }
  }

  #turn(rank: number): void {
    const member = this.members[rank]!
    if (!member.alive || this.nowMs < member.stoppedUntilMs) return
    for (let from = 0; from < this.size; from += 1) if (from !== rank) this.#receive(from, rank)
    if (!member.alive || this.nowMs - member.tickedMs < BEAT_MS) return
    member.tickedMs = this.nowMs
    const heard = [...member.heard]
    member.heard.clear()
    this.#apply(rank, member.machine.step({ type: 'tick', heard }, this.nowMs * MS))
  }

  #receive(from: number, to: number): void {
    const member = this.members[to]!
    const channel = this.channels[from * this.size + to]!
    while (member.alive && !member.closed[from] && channel.length > 0 && channel[0]!.atMs <= this.nowMs) {
      const { statement } = channel.shift()!
      member.heard.add(from)
      this.#apply(to, member.machine.step({ type: 'stated', from, statement }, this.nowMs * MS))
    }
    if (member.alive) this.#noticeTrouble(from, to, channel.length === 0)
  }

  /** What the connection of `to` to `from` shows, besides messages. */
  #noticeTrouble(from: number, to: number, allHandled: boolean): void {
    const member = this.members[to]!
    const other = this.members[from]!
    const isCut = this.cut[from * this.size + to]!
    if (member.told[from] === 'ended' || member.closed[from] || this.random.below(4) !== 0) return
    if (!other.alive && allHandled && !isCut) {
      member.told[from] = 'ended'
      this.trace.push(`${this.nowMs}: rank ${to} knows that rank ${from} is dead`)
      this.#apply(to, member.machine.step({ type: 'ended', rank: from, why: 'it ended' }, this.nowMs * MS))
    } else if (other.alive && other.closed[to] && member.told[from] === undefined) {
      member.told[from] = 'suspected'
      this.#apply(to, member.machine.step({ type: 'suspected', rank: from, why: 'broken' }, this.nowMs * MS))
    }
  }

  #apply(rank: number, effects: readonly MembershipEffect[]): void {
    const member = this.members[rank]!
    for (const effect of effects) {
      // Anything may be the last thing that it does.
      if (this.left.crashes > 0 && this.nowMs < 2 * LEASE_MS && this.random.below(150) === 0) {
        this.left.crashes -= 1
        this.#kill(rank, 'is killed in the middle of a step')
        return
      }
      if (effect.type === 'end') {
        member.ended = effect.why
        this.#kill(rank, `ends itself: ${effect.why}`)
      } else if (effect.type === 'view') {
        this.#install(rank, effect.view)
        for (const gone of effect.gone) this.#close(rank, gone.rank)
      } else {
        this.#send(rank, effect.to, effect.statement)
      }
    }
  }

  #close(rank: number, other: number): void {
    this.members[rank]!.closed[other] = true
    if (this.faults.rejections === undefined) return
    const channel = this.channels[rank * this.size + other]!
    channel.length -= this.random.below(channel.length + 1)
  }

  #send(from: number, to: number, statement: MembershipStatement): void {
    const pair = from * this.size + to
    if (this.cut[pair] || this.members[from]!.closed[to] || !this.members[to]!.alive) return
    const channel = this.channels[pair]!
    const last = channel.at(-1)?.atMs ?? 0
    channel.push({ atMs: Math.max(last, this.nowMs + this.random.below(8) * STEP_MS), statement })
  }

  #kill(rank: number, how: string): void {
    this.trace.push(`${this.nowMs}: rank ${rank} ${how}`)
    this.members[rank]!.alive = false
  }

  #install(rank: number, view: MembershipView): void {
    const { epoch, members } = view
    this.trace.push(`${this.nowMs}: rank ${rank} is in epoch ${epoch} of ${members.join(',')}`)
    const key = `${epoch}: ${members.join(',')}`
    const by = this.installed.get(key) ?? new Set()
    this.installed.set(key, by.add(rank))
    if (!members.every((each) => by.has(each))) return
    for (const [other, others] of this.complete) {
      if (this.faults.rejections !== undefined && others.every((each) => !this.members[each]!.alive)) continue
      const [smaller, larger] = other < epoch ? [members, others] : [others, members]
      assert.ok(
        smaller.every((each) => larger.includes(each)) && (other !== epoch || smaller.length === larger.length),
        `epoch ${other} is of ${others.join(',')}, and epoch ${epoch} of ${members.join(',')}`,
      )
    }
    this.complete.set(epoch, members)
  }

  living(): number[] {
    return this.members.flatMap(({ alive }, rank) => (alive ? [rank] : []))
  }

  #assertOneGroup(): void {
    const living = this.living()
    for (const rank of living) {
      const { members } = this.members[rank]!.machine.view
      assert.deepEqual(
        members,
        living,
        `rank ${rank} is in a group of ${members.join(',')}, and ${living.join(',')} live`,
      )
    }
  }
}

function simulate(seed: number, faults: Faults): Run {
  const run = new Run(seed, 2 + (seed % 5), faults)
  try {
    return run.run()
  } catch (error) {
    const lines = `seed ${seed} (replay: AETHER_SEED=${seed}): ${(error as Error).message}\n${run.trace.slice(-60).join('\n')}`
    throw new Error(lines, { cause: error })
  }
}

const chosen = process.env['AETHER_SEED']
const count = Number(process.env['AETHER_SEEDS'] ?? 1500)
const seeds = chosen === undefined ? Array.from({ length: count }, (_, seed) => seed) : [Number(chosen)]

test('members that crash and are stopped for less than half a lease: every other lives on, in one view', () => {
  for (const seed of seeds) {
    const run = simulate(seed, { crashes: 2, pauses: 3, pauseMsMax: LEASE_MS / 2 - BEAT_MS, cuts: 0 })
    for (const [rank, { ended }] of run.members.entries())
      assert.equal(ended, undefined, `seed ${seed}: rank ${rank} ended itself: ${ended}\n${run.trace.join('\n')}`)
  }
})

test('members that crash and are stopped for up to three leases: who was too late ends itself, and the others are one group', () => {
  let ended = 0
  for (const seed of seeds)
    ended += simulate(seed, { crashes: 2, pauses: 3, pauseMsMax: 3 * LEASE_MS, cuts: 0 }).members.filter(
      (member) => member.ended !== undefined,
    ).length
  assert.ok(chosen !== undefined || ended > 100, `${ended} ended: too few to mean anything`)
})

test('members that are cut off from each other, crash and are stopped: never two groups', () => {
  let alone = 0
  for (const seed of seeds) {
    const run = simulate(seed, { crashes: 2, pauses: 2, pauseMsMax: 3 * LEASE_MS, cuts: 2 })
    if (run.living().length > 0) alone += 1
  }
  assert.ok(chosen !== undefined || alone > count / 5, `in ${alone} runs somebody lived on: too few to mean anything`)
})

test('members that reject each other, crash and are stopped: never two groups', () => {
  let alone = 0
  for (const seed of seeds) {
    const run = simulate(seed, { crashes: 2, pauses: 1, pauseMsMax: 3 * LEASE_MS, cuts: 0, rejections: 3 })
    if (run.living().length > 0) alone += 1
  }
  assert.ok(chosen !== undefined || alone > count / 5, `in ${alone} runs somebody lived on: too few to mean anything`)
})

test('of two, the lower rank goes on when the other falls silent; the other ends itself when the lower does', () => {
  const machine = (rank: number): MembershipMachine =>
    new MembershipMachine({ rank, size: 2, leaseNs: LEASE_MS * MS, beatNs: BEAT_MS * MS })
  const silence = (rank: number): readonly MembershipEffect[] => {
    const it = machine(rank)
    const effects: MembershipEffect[] = []
    for (let ms = 0; ms <= 2 * LEASE_MS; ms += BEAT_MS) effects.push(...it.step({ type: 'tick', heard: [] }, ms * MS))
    return effects.filter(({ type }) => type !== 'state')
  }
  assert.deepEqual(silence(0), [
    {
      type: 'view',
      view: { epoch: 1, members: [0] },
      gone: [{ rank: 1, why: 'nothing was heard from it for 1 s' }],
    },
  ])
  const [end, ...more] = silence(1)
  assert.ok(end?.type === 'end' && /too few ranks remain/.test(end.why))
  assert.deepEqual(more, [])
})

test('a death that is certain leaves the survivor a group of its own', () => {
  const machine = new MembershipMachine({ rank: 1, size: 2, leaseNs: LEASE_MS * MS, beatNs: BEAT_MS * MS })
  machine.step({ type: 'tick', heard: [] }, 0)
  const effects = machine.step({ type: 'ended', rank: 0, why: 'its process ended' }, MS)
  assert.deepEqual(
    effects.find(({ type }) => type === 'view'),
    {
      type: 'view',
      view: { epoch: 1, members: [1] },
      gone: [{ rank: 0, why: 'its process ended' }],
    },
  )
})
