import { ArgumentError } from '../../native/index.ts'

/** A host to launch ranks on. */
export interface HostSlots {
  readonly host: string
  /** How many ranks it takes; undefined: an even share of what the others leave. */
  readonly slots: number | undefined
}

/** The ranks that a host runs. */
export interface HostShare {
  readonly host: string
  readonly ranks: readonly number[]
}

/** A name, an address or `user@name`, as ssh takes it; never an option. */
const HOST_PATTERN = /^(?:[\w.+-]+@)?\[?[\w:][\w.:%-]*\]?$/
const SLOTS_MAX = 256

/** Parse a list like `a,b:2`. @throws ArgumentError if it is not such a list, or names a host twice. */
export function parseHosts(text: string): readonly HostSlots[] {
  const hosts = text.split(',').map((part) => parseHost(part.trim()))
  const names = new Set(hosts.map(({ host }) => host))
  if (names.size === hosts.length) return hosts
  throw new ArgumentError('hosts', `hosts '${text}' names a host twice; give it slots instead: host:2`)
}

function parseHost(part: string): HostSlots {
  const [, host = '', digits] = /^(\[[^\]]+\]|[^:]+|[^:]*:[^:]*:.*?)(?::(\d+))?$/.exec(part) ?? []
  const slots = digits === undefined ? undefined : Number(digits)
  if (!HOST_PATTERN.test(host) || host.startsWith('-') || slots === 0 || (slots ?? 1) > SLOTS_MAX)
    throw new ArgumentError(
      'hosts',
      `'${part}' is not a host; write a name or address, optionally with ':' and a number of ranks`,
    )
  return { host, slots }
}

/**
 * Assign ranks to hosts, in order and in blocks: ranks with adjacent numbers are on the same or adjacent hosts. Hosts
 * without a number share evenly what the others leave.
 * @throws ArgumentError if there are fewer slots than ranks.
 */
export function placeRanks(hosts: readonly HostSlots[], ranks: number): readonly HostShare[] {
  const counts = slotCounts(hosts, ranks)
  let next = 0
  const shares = hosts.map(({ host }, index) => ({
    host,
    ranks: Array.from({ length: counts[index]! }, () => next++),
  }))
  return shares.filter((share) => share.ranks.length > 0)
}

/** The default number of ranks of a launch: one for each slot. */
export function slotsOf(hosts: readonly HostSlots[]): number {
  return hosts.reduce((sum, { slots = 1 }) => sum + slots, 0)
}

function slotCounts(hosts: readonly HostSlots[], ranks: number): readonly number[] {
  const fixed = hosts.reduce((sum, { slots = 0 }) => sum + slots, 0)
  const open = hosts.filter(({ slots }) => slots === undefined).length
  if (open === 0 && fixed < ranks)
    throw new ArgumentError(
      'hosts',
      `the hosts have slots for ${fixed} ranks, not for ${ranks}; change the slots or the number of ranks`,
    )
  let left = ranks
  let shared = Math.max(0, ranks - fixed)
  let sharers = open
  return hosts.map(({ slots }) => {
    const wanted = slots ?? Math.ceil(shared / sharers)
    if (slots === undefined) {
      shared -= wanted
      sharers -= 1
    }
    const count = Math.min(wanted, left)
    left -= count
    return count
  })
}
