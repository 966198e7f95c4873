import type { Databases } from '../state/databases.ts'
import type { Keyspace, Moment } from '../state/keyspace.ts'
import { eventOf } from './events.ts'
import type { Reply } from './reply.ts'

/** What a command knows besides its arguments: the same in every process. */
export interface CommandContext extends Moment {
  /** The number of the database that the command is about. */
  readonly db: number
  /** All of them. */
  databases(): Databases
  /** A uniform uint32; the same in every process for the same index. */
  random(): number
  /** False: a blocking command answers at once, as it does in a transaction of Redis. */
  readonly mayBlock: boolean
  /** Set if the command waited: the key that became ready. It takes from this key alone, as Redis does. */
  readonly readyKey: Uint8Array | undefined
}

/** Says that a command waits for one of its keys, and with which arguments it is to be run again. */
export class Blocked {
  readonly args: readonly Uint8Array[]

  constructor(args: readonly Uint8Array[]) {
    this.args = args
  }
}

export type Run = (keyspace: Keyspace, args: readonly Uint8Array[], context: CommandContext) => Reply | Blocked

/** A command of Redis. `args` are without its name. */
export interface CommandSpec {
  readonly name: string
  /** As Redis counts: with the name; negative says at least. */
  readonly arity: number
  readonly isWrite: boolean
  /** True if it may take more memory: it is refused when all is used. */
  readonly needsMemory: boolean
  /** What it tells of each key that it changes, where its code names nothing else. */
  readonly event: string | undefined
  /** True if it looks at a key without using it: the key may be evicted as before. */
  readonly isGlance: boolean
  /** Positions of keys in `args`. */
  keys(args: readonly Uint8Array[]): readonly number[]
  readonly run: Run
  readonly blocking?: Blocking
  /** The format that it came with, one more than that of the release before; absent: the first. */
  readonly since?: number
}

/** Of a command that may wait. */
interface Blocking {
  /** The type of record for which it waits. */
  readonly type: number
  /** How long it waits at most; 0: without end. @throws CommandFault */
  timeoutMs(args: readonly Uint8Array[]): number
  /** True if it is also told that a key is gone. */
  readonly needsKey?: boolean
  /** True if it waits for its first key alone: what comes to others does not end the wait. */
  readonly isForFirst?: boolean
}

type Keys = CommandSpec['keys']

export const noKeys: Keys = () => []
export const firstKey: Keys = () => [0]
export const firstTwoKeys: Keys = () => [0, 1]
export const allKeys: Keys = (args) => args.map((_, index) => index)
export const evenKeys: Keys = (args) => args.map((_, index) => index).filter((index) => index % 2 === 0)

/** Keys behind their number, which stands at `at`. */
export function countedKeys(at: number, before: readonly number[] = []): Keys {
  return (args) => {
    const count = Number.parseInt(String.fromCharCode(...(args[at] ?? []).slice(0, 9)), 10)
    const end = Math.min(args.length, at + 1 + Math.max(0, count || 0))
    const keys = [...before]
    for (let index = at + 1; index < end; index += 1) keys.push(index)
    return keys
  }
}

/** A command that changes nothing. */
export function reads(name: string, arity: number, keys: Keys, run: Run): CommandSpec {
  return { name, arity, isWrite: false, needsMemory: false, event: undefined, isGlance: false, keys, run }
}

/** A command that changes nothing, and is no use of the key. */
export function glances(name: string, arity: number, keys: Keys, run: Run): CommandSpec {
  return { ...reads(name, arity, keys, run), isGlance: true }
}

/** A command that changes something, and takes no more memory for it. */
export function frees(name: string, arity: number, keys: Keys, run: Run): CommandSpec {
  return { name, arity, isWrite: true, needsMemory: false, event: eventOf(name), isGlance: false, keys, run }
}

/** A command that may take more memory. */
export function grows(name: string, arity: number, keys: Keys, run: Run): CommandSpec {
  return { name, arity, isWrite: true, needsMemory: true, event: eventOf(name), isGlance: false, keys, run }
}
