import { bytesOf, CommandFault, commandNamed, fitsArity, latin1Of, matches } from '../../index-service/index.ts'
import { type CommandEntry, entries, entryNamed } from '../catalogue/catalogue.ts'
import { commandCategories, commandFlags } from '../catalogue/command-flags.ts'
import type { FoundKey, KeySpec } from '../catalogue/key-specs.ts'
import { keysWithFlags } from '../catalogue/key-uses.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import { NULL_ARRAY } from '../protocol/door-reply.ts'
import { syntaxFault, wordOf } from './arguments.ts'
import type { DoorCommand } from './door-command.ts'
import { type RunSubcommand, withSubcommands } from './subcommands.ts'

type CommandOf = (name: string) => DoorCommand | undefined

/** COMMAND. `commandOf`: the door's own commands, which hold this here. */
export function catalogueCommands(commandOf: CommandOf): readonly DoorCommand[] {
  const isThere = ({ name }: CommandEntry): boolean => commandOf(name) !== undefined || commandNamed(name) !== undefined
  const all = (): readonly CommandEntry[] => entries().filter(isThere)
  const named = (bytes: Uint8Array): CommandEntry | undefined => {
    const name = latin1Of(bytes).toLowerCase()
    const entry = entryNamed(name)
    return entry !== undefined && isThere(entryNamed(name.split('|')[0]!)!) ? entry : undefined
  }
  const info: RunSubcommand = (_door, _client, args) => {
    const asked = args.length === 0 ? all() : args.map(named)
    return { list: asked.map((entry) => (entry === undefined ? NULL_ARRAY : about(entry))) }
  }
  const docs: RunSubcommand = (_door, _client, args) => {
    const asked = args.length === 0 ? all() : args.flatMap((name) => named(name) ?? [])
    return { table: asked.flatMap((entry) => [bytesOf(entry.name), { table: documented(entry) }]) }
  }
  const getKeys: RunSubcommand = (_door, _client, args) => keysIn(args, named).map(({ at }) => args[at + 1]!)
  const getKeysAndFlags: RunSubcommand = (_door, _client, args) => ({
    list: keysIn(args, named).map(({ at, flags }) => ({ list: [args[at + 1]!, new Set(flags)] })),
  })
  const command = withSubcommands({
    name: 'command',
    alone: () => ({ list: all().map(about) }),
    subcommands: {
      count: () => all().length,
      docs,
      info,
      list: (_door, _client, args) => listed(all(), args),
      getkeys: getKeys,
      getkeysandflags: getKeysAndFlags,
    },
  })
  return [command]
}

/** As COMMAND has it: https://redis.io/docs/latest/commands/command/ */
function about(entry: CommandEntry): DoorReply {
  const { name, arity, flags, range, categories, keys, tips, subcommands } = entry
  return {
    list: [
      bytesOf(name),
      arity,
      new Set([...commandFlags.values()].filter((flag) => flags.has(flag))),
      ...range,
      new Set(commandCategories.filter((category) => categories.has(category)).map((category) => `@${category}`)),
      tips.map(bytesOf),
      { list: keys.map(aboutKeys) },
      { list: subcommands.map(about) },
    ],
  }
}

function aboutKeys({ flags, begin, find }: KeySpec): DoorReply {
  return {
    table: [
      bytesOf('flags'),
      new Set(flags),
      bytesOf('begin_search'),
      aboutBegin(begin),
      bytesOf('find_keys'),
      aboutFind(find),
    ],
  }
}

function aboutBegin(begin: KeySpec['begin']): DoorReply {
  if (begin === undefined) return typed('unknown', [])
  if ('index' in begin) return typed('index', [bytesOf('index'), begin.index])
  return typed('keyword', [bytesOf('keyword'), bytesOf(begin.keyword), bytesOf('startfrom'), begin.from])
}

function aboutFind(find: KeySpec['find']): DoorReply {
  if (find === undefined) return typed('unknown', [])
  const step = [bytesOf('keystep'), find.step]
  if ('last' in find) return typed('range', [bytesOf('lastkey'), find.last, ...step, bytesOf('limit'), find.limit])
  return typed('keynum', [bytesOf('keynumidx'), find.countAt, bytesOf('firstkey'), find.first, ...step])
}

function typed(type: string, spec: readonly (Uint8Array | number)[]): DoorReply {
  return { table: [bytesOf('type'), bytesOf(type), bytesOf('spec'), { table: spec }] }
}

function documented({ summary, since, group, subcommands }: CommandEntry): readonly DoorReply[] {
  const inner = subcommands.flatMap((entry) => [bytesOf(entry.name), { table: documented(entry) }])
  return [
    ...[bytesOf('summary'), bytesOf(summary)],
    ...[bytesOf('since'), bytesOf(since)],
    ...[bytesOf('group'), bytesOf(group)],
    ...(inner.length === 0 ? [] : [bytesOf('subcommands'), { table: inner }]),
  ]
}

function listed(all: readonly CommandEntry[], args: readonly Uint8Array[]): DoorReply {
  const names = (chosen: readonly CommandEntry[]): DoorReply => chosen.map(({ name }) => bytesOf(name))
  const whole = all.flatMap((entry) => [entry, ...entry.subcommands])
  if (args.length === 0) return names(whole)
  const by = wordOf(args[1], ['module', 'aclcat', 'pattern'])
  if (args.length !== 3 || wordOf(args[0], ['filterby']) === undefined || by === undefined) throw syntaxFault()
  const value = latin1Of(args[2]!).toLowerCase()
  if (by === 'module') return []
  if (by === 'aclcat') return names(whole.filter(({ categories }) => categories.has(value)))
  return names(whole.filter(({ name }) => matches(value, name)))
}

/** @throws CommandFault in Redis' words */
function keysIn(
  [name, ...args]: readonly Uint8Array[],
  named: (name: Uint8Array) => CommandEntry | undefined,
): readonly FoundKey[] {
  const entry = named(name!)
  if (entry === undefined) throw new CommandFault('Invalid command specified')
  const spec = commandNamed(entry.name)
  const inner =
    entry.subcommands.length === 0 || args[0] === undefined
      ? undefined
      : named(bytesOf(`${entry.name}|${latin1Of(args[0])}`))
  const called = inner ?? entry
  if (called.keys.length === 0) throw new CommandFault('The command has no key arguments')
  if (!fitsArity(called, args.length)) throw new CommandFault('Invalid number of arguments specified for command')
  const found = keysWithFlags(called, spec, args)
  if (found.length === 0 && !called.flags.has('no_mandatory_keys'))
    throw new CommandFault('Invalid arguments specified for command')
  return found
}
