import { bitfields } from './bitfields.ts'
import { bits } from './bits.ts'
import type { CommandSpec } from './command.ts'
import { databases } from './databases.ts'
import { dumps } from './dump.ts'
import { hashes } from './hashes.ts'
import { keys } from './keys.ts'
import { listMoves } from './list-moves.ts'
import { lists } from './lists.ts'
import { memories } from './memory.ts'
import { server } from './server.ts'
import { sets } from './sets.ts'
import { slots } from './slots.ts'
import { sorts } from './sort.ts'
import { sortedSetAlgebra } from './sorted-set-algebra.ts'
import { sortedSetPops } from './sorted-set-pops.ts'
import { sortedSetRanges } from './sorted-set-ranges.ts'
import { sortedSets } from './sorted-sets.ts'
import { streamClaims } from './stream-claims.ts'
import { streamGroups } from './stream-groups.ts'
import { streamInfo } from './stream-info.ts'
import { streamReads } from './stream-reads.ts'
import { streams } from './streams.ts'
import { strings } from './strings.ts'

const specs: readonly CommandSpec[] = [
  ...strings,
  ...bits,
  ...bitfields,
  ...keys,
  ...databases,
  ...dumps,
  ...hashes,
  ...lists,
  ...listMoves,
  ...sets,
  ...sortedSets,
  ...sortedSetRanges,
  ...sortedSetPops,
  ...sortedSetAlgebra,
  ...streams,
  ...streamReads,
  ...streamGroups,
  ...streamClaims,
  ...streamInfo,
  ...sorts,
  ...server,
  ...memories,
  ...slots,
]

/** In lower and in upper case, as programs write them. */
const byName = new Map<string, CommandSpec>(
  specs.flatMap((spec) => [
    [spec.name, spec],
    [spec.name.toUpperCase(), spec],
  ]),
)

/** In any case; undefined if there is no such command. */
export function commandNamed(name: string): CommandSpec | undefined {
  return byName.get(name) ?? byName.get(name.toLowerCase())
}

/** In lower case. */
export function commandNames(): string[] {
  return specs.map(({ name }) => name)
}
