import { performance } from 'node:perf_hooks'
import {
  ArgumentError,
  ClosedError,
  checkIteration,
  checkOptions,
  checkSignalKind,
  mustBe,
  type OptionNames,
  TIMER_MS_MAX,
  TimeoutError,
} from '../../native/index.ts'
import { untilAborted } from '../../runtime/index.ts'
import { type ConnectLinkOptions, connectLink } from '../connect-link.ts'
import { type LinkListener, type ListenLinksOptions, listenLinks } from '../link-listener.ts'
import { type LinkOptions, linkNames, linkSettings } from '../link-options.ts'
import type { MessageLink } from '../message-link.ts'
import { PeerError } from './errors.ts'
import { Gathering } from './gathering.ts'
import { PeerGroup } from './group.ts'
import { type Attached, Hub, type HubOwner } from './hub.ts'
import { type PeerLimits, peerLimits } from './limits.ts'
import { Peer } from './peer.ts'
import type { PeerChannel } from './peer-channel.ts'

export interface PeersOptions extends PeerLimits {
  /** The number of this process: an integer from 0 that no other peer has. */
  readonly number: number
  /** Default: the device that leads to the address, or `shm0` on a machine without RDMA devices. */
  readonly device?: string
  /** Rings, depths of queues and further options of each connection. */
  readonly link?: LinkOptions
}

const peersNames: OptionNames<PeersOptions> = {
  number: true,
  device: true,
  link: true,
  peersMax: true,
  requestsMax: true,
  eagerBytes: true,
  earlyGroupsMax: true,
  messageWindowBytes: true,
  messageBytesMax: true,
  greetingTimeoutMs: true,
}

/** Where a peer listens. */
export interface PeerAddress {
  readonly address: string
  readonly port: number
}

export interface PeerConnectOptions extends PeerAddress {
  /** How long to wait for the peer's answer; default 10,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Open a context of peers. It holds the connections, with separate memory for each peer, and the groups among them. */
export function openPeers(options: PeersOptions): Peers {
  if (options === undefined) throw mustBe('options', 'an object such as { number }', options)
  checkOptions('openPeers', options, peersNames)
  checkOptions('openPeers', options.link, linkNames, 'link')
  linkSettings(options.link ?? {})
  return new Peers(options)
}

const addressNames: OptionNames<Partial<PeerAddress>> = { address: true, port: true }
const allNames: OptionNames<{ readonly timeoutMs?: number }> = { timeoutMs: true }
const connectNames: OptionNames<PeerConnectOptions> = { ...addressNames, timeoutMs: true, signal: true }

/** A caller that waits for a peer. */
interface Waiter {
  readonly resolve: (peer: Peer) => void
  readonly reject: (error: Error) => void
}

const NUMBER_MAX = 2 ** 31 - 1
const DEFAULT_TIMEOUT_MS = 10_000

/** A context of peers, made by {@link openPeers}. */
export class Peers {
  /** The number of this process. */
  readonly number: number
  readonly limits: Required<PeerLimits>
  readonly #options: PeersOptions
  readonly #hub: Hub
  readonly #peers = new Map<number, Peer>()
  readonly #listeners: LinkListener[] = []
  /** Those that connected here and were not accepted yet. */
  readonly #arrived: Peer[] = []
  readonly #accepting: Waiter[] = []
  /** Of `connectAll`. */
  readonly #gatherings = new Set<Gathering>()
  readonly #announced = new WeakSet<Peer>()
  /** Links on which the two ends have not let each other in, and who waits for that. */
  readonly #greeting = new Map<PeerChannel, Waiter>()
  /** How many of these have come by themselves. */
  #strangers = 0
  /** Those under way from here: aborted when the context is closed. */
  readonly #connecting = new Set<AbortController>()
  #lastError: Error | undefined
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(options: PeersOptions) {
    const { number } = options
    if (!(Number.isInteger(number) && number >= 0 && number <= NUMBER_MAX))
      throw mustBe('number', `an integer from 0 to ${NUMBER_MAX}`, number)
    this.number = number
    this.limits = peerLimits(options)
    this.#options = options
    const owner: HubOwner = {
      attached: (attached) => this.#attached(attached),
      detached: (peer, error) => this.#detached(peer, error),
      merged: (channel, number) => this.#settle(channel)?.resolve(this.#peers.get(number)!),
      turnedAway: (channel, error) => this.#turnedAway(channel, error),
    }
    this.#hub = new Hub(number, this.limits, owner)
  }

  /** @internal Called when a peer is no longer connected; with an error unless one of the two has closed it. */
  onDetached: (number: number, error: Error | undefined) => void = () => {}

  /** @internal */
  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** @internal For groups that know by themselves who their members are. */
  get hub(): Hub {
    return this.#hub
  }

  /** The connected peers, ordered by number. */
  get all(): readonly Peer[] {
    return [...this.#peers.values()].sort((one, other) => one.number - other.number)
  }

  /**
   * Why the last connection failed, or was lost or turned away; each peer has its own, too. Undefined if there was
   * none.
   */
  get lastError(): Error | undefined {
    return this.#lastError
  }

  /** Return the peer with this number, if it is connected. */
  get(number: number): Peer | undefined {
    return this.#peers.get(number)
  }

  /** Let peers connect. Port 0, the default, takes a free one; the result says which. */
  async listen(options: Partial<PeerAddress> = {}): Promise<PeerAddress> {
    this.#checkOpen()
    checkOptions('listen', options, addressNames)
    const listening: ListenLinksOptions = {
      ...this.#linkOptions(),
      ...options,
      connectTimeoutMs: this.limits.greetingTimeoutMs,
      onLink: (link) => this.#greetStranger(link),
      onClientError: (error) => this.#note(error as Error),
    }
    const listener = await listenLinks(listening)
    if (this.#closing !== undefined) listener.close()
    this.#checkOpen()
    this.#listeners.push(listener)
    return { address: listener.address, port: listener.port }
  }

  /**
   * Connect to a listening peer. Resolves when both ends have let each other in. If the two are connected already, or
   * connect to each other at the same moment, one connection stays. The call then resolves with the peer of that
   * connection.
   * @throws ConnectionError, TimeoutError, the signal's reason; PeerError with the reason if one of the two turns the
   * other away; ClosedError.
   */
  async connect(options: PeerConnectOptions): Promise<Peer> {
    this.#checkOpen()
    if (options === undefined) throw mustBe('options', 'an object such as { address, port }', options)
    checkOptions('connect', options, connectNames)
    const { address, port, timeoutMs = DEFAULT_TIMEOUT_MS } = options
    checkTimeout(timeoutMs)
    checkSignalKind('options.signal', options.signal)
    const deadlineMs = performance.now() + timeoutMs
    const ending = new AbortController()
    const signal = options.signal === undefined ? ending.signal : AbortSignal.any([options.signal, ending.signal])
    const connecting: ConnectLinkOptions = {
      ...this.#linkOptions(),
      address,
      port,
      connectTimeoutMs: timeoutMs,
      signal,
    }
    this.#connecting.add(ending)
    try {
      const link = await connectLink(connecting)
      return await this.#meet(link, Math.max(1, Math.ceil(deadlineMs - performance.now())), signal)
    } catch (error) {
      this.#note(error as Error)
      throw error
    } finally {
      this.#connecting.delete(ending)
    }
  }

  /**
   * Return the next peer that connects here. Each is returned once, whichever of its connections stayed. @throws the
   * signal's reason; ClosedError.
   */
  async accept(options?: { readonly signal?: AbortSignal }): Promise<Peer> {
    checkIteration('accept', options)
    const peer = this.#arrived.shift()
    if (peer !== undefined) return peer
    this.#checkOpen()
    let waiter: Waiter | undefined
    const accepted = new Promise<Peer>((resolve, reject) => {
      waiter = { resolve, reject }
      this.#accepting.push(waiter)
    })
    const forget = (): void => {
      const at = this.#accepting.indexOf(waiter!)
      if (at >= 0) this.#accepting.splice(at, 1)
    }
    return untilAborted(accepted, options?.signal, forget)
  }

  /**
   * Connect all peers with each other. Each calls it with the addresses of all, ordered by number from 0. It connects
   * to those with lower numbers and waits for the others, which `accept` then does not return.
   * @throws as `connect`; ArgumentError if another peer answers than the list says; TimeoutError that names the missing
   * peers.
   */
  async connectAll(addresses: readonly PeerAddress[], options: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#checkOpen()
    checkOptions('connectAll', options, allNames)
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
    checkTimeout(timeoutMs)
    checkAddresses(addresses)
    if (this.number >= addresses.length)
      throw new ArgumentError(
        'addresses',
        `addresses must list all peers, ordered by number: of its ${addresses.length} entries, none is for peer ${this.number}`,
      )
    const lower = addresses.slice(0, this.number)
    const higher = addresses.map((_, number) => number).slice(this.number + 1)
    const gathering = new Gathering(higher, timeoutMs, (number) => this.#peers.has(number))
    this.#gatherings.add(gathering)
    const connecting = lower.map(async ({ address, port }, number) => {
      const peer = await this.connect({ address, port, timeoutMs })
      if (peer.number === number) return
      const what = `peer ${peer.number} listens at ${address} port ${port}, not peer ${number}; order the addresses by number`
      throw new ArgumentError('addresses', what)
    })
    try {
      await Promise.all([gathering.over, ...connecting])
      for (const number of higher) this.#forgetArrived(this.#peers.get(number)!)
    } finally {
      gathering.end(new ClosedError('connectAll'))
      this.#gatherings.delete(gathering)
    }
  }

  /**
   * Attach a peer over a link that was made elsewhere; the other end attaches this one over it. The link belongs to
   * this context from now on, whatever comes of it.
   */
  attach(link: MessageLink, timeoutMs: number = DEFAULT_TIMEOUT_MS): Promise<Peer> {
    checkLink(link)
    try {
      this.#checkOpen()
      checkTimeout(timeoutMs)
    } catch (error) {
      link.destroy()
      throw error
    }
    return this.#meet(link, timeoutMs)
  }

  /**
   * Make a group of peers, this one included. Every member calls it with the same list; ranks are positions in the
   * list. Default: all connected peers, ordered by number. The same list again makes another group.
   * @throws PeerError if a member is not connected.
   */
  group(members: readonly number[] = this.#everybody()): PeerGroup {
    this.#checkOpen()
    if (!Array.isArray(members)) throw mustBe('members', 'an array of the numbers of peers', members)
    return new PeerGroup(this.#hub, this.#hub.group(members))
  }

  /** Let no more peers in, close the groups, send what was passed to `send`, and end the connections. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    for (const ending of this.#connecting) ending.abort(new ClosedError('the context of peers'))
    for (const listener of this.#listeners) listener.close()
    const heard = this.#hub.close()
    for (const { reject } of this.#accepting.splice(0)) reject(new ClosedError('the context of peers'))
    for (const gathering of this.#gatherings) gathering.end(new ClosedError('the context of peers'))
    for (const { link } of this.#greeting.keys()) link.destroy()
    await Promise.all([heard, ...[...this.#peers.values()].map((peer) => peer.disconnect())])
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError('the context of peers')
  }

  #everybody(): number[] {
    return [this.number, ...this.#peers.keys()].sort((one, other) => one - other)
  }

  #linkOptions(): LinkOptions & { readonly device?: string } {
    const { device, link } = this.#options
    return { ...link, ...(device === undefined ? {} : { device }) }
  }

  #meet(link: MessageLink, timeoutMs: number, signal?: AbortSignal): Promise<Peer> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        reject(signal?.reason)
        link.destroy(signal?.reason instanceof Error ? signal.reason : undefined)
      }
      if (signal?.aborted === true) {
        abort()
        return
      }
      signal?.addEventListener('abort', abort, { once: true })
      const settled = (): void => signal?.removeEventListener('abort', abort)
      this.#greet(link, timeoutMs, {
        resolve: (peer) => {
          settled()
          resolve(peer)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
    })
  }

  /** A peer has connected here. */
  #greetStranger(link: MessageLink): void {
    const { peersMax, greetingTimeoutMs } = this.limits
    if (this.#closing !== undefined) {
      link.destroy()
      return
    }
    if (this.#strangers >= peersMax) {
      const message = `one more was turned away, because ${this.#strangers} have connected without identifying themselves; see peersMax`
      const error = new PeerError('ERR_AETHER_PEERS_LIMIT', -1, message)
      this.#note(error)
      link.destroy(error)
      return
    }
    this.#strangers += 1
    this.#greet(link, greetingTimeoutMs, {
      resolve: (peer) => {
        this.#strangers -= 1
        this.#arrive(peer)
      },
      reject: () => {
        this.#strangers -= 1
      },
    })
  }

  /** Say who we are, and have one of the two called once, in time. */
  #greet(link: MessageLink, timeoutMs: number, waiter: Waiter): void {
    const timer = setTimeout(
      () => link.destroy(new TimeoutError(`the peer did not identify itself within ${timeoutMs} ms`)),
      timeoutMs,
    )
    this.#greeting.set(this.#hub.attach(link), {
      resolve: (peer) => {
        clearTimeout(timer)
        waiter.resolve(peer)
      },
      reject: (error) => {
        clearTimeout(timer)
        waiter.reject(error)
      },
    })
  }

  #attached(attached: Attached): void {
    const peer = new Peer(this.#hub, attached)
    this.#peers.set(attached.number, peer)
    this.#settle(attached.channel)?.resolve(peer)
    for (const gathering of this.#gatherings) gathering.look()
  }

  #turnedAway(channel: PeerChannel, error: Error): void {
    this.#note(error)
    this.#settle(channel)?.reject(error)
  }

  /** The caller that waits for this link has an answer now. */
  #settle(channel: PeerChannel): Waiter | undefined {
    const waiter = this.#greeting.get(channel)
    this.#greeting.delete(channel)
    return waiter
  }

  /** Told to `accept` once, however many of its connections came here. */
  #arrive(peer: Peer): void {
    if (this.#announced.has(peer)) return
    this.#announced.add(peer)
    for (const { numbers } of this.#gatherings) if (numbers.includes(peer.number)) return
    const waiter = this.#accepting.shift()
    if (waiter === undefined) this.#arrived.push(peer)
    else waiter.resolve(peer)
  }

  #detached(number: number, error: Error | undefined): void {
    const peer = this.#peers.get(number)
    this.#peers.delete(number)
    // A peer that has sent something and gone is still let in, so that it can be received.
    if (peer?.waiting === 0) this.#forgetArrived(peer)
    const gone = this.#arrived.filter(({ connected }) => !connected)
    if (gone.length > this.limits.peersMax) this.#forgetArrived(gone[0]!)
    if (error !== undefined)
      this.#note(
        new PeerError('ERR_AETHER_PEER_LOST', number, `peer ${number} is lost: ${error.message}`, { cause: error }),
      )
    peer?.ended(error === undefined ? undefined : this.#lastError)
    this.onDetached(number, error)
  }

  /** It is not for `accept` any more. */
  #forgetArrived(peer: Peer): void {
    const at = this.#arrived.indexOf(peer)
    if (at >= 0) this.#arrived.splice(at, 1)
  }

  #note(error: Error): void {
    this.#lastError = error
  }
}

function checkTimeout(timeoutMs: number): void {
  if (typeof timeoutMs === 'number' && timeoutMs >= 1 && timeoutMs <= TIMER_MS_MAX) return
  throw mustBe('timeoutMs', `a number from 1 to ${TIMER_MS_MAX}`, timeoutMs)
}

/** Each address is checked when it is connected to. @throws ArgumentError */
function checkAddresses(addresses: unknown): void {
  const isList = Array.isArray(addresses) && addresses.every((each) => typeof each === 'object' && each !== null)
  if (!isList) throw mustBe('addresses', 'an array of { address, port }', addresses)
}

/** Programs may have links of their own. @throws ArgumentError */
function checkLink(link: Partial<MessageLink> | undefined): void {
  const isLink = typeof link?.reserve === 'function' && typeof link.destroy === 'function'
  if (!isLink) throw mustBe('link', 'a MessageLink, as connectLink gives', link)
}
