import { packDump, unpackDump } from '../state/dump-format.ts'
import type { Keyspace } from '../state/keyspace.ts'
import { type CommandContext, type CommandSpec, firstKey, grows, reads } from './command.ts'
import { checkStored } from './limits.ts'
import { integerOf, isWord } from './numbers.ts'
import { CommandFault, type Reply, syntaxFault } from './reply.ts'

type Args = readonly Uint8Array[]

const FREQUENCY_MAX = 255

function dump(keyspace: Keyspace, args: Args): Reply {
  const value = keyspace.valueOf(args[0]!)
  return value === undefined ? null : packDump(value)
}

interface RestoreOptions {
  readonly isReplacing: boolean
  readonly isAbsolute: boolean
}

/** How often and when a key was used last is not known here: it is accepted, and dropped. */
function restoreOptions(args: Args): RestoreOptions {
  let [isReplacing, isAbsolute] = [false, false]
  let usage: 'idletime' | 'freq' | undefined
  for (let at = 3; at < args.length; at += 1) {
    const option = args[at]!
    const value = args[at + 1]
    if (isWord(option, 'replace')) isReplacing = true
    else if (isWord(option, 'absttl')) isAbsolute = true
    else if (isWord(option, 'idletime') && value !== undefined && usage !== 'freq') {
      usage = 'idletime'
      at += 1
      if (integerOf(value) < 0) throw new CommandFault('Invalid IDLETIME value, must be >= 0')
    } else if (isWord(option, 'freq') && value !== undefined && usage !== 'idletime') {
      usage = 'freq'
      at += 1
      const frequency = integerOf(value)
      if (frequency < 0 || frequency > FREQUENCY_MAX)
        throw new CommandFault('Invalid FREQ value, must be >= 0 and <= 255')
    } else throw syntaxFault()
  }
  return { isReplacing, isAbsolute }
}

function restore(keyspace: Keyspace, args: Args, { timeMs }: CommandContext): Reply {
  const key = args[0]!
  const { isReplacing, isAbsolute } = restoreOptions(args)
  if (!isReplacing && keyspace.has(key)) throw new CommandFault('Target key name already exists.', 'BUSYKEY')
  const ttl = Number(integerOf(args[1]!))
  if (ttl < 0) throw new CommandFault('Invalid TTL value, must be >= 0')
  const value = unpackDump(args[2]!)
  if (value === 'checksum') throw new CommandFault('DUMP payload version or checksum are wrong')
  if (value === 'format') throw new CommandFault('Bad data format')
  checkStored(value)
  const expireAtMs = ttl === 0 ? 0 : isAbsolute ? ttl : Math.floor(timeMs) + ttl
  if (expireAtMs !== 0 && expireAtMs <= timeMs) {
    keyspace.remove(key)
    return 'OK'
  }
  keyspace.discard(key)
  keyspace.add(key, value, expireAtMs)
  keyspace.tell('restore', key)
  return 'OK'
}

/** Keys as bytes, to bring them to another index. */
export const dumps: readonly CommandSpec[] = [reads('dump', 2, firstKey, dump), grows('restore', -4, firstKey, restore)]
