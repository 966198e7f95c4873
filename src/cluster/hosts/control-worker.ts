/**
 * A thread of its own for the connection to the rendezvous. The main thread may compute for minutes, and the agent
 * never turns an event loop, but signs of life must go out. In rank 0 the rendezvous itself runs here.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { AetherError, type AetherErrorCode, native } from '../../native/index.ts'
import { printError } from '../../profiling/index.ts'
import { EndNotices } from './end-notices.ts'
import { Keeper } from './keeper.ts'
import { type CallerHandlers, RendezvousCaller } from './rendezvous-caller.ts'
import type { ConnectionLimits } from './sealed-connection.ts'

/** What the worker is started with. */
export interface ControlStart {
  readonly host: string
  readonly port: number
  readonly secret: Uint8Array
  readonly rank: number
  readonly size: number
  readonly timeoutMs: number
  readonly limits: ConnectionLimits
  /** Where the rendezvous runs: in rank 0, or in the launcher. */
  readonly keeper: 'rank 0' | 'launcher'
  /** Ranks that have ended, for the agent. */
  readonly notices: SharedArrayBuffer
  /** Rung after every notice. */
  readonly bell: number
}

/** Main thread to worker. */
export type ControlOrder =
  | { readonly type: 'give'; readonly round: number; readonly value: unknown }
  | { readonly type: 'leave'; readonly why: string | undefined }

/** Worker to main thread. */
export type ControlReport =
  | { readonly type: 'gathered'; readonly round: number; readonly values: readonly unknown[] }
  /** Ranks have ended; `lost`: the rendezvous has ended with them. */
  | { readonly type: 'ended'; readonly ranks: readonly number[]; readonly why: string; readonly lost: boolean }
  | { readonly type: 'failed'; readonly error: ControlFailure }

/** A class does not survive the transfer between threads; its fields do. */
export interface ControlFailure {
  readonly name: string
  readonly code: AetherErrorCode
  readonly message: string
  readonly address?: string | undefined
  readonly ranks?: readonly number[] | undefined
  readonly cause?: ControlFailure | undefined
}

const start = workerData as ControlStart
const port = parentPort!
const notices = new EndNotices(start.size, start.notices)
const secret = Buffer.from(start.secret)
let keeper: Keeper | undefined

const handlers: CallerHandlers = {
  gathered: (round, values) => report({ type: 'gathered', round, values }),
  ended: (rank, why, certain) => tell([rank], why, false, certain),
  lost: (why, orderly, certain) => {
    const launcher = start.keeper === 'launcher'
    const who = launcher ? 'the launcher is gone' : 'it kept the rendezvous'
    tell(launcher ? others() : [0], orderly ? why : `${who}: ${why}`, true, certain && !launcher)
  },
  failed: (error) => report({ type: 'failed', error: describe(error) }),
}

const caller = new RendezvousCaller({ ...start, host: callHost(), secret }, handlers)

port.on('message', (order: ControlOrder) => {
  if (order.type === 'leave') leave(order.why)
  else if (order.round === 0) void begin(order.value)
  else caller.give(order.round, order.value)
})

async function begin(value: unknown): Promise<void> {
  try {
    if (start.rank === 0 && start.keeper === 'rank 0') await listen()
    caller.give(0, value)
  } catch (error) {
    report({ type: 'failed', error: describe(error as Error) })
  }
}

async function listen(): Promise<void> {
  const { host, port, size, limits } = start
  keeper = await Keeper.listen({ secret, size, host: listenHost(host), port, limits, log })
}

/**
 * An address is listened at as it is. A name may mean another address here than elsewhere (often 127.0.1.1), so with a
 * name this listens at all addresses.
 */
function listenHost(host: string): string | undefined {
  return isAddress(host) || host === 'localhost' ? host : undefined
}

/** Where to call. The rank that listens calls itself. */
function callHost(): string {
  const { host, rank } = start
  return rank === 0 && start.keeper === 'rank 0' && listenHost(host) === undefined ? 'localhost' : host
}

function isAddress(host: string): boolean {
  return /^[\d.]+$/.test(host) || host.includes(':')
}

function tell(ranks: readonly number[], why: string, lost: boolean, certain: boolean): void {
  for (const rank of ranks) notices.tell(rank, why, certain)
  native.ringPipe(start.bell)
  report({ type: 'ended', ranks, why, lost })
}

function others(): number[] {
  return Array.from({ length: start.size }, (_, rank) => rank).filter((rank) => rank !== start.rank)
}

function leave(why: string | undefined): void {
  caller.close(why)
  keeper?.close()
  port.close()
}

function report(message: ControlReport): void {
  port.postMessage(message)
}

/** Not with `console`, which goes through the main thread, and that may be busy. */
function log(line: string): void {
  printError(`aether: rank ${start.rank}: ${line}\n`)
}

function describe(error: Error): ControlFailure {
  const { address, ranks } = error as { address?: string; ranks?: readonly number[] }
  const code = error instanceof AetherError ? error.code : 'ERR_AETHER_RENDEZVOUS_LOST'
  const cause = error.cause instanceof AetherError ? describe(error.cause) : undefined
  return { name: error.name, code, message: error.message, address, ranks, cause }
}
