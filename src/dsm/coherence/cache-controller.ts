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
import {
  addTokens,
  answeredEvent,
  evictEvent,
  forwardEvent,
  receivedEvent,
  starvingEvent,
  type TokenCount,
  takeTokens,
} from './token-count.ts'

/** What a node remembers of one page. */
export interface CacheEntry extends TokenCount {
  state: number
  /**
   * Acknowledgements (or answers) promised by the grant (by `Asked`) less those received: negative while they overtake
   * it.
   */
  acksMissing: number
  granted: boolean
  /** What a thread asked for while the copy was being evicted: asked again when that is over. */
  wanted: Right
  /** Would ask persistently, but others come first. */
  waitsForTurn: boolean
}

/** What the program here may do with a page. */
export interface RightsPort {
  /** Let it read. */
  mapReadOnly(page: number): void
  /** Let it read and write. */
  mapWritable(page: number): void
  /** Take the right to write; when it returns no store can reach the frame. */
  protect(page: number): void
  /** Take every right; when it returns no access can reach the frame. */
  unmap(page: number): void
}

/** What the cache side asks of the world. */
export interface CachePort {
  readonly rights: RightsPort
  /** To the page's home, with where our frame is. */
  request(kind: MessageKind, page: number): void
  /** To the page's home. */
  tellHome(kind: MessageKind, page: number, count: number): void
  /** To the requester of `message`. */
  respond(kind: MessageKind, page: number, message: CoherenceMessage, count: number): void
  /** Write our frame into the requester's, ahead of the next message to it. */
  pushToRequester(page: number, message: CoherenceMessage): void
  /** Write our frame into home's, ahead of the next message to it; nothing where the requester is the home. */
  pushToHome(page: number, message: CoherenceMessage): void
  /**
   * Ask every other node persistently. False where those who starved before us come first: `turnCame` will be called.
   */
  activate(page: number, write: boolean): boolean
  /** End that. Returns how many will acknowledge: none where it had not begun. */
  deactivate(page: number): number
  /** Keep `message` until the page comes to rest. */
  defer(message: CoherenceMessage): void
  /** Nothing is under way for the page any more: what was deferred can be served. */
  rested(page: number): void
  /** The copy is gone. */
  evicted(page: number): void
  /** The page cannot be had without member `rank`, or for want of memory there. */
  failed(page: number, rank: number, wantsMemory: boolean): void
}

/** The loss of this page has been reported before: a rank that hears of it again knows why. */
const UNKNOWN_RANK = -1

type Act = (port: CachePort, entry: CacheEntry, page: number, message: CoherenceMessage | undefined) => void

/** A node asks again only when all have acknowledged the end of its last persistent request; the table asks then. */
function request(kind: MessageKind): Act {
  return (port, entry, page) => {
    if (entry.acksMissing === 0) port.request(kind, page)
  }
}

const answerKinds = { bare: MessageKind.Answer, owner: MessageKind.AnswerOwner } as const
const tokenKinds = { bare: MessageKind.Tokens, owner: MessageKind.TokensOwner } as const

/** All but `keep` tokens to the requester; the owner token goes with the bytes. */
function giveTokens(
  port: CachePort,
  entry: CacheEntry,
  page: number,
  message: CoherenceMessage,
  keep: number,
  kinds: { readonly bare: MessageKind; readonly owner: MessageKind },
): void {
  const { owner } = entry
  const tokens = entry.tokens - keep
  if (owner) port.pushToRequester(page, message)
  port.respond(owner ? kinds.owner : kinds.bare, page, message, tokens)
  takeTokens(entry, tokens, owner)
}

/**
 * What each action of the tables means. Actions that answer a message find it; those that a wish of this node starts
 * have none.
 */
const meaning: Readonly<Record<CacheAction, Act>> = {
  requestShared: request(MessageKind.GetShared),
  requestModified: request(MessageKind.GetModified),
  mapReadOnly: (port, _entry, page) => port.rights.mapReadOnly(page),
  mapWritable: (port, _entry, page) => port.rights.mapWritable(page),
  protect: (port, _entry, page) => port.rights.protect(page),
  unmap: (port, _entry, page) => port.rights.unmap(page),
  unblock: (port, _entry, page) => port.tellHome(MessageKind.Unblock, page, 0),
  unblockDirty: (port, _entry, page) => port.tellHome(MessageKind.UnblockDirty, page, 0),
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
  tellHome: (port, _entry, page) => port.tellHome(MessageKind.Downgraded, page, 0),
  putShared: (port, _entry, page) => port.tellHome(MessageKind.PutShared, page, 0),
  putClean: (port, _entry, page) => port.tellHome(MessageKind.PutClean, page, 0),
  putDirty: (port, _entry, page) => port.tellHome(MessageKind.PutDirty, page, 0),
  sendWrittenBack: (port, _entry, page) => port.tellHome(MessageKind.WrittenBack, page, 0),
  answerNothing: (port, _entry, page, message) => port.respond(MessageKind.Answer, page, message!, 0),
  answerShared: (port, entry, page, message) => {
    port.pushToRequester(page, message!)
    port.respond(MessageKind.AnswerData, page, message!, 1)
    takeTokens(entry, 1, false)
  },
  answerAll: (port, entry, page, message) => giveTokens(port, entry, page, message!, 0, answerKinds),
  yieldOwner: (port, entry, page, message) => giveTokens(port, entry, page, message!, 1, tokenKinds),
  yieldAll: (port, entry, page, message) => giveTokens(port, entry, page, message!, 0, tokenKinds),
  activateShared: (port, entry, page) => {
    entry.waitsForTurn = !port.activate(page, false)
  },
  activateModified: (port, entry, page) => {
    entry.waitsForTurn = !port.activate(page, true)
  },
  deactivate: (port, entry, page) => {
    entry.waitsForTurn = false
    entry.acksMissing += port.deactivate(page)
  },
  offerTokens: (port, _entry, page) => port.tellHome(MessageKind.PutOffer, page, 0),
  returnTokens: (port, entry, page, message) => {
    const { tokens, owner } = entry
    if (owner) port.pushToHome(page, message!)
    port.tellHome(owner ? MessageKind.PutOwner : MessageKind.PutTokens, page, tokens)
    takeTokens(entry, tokens, owner)
  },
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
  /** Of a token protocol: how many tokens a page has; else 0. */
  readonly #tokens: number
  readonly #rights: readonly Right[]
  readonly #worths: readonly Worth[]
  readonly #port: CachePort
  readonly #watch: TransitionWatch | undefined

  constructor(protocol: Protocol, ranks: number, port: CachePort, watch: TransitionWatch | undefined) {
    const { table, rights, worths } = compiled(protocol)
    this.#tokens = protocol.tokens === undefined ? 0 : ranks
    this.#protocol = protocol
    this.#table = table
    this.#rights = rights
    this.#worths = worths
    this.#port = port
    this.#watch = watch
  }

  newEntry(atHome: boolean): CacheEntry {
    const hasTokens = atHome && this.#tokens > 0
    return {
      state: this.#initialState(hasTokens),
      acksMissing: 0,
      granted: false,
      wanted: 'none',
      waitsForTurn: false,
      tokens: hasTokens ? this.#tokens : 0,
      owner: hasTokens,
      valid: hasTokens,
    }
  }

  #initialState(hasTokens: boolean): number {
    return hasTokens ? this.#table.index(this.#protocol.tokens!.home) : this.#table.initial
  }

  cloneEntry(entry: CacheEntry): CacheEntry {
    return { ...entry }
  }

  /** Everything about an entry that decides what happens next, as text; empty for one that nothing is remembered in. */
  fingerprint(entry: CacheEntry, atHome: boolean): string {
    const { state, acksMissing, granted, wanted, waitsForTurn, tokens, owner, valid } = entry
    const hasTokens = atHome && this.#tokens > 0
    const untouched = state === this.#initialState(hasTokens) && tokens === (hasTokens ? this.#tokens : 0)
    if (untouched && acksMissing === 0 && wanted === 'none') return ''
    const waits = (granted ? 1 : 0) | (wanted === 'none' ? 0 : wanted === 'read' ? 2 : 4) | (waitsForTurn ? 8 : 0)
    const flags = waits | (owner ? 16 : 0) | (valid ? 32 : 0)
    // Acknowledgements can be owed in advance: shifted, so that the code is not negative.
    return String.fromCharCode(state, acksMissing + 0x4000, flags, tokens)
  }

  stateName(entry: CacheEntry): string {
    return this.#table.name(entry.state)
  }

  right(entry: CacheEntry): Right {
    return this.#rights[entry.state]!
  }

  worth(entry: CacheEntry): Worth {
    if (this.#tokens === 0) return this.#worths[entry.state]!
    return entry.valid ? (entry.owner ? 'dirty' : 'clean') : 'none'
  }

  /** The tokens here, for displays and checks. */
  tokens({ tokens, owner, valid }: CacheEntry): TokenCount {
    return { tokens, owner, valid }
  }

  /** Acknowledgements of an ended persistent request are still to come: peers may yet write into our frame. */
  isClosing(entry: CacheEntry): boolean {
    return entry.acksMissing !== 0
  }

  /** Whether a reader could be served from here, and both go on reading. */
  canShare(entry: CacheEntry): boolean {
    return forwardEvent(entry, false) === 'ForwardShared'
  }

  isTransient(entry: CacheEntry): boolean {
    return this.#table.isTransient(entry.state)
  }

  /** Put the entry into one of the stable states of the protocol's `recovery`, with nothing under way. */
  install(entry: CacheEntry, as: keyof Recovery<string, string>['cache']): void {
    entry.state = this.#table.index(this.#protocol.recovery.cache[as])
    this.#rest(entry)
    entry.acksMissing = 0
    entry.wanted = 'none'
    if (this.#tokens > 0) this.#setTokens(entry, as === 'none' ? 0 : as === 'shared' ? 1 : this.#tokens, as === 'owner')
  }

  /** Of a token protocol, at home: the owner token and what `others` have left, with home's memory valid. */
  installAtHome(entry: CacheEntry, others: number): void {
    if (this.#tokens === 0) return
    const { home, homeShared } = this.#protocol.tokens!
    entry.state = this.#table.index(others === 0 ? home : homeShared)
    this.#rest(entry)
    entry.acksMissing = 0
    entry.wanted = 'none'
    this.#setTokens(entry, this.#tokens - others, true)
  }

  /** Of a token protocol; false in all others. */
  hasOwnerToken(entry: CacheEntry): boolean {
    return this.#tokens > 0 && entry.owner
  }

  #setTokens(entry: CacheEntry, tokens: number, owner: boolean): void {
    Object.assign(entry, { tokens, owner, valid: tokens > 0, waitsForTurn: false })
  }

  /** A thread here wants the page. */
  demand(entry: CacheEntry, page: number, write: boolean): void {
    this.#step(entry, page, write ? 'Store' : 'Load', undefined)
  }

  evict(entry: CacheEntry, page: number): void {
    this.#step(entry, page, this.#tokens > 0 ? evictEvent(entry) : 'Evict', undefined)
  }

  receive(entry: CacheEntry, message: CoherenceMessage): void {
    this.#step(entry, message.page, this.#eventOf(entry, message), message)
  }

  /** Take in what has come, and do nothing about it: after a death, before it is known who has what. */
  absorb(entry: CacheEntry, message: CoherenceMessage): void {
    const event = this.#eventOf(entry, message)
    const cell = this.#table.cell(entry.state, eventIndex[event])
    if (cell === undefined) throw new ProtocolError('cache', message.page, this.stateName(entry), event)
    entry.state = cell.next
  }

  /** A starving node comes before us: give it what we have that it needs. */
  starve(entry: CacheEntry, message: CoherenceMessage, write: boolean): void {
    const event = starvingEvent(entry, write)
    if (event !== undefined) this.#step(entry, message.page, event, message)
  }

  /** Whether anything is here that a starving node needs. */
  hasForStarver(entry: CacheEntry, write: boolean): boolean {
    return starvingEvent(entry, write) !== undefined
  }

  /** Those who starved before us have been served. */
  turnCame(entry: CacheEntry, page: number): void {
    if (entry.waitsForTurn) this.#step(entry, page, 'TurnCame', undefined)
  }

  #eventOf(entry: CacheEntry, message: CoherenceMessage): CacheEvent {
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
        return this.#tokens > 0 ? forwardEvent(entry, false) : 'ForwardShared'
      case MessageKind.ForwardModified:
        return this.#tokens > 0 ? forwardEvent(entry, true) : 'ForwardModified'
      case MessageKind.WriteBack:
        return 'WriteBack'
      case MessageKind.PutAcknowledged:
        return 'PutAcknowledged'
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
        entry.acksMissing -= 1
        return entry.granted && entry.acksMissing === 0 ? 'AckLast' : 'AckMore'
      case MessageKind.Asked:
        entry.granted = true
        entry.acksMissing += message.count
        return entry.acksMissing === 0 ? this.#allAnswered(entry) : 'Asked'
      case MessageKind.Answer:
        return this.#answered(entry, message.count, false, false)
      case MessageKind.AnswerData:
        return this.#answered(entry, message.count, true, false)
      case MessageKind.AnswerOwner:
        return this.#answered(entry, message.count, true, true)
      case MessageKind.Tokens:
      case MessageKind.TokensOwner: {
        const owner = message.kind === MessageKind.TokensOwner
        addTokens(entry, message.count, owner, owner)
        return receivedEvent(entry, this.#tokens)
      }
      case MessageKind.Deactivated:
        entry.acksMissing -= 1
        return entry.acksMissing === 0 ? 'AckLast' : 'AckMore'
      default:
        throw new ProtocolError('cache', message.page, this.stateName(entry), `message kind ${message.kind}`)
    }
  }

  #answered(entry: CacheEntry, tokens: number, bytes: boolean, owner: boolean): CacheEvent {
    addTokens(entry, tokens, bytes, owner)
    entry.acksMissing -= 1
    return entry.granted && entry.acksMissing === 0 ? this.#allAnswered(entry) : 'AnswerMore'
  }

  #allAnswered(entry: CacheEntry): CacheEvent {
    entry.granted = false
    return answeredEvent(entry, this.#tokens)
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
    if (this.#tokens === 0) entry.acksMissing = 0
    entry.granted = false
  }
}

/** Told of every transition that is taken: how the model checker knows which cells it has seen. */
export type TransitionWatch = (side: 'cache' | 'directory', state: string, event: string) => void

function remember(entry: CacheEntry, event: CacheEvent): void {
  if (event === 'Store') entry.wanted = 'write'
  else if (entry.wanted === 'none') entry.wanted = 'read'
}
