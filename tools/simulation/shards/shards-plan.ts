import { Stream } from 'aether-dsm/internal/providers'
import type { EntryInput } from '../../linearizability/index.ts'
import type { DiskPlan } from '../replicas/simulated-disk.ts'

/** What a node does when it moves a shard, as its group and its replicas see it. */
const steps = ['start', 'hello', 'card', 'transfer', 'leave', 'bye'] as const

export type MoveStep = (typeof steps)[number]

export type NodeBlow =
  | { readonly kind: 'crash'; readonly certainMs: number }
  | { readonly kind: 'pause' | 'stall' | 'isolate' | 'slow disk'; readonly forMs: number }
  /** It is killed, and begins again from its directory. Its memory may be READ for a while. */
  | { readonly kind: 'restart'; readonly downMs: number; readonly lingerMs: number; readonly certainMs: number }
  /** All are killed within some time, and begin again from their directories, each at a time of its own. */
  | { readonly kind: 'blackout'; readonly withinMs: number; readonly downMs: number; readonly certainMs: number }

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
  /** As many nodes of the beginning call, too, while they live. */
  readonly callers: number
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
  /** Clients, and nodes that do not hold a shard, READ the memory of those that do. */
  readonly oneSided: boolean
  /** How often of a hundred times adapters read and write lines in any order. */
  readonly tears: number
  /** Nodes have directories, on such disks. */
  readonly disks: DiskPlan | undefined
}

export const REPLICAS = 3
const BEGIN_MS = 600
const END_MS = 4000

/** `onDisks`: nodes have directories. */
export function planShards(seed: number, changes: Partial<ShardsPlan> = {}, onDisks: boolean = false): ShardsPlan {
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
    strikes: [...strikes, ...(strikes.length === 0 ? [] : late), ...(onDisks ? drawRestarts(seed) : [])],
    ...drawReads(seed),
    disks: onDisks ? drawDisks(seed) : undefined,
    ...changes,
  }
}

function drawReads(seed: number): Pick<ShardsPlan, 'oneSided' | 'tears' | 'callers'> {
  const stream = new Stream(seed, 'READs', undefined)
  return {
    oneSided: stream.chance(0.8),
    tears: stream.chance(0.5) ? 0 : stream.between(1, 50),
    callers: stream.below(4),
  }
}

function drawDisks(seed: number): DiskPlan {
  const stream = new Stream(seed, 'disks', undefined)
  const usualNs = stream.between(50_000, 2_000_000)
  return { usualNs, slow: stream.chance(0.5) ? 0 : stream.between(1, 100), slowNs: stream.between(usualNs, 80_000_000) }
}

function drawRestarts(seed: number): NodeStrike[] {
  const stream = new Stream(seed, 'restarts', undefined)
  return Array.from({ length: stream.between(1, 5) }, () => {
    const certainMs = stream.chance(0.6) ? stream.below(30) : stream.between(300, 2500)
    const downMs = stream.chance(0.6) ? stream.below(300) : stream.between(300, 2000)
    const kind = stream.below(10)
    const lingerMs = stream.chance(0.6) ? 0 : stream.below(100)
    const blow: NodeBlow =
      kind < 5
        ? { kind: 'restart', downMs, lingerMs, certainMs }
        : kind < 8
          ? { kind: 'blackout', withinMs: stream.chance(0.5) ? 0 : stream.below(300), downMs, certainMs }
          : { kind: 'slow disk', forMs: stream.between(50, 1500) }
    return { ...drawStrike(stream), blow }
  })
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

/** The text of a value: as long as it takes to be torn, if there are READs. */
export function textOf({ oneSided }: Pick<ShardsPlan, 'oneSided'>, value: number): string {
  return oneSided
    ? Array(1 + ((value * 29) % 97))
        .fill(value)
        .join(' ')
    : String(value)
}

/** 0 if there is none. @throws Error if it was torn. */
export function valueIn(text: string | undefined): number {
  const [first = '0', ...others] = text?.split(' ') ?? []
  if (others.some((other) => other !== first)) throw new Error(`torn: ${text}`)
  return Number(first)
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
