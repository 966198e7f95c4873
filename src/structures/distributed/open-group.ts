import type { Group } from '../../cluster/index.ts'
import { parseSize, type Size } from '../../dsm/index.ts'
import {
  ArgumentError,
  checkMilliseconds,
  checkOptions,
  checkSignal,
  checkText,
  mustBe,
  type OptionNames,
  shown,
} from '../../native/index.ts'
import { openDevice } from '../../verbs/index.ts'
import { StructureError } from '../errors.ts'
import { GroupStructures } from './group-structures.ts'
import { CHUNK_BYTES, PART_BYTES_MAX, PART_BYTES_MIN } from './memory/layout.ts'
import { agreedText, CARD_VERSION, type Card, isCard } from './messages/card.ts'
import { Exchange } from './messages/exchange.ts'
import { refusalFor, refusalIn } from './messages/refusal.ts'
import { Rings } from './messages/rings.ts'
import { EventLoop } from './verbs/event-loop.ts'
import { VerbsMemory } from './verbs/verbs-memory.ts'

/** Options of `openStructures(group)`. All ranks must pass the same. */
export interface GroupStructuresOptions {
  /** Tells these structures from others of the group. Default `'structures'`. */
  readonly name?: string
  /** Memory at each home, a multiple of 64 KiB: 1 MiB to 4 GiB. Default 16 MiB. On a network adapter it is pinned. */
  readonly size?: Size
  /** The ranks that keep structures, ascending. Default: all. What a rank keeps is lost with it. */
  readonly homes?: readonly number[]
  /** How long a home may take to answer before it counts as lost, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

const optionNames: OptionNames<GroupStructuresOptions> = {
  name: true,
  size: true,
  homes: true,
  timeoutMs: true,
  signal: true,
}

const DEFAULT_SIZE = '16MiB'
const DEFAULT_TIMEOUT_MS = 10_000
/** See `openStructures`. */
export async function openGroupStructures(
  group: Group,
  options: GroupStructuresOptions = {},
): Promise<GroupStructures> {
  checkOptions('openStructures', options, optionNames)
  const { name = 'structures', timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options
  const lengthBytes = checkSize(options.size ?? DEFAULT_SIZE)
  const homes = checkHomes(group, options.homes)
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkText('options.name', name)
  checkSignal('options.signal', signal)
  const device = openDevice(group.device)
  const topic = `structures/${name}/${openingOf(group, name)}`
  const exchange = new Exchange(group, topic)
  const { rank, size: ranks } = group
  const ownBytes = homes.includes(rank) ? lengthBytes : CHUNK_BYTES
  let memory: VerbsMemory | undefined
  const rings = new Rings(group, `${topic}/rings`)
  const stops = [rings.listen((home, place) => memory?.rung(home, place))]
  const end = (): void => {
    for (const stop of stops) stop()
    exchange.close()
    memory?.close()
    device.close()
  }
  try {
    const runtime = new EventLoop()
    memory = new VerbsMemory({ rank, ranks, device, lengthBytes, ownBytes, runtime, timeoutMs, ring: rings.send })
    await meet(group, exchange, memory, agreedText(lengthBytes, homes, ranks), signal)
    const structures = new GroupStructures(memory, homes, async () => {
      const done = Array.from({ length: ranks }, () => 'done')
      // Where the group was closed first the others know.
      if (!group.closed) await exchange.next(done)
      end()
    })
    stops.push(watch(group, memory, structures))
    return structures
  } catch (error) {
    // The others would wait for this rank. If the group is closed, they know already.
    await exchange.say(toAll(group, refusalFor(error, false))).catch(() => {})
    end()
    throw error
  }
}

/** How often each name was opened in a group. */
const openings = new WeakMap<Group, Map<string, number>>()

/**
 * All ranks open the same structures in the same order, so this is the same number at each. Messages of one opening are
 * not heard in the next.
 */
function openingOf(group: Group, name: string): number {
  const counts = openings.get(group) ?? new Map<string, number>()
  openings.set(group, counts)
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count
}

function toAll<T>(group: Group, value: T): readonly T[] {
  return Array.from({ length: group.size }, () => value)
}

/** Connect with all ranks that are there, and wait until they are connected too. */
async function meet(
  group: Group,
  exchange: Exchange,
  memory: VerbsMemory,
  agreed: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const own = Array.from({ length: group.size }, (_, peer): Card => {
    const { gid, ...endpoint } = memory.endpointFor(peer)
    return { version: CARD_VERSION, agreed, endpoint: { ...endpoint, gid: String(gid) }, memory: memory.place }
  })
  const cards = await exchange.next(own, signal)
  const refused = refusalIn(cards)
  if (refused !== undefined) throw refused.error
  const checked = cards.map((said, peer) => (said === undefined ? undefined : checkCard(peer, said, agreed)))
  const problem = connectAll(memory, checked)
  const said = await exchange.next(
    toAll(group, problem === undefined ? 'connected' : refusalFor(problem.error, true)),
    signal,
  )
  // A rank that has given up meanwhile is the reason why no rank can connect with it.
  const later = refusalIn(said)
  if (problem !== undefined && later?.mayFollow !== false) throw problem.error
  if (later !== undefined) throw later.error
}

/** Returns what went wrong, if anything. */
function connectAll(
  memory: VerbsMemory,
  cards: readonly (Card | undefined)[],
): { readonly error: unknown } | undefined {
  try {
    for (const [peer, card] of cards.entries())
      if (card !== undefined) memory.connect(peer, { ...card.endpoint, gid: BigInt(card.endpoint.gid) }, card.memory)
    return undefined
  } catch (error) {
    return { error }
  }
}

/** Ranks that end, now and later. */
function watch(group: Group, memory: VerbsMemory, structures: GroupStructures): () => void {
  const ended = (rank: number, why: string): void => {
    memory.memberEnded(rank, why)
    // Where its own memory is lost there is nothing to settle.
    structures.settle(rank).catch(() => {})
  }
  for (let rank = 0; rank < group.size; rank += 1)
    if (!group.isMember(rank)) ended(rank, 'it is no longer in the group')
  return group.onEvent(({ rank, reason }) => ended(rank, reason))
}

/** @throws StructureError if a peer's message is not a card, or is a card with other options. */
function checkCard(peer: number, card: unknown, own: string): Card {
  if (!isCard(card)) {
    const why = `rank ${peer} sent a message that is not understood; install the same version of the package everywhere`
    throw new StructureError('ERR_AETHER_STRUCTURES_VERSION', 'structures', why)
  }
  if (card.agreed === own) return card
  const why = `rank ${peer} opened them with ${card.agreed}, this one with ${own}; pass the same options everywhere`
  throw new StructureError('ERR_AETHER_STRUCTURE_MISMATCH', 'structures', why)
}

function checkSize(size: Size): number {
  const bytes = parseSize(size, 'options.size')
  if (bytes >= PART_BYTES_MIN && bytes <= PART_BYTES_MAX && bytes % CHUNK_BYTES === 0) return bytes
  const rule = 'options.size must be from 1 MiB to 4 GiB, a multiple of 64 KiB'
  throw new ArgumentError('options.size', `${rule}, not ${bytes} bytes`)
}

function checkHomes(group: Group, homes: readonly number[] | undefined): readonly number[] {
  if (homes === undefined) return Array.from({ length: group.size }, (_, rank) => rank)
  if (!Array.isArray(homes)) throw mustBe('options.homes', 'an array of ranks', homes)
  const ascends = homes.every((rank, at) => at === 0 || rank > homes[at - 1]!)
  if (homes.length > 0 && ascends && homes.every((rank) => Number.isInteger(rank) && rank >= 0 && rank < group.size))
    return homes
  const list = homes.map(shown).join(', ')
  throw new ArgumentError('options.homes', `options.homes must be ranks of the group in ascending order, not [${list}]`)
}
