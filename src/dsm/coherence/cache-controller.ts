import { CompiledTable } from './compiled-table.ts'
import { ProtocolError } from './errors.ts'
import { type CoherenceMessage, MessageKind } from './message.ts'
import { type CacheAction, type CacheEvent, cacheEvents, type Protocol, type Right } from './protocol.ts'

/** What a node remembers of one page. */
export interface CacheEntry {
  state: number
  /** Acknowledgements promised by the grant less those received: negative while they overtake it. */
  acksMissing: number
  granted: boolean
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
  respond(kind: MessageKind, page: number, message: CoherenceMessage): void
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
  /** The page cannot be had without member `rank`, or for want of memory there. */
  failed(page: number, rank: number, wantsMemory: boolean): void
}

/** A page that is lost was told so before: whoever hears of it again knows why. */
const UNKNOWN_RANK = -1

type Act = (port: CachePort, page: number, message: CoherenceMessage | undefined) => void

/** What each action of the tables means. Those that answer a message find it; those that a thread's demand starts have none. */
const act: Readonly<Record<CacheAction, Act>> = {
  requestShared: (port, page) => port.request(MessageKind.GetShared, page),
  requestModified: (port, page) => port.request(MessageKind.GetModified, page),
  mapReadOnly: (port, page) => port.mapReadOnly(page),
  mapWritable: (port, page) => port.mapWritable(page),
  protect: (port, page) => port.protect(page),
  unmap: (port, page) => port.unmap(page),
  unblock: (port, page) => port.tellHome(MessageKind.Unblock, page),
  unblockLost: (port, page) => port.tellHome(MessageKind.UnblockLost, page),
  acknowledge: (port, page, message) => port.respond(MessageKind.Acknowledge, page, message!),
  sendShared: (port, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataShared, page, message!)
  },
  sendModified: (port, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.Grant, page, message!)
  },
  writeBack: (port, page, message) => port.pushToHome(page, message!),
  tellHome: (port, page) => port.tellHome(MessageKind.Downgraded, page),
  fail: (port, page, message) =>
    port.failed(page, message?.acks ?? UNKNOWN_RANK, message?.kind === MessageKind.NoMemory),
}

const eventIndex = Object.fromEntries(cacheEvents.map((event, index) => [event, index])) as Record<CacheEvent, number>

/** Runs the cache table of a protocol: one controller serves every page of a region at a node. */
export class CacheController {
  readonly #table: CompiledTable<CacheEvent, CacheAction, string>
  readonly #rights: readonly Right[]
  readonly #port: CachePort
  /** Dead members for which a home has acknowledged: what they said themselves may come after it. */
  readonly #spokenFor = new Set<number>()

  constructor(protocol: Protocol, port: CachePort) {
    this.#table = new CompiledTable(protocol.cache, cacheEvents)
    this.#rights = this.#table.states.map((state) => protocol.rights[state]!)
    this.#port = port
  }

  newEntry(): CacheEntry {
    return { state: this.#table.initial, acksMissing: 0, granted: false, ackedBy: [] }
  }

  stateName(entry: CacheEntry): string {
    return this.#table.name(entry.state)
  }

  right(entry: CacheEntry): Right {
    return this.#rights[entry.state]!
  }

  isTransient(entry: CacheEntry): boolean {
    return this.#table.isTransient(entry.state)
  }

  /** A thread here wants the page. */
  demand(entry: CacheEntry, page: number, write: boolean): void {
    this.#step(entry, page, write ? 'Store' : 'Load', undefined)
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
      case MessageKind.DataExclusive:
        return 'DataExclusive'
      case MessageKind.Invalidate:
        return 'Invalidate'
      case MessageKind.ForwardShared:
        return 'ForwardShared'
      case MessageKind.ForwardModified:
        return 'ForwardModified'
      case MessageKind.Abandoned:
        return 'Abandoned'
      case MessageKind.Refused:
        return 'Refused'
      case MessageKind.NoMemory:
        return 'NoMemory'
      case MessageKind.Grant:
        entry.granted = true
        entry.acksMissing += message.acks
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
    entry.ackedBy.push(by)
    entry.acksMissing--
    return entry.granted && entry.acksMissing === 0 ? 'AckLast' : 'AckMore'
  }

  #step(entry: CacheEntry, page: number, event: CacheEvent, message: CoherenceMessage | undefined): void {
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('cache', page, this.stateName(entry), event)
    entry.state = cell.next
    for (const action of cell.actions) act[action](this.#port, page, message)
    if (!this.isTransient(entry)) {
      entry.acksMissing = 0
      entry.granted = false
      if (entry.ackedBy.length > 0) entry.ackedBy = []
    }
  }
}
