import type { PairCapabilities, QueuePairAttributes } from '../../verbs/index.ts'
import type { MemoryPlayer } from './memory-player.ts'
import type {
  Completion,
  Handle,
  MemoryFacts,
  PairFacts,
  PairSpecification,
  ReceiveSpecification,
  RequestSpecification,
} from './player-data.ts'
import type { QueuePlayer } from './queue-player.ts'

/**
 * One end of a conformance case: verbs by plain data, so that it may run in this process or in another. A failing call
 * rejects with a {@link PlayerError}.
 */
export interface Player extends MemoryPlayer, QueuePlayer {
  open(device: string): Promise<{
    readonly gid: bigint
    readonly maxCompletions: number
    readonly maxRequests: number
    readonly maxSegments: number
  }>
  domain(): Promise<Handle>
  allocate(domain: Handle, bytes: number, access: number): Promise<MemoryFacts>
  /** Register memory that has no memory object. */
  register(domain: Handle, bytes: number, access: number): Promise<MemoryFacts>
  channel(): Promise<Handle>
  queue(depth: number, channel?: Handle): Promise<Handle>
  depth(queue: Handle): Promise<number>
  overrun(queue: Handle): Promise<boolean>
  pair(specification: PairSpecification): Promise<PairFacts>
  modify(pair: Handle, attributes: QueuePairAttributes): Promise<void>
  query(pair: Handle): Promise<QueuePairAttributes>
  state(pair: Handle): Promise<number>
  capabilities(pair: Handle): Promise<PairCapabilities>
  setRateLimit(pair: Handle, bytesPerSecond: number): Promise<void>
  rateLimit(pair: Handle): Promise<number>
  post(pair: Handle, request: RequestSpecification): Promise<void>
  /** Post several requests in one call. */
  postList(pair: Handle, requests: readonly RequestSpecification[]): Promise<void>
  receive(pair: Handle, request: ReceiveSpecification): Promise<void>
  poll(queue: Handle, max: number): Promise<Completion[]>
  arm(queue: Handle, solicitedOnly?: boolean): Promise<void>
  /** Returns the handles of the queues whose events were taken. */
  drain(channel: Handle): Promise<Handle[]>
  readable(channel: Handle): Promise<boolean>
  fill(memory: Handle, offset: number, bytes: Uint8Array): Promise<void>
  read(memory: Handle, offset: number, length: number): Promise<Uint8Array>
  close(handle: Handle): Promise<void>
  /** Close the device and everything under it, for the next case. */
  reset(): Promise<void>
}

export type PlayerMethod = keyof Player

/** An error of a verb as plain data. It is the same whether the player is here or in another process. */
export class PlayerError extends Error {
  override readonly name = 'PlayerError'
  readonly code: string
  readonly errnoName: string
  readonly missing: readonly string[]
  readonly extra: readonly string[]

  constructor(facts: PlayerErrorFacts) {
    super(facts.message)
    this.code = facts.code
    this.errnoName = facts.errnoName
    this.missing = facts.missing
    this.extra = facts.extra
  }
}

export interface PlayerErrorFacts {
  readonly message: string
  readonly code: string
  readonly errnoName: string
  readonly missing: readonly string[]
  readonly extra: readonly string[]
}

export function errorFacts(error: unknown): PlayerErrorFacts {
  const fields = error as Partial<PlayerErrorFacts> & Error
  return {
    message: fields.message ?? String(error),
    code: fields.code ?? fields.name ?? 'unknown',
    errnoName: fields.errnoName ?? '',
    missing: fields.missing ?? [],
    extra: fields.extra ?? [],
  }
}
