import { type CommandSpec, latin1Of } from '../../index-service/index.ts'
import type { CommandEntry } from './catalogue.ts'
import { type FoundKey, findKeys } from './key-specs.ts'

/** What is done to a key whose spec cannot say where it stands. */
const UNKNOWN_FLAGS = ['RW', 'access', 'update']

/** Keys of a call with what is done to them. `spec`: of the index, if the command is one of its own. */
export function keysWithFlags(
  entry: CommandEntry,
  spec: CommandSpec | undefined,
  args: readonly Uint8Array[],
): readonly FoundKey[] {
  const found = findKeys(entry.keys, args)
  if (found !== undefined && !(found.length === 0 && spec !== undefined))
    return found.map(({ at, flags }) => ({ at, flags: flags.includes('variable_flags') ? flagsOf(entry, args) : flags }))
  if (spec === undefined) return []
  // What stands anywhere is what the last spec is about, as the destination of SORT.
  const anywhere = entry.keys.findLast(({ begin }) => begin === undefined)?.flags
  const flags = anywhere ?? (spec.isWrite ? UNKNOWN_FLAGS : ['RO', 'access'])
  return spec.keys(args).map((at) => ({ at, flags: flagsAt(entry, at) ?? flags }))
}

/** Of commands that do more or less to a key by what else they are told. */
function flagsOf({ name }: CommandEntry, args: readonly Uint8Array[]): readonly string[] {
  const has = (...words: readonly string[]): boolean =>
    args.slice(1).some((arg) => arg.length < WORD_MAX && words.includes(latin1Of(arg).toLowerCase()))
  if (name === 'set') return has('get') ? UNKNOWN_FLAGS : ['OW', 'update']
  return has('set', 'incrby') ? UNKNOWN_FLAGS : ['RO', 'access']
}

const WORD_MAX = 16

/** Of the specs that can say. */
function flagsAt({ keys }: CommandEntry, at: number): readonly string[] | undefined {
  return keys.find(
    ({ begin, find }) => find !== undefined && begin !== undefined && 'index' in begin && begin.index === at + 1,
  )?.flags
}

/** For rules about keys: reading is to see what is in it, writing to change it in any way. */
export function keyUses(
  entry: CommandEntry,
  spec: CommandSpec | undefined,
  args: readonly Uint8Array[],
): readonly { readonly key: Uint8Array; readonly reads: boolean; readonly writes: boolean }[] {
  return keysWithFlags(entry, spec, args).map(({ at, flags }) => ({
    key: args[at]!,
    reads: flags.includes('access'),
    writes: ['insert', 'update', 'delete'].some((flag) => flags.includes(flag)),
  }))
}
