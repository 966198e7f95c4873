import type { Socket } from 'node:net'
import { decodeMessage, encodeMessage, MESSAGE_BYTES, type Message } from './message.ts'

/** A socket that carries messages of one length. Never keeps the program alive. */
export class MessageSocket {
  readonly #socket: Socket
  readonly #buffer = new Uint8Array(MESSAGE_BYTES)
  #filled = 0
  #over = false

  /** `ended` is called once if the other end closed the socket or sent something invalid. Not after `destroy`. */
  constructor(socket: Socket, received: (message: Message) => void, ended: () => void) {
    this.#socket = socket.unref()
    const end = (): void => {
      if (this.#over) return
      this.destroy()
      ended()
    }
    socket.on('data', (chunk) => {
      if (!this.#take(chunk, received)) end()
    })
    socket.on('end', end)
    socket.on('close', end)
    // What went wrong is told by 'close', which follows.
    socket.on('error', () => undefined)
  }

  /** Send a message. If the peer is gone, the end of the socket tells it, not an error of `send`. */
  send(message: Message): void {
    if (!this.#over) this.#socket.write(encodeMessage(message))
  }

  /** Send a message, and close once it has left. */
  sendLast(message: Message): void {
    if (this.#over) return
    this.#over = true
    this.#socket.end(encodeMessage(message))
    this.#socket.resume()
  }

  destroy(): void {
    if (this.#over) return
    this.#over = true
    this.#socket.destroy()
  }

  /** False where the bytes are no message. */
  #take(chunk: Uint8Array, received: (message: Message) => void): boolean {
    for (let offset = 0; offset < chunk.byteLength && !this.#over; ) {
      const part = chunk.subarray(offset, offset + MESSAGE_BYTES - this.#filled)
      this.#buffer.set(part, this.#filled)
      this.#filled += part.byteLength
      offset += part.byteLength
      if (this.#filled < MESSAGE_BYTES) return true
      this.#filled = 0
      const message = decodeMessage(this.#buffer)
      if (message === undefined) return false
      received(message)
    }
    return true
  }
}
