import { TraceLevel, type TraceSlice, traceChannel, traceClockNs } from '../../profiling/index.ts'
import { type CoherenceMessage, isForDirectory, MessageKind, messageKindName } from '../coherence/index.ts'

const trace = traceChannel('dsm')
const TRACK = 'faults'
/** The number of the last slice: all regions of a thread have one track. */
let slices = 0

/**
 * Why a page is asked for: a thread touched it without the right, a call waits for it, or it will probably be touched
 * next.
 */
export type DemandCause = 'touch' | 'call' | 'prefetch'

/** What is reported of a page while a message about it is handled. */
export interface PageStates {
  /** The state of the own copy, by its name in the protocol's table. */
  copyState(page: number): string
}

/**
 * What one region's part in an agent publishes on the channel `aether:dsm`: faults, messages out and in, state changes,
 * rights taken. Messages are published with kind, page and ranks, but without bytes of pages, addresses of frames or
 * keys.
 *
 * A page's requester has one request for it under way at a time. So region, page and requester name a fault at every
 * rank, as long as it lasts.
 */
export class RegionTrace {
  readonly #region: string
  readonly #id: number
  readonly #rank: number
  /** Pages asked for, with the number of the slice. */
  readonly #open = new Map<number, { readonly id: number; readonly sinceNs: number }>()

  constructor(region: string, id: number, rank: number) {
    this.#region = region
    this.#id = id
    this.#rank = rank
  }

  /** A page is asked for. */
  demanded(page: number, write: boolean, cause: DemandCause): void {
    if (!trace.wants(TraceLevel.Debug) || this.#open.has(page)) return
    const id = ++slices
    this.#open.set(page, { id, sinceNs: traceClockNs() })
    const access = write ? 'write' : 'read'
    const name = `${access} page ${page}`
    const slice: TraceSlice = { phase: 'begin', name, track: TRACK, id, flow: this.#flow(page, this.#rank) }
    trace.publish(TraceLevel.Debug, 'fault', () => ({ region: this.#region, page, access, cause }), slice)
  }

  /** It may be used from now on. */
  granted(page: number, write: boolean): void {
    if (this.#open.size === 0) return
    this.#answered(page, 'granted', TraceLevel.Debug, () => ({ access: write ? 'write' : 'read' }))
  }

  /** It cannot be had. */
  failed(page: number, why: string, rank: number): void {
    this.#answered(page, 'failed', TraceLevel.Error, () => ({ why, of: rank }))
  }

  /** The page that a thread touched was opened where the fault was read: no other rank was asked. */
  opened(page: number, write: boolean, tookNs: number): void {
    if (!trace.wants(TraceLevel.Trace)) return
    trace.publish(TraceLevel.Trace, 'opened', () => ({
      region: this.#region,
      page,
      access: write ? 'write' : 'read',
      tookNs,
    }))
  }

  /** A right is taken from the program here. */
  taken(page: number, right: 'read' | 'none'): void {
    if (!trace.wants(TraceLevel.Debug)) return
    const type = right === 'none' ? 'invalidated' : 'downgraded'
    trace.publish(TraceLevel.Debug, type, () => ({ region: this.#region, page }))
  }

  sent(to: number, message: CoherenceMessage): void {
    if (!trace.wants(TraceLevel.Debug)) return
    const { kind, page, requester } = message
    trace.publish(TraceLevel.Debug, 'sent', () => ({
      region: this.#region,
      page,
      message: messageKindName(kind),
      to,
      requester,
    }))
  }

  /** Whether messages are told of. */
  get listens(): boolean {
    return trace.wants(TraceLevel.Debug)
  }

  /** `handle` acts on a message from another rank. */
  receiving(message: CoherenceMessage, states: PageStates, handle: () => void): void {
    const { kind, page, from, requester } = message
    const sinceNs = traceClockNs()
    const before = states.copyState(page)
    const name = messageKindName(kind)
    const fields = { region: this.#region, page, message: name, from, requester, copy: before }
    trace.publish(TraceLevel.Debug, 'received', () => fields, { phase: 'start' })
    handle()
    const after = states.copyState(page)
    if (after !== before) this.#moved(page, before, after, name)
    const slice: TraceSlice = {
      phase: 'step',
      name: `${name} page ${page}`,
      sinceNs,
      ...(isOfFault(kind) && { flow: this.#flow(page, requester) }),
    }
    trace.publish(TraceLevel.Debug, 'received', () => ({ ...fields, copy: `${before} > ${after}` }), slice)
  }

  /** Members agree again on who has what. */
  recovered(epoch: number): void {
    trace.publish(TraceLevel.Info, 'recovered', () => ({ region: this.#region, epoch }))
  }

  #moved(page: number, before: string, after: string, cause: string): void {
    trace.publish(TraceLevel.Trace, 'transition', () => ({ region: this.#region, page, was: before, is: after, cause }))
  }

  #answered(page: number, type: string, level: TraceLevel, more: () => object): void {
    const open = this.#open.get(page)
    this.#open.delete(page)
    if (open === undefined && level !== TraceLevel.Error) return
    const tookNs = open === undefined ? undefined : traceClockNs() - open.sinceNs
    const fields = (): Record<string, unknown> => ({ region: this.#region, page, ...more(), tookNs })
    const slice: TraceSlice | undefined = open === undefined ? undefined : { phase: 'end', track: TRACK, id: open.id }
    trace.publish(level, type, fields, slice)
  }

  /** The same at every rank. */
  #flow(page: number, requester: number): string {
    return `dsm ${this.#id} ${page} ${requester}`
  }
}

/**
 * Kinds that are on the way between a request and its grant; of the others, `requester` is who evicts, or they come
 * when the grant is past.
 */
function isOfFault(kind: MessageKind): boolean {
  if (kind === MessageKind.GetShared || kind === MessageKind.GetModified) return true
  return !isForDirectory(kind) && !apart.has(kind)
}

const apart: ReadonlySet<MessageKind> = new Set([
  MessageKind.WriteBack,
  MessageKind.PutAcknowledged,
  MessageKind.Deactivate,
  MessageKind.Deactivated,
])
