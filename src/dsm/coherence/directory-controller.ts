import type { TransitionWatch } from './cache-controller.ts'
import { CompiledTable, oncePerProtocol } from './compiled-table.ts'
import { ProtocolError } from './errors.ts'
import { type CoherenceMessage, MessageKind } from './message.ts'
import { type DirectoryAction, type DirectoryEvent, directoryEvents, type Protocol } from './protocol.ts'
import { RankSet } from './rank-set.ts'

/** What a home remembers of one page. */
export interface DirectoryEntry {
  state: number
  /** The rank that owns the page, or is about to; -1 where there is none. */
  owner: number
  sharers: RankSet
  /** Whose request is being served; -1 at rest. */
  requester: number
  /** The old owner that was asked to answer the requester; -1 where home answered itself. */
  forwardedTo: number
  /** Sharers that were told to acknowledge to the requester. */
  invalidated: number[]
  queue: CoherenceMessage[]
  /** How many times the page got a new owner: a bound on how often its bytes changed hands. */
  version: number
}

/** A {@link DirectoryEntry} as data that survives JSON. */
export type SavedDirectoryEntry = Omit<DirectoryEntry, 'sharers'> & { readonly sharers: readonly number[] }

/** What the directory side asks of the world. */
export interface DirectoryPort {
  /** This node's rank. */
  readonly home: number
  /** To the requester of `message`. */
  respond(kind: MessageKind, page: number, message: CoherenceMessage, count: number): void
  /**
   * To a holder, on behalf of `message`'s requester, with where home's frame is. `count`: acknowledgements the
   * requester will get.
   */
  forward(kind: MessageKind, page: number, holder: number, message: CoherenceMessage, count: number): void
  /** To the evicting node that sent `message`, with where home's frame is. */
  answerPut(kind: MessageKind, page: number, message: CoherenceMessage): void
  /**
   * Write home's frame into the requester's, ahead of the next message to it. Nothing where the requester is the home
   * itself.
   */
  pushToRequester(page: number, message: CoherenceMessage): void
  /** Of a token protocol: whether home's own copy can serve a reader. */
  canShare(page: number): boolean
  /** Of a token protocol: the tokens that `message` brings are home's own. */
  takeTokens(kind: MessageKind, page: number, message: CoherenceMessage): void
}

type Act = (port: DirectoryPort, entry: DirectoryEntry, page: number, message: CoherenceMessage | undefined) => void

function forward(kind: MessageKind): Act {
  return (port, entry, page, message) => {
    entry.forwardedTo = entry.owner
    port.forward(kind, page, entry.owner, message!, entry.invalidated.length)
  }
}

/** The rank asked first for a reader: home itself if it can, else the rank that should have the owner token. */
function readersSource(
  port: DirectoryPort,
  { owner }: DirectoryEntry,
  page: number,
  requester: number,
): number | undefined {
  const known = owner >= 0 && owner !== requester && !port.canShare(page) ? owner : port.home
  return known === requester ? undefined : known
}

/** What each action of the tables means. Each answers a message. */
const meaning: Readonly<Record<DirectoryAction, Act>> = {
  sendExclusive: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataExclusive, page, message!, 0)
  },
  sendShared: (port, _entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataShared, page, message!, 0)
  },
  sendModified: (port, entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.DataModified, page, message!, entry.invalidated.length)
  },
  grant: (port, entry, page, message) => port.respond(MessageKind.Grant, page, message!, entry.invalidated.length),
  invalidateSharers: (port, entry, page, message) => {
    entry.invalidated = [...entry.sharers].filter((rank) => rank !== message!.requester)
    entry.sharers.clear()
    for (const rank of entry.invalidated) port.forward(MessageKind.Invalidate, page, rank, message!, 0)
  },
  invalidateOwner: (port, entry, page, message) => {
    entry.invalidated = [...entry.invalidated, entry.owner]
    port.forward(MessageKind.Invalidate, page, entry.owner, message!, 0)
  },
  forwardShared: forward(MessageKind.ForwardShared),
  forwardModified: forward(MessageKind.ForwardModified),
  ownerBecomesSharer: (_port, entry) => {
    entry.sharers.add(entry.owner)
    entry.owner = -1
  },
  addSharer: (_port, entry, _page, message) => entry.sharers.add(message!.requester),
  removeSharer: (_port, entry, _page, message) => entry.sharers.delete(message!.requester),
  setOwner: (_port, entry, _page, message) => {
    entry.owner = message!.requester
    entry.version += 1
  },
  clearOwner: (_port, entry) => {
    entry.owner = -1
  },
  askForWriteBack: (port, _entry, page, message) => port.answerPut(MessageKind.WriteBack, page, message!),
  acknowledgePut: (port, _entry, page, message) => port.answerPut(MessageKind.PutAcknowledged, page, message!),
  askHolder: (port, entry, page, message) => {
    const target = readersSource(port, entry, page, message!.requester)
    port.respond(MessageKind.Asked, page, message!, target === undefined ? 0 : 1)
    if (target !== undefined) port.forward(MessageKind.ForwardShared, page, target, message!, 0)
  },
  askHolders: (port, entry, page, message) => {
    const targets = new Set([...entry.sharers, entry.owner, port.home])
    targets.delete(message!.requester)
    targets.delete(-1)
    port.respond(MessageKind.Asked, page, message!, targets.size)
    for (const rank of targets) port.forward(MessageKind.ForwardModified, page, rank, message!, 0)
  },
  expectOwner: (_port, entry, _page, message) => {
    if (entry.owner >= 0) entry.sharers.add(entry.owner)
    entry.owner = message!.requester
    entry.version += 1
  },
  expectAlone: (_port, entry, _page, message) => {
    entry.sharers.clear()
    entry.owner = message!.requester
    entry.version += 1
  },
  takeTokens: (port, _entry, page, message) => {
    const owner = message!.kind === MessageKind.PutOwner
    port.takeTokens(owner ? MessageKind.TokensOwner : MessageKind.Tokens, page, message!)
  },
  queue: (_port, entry, _page, message) => {
    entry.queue.push(message!)
  },
}

const eventIndex = Object.fromEntries(directoryEvents.map((event, index) => [event, index])) as Record<
  DirectoryEvent,
  number
>

const compiled = oncePerProtocol((protocol: Protocol) => {
  const table = new CompiledTable<DirectoryEvent, Act>(protocol.directory, directoryEvents, meaning)
  return { table, memory: table.states.map((state) => protocol.directory.states[state]!.memory) }
})

/** Runs the directory table of a protocol at the home of a page. */
export class DirectoryController {
  readonly #protocol: Protocol
  readonly #table: CompiledTable<DirectoryEvent, Act>
  readonly #memory: ReadonlyArray<'valid' | 'stale'>
  readonly #port: DirectoryPort
  readonly #ranks: number
  readonly #watch: TransitionWatch | undefined

  constructor(protocol: Protocol, ranks: number, port: DirectoryPort, watch: TransitionWatch | undefined) {
    const { table, memory } = compiled(protocol)
    this.#protocol = protocol
    this.#table = table
    this.#memory = memory
    this.#port = port
    this.#ranks = ranks
    this.#watch = watch
  }

  newEntry(): DirectoryEntry {
    return {
      state: this.#table.initial,
      owner: -1,
      sharers: new RankSet(this.#ranks),
      requester: -1,
      forwardedTo: -1,
      invalidated: noRanks,
      queue: [],
      version: 0,
    }
  }

  cloneEntry(entry: DirectoryEntry): DirectoryEntry {
    // `invalidated` is replaced, never written to; messages do not change.
    return { ...entry, sharers: entry.sharers.clone(), queue: [...entry.queue] }
  }

  /** The entry as data that survives JSON. */
  saveEntry(entry: DirectoryEntry): SavedDirectoryEntry {
    return { ...entry, sharers: [...entry.sharers], queue: [...entry.queue] }
  }

  restoreEntry(saved: SavedDirectoryEntry): DirectoryEntry {
    const sharers = new RankSet(this.#ranks)
    for (const rank of saved.sharers) sharers.add(rank)
    return { ...saved, sharers, queue: [...saved.queue] }
  }

  /** Everything about an entry that decides what happens next, as text; empty for one that nothing is remembered in. */
  fingerprint(entry: DirectoryEntry): string {
    // Of the invalidated copies only the number is reported. Which request is served, and which ranks were asked for
    // it, decides nothing.
    const { state, invalidated, queue } = entry
    const [owner, sharers] = this.#holders(entry)
    if (state === this.#table.initial && owner < 0 && sharers.length === 0 && queue.length === 0) return ''
    let text = String.fromCharCode(state, owner + 1, invalidated.length, queue.length, ...sharers, END_OF_LIST)
    for (const { kind, from, requester: asker } of queue) text += String.fromCharCode(kind, from + 1, asker + 1)
    return text
  }

  /** With tokens, home asks itself whatever its hints are: that it may hold some says nothing. */
  #holders({ owner, sharers }: DirectoryEntry): [owner: number, sharers: number[]] {
    if (this.#protocol.tokens === undefined) return [owner, [...sharers]]
    const { home } = this.#port
    return [owner === home ? -1 : owner, [...sharers].filter((rank) => rank !== home)]
  }

  stateName(entry: DirectoryEntry): string {
    return this.#table.name(entry.state)
  }

  memory(entry: DirectoryEntry): 'valid' | 'stale' {
    return this.#memory[entry.state]!
  }

  isTransient(entry: DirectoryEntry): boolean {
    return this.#table.isTransient(entry.state)
  }

  /**
   * Put the entry into one of the stable states of the protocol's `recovery`, with nothing under way and no request
   * waiting.
   */
  install(entry: DirectoryEntry, owner: number, sharers: Iterable<number>): void {
    this.forget(entry)
    entry.owner = owner
    entry.sharers.clear()
    for (const rank of sharers) entry.sharers.add(rank)
    const { none, shared, owner: owned } = this.#protocol.recovery.directory
    entry.state = this.#table.index(owner >= 0 ? owned : entry.sharers.size > 0 ? shared : none)
  }

  /** No request is being served or waits any more. */
  forget(entry: DirectoryEntry): void {
    this.#rest(entry)
    entry.queue = []
  }

  receive(entry: DirectoryEntry, message: CoherenceMessage): void {
    this.#step(entry, message.page, this.#eventOf(entry, message), message)
    this.#settle(entry, message.page)
  }

  /** Take in what has come, and do nothing about it: after a death, before it is known who has what. */
  absorb(entry: DirectoryEntry, message: CoherenceMessage): void {
    const event = this.#eventOf(entry, message)
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('directory', message.page, this.stateName(entry), event)
    entry.state = cell.next
  }

  /** After each step: a resting page takes the next request. */
  #settle(entry: DirectoryEntry, page: number): void {
    while (!this.isTransient(entry)) {
      this.#rest(entry)
      const next = entry.queue.shift()
      if (next === undefined) return
      this.#step(entry, page, this.#eventOf(entry, next), next)
    }
  }

  #rest(entry: DirectoryEntry): void {
    entry.requester = -1
    entry.forwardedTo = -1
    entry.invalidated = noRanks
  }

  #eventOf(entry: DirectoryEntry, message: CoherenceMessage): DirectoryEvent {
    switch (message.kind) {
      case MessageKind.GetShared:
        return 'GetShared'
      case MessageKind.GetModified:
        if (this.#protocol.tokens !== undefined) return 'GetModified'
        if (entry.owner === message.requester) return 'UpgradeOwner'
        return entry.sharers.has(message.requester) ? 'Upgrade' : 'GetModified'
      case MessageKind.Unblock:
        return 'Unblock'
      case MessageKind.UnblockDirty:
        return 'UnblockDirty'
      case MessageKind.Downgraded:
        return 'Downgraded'
      case MessageKind.WrittenBack:
        return 'WrittenBack'
      case MessageKind.PutOffer:
        return 'PutOffer'
      case MessageKind.PutTokens:
        return 'PutTokens'
      case MessageKind.PutOwner:
        return 'PutOwner'
      case MessageKind.ActivateShared:
        return 'ActivateShared'
      case MessageKind.ActivateModified:
        return 'ActivateModified'
      case MessageKind.PutShared:
      case MessageKind.PutClean:
      case MessageKind.PutDirty:
        return putEvent(entry, message)
      default:
        throw new ProtocolError('directory', message.page, this.stateName(entry), `message kind ${message.kind}`)
    }
  }

  #step(entry: DirectoryEntry, page: number, event: DirectoryEvent, message: CoherenceMessage | undefined): void {
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('directory', page, this.stateName(entry), event)
    this.#watch?.('directory', this.#table.name(entry.state), event)
    const starts = !this.isTransient(entry) && this.#table.isTransient(cell.next)
    entry.state = cell.next
    if (starts) entry.requester = message!.requester
    for (const action of cell.actions) action(this.#port, entry, page, message)
  }
}

/**
 * What an eviction means depends on what its sender still is: it may have been made a sharer, or nothing, while the
 * message was under way.
 */
function putEvent(entry: DirectoryEntry, { kind, requester }: CoherenceMessage): DirectoryEvent {
  if (entry.owner === requester) return kind === MessageKind.PutClean ? 'PutClean' : 'PutDirty'
  if (!entry.sharers.has(requester)) return 'PutStale'
  return entry.sharers.size === 1 ? 'PutSharedLast' : 'PutShared'
}

/** Never written to. */
const noRanks: number[] = []
/** Beyond every rank. */
const END_OF_LIST = 0xffff
