import { Stream } from 'aether-dsm/internal/providers'
import type { EntryInput } from '../../linearizability/index.ts'

/** What a node does when it moves a shard, as its group and its replicas see it. */
const steps = ['start', 'hello', 'card', 'transfer', 'leave', 'bye'] as const

export type MoveStep = (typeof steps)[number]

export type NodeBlow =
  | { readonly kind: 'crash'; readonly certainMs: number }
  | { readonly kind: 'pause' | 'stall' | 'isolate'; readonly forMs: number }

/** Something happens to a node: at a time to any, or to one that has come to a step of a move. */
export interface NodeStrike {
  readonly atMs: number
  /** The next such step after that time. */
  readonly step: MoveStep | undefined
  /** Another node than the one that has come to it. */
  readonly isOther: boolean
  readonly afterMs: number
  readonly pick: number
  readonly blow: NodeBlow
}

export interface ShardsPlan {
  readonly seed: number
  /** At the beginning. */
  readonly nodes: number
  readonly shards: number
  readonly clients: number
  readonly calls: number
  readonly keys: number
  /** How many of a hundred calls are reads. */
  readonly reads: number
  readonly thinkMs: number
  /** When further nodes come, in milliseconds. */
  readonly joins: readonly number[]
  /** When one closes. */
  readonly closes: readonly number[]
  readonly strikes: readonly NodeStrike[]
}

export const REPLICAS = 3
const BEGIN_MS = 600
const END_MS = 4000

export function planShards(seed: number, changes: Partial<ShardsPlan> = {}): ShardsPlan {
  const stream = new Stream(seed, 'plan', undefined)
  const times = (most: number): number[] =>
    Array.from({ length: stream.below(most + 1) }, () => stream.between(BEGIN_MS, END_MS))
  const calls = stream.chance(0.3) ? stream.between(10, 40) : stream.between(60, 150)
  const joins = [stream.between(BEGIN_MS, END_MS), ...times(1)]
  const strikes = Array.from({ length: stream.chance(0.2) ? 0 : stream.between(1, 5) }, () => drawStrike(stream))
  // A program that hears late of one that has come.
  const late = joins.flatMap((atMs) => (stream.chance(0.4) ? [stallAt(atMs - 10, stream.below(1000))] : []))
  return {
    seed,
    nodes: stream.between(3, 4),
    shards: stream.between(1, 4),
    clients: stream.between(2, 4),
    calls,
    keys: stream.between(2, 6),
    reads: stream.between(20, 60),
    thinkMs: END_MS / calls,
    joins,
    closes: times(1),
    strikes: [...strikes, ...(strikes.length === 0 ? [] : late)],
    ...changes,
  }
}

/** The program of some node stands still for longer than a move takes. */
export function stallAt(atMs: number, pick: number): NodeStrike {
  return { atMs, step: undefined, isOther: false, afterMs: 0, pick, blow: { kind: 'stall', forMs: 700 } }
}

function drawStrike(stream: Stream): NodeStrike {
  return {
    atMs: stream.between(BEGIN_MS, END_MS),
    step: stream.chance(0.7) ? steps[stream.below(steps.length)] : undefined,
    isOther: stream.chance(0.4),
    afterMs: stream.chance(0.5) ? stream.below(3) : stream.below(300),
    pick: stream.below(1000),
    blow: drawBlow(stream),
  }
}

function drawBlow(stream: Stream): NodeBlow {
  if (stream.chance(0.5))
    return { kind: 'crash', certainMs: stream.chance(0.6) ? stream.below(30) : stream.between(300, 2500) }
  const kinds = ['pause', 'stall', 'isolate'] as const
  return {
    kind: kinds[stream.below(kinds.length)]!,
    forMs: stream.chance(0.5) ? stream.below(150) : stream.between(150, 1500),
  }
}

/** What a client does with a key. */
export interface PlannedCall {
  readonly key: string
  readonly input: EntryInput
}

export function keysOf({ keys }: Pick<ShardsPlan, 'keys'>): readonly string[] {
  return Array.from({ length: keys }, (_, key) => `key ${key}`)
}

/** Values of its own. */
export function callsOf(plan: ShardsPlan, client: number): readonly PlannedCall[] {
  const stream = new Stream(plan.seed, `client ${client}`, undefined)
  const keys = keysOf(plan)
  return Array.from({ length: plan.calls }, (_, call) => {
    const key = keys[stream.below(keys.length)]!
    const value = (client + 1) * 1000 + call + 1
    if (stream.below(100) < plan.reads) return { key, input: { type: 'get' } as const }
    if (stream.chance(0.15)) return { key, input: { type: 'delete' } as const }
    return { key, input: { type: stream.chance(0.2) ? 'setIfAbsent' : 'set', value } as const }
  })
}
