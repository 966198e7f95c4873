import { CommandFault, latin1Of } from '../../index-service/index.ts'
import { splitInline } from '../protocol/inline.ts'

/** What a script says of itself in its first line, such as `#!lua flags=no-writes,allow-oom`. */
export interface ScriptHeader {
  /** There is no such line. Then each call is judged when it comes. */
  readonly isMissing: boolean
  readonly isReadOnly: boolean
  /** It is run, and may write, even if the memory is used up. */
  readonly mayFill: boolean
  readonly isForNoCluster: boolean
  /** Its calls may be about keys of several slots. */
  readonly mayCrossSlots: boolean
}

const ENGINE = '#!lua'
const NO_WRITES = 'no-writes'
const ALLOW_OOM = 'allow-oom'
const NO_CLUSTER = 'no-cluster'
const ALLOW_CROSS_SLOTS = 'allow-cross-slot-keys'
/** `allow-stale` is about replicas that have lost their master: there are none. */
const known: ReadonlySet<string> = new Set([NO_WRITES, ALLOW_OOM, 'allow-stale', NO_CLUSTER, ALLOW_CROSS_SLOTS])

const none: ScriptHeader = {
  isMissing: true,
  isReadOnly: false,
  mayFill: false,
  isForNoCluster: false,
  mayCrossSlots: true,
}

/** @throws CommandFault if the line is not as it should be. */
export function headerOf(source: Uint8Array): ScriptHeader {
  if (source[0] !== 0x23 || source[1] !== 0x21) return none
  const end = source.indexOf(0x0a)
  if (end < 0) throw new CommandFault('Invalid script shebang')
  const [engine, ...options] = wordsOf(source.subarray(0, end))
  if (engine !== ENGINE) throw new CommandFault(`Unexpected engine in script shebang: ${engine}`)
  const flags = new Set(options.flatMap(flagsOf))
  return {
    isMissing: false,
    isReadOnly: flags.has(NO_WRITES),
    mayFill: flags.has(ALLOW_OOM),
    isForNoCluster: flags.has(NO_CLUSTER),
    mayCrossSlots: flags.has(ALLOW_CROSS_SLOTS),
  }
}

function wordsOf(line: Uint8Array): readonly string[] {
  try {
    return splitInline(line).map(latin1Of)
  } catch {
    throw new CommandFault('Invalid engine in script shebang')
  }
}

function flagsOf(option: string): readonly string[] {
  const [, list] = /^flags=(.*)$/s.exec(option) ?? []
  if (list === undefined) throw new CommandFault(`Unknown lua shebang option: ${option}`)
  const flags = list === '' ? [] : list.split(',')
  const unknown = flags.find((flag) => !known.has(flag))
  if (unknown !== undefined) throw new CommandFault(`Unexpected flag in script shebang: ${unknown}`)
  return flags
}
