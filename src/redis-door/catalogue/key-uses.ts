import type { CommandSpec } from '../../index-service/index.ts'
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
  if (found !== undefined && !(found.length === 0 && spec !== undefined)) return found
  if (spec === undefined) return []
  const flags = spec.isWrite ? UNKNOWN_FLAGS : ['RO', 'access']
  return spec.keys(args).map((at) => ({ at, flags: flagsAt(entry, at) ?? flags }))
}

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
