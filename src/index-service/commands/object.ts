import type { Keyspace } from '../state/keyspace.ts'
import { RecordType } from '../state/record-format.ts'
import { bytesOf } from '../values/latin1.ts'
import { isWord, parseInteger } from './numbers.ts'
import { CommandFault, type Reply, unknownSubcommand } from './reply.ts'

/** Redis' limits of its small encodings, by default. */
const ENTRIES_MAX = 128
const ENTRY_BYTES_MAX = 64
const INTEGERS_MAX = 512
const EMBEDDED_BYTES_MAX = 44

const HELP = [
  'OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'ENCODING <key>',
  '    How Redis would store the value. Here there is one way for each type.',
  'FREQ <key>',
  '    How often the key is used, as a logarithm, where maxmemory-policy is an LFU policy.',
  'IDLETIME <key>',
  '    Seconds since the key was used, where maxmemory-policy is an LRU policy. 0 where that is not noted.',
  'REFCOUNT <key>',
  '    1: no two keys share a value.',
  'HELP',
  '    This text.',
]

/** OBJECT: what Redis would have of it. */
export function objectAbout(keyspace: Keyspace, args: readonly Uint8Array[]): Reply {
  const [subcommand, key] = args as [Uint8Array, Uint8Array | undefined]
  if (args.length === 1 && isWord(subcommand, 'help')) return HELP
  const name = ['encoding', 'refcount', 'idletime', 'freq', 'help'].find((known) => isWord(subcommand, known))
  if (name === undefined) throw new CommandFault(unknownSubcommand('object', subcommand))
  if (args.length !== 2 || name === 'help')
    throw new CommandFault(`wrong number of arguments for 'object|${name}' command`)
  if (!keyspace.has(key!)) return null
  if (name === 'encoding') return bytesOf(encodingOf(keyspace, key!))
  if (name === 'refcount') return 1
  const frequency = keyspace.frequency(key!)
  if (name === 'freq') {
    if (frequency === undefined) throw notNoted('An LFU maxmemory policy is not selected, access frequency')
    return frequency
  }
  if (frequency !== undefined) throw notNoted('An LFU maxmemory policy is selected, idle time')
  return Math.floor((keyspace.idleMs(key!) ?? 0) / 1000)
}

function notNoted(what: string): CommandFault {
  const adjust = 'when switching between policies at runtime LRU and LFU data will take some time to adjust'
  return new CommandFault(`${what} not tracked. Please note that ${adjust}.`)
}

function encodingOf(keyspace: Keyspace, key: Uint8Array): string {
  switch (keyspace.typeOf(key)) {
    case RecordType.String: {
      const value = keyspace.string(key)!
      if (parseInteger(value) !== undefined) return 'int'
      return value.length <= EMBEDDED_BYTES_MAX ? 'embstr' : 'raw'
    }
    case RecordType.List:
      return 'quicklist'
    case RecordType.Set: {
      const { members } = keyspace.set(key)!
      const areIntegers = members.length <= INTEGERS_MAX && members.every((member) => isInteger(member))
      return areIntegers ? 'intset' : 'hashtable'
    }
    case RecordType.Hash:
      return isSmallHash(keyspace, key) ? 'listpack' : 'hashtable'
    case RecordType.SortedSet:
      return 'skiplist'
    default:
      return 'stream'
  }
}

function isInteger(member: string): boolean {
  return parseInteger(bytesOf(member)) !== undefined
}

function isSmallHash(keyspace: Keyspace, key: Uint8Array): boolean {
  const { members } = keyspace.hash(key)!
  return (
    members.length <= ENTRIES_MAX &&
    members.every(
      (name) => name.length <= ENTRY_BYTES_MAX && keyspace.field(key, bytesOf(name))!.length <= ENTRY_BYTES_MAX,
    )
  )
}
