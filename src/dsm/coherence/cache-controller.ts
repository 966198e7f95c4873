import { CompiledTable, oncePerProtocol } from './compiled-table.ts'
import { ProtocolError } from './errors.ts'
import { type CoherenceMessage, MessageKind } from './message.ts'
import {
  type CacheAction,
  type CacheEvent,
  cacheEvents,
  type Protocol,
  type Recovery,
  type Right,
  type Worth,
} from './protocol.ts'

/** What a node remembers of one page. */
export interface CacheEntry {
  state: number
  /** Acknowledgements promised by the grant less those received: negative while they overtake it. */
  acksMissing: number
  granted: boolean
  /** What a thread asked for while the copy was being evicted: asked again when that is over. */
  wanted: Right
  /** Who has acknowledged in this transaction, so that a death is not counted twice. */
  ackedBy: number[]
}

/** What the cache side asks of the world. */
export interface CachePort {
  /** To the page's home, with where our frame is. */
  request(kind: MessageKind, page: number): void
  /** To the page's home, in the transaction of `message`. */
  tellHome(kind: MessageKind, page: number): void
  /** To the requester of `message`. */
  respond(kind: MessageKind, page: number, message: CoherenceMessage, count: number): void
  /** Write our frame into the requester's, ahead of the next message to it. */
  pushToRequester(page: number, message: CoherenceMessage): void
  /** Write our frame into home's, ahead of the next message to it; nothing where the requester is the home. */
  pushToHome(page: number, message: CoherenceMessage): void
  /** Let the program here read. */
  mapReadOnly(page: number): void
  /** Let the program here read and write. */
  mapWritable(page: number): void
  /** Take the right to write; when it returns no store can reach the frame. */
  protect(page: number): void
  /** Take every right; when it returns no access can reach the frame. */
  unmap(page: number): void
  /** Keep `message` until the page comes to rest. */
  defer(message: CoherenceMessage): void
  /** Nothing is under way for the page any more: what was deferred can be served. */
  rested(page: number): void
  /** The copy is gone. */
  evicted(page: number): void
  /** The page cannot be had without member `rank`, or for want of memory there. */
  failed(page: number, rank: number, wantsMemory: boolean): void
}

/** A page that is lost was told so before: whoever hears of it again knows why. */
const UNKNOWN_RANK = -1

type Act = (port: CachePort, entry: CacheEntry, page: number, message: CoherenceMessage | undefined) => void

/** What each action of the tables means. Those that answer a message find it; those that this node's own wish starts have none. */
const meaning: Readonly<Record<CacheAction, Act>> = {
  requestShared: (port, _entry, page) => port.request(MessageKind.GetShared, page),
  requestModified: (port, _entry, page) => port.request(MessageKind.GetModified, page),
  mapReadOnly: (port, _entry, page) => port.mapReadOnly(page),
  mapWritable: (port, _entry, page) => port.mapWritable(page),
  protect: (port, _entry, page) => port.protect(page),
  unmap: (port, _entry, page) => port.unmap(page),
  unblock: (port, _entry, page) => port.tellHome(MessageKind.Unblock, page),
  unblockDirty: (port, _entry, page) => port.tellHome(MessageKind.UnblockDirty, page),
  unblockLost: (port, _entry, page) => port.tellHome(MessageKind.UnblockLost, page),
  acknowledge: (port, _entry, page, message) => port.respond(MessageKind.Acknowledge, page, message!, 0),
  sendShared: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataShared, page, message!, 0)
  },
  sendDirty: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataDirty, page, message!, 0)
  },
  // The sharers that home has told to invalidate acknowledge to the requester: their number travels with the bytes.
  sendModified: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataModified, page, message!, message!.count)
  },
  writeBack: (port, _entry, page, message) => port.pushToHome(page, message!),
  tellHome: (port, _entry, page) => port.tellHome(MessageKind.Downgraded, page),
  putShared: (port, _entry, page) => port.tellHome(MessageKind.PutShared, page),
  putClean: (port, _entry, page) => port.tellHome(MessageKind.PutClean, page),
  putDirty: (port, _entry, page) => port.tellHome(MessageKind.PutDirty, page),
  sendWrittenBack: (port, _entry, page) => port.tellHome(MessageKind.WrittenBack, page),
  demandLater: () => {}, // the controller has noted which
  defer: (port, _entry, _page, message) => port.defer(message!),
  evicted: () => {}, // once the step is done: a thread may want the page again
  fail: (port, _entry, page, message) =>
    port.failed(page, message?.count ?? UNKNOWN_RANK, message?.kind === MessageKind.NoMemory),
}

const eventIndex = Object.fromEntries(cacheEvents.map((event, index) => [event, index])) as Record<CacheEvent, number>

const compiled = oncePerProtocol((protocol: Protocol) => {
  const table = new CompiledTable<CacheEvent, Act>(protocol.cache, cacheEvents, meaning)
  const rows = table.states.map((state) => protocol.cache.states[state]!)
  return { table, rights: rows.map(({ right }) => right), worths: rows.map(({ worth }) => worth) }
})

/** Runs the cache table of a protocol: one controller serves every page of a region at a node. */
export class CacheController {
  readonly #protocol: Protocol
  readonly #table: CompiledTable<CacheEvent, Act>
  readonly #rights: readonly Right[]
  readonly #worths: readonly Worth[]
  readonly #port: CachePort
  readonly #watch: TransitionWatch | undefined
  /** Dead members for which a home has acknowledged: what they said themselves may come after it. */
  readonly #spokenFor = new Set<number>()

  constructor(protocol: Protocol, port: CachePort, watch: TransitionWatch | undefined) {
    const { table, rights, worths } = compiled(protocol)
    this.#protocol = protocol
    this.#table = table
    this.#rights = rights
    this.#worths = worths
    this.#port = port
    this.#watch = watch
  }

  newEntry(): CacheEntry {
    return { state: this.#table.initial, acksMissing: 0, granted: false, wanted: 'none', ackedBy: noRanks }
  }

  cloneEntry(entry: CacheEntry): CacheEntry {
    const { state, acksMissing, granted, wanted, ackedBy } = entry
    return { state, acksMissing, granted, wanted, ackedBy: ackedBy.length === 0 ? noRanks : [...ackedBy] }
  }

  /** Everything about an entry that decides what happens next, as text; empty for one that nothing is remembered in. */
  fingerprint(entry: CacheEntry): string {
    const { state, acksMissing, granted, wanted, ackedBy } = entry
    if (state === this.#table.initial && wanted === 'none') return ''
    const flags = (granted ? 1 : 0) | (wanted === 'none' ? 0 : wanted === 'read' ? 2 : 4)
    // Acknowledgements can be owed in advance: shifted, so that the code is not negative.
    return String.fromCharCode(state, acksMissing + 0x4000, flags, ...ackedBy, END_OF_LIST)
  }

  stateName(entry: CacheEntry): string {
    return this.#table.name(entry.state)
  }

  right(entry: CacheEntry): Right {
    return this.#rights[entry.state]!
  }

  worth(entry: CacheEntry): Worth {
    return this.#worths[entry.state]!
  }

  isTransient(entry: CacheEntry): boolean {
    return this.#table.isTransient(entry.state)
  }

  /** Put the entry into one of the stable states of the protocol's `recovery`, with nothing under way. */
  install(entry: CacheEntry, as: keyof Recovery<string, string>['cache']): void {
    entry.state = this.#table.index(this.#protocol.recovery.cache[as])
    this.#rest(entry)
    entry.wanted = 'none'
  }

  /** A thread here wants the page. */
  demand(entry: CacheEntry, page: number, write: boolean): void {
    this.#step(entry, page, write ? 'Store' : 'Load', undefined)
  }

  evict(entry: CacheEntry, page: number): void {
    this.#step(entry, page, 'Evict', undefined)
  }

  receive(entry: CacheEntry, message: CoherenceMessage): void {
    const event = this.#eventOf(entry, message)
    if (event !== undefined) this.#step(entry, message.page, event, message)
  }

  /** The page's home has died: what we still wait for from it will not come. */
  homeDied(entry: CacheEntry, message: CoherenceMessage): void {
    this.#step(entry, message.page, 'HomeDied', message)
  }

  #eventOf(entry: CacheEntry, message: CoherenceMessage): CacheEvent | undefined {
    switch (message.kind) {
      case MessageKind.DataShared:
        return 'DataShared'
      case MessageKind.DataDirty:
        return 'DataDirty'
      case MessageKind.DataExclusive:
        return 'DataExclusive'
      case MessageKind.Invalidate:
        return 'Invalidate'
      case MessageKind.ForwardShared:
        return 'ForwardShared'
      case MessageKind.ForwardModified:
        return 'ForwardModified'
      case MessageKind.WriteBack:
        return 'WriteBack'
      case MessageKind.PutAcknowledged:
        return 'PutAcknowledged'
      case MessageKind.Abandoned:
        return 'Abandoned'
      case MessageKind.Refused:
        return 'Refused'
      case MessageKind.NoMemory:
        return 'NoMemory'
      case MessageKind.Grant:
      case MessageKind.DataModified:
        entry.granted = true
        entry.acksMissing += message.count
        return entry.acksMissing === 0 ? 'GrantLast' : 'GrantMore'
      case MessageKind.Acknowledge:
        // Home spoke for it first; for other pages their homes will.
        return this.#spokenFor.has(message.from) ? undefined : this.#acknowledged(entry, message.from)
      case MessageKind.AcknowledgeForDead:
        this.#spokenFor.add(message.requester)
        if (!this.isTransient(entry) || entry.ackedBy.includes(message.requester)) return undefined
        return this.#acknowledged(entry, message.requester)
      default:
        throw new ProtocolError('cache', message.page, this.stateName(entry), `message kind ${message.kind}`)
    }
  }

  #acknowledged(entry: CacheEntry, by: number): CacheEvent {
    entry.ackedBy = [...entry.ackedBy, by]
    entry.acksMissing--
    return entry.granted && entry.acksMissing === 0 ? 'AckLast' : 'AckMore'
  }

  #step(entry: CacheEntry, page: number, event: CacheEvent, message: CoherenceMessage | undefined): void {
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('cache', page, this.stateName(entry), event)
    this.#watch?.('cache', this.#table.name(entry.state), event)
    entry.state = cell.next
    let evicted = false
    for (const action of cell.actions) {
      if (action === meaning.evicted) evicted = true
      else if (action === meaning.demandLater) remember(entry, event)
      else action(this.#port, entry, page, message)
    }
    if (!this.isTransient(entry)) {
      this.#rest(entry)
      this.#port.rested(page)
    }
    if (evicted) this.#afterEviction(entry, page)
  }

  /** The frame may be given back, unless a thread wants the page again. */
  #afterEviction(entry: CacheEntry, page: number): void {
    const { wanted } = entry
    entry.wanted = 'none'
    if (wanted === 'none') this.#port.evicted(page)
    else this.demand(entry, page, wanted === 'write')
  }

  #rest(entry: CacheEntry): void {
    entry.acksMissing = 0
    entry.granted = false
    entry.ackedBy = noRanks
  }
}

/** Told of every transition that is taken: how the model checker knows which cells it has seen. */
export type TransitionWatch = (side: 'cache' | 'directory', state: string, event: string) => void

function remember(entry: CacheEntry, event: CacheEvent): void {
  if (event === 'Store') entry.wanted = 'write'
  else if (entry.wanted === 'none') entry.wanted = 'read'
}

/** Never written to. */
const noRanks: number[] = []
/** Beyond every rank. */
const END_OF_LIST = 0xffff
