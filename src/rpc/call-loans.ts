import type { Loan, MemoryLending, MessageLink } from '../messaging/index.ts'
import { ArgumentError } from '../native/index.ts'
import type { RemoteParts } from './call-memory.ts'
import { RpcError } from './errors.ts'
import type { MethodInfo } from './method-info.ts'
import { lendingOf, type RdmaBuffer, type RdmaRange, wholeRange } from './rdma-buffer.ts'

/** What a caller lends for a call. */
export interface LentParts {
  readonly source?: RdmaBuffer | RdmaRange | undefined
  readonly target?: RdmaBuffer | RdmaRange | undefined
}

interface Lent {
  readonly buffer: RdmaBuffer
  readonly loan: Loan
}

/**
 * The caller's memory in a call: lent when it begins, and out of the server's reach before it ends for the caller.
 *
 * Why nothing of the server can land afterwards, whatever the server does:
 * - The server says its last of a call when all operations of its handler are complete, READs also as far as the
 *   network may repeat them (`MemoryLending.fenceReads`), and a message comes behind the bytes that were written before
 *   it. So in the ordinary case nothing is under way, and taking the key back is all there is to do.
 * - A server that does not say its last in time is not waited for: the key is taken back by this end's device, which
 *   from then on refuses what names it, and completes the request only when nothing that it let in is under way. Where
 *   there are registrations instead of windows, the queue pair is destroyed first, and then the registration.
 * - Where even that does not succeed, which takes a peer of `shm` that was stopped in the middle of a copy, the call
 *   does not pretend: it ends with `ERR_AETHER_RPC_BUFFER_LOST`, and the buffer serves no further call.
 */
export class CallLoans {
  readonly #lent: Lent[] = []
  readonly #parts: { -readonly [K in keyof RemoteParts]: RemoteParts[K] } = {}

  /**
   * Lends what the method takes. Where it throws, nothing is lent. @throws ArgumentError, UnsupportedError; LinkError
   * where the link has ended.
   */
  constructor(link: MessageLink, method: MethodInfo, options: LentParts) {
    const lending = lendingOf(link)
    const [source, target] = [wanted('source', method, options), wanted('target', method, options)]
    try {
      if (source !== undefined) this.#lend(lending, 'source', source)
      if (target !== undefined) this.#lend(lending, 'target', target)
    } catch (error) {
      void this.takeBack(undefined, 0, method.name).catch(() => undefined)
      throw error
    }
  }

  #lend(lending: MemoryLending, name: 'source' | 'target', part: Required<RdmaRange>): void {
    const { buffer, offset, length } = part
    const memory = buffer.enter(lending)
    let loan: Loan
    try {
      loan = lending.lend({ buffer: memory, offset, length }, name === 'source' ? 'read' : 'write')
    } catch (error) {
      buffer.leave(false)
      throw error
    }
    this.#lent.push({ buffer, loan })
    this.#parts[name] = { address: loan.address, key: loan.key, length }
  }

  /** What the server is told. */
  get parts(): RemoteParts {
    return this.#parts
  }

  /**
   * Resolves when the server reaches nothing of it any more. `last` resolves when it has said its last, for which it
   * has `fenceMs`. @throws RpcError `ERR_AETHER_RPC_BUFFER_LOST`.
   */
  async takeBack(last: Promise<void> | undefined, fenceMs: number, method: string): Promise<void> {
    const isIdle = last === undefined || (await isInTime(last, fenceMs))
    const results = await Promise.allSettled(this.#lent.map(({ loan }) => loan.end(isIdle)))
    const failed = results.find((result) => result.status === 'rejected')
    for (const [index, { buffer }] of this.#lent.entries()) buffer.leave(results[index]?.status === 'rejected')
    if (failed === undefined) return
    throw new RpcError(
      'ERR_AETHER_RPC_BUFFER_LOST',
      'unknown',
      method,
      'the server cannot be kept out of the memory that it was lent: leave that memory alone until the server is gone',
      { cause: failed.reason },
    )
  }
}

/** @throws ArgumentError. */
function wanted(
  name: 'source' | 'target',
  method: MethodInfo,
  { [name]: part }: LentParts,
): Required<RdmaRange> | undefined {
  const isTaken = method.takes(name)
  if (isTaken !== (part !== undefined))
    throw new ArgumentError(
      `options.${name}`,
      isTaken ? `${method.name} needs it: a registered buffer` : `${method.name} takes none`,
    )
  return part === undefined ? undefined : wholeRange(part, `options.${name}`)
}

function isInTime(last: Promise<void>, fenceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), fenceMs)
    void last.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
