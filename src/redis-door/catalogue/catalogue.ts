import { commandFlags, impliedCategories } from './command-flags.ts'
import { keyCommandLines } from './key-commands.ts'
import { type KeySpec, keySpecsOf } from './key-specs.ts'
import { serverCommandLines } from './server-commands.ts'

/** What clients, and rules of users, have to know of a command or of a subcommand. */
export interface CommandEntry {
  /** In lower case; of a subcommand such as `client|list`. */
  readonly name: string
  /** As Redis counts: with the name; negative says at least. */
  readonly arity: number
  readonly flags: ReadonlySet<string>
  readonly range: readonly [first: number, last: number, step: number]
  readonly categories: ReadonlySet<string>
  readonly group: string
  readonly since: string
  readonly keys: readonly KeySpec[]
  readonly tips: readonly string[]
  readonly summary: string
  readonly subcommands: readonly CommandEntry[]
}

const byName = new Map<string, CommandEntry>()

for (const line of `${keyCommandLines}${serverCommandLines}`.split('\n')) if (line !== '') add(line)

function add(line: string): void {
  const [name, arity, letters, range, categories, group, since, keys, tips, ...summary] = line.split(' ') as [
    ...[string, string, string, string, string, string, string, string, string],
    ...string[],
  ]
  const flags = new Set([...letters].flatMap((letter) => commandFlags.get(letter) ?? []))
  const entry: CommandEntry = {
    ...{ name, arity: Number(arity), flags, group, since, summary: summary.join(' '), subcommands: [] },
    range: range.split(',').map(Number) as [number, number, number],
    categories: categoriesOf(categories, flags),
    keys: keySpecsOf(keys),
    tips: tips === '-' ? [] : tips.split(','),
  }
  byName.set(name, entry)
  const container = byName.get(name.split('|')[0]!)!
  if (container !== entry) (container.subcommands as CommandEntry[]).push(entry)
}

/** `!fast`: not one of those that follow from the flags. */
function categoriesOf(text: string, flags: ReadonlySet<string>): ReadonlySet<string> {
  const categories = new Set(impliedCategories(flags))
  for (const category of text === '-' ? [] : text.split(','))
    if (category.startsWith('!')) categories.delete(category.slice(1))
    else categories.add(category)
  return categories
}

/** By its name in lower case. Commands are known here that neither the index nor the door may have. */
export function entryNamed(name: string): CommandEntry | undefined {
  return byName.get(name)
}

/** Of commands, without subcommands. */
export function entries(): readonly CommandEntry[] {
  return [...byName.values()].filter(({ name }) => !name.includes('|'))
}

/** The entry of the subcommand that the first argument names, or that of the command. */
export function entryOfCall(entry: CommandEntry, subcommand: string | undefined): CommandEntry {
  if (entry.subcommands.length === 0 || subcommand === undefined) return entry
  return byName.get(`${entry.name}|${subcommand.toLowerCase()}`) ?? entry
}
