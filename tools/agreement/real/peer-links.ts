import { connectEndpoint, type Endpoint, type LinkListener, listenEndpoints } from 'aether-dsm/internal/messaging'
import type { Data } from '../model/process.ts'
import { newChallenge, type Party, type PrivateKey, type PublicKeys } from './identity.ts'
import { decodeMessage, encodeMessage, MESSAGE_BYTES_MAX } from './memory-messages.ts'
import type { Place } from './place.ts'

/** What processes say to each other. Each end of a connection first shows who it is. */
type PeerSays =
  | { readonly say: 'who'; readonly challenge: string }
  | { readonly say: 'me'; readonly process: number; readonly signature: string }
  | { readonly say: 'message'; readonly note: PeerNote }

/** A message as it travels: for which round it is, and when it was sent, by the sender's clock. */
export interface PeerNote {
  readonly round: number
  readonly sentAt: number
  readonly message: Data
}

const CONNECT_MS_MAX = 60_000
const options = { connectTimeoutMs: CONNECT_MS_MAX, messageBytesMax: MESSAGE_BYTES_MAX } as const

export interface PeerHandlers {
  readonly receive: (from: number, note: PeerNote) => void
  /** The connection to that process has ended. */
  readonly lost: (process: number) => void
}

/** The connections of a process to all others, over which messages go in order. */
export class PeerLinks implements Disposable {
  readonly #me: number
  readonly #key: PrivateKey
  readonly #keys: PublicKeys
  readonly #handlers: PeerHandlers
  readonly #links = new Map<number, Endpoint>()
  readonly #complete: Promise<void>
  #completed!: () => void
  readonly #others: number
  #listener: LinkListener | undefined
  #isOver = false

  constructor(me: number, processes: number, key: PrivateKey, keys: PublicKeys, handlers: PeerHandlers) {
    this.#me = me
    this.#key = key
    this.#keys = keys
    this.#handlers = handlers
    this.#others = processes - 1
    this.#complete = new Promise((resolve) => {
      this.#completed = resolve
    })
    if (this.#others === 0) this.#completed()
  }

  /** Returns the port. */
  async listen({ device, address }: Omit<Place, 'port'>): Promise<number> {
    this.#listener = await listenEndpoints({
      device,
      address,
      messageBytesMax: MESSAGE_BYTES_MAX,
      accept: (endpoint) => this.#meet(endpoint, undefined),
    })
    return this.#listener.port
  }

  /** Connects to the processes with lower numbers, and waits for those with higher ones. */
  async connect(places: readonly Place[]): Promise<void> {
    for (const [process, { device, address, port }] of places.slice(0, this.#me).entries())
      this.#meet(await connectEndpoint({ device, address, port, ...options }), process)
    await this.#complete
  }

  send(to: number, note: PeerNote): void {
    // One that has gone hears nothing: its end is told by the other handler.
    this.#links
      .get(to)
      ?.send(encodeMessage({ say: 'message', note } satisfies PeerSays))
      .catch(() => undefined)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#listener?.close()
    for (const endpoint of this.#links.values()) endpoint.destroy()
  }

  /** @param expected The process that was connected to; undefined for one that has connected. */
  #meet(endpoint: Endpoint, expected: number | undefined): void {
    const challenge = newChallenge()
    const me: Party = `process ${this.#me}`
    let process: number | undefined
    let hasAnswered = false
    const tell = (says: PeerSays): void => {
      endpoint.send(encodeMessage(says)).catch(() => undefined)
    }
    const over = (): void => {
      if (process === undefined || this.#isOver || this.#links.get(process) !== endpoint) return
      this.#links.delete(process)
      this.#handlers.lost(process)
    }
    endpoint.handlers = {
      error: over,
      disconnected: over,
      receive: (data) => {
        const says = peerSays(data)
        switch (says.say) {
          case 'who': {
            const to = process ?? expected
            if (to === undefined || hasAnswered) {
              endpoint.destroy()
              return
            }
            hasAnswered = true
            const signature = this.#key.signConnection(says.challenge, `process ${to}`)
            tell({ say: 'me', process: this.#me, signature })
            if (process === undefined) tell({ say: 'who', challenge })
            return
          }
          case 'me': {
            const isIt = this.#keys.verifyConnection(says.process, challenge, me, says.signature)
            const isExpected = (expected ?? says.process) === says.process && says.process !== this.#me
            // A correct process connects once to each other.
            if (!isIt || !isExpected || process !== undefined || this.#links.has(says.process)) {
              endpoint.destroy()
              return
            }
            process = says.process
            this.#links.set(process, endpoint)
            if (this.#links.size === this.#others) this.#completed()
            return
          }
          case 'message':
            if (process !== undefined) this.#handlers.receive(process, says.note)
        }
      },
    }
    // The one that was connected to asks first, and is asked by the answer.
    if (expected === undefined) tell({ say: 'who', challenge })
  }
}

/** What another process says, if it has the form of that. @throws TypeError if not: the connection ends by that. */
function peerSays(data: Uint8Array): PeerSays {
  const says = decodeMessage(data) as { readonly [name: string]: Data | undefined } | null
  const isNote = (note: { readonly [name: string]: Data | undefined } | null): boolean =>
    note !== null && Number.isSafeInteger(note['round']) && typeof note['sentAt'] === 'number' && 'message' in note
  const isRight =
    (says?.['say'] === 'who' && typeof says['challenge'] === 'string') ||
    (says?.['say'] === 'me' && Number.isSafeInteger(says['process']) && typeof says['signature'] === 'string') ||
    (says?.['say'] === 'message' && typeof says['note'] === 'object' && isNote(says['note'] as never))
  if (!isRight) throw new TypeError('a message is nothing that a process says to another')
  return says as unknown as PeerSays
}
