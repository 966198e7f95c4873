import type { Loan, MemoryLending, MessageLink } from '../messaging/index.ts'
import { ArgumentError } from '../native/index.ts'
import type { RemoteParts } from './call-memory.ts'
import { RpcError } from './errors.ts'
import type { MethodInfo } from './method-info.ts'
import { lendingOf, type RdmaBuffer, type RdmaRange, wholeRange } from './rdma-buffer.ts'

/** The memory that a caller lends for a call. */
export interface LentParts {
  readonly source?: RdmaBuffer | RdmaRange | undefined
  readonly target?: RdmaBuffer | RdmaRange | undefined
}

interface Lent {
  readonly buffer: RdmaBuffer
  readonly loan: Loan
}

/**
 * The caller's memory in a call: lent when the call begins, and out of the server's reach before it ends for the
 * caller.
 *
 * Why no bytes of the server can land afterwards, whatever the server does:
 *
 * 1. The server sends the last frame of a call only when all operations of its handler are complete. READs are complete
 *    only when the network cannot repeat them (`MemoryLending.fenceReads`). A message comes behind the bytes that were
 *    written before it. So normally nothing is under way, and revoking the key is all there is to do.
 * 2. If the server does not send its last frame in time, this end's device revokes the key. From then on it refuses
 *    requests with that key. The revocation completes only when no request that was let in is under way.
 * 3. With registrations instead of windows, the queue pair is destroyed first, and then the registration.
 * 4. Even that fails if a peer of `shm` is stopped in the middle of a copy. The call then ends with
 *    `ERR_AETHER_RPC_BUFFER_LOST`, and the buffer serves no further call.
 */
export class CallLoans {
  readonly #lent: Lent[] = []
  readonly #parts: { -readonly [K in keyof RemoteParts]: RemoteParts[K] } = {}

  /**
   * Lend what the method takes. If it throws, nothing is lent. @throws ArgumentError, UnsupportedError; LinkError if
   * the link has ended.
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
   * Resolves when the server can no longer reach any of it. `last` resolves when the server has sent its last frame,
   * for which it has `fenceMs`. @throws RpcError `ERR_AETHER_RPC_BUFFER_LOST`.
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
      'the server may still access the memory that it was lent; do not use that memory until the server is gone',
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
      isTaken
        ? `${method.name} needs a registered buffer as its ${name}; pass one from allocate or register`
        : `${method.name} takes no ${name}; leave it out`,
    )
  return part === undefined ? undefined : wholeRange(part, `options.${name}`, method.name)
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
