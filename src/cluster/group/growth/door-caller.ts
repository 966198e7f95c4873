import { connect, type Socket } from 'node:net'
import { endianness } from 'node:os'
import { CallerHandshake } from '../../hosts/handshake.ts'
import { type ConnectionEnd, type ConnectionLimits, SealedConnection } from '../../hosts/sealed-connection.ts'
import { DOOR_PROTOCOL, type DoorRequest, ELSEWHERE, type GroupAddress, readDoorReply } from './door-message.ts'
import type { DoorQuestion } from './introduction.ts'
import type { Seed } from './seeds.ts'

/** A seed does not answer as a member does. */
export class SeedSilence extends Error {
  /** Its machine says that no process listens there. */
  readonly nobody: boolean
  /** A process answers, and will not take this one. */
  readonly final: boolean

  constructor(message: string, kind: { readonly nobody?: boolean; readonly final?: boolean } = {}) {
    super(message)
    this.nobody = kind.nobody ?? false
    this.final = kind.final ?? false
  }
}

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** A connection from a process that wants to join to a member that listens at a seed's address. */
export class DoorCaller {
  readonly #connection: SealedConnection
  readonly #waiting = new Map<number, Waiting>()
  #greeting: Waiting | undefined
  #nextToken = 1
  #over: Error | undefined

  private constructor(
    socket: Socket,
    secret: Buffer,
    limits: ConnectionLimits,
    group: GroupAddress,
    greeting: Waiting,
  ) {
    this.#greeting = greeting
    this.#connection = new SealedConnection(socket, new CallerHandshake(secret), limits, {
      ready: () => {
        this.#connection.admit()
        this.#send({ ...group, protocol: DOOR_PROTOCOL, endianness: endianness() })
      },
      message: (value) => this.#hear(value),
      ended: (end) => this.#end(silenceOf(end, group)),
    })
  }

  /** @throws SeedSilence, also if the signal is aborted. */
  static async connect(
    seed: Seed,
    group: GroupAddress,
    secret: Buffer,
    limits: ConnectionLimits & { readonly signal?: AbortSignal | undefined },
  ): Promise<DoorCaller> {
    const { signal } = limits
    const socket = connect(seed)
    const end = (): void => {
      socket.destroy(new Error('it was not waited for any more'))
    }
    signal?.addEventListener('abort', end)
    try {
      const reached = reach(socket, limits)
      if (signal?.aborted === true) end()
      await reached
      return await new Promise((resolve, reject) => {
        const caller: DoorCaller = new DoorCaller(socket, secret, limits, group, {
          resolve: () => resolve(caller),
          reject,
        })
      })
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  /** Resolves with null if there is no group there yet. @throws SeedSilence */
  ask(question: DoorQuestion): Promise<unknown> {
    if (this.#over !== undefined) return Promise.reject(this.#over)
    const token = this.#nextToken++
    return new Promise((resolve, reject) => {
      this.#waiting.set(token, { resolve, reject })
      this.#send({ token, question })
    })
  }

  close(): void {
    this.#connection.close()
    this.#end(new SeedSilence('the connection was closed'))
  }

  #send(request: DoorRequest): void {
    this.#connection.send(request)
  }

  #hear(value: unknown): void {
    const reply = readDoorReply(value)
    if (reply?.type === 'welcome') {
      this.#greeting?.resolve(undefined)
      this.#greeting = undefined
    } else if (reply?.type === 'answer') {
      this.#waiting.get(reply.token)?.resolve(reply.answer)
      this.#waiting.delete(reply.token)
    } else {
      const why = reply === undefined ? 'it sent an unknown message' : reply.reason
      this.#connection.close()
      this.#end(new SeedSilence(why, { final: true }))
    }
  }

  #end(error: Error): void {
    this.#over ??= error
    this.#greeting?.reject(error)
    this.#greeting = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

function reach(socket: Socket, limits: ConnectionLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.setTimeout(limits.handshakeMs, () => socket.destroy(new Error(`no answer within ${limits.handshakeMs} ms`)))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      reject(new SeedSilence(error.message, { nobody: error.code === 'ECONNREFUSED' }))
    })
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.removeAllListeners('error')
      resolve()
    })
  })
}

function silenceOf(end: ConnectionEnd, { space }: GroupAddress): SeedSilence {
  if (end.kind === 'refused' || end.kind === 'secret') {
    const why = space === null ? 'the file with the secret is the same on all machines' : ELSEWHERE
    return new SeedSilence(`it has another secret than this process, and ${why}`, { final: true })
  }
  if (end.kind === 'protocol') return new SeedSilence('what listens there is not a member of a group', { final: true })
  return new SeedSilence('message' in end ? end.message : 'it ended the connection')
}
