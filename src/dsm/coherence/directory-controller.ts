import { CompiledTable } from './compiled-table.ts'
import { ProtocolError } from './errors.ts'
import { type CoherenceMessage, MessageKind, noFrame } from './message.ts'
import { type DirectoryAction, type DirectoryEvent, directoryEvents, type Protocol } from './protocol.ts'
import { RankSet } from './rank-set.ts'

/** What a home remembers of one page. */
export interface DirectoryEntry {
  state: number
  /** The rank in E or M, or about to be; -1 where there is none. */
  owner: number
  sharers: RankSet
  /** Whose request is being served; -1 at rest. */
  requester: number
  /** The old owner that was asked to answer the requester; -1 where home answered itself. */
  forwardedTo: number
  /** Sharers that were told to acknowledge to the requester. */
  invalidated: number[]
  queue: CoherenceMessage[]
  /** Who took the page along, where it is lost; else -1. */
  lostWith: number
  /** How many times the page got a new owner: a bound on how often its bytes changed hands. */
  version: number
}

/** What the directory side asks of the world. */
export interface DirectoryPort {
  /** To the requester of `message`. */
  respond(kind: MessageKind, page: number, message: CoherenceMessage, acks: number): void
  /** To a holder, on behalf of `message`'s requester, with where home's frame is. */
  forward(kind: MessageKind, page: number, holder: number, message: CoherenceMessage): void
  /** Write home's frame into the requester's, ahead of the next message to it. Nothing where the requester is the home itself. */
  pushToRequester(page: number, message: CoherenceMessage): void
  isAlive(rank: number): boolean
}

type Act = (port: DirectoryPort, entry: DirectoryEntry, page: number, message: CoherenceMessage | undefined) => void

function forward(kind: MessageKind): Act {
  return (port, entry, page, message) => {
    entry.forwardedTo = entry.owner
    port.forward(kind, page, entry.owner, message!)
  }
}

/** What each action of the tables means. All but `clearOwner` answer a message. */
const act: Readonly<Record<DirectoryAction, Act>> = {
  sendExclusive: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataExclusive, page, message!, 0)
  },
  sendShared: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataShared, page, message!, 0)
  },
  sendModified: (port, entry, page, message) => {
    // A sharer that upgrades has the bytes.
    if (!entry.sharers.has(message!.requester)) port.pushToRequester(page, message!)
    entry.sharers.clear()
    port.respond(MessageKind.Grant, page, message!, entry.invalidated.length)
  },
  invalidateSharers: (port, entry, page, message) => {
    entry.invalidated = [...entry.sharers].filter((rank) => rank !== message!.requester)
    for (const rank of entry.invalidated) port.forward(MessageKind.Invalidate, page, rank, message!)
  },
  forwardShared: forward(MessageKind.ForwardShared),
  forwardModified: forward(MessageKind.ForwardModified),
  ownerBecomesSharer: (_port, entry) => {
    entry.sharers.add(entry.owner)
    entry.owner = -1
  },
  addSharer: (_port, entry, _page, message) => entry.sharers.add(message!.requester),
  setOwner: (_port, entry, _page, message) => {
    entry.owner = message!.requester
    entry.version++
  },
  clearOwner: (_port, entry) => {
    entry.owner = -1
    entry.sharers.clear()
  },
  queue: (_port, entry, _page, message) => {
    entry.queue.push(message!)
  },
  refuse: (port, entry, page, message) => port.respond(MessageKind.Refused, page, message!, entry.lostWith),
}

const eventIndex = Object.fromEntries(directoryEvents.map((event, index) => [event, index])) as Record<
  DirectoryEvent,
  number
>

/** Runs the directory table of a protocol at the home of a page. */
export class DirectoryController {
  readonly #table: CompiledTable<DirectoryEvent, DirectoryAction, string>
  readonly #port: DirectoryPort
  readonly #ranks: number

  constructor(protocol: Protocol, ranks: number, port: DirectoryPort) {
    this.#table = new CompiledTable(protocol.directory, directoryEvents)
    this.#port = port
    this.#ranks = ranks
  }

  newEntry(): DirectoryEntry {
    const sharers = new RankSet(this.#ranks)
    return {
      state: this.#table.initial,
      owner: -1,
      sharers,
      requester: -1,
      forwardedTo: -1,
      invalidated: [],
      queue: [],
      lostWith: -1,
      version: 0,
    }
  }

  stateName(entry: DirectoryEntry): string {
    return this.#table.name(entry.state)
  }

  isTransient(entry: DirectoryEntry): boolean {
    return this.#table.isTransient(entry.state)
  }

  receive(entry: DirectoryEntry, message: CoherenceMessage): void {
    this.#step(entry, message.page, this.#eventOf(entry, message), message)
    this.#settle(entry, message.page)
  }

  /** Member `rank` has died: end what waited for it, forget what it held. */
  memberDied(entry: DirectoryEntry, page: number, rank: number): void {
    entry.queue = entry.queue.filter((message) => message.requester !== rank)
    entry.sharers.delete(rank)
    if (!this.isTransient(entry)) {
      if (entry.owner === rank) this.#ownerDied(entry, page, rank)
    } else {
      this.#endTransactionWith(entry, page, rank)
    }
    this.#settle(entry, page)
  }

  #endTransactionWith(entry: DirectoryEntry, page: number, rank: number): void {
    const toRequester = { ...emptyMessage(page), requester: entry.requester }
    if (entry.requester === rank) {
      if (entry.owner === rank) this.#ownerDied(entry, page, rank)
      else if (this.#awaits(entry, 'Unblock')) this.#step(entry, page, 'Unblock', undefined)
    } else if (entry.invalidated.includes(rank)) {
      this.#port.forward(MessageKind.AcknowledgeForDead, page, entry.requester, { ...toRequester, requester: rank })
    } else if (entry.forwardedTo === rank) {
      entry.lostWith = rank
      this.#port.respond(MessageKind.Abandoned, page, toRequester, rank)
    }
  }

  #ownerDied(entry: DirectoryEntry, page: number, rank: number): void {
    entry.lostWith = rank
    this.#step(entry, page, 'OwnerDied', undefined)
  }

  /** After each step: what a dead member still owes will not come; a resting page takes the next request. */
  #settle(entry: DirectoryEntry, page: number): void {
    for (;;) {
      if (this.isTransient(entry)) {
        const onlyOldOwnerOwes = this.#awaits(entry, 'Downgraded') && !this.#awaits(entry, 'Unblock')
        if (!onlyOldOwnerOwes || this.#port.isAlive(entry.forwardedTo)) return
        this.#ownerDied(entry, page, entry.forwardedTo)
        continue
      }
      entry.requester = -1
      entry.forwardedTo = -1
      if (entry.invalidated.length > 0) entry.invalidated = []
      const next = entry.queue.shift()
      if (next === undefined) return
      this.#step(entry, page, this.#eventOf(entry, next), next)
    }
  }

  #awaits(entry: DirectoryEntry, event: DirectoryEvent): boolean {
    return this.#table.cell(entry.state, eventIndex[event]) !== undefined
  }

  #eventOf(entry: DirectoryEntry, message: CoherenceMessage): DirectoryEvent {
    switch (message.kind) {
      case MessageKind.GetShared:
        return 'GetShared'
      case MessageKind.GetModified:
        return 'GetModified'
      case MessageKind.Unblock:
        return 'Unblock'
      case MessageKind.UnblockLost:
        return 'UnblockLost'
      case MessageKind.Downgraded:
        return 'Downgraded'
      default:
        throw new ProtocolError('directory', message.page, this.stateName(entry), `message kind ${message.kind}`)
    }
  }

  #step(entry: DirectoryEntry, page: number, event: DirectoryEvent, message: CoherenceMessage | undefined): void {
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('directory', page, this.stateName(entry), event)
    const starts = !this.isTransient(entry) && this.#table.isTransient(cell.next)
    entry.state = cell.next
    if (starts) entry.requester = message!.requester
    for (const action of cell.actions) act[action](this.#port, entry, page, message)
  }
}

const emptyMessage = (page: number): CoherenceMessage => ({
  kind: MessageKind.Abandoned,
  page,
  from: -1,
  requester: -1,
  acks: 0,
  requesterFrame: noFrame,
  homeFrame: noFrame,
})
