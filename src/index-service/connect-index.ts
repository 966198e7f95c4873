import { checkMilliseconds, checkOptions, checkSignal, checkWhole, mustBe, type OptionNames } from '../native/index.ts'
import { IndexClient } from './client/index-client.ts'
import { Index } from './handles/index-handle.ts'
import { NodeCards } from './node/node-cards.ts'
import { checkIndexName, DEFAULT_IN_FLIGHT, placeOf } from './open-index.ts'

/** Options of {@link connectIndex}. */
export interface ConnectIndexOptions {
  /**
   * Where nodes on other machines listen: `['a:7500', 'b:7500']`. One that can be reached is enough. Default: nodes of
   * this machine.
   */
  readonly addresses?: readonly string[]
  /** How long to look for a node, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
  /** Calls of a shard that this client has under way at a time: more are refused at once. Default 1024. */
  readonly inFlightMax?: number
  readonly signal?: AbortSignal
}

const names: OptionNames<ConnectIndexOptions> = { addresses: true, timeoutMs: true, inFlightMax: true, signal: true }

const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Be a client of an index. On the machine of its nodes it reads their memory, and asks them for the rest.
 *
 * ```ts
 * await using index = await connectIndex('users')
 * console.log(await index.getText('user:1'))
 * ```
 *
 * @throws IndexError `ERR_AETHER_INDEX_UNREACHABLE` if no node is found in time; ArgumentError.
 */
export async function connectIndex(name: string, options: ConnectIndexOptions = {}): Promise<Index> {
  checkIndexName(name)
  checkOptions('connectIndex', options, names)
  const { addresses, timeoutMs = DEFAULT_TIMEOUT_MS, inFlightMax = DEFAULT_IN_FLIGHT, signal } = options
  checkMilliseconds('options.timeoutMs', timeoutMs)
  checkWhole('options.inFlightMax', inFlightMax, 1, Number.MAX_SAFE_INTEGER)
  checkSignal('options.signal', signal)
  if (addresses !== undefined && !(Array.isArray(addresses) && addresses.length > 0))
    throw mustBe('options.addresses', "a list such as ['10.0.0.1:7500']", addresses)
  const given = addresses?.map((address, place) => placeOf(`options.addresses[${place}]`, address))
  const cards = given === undefined ? new NodeCards(name) : undefined
  const client = new IndexClient({
    name,
    places: () => given ?? cards!.list(),
    inFlightMax,
  })
  try {
    await client.begin({ timeoutMs, signal })
  } catch (error) {
    await client.close()
    throw error
  }
  return new Index(name, client)
}
