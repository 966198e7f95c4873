import type { Socket } from 'node:net'
import { decodeMessage, encodeMessage, MESSAGE_BYTES, type Message } from './message.ts'

/** A socket that carries messages of one length. Never keeps the program alive. */
export class MessageSocket {
  readonly #socket: Socket
  readonly #buffer = new Uint8Array(MESSAGE_BYTES)
  #filled = 0
  #over = false

  /** `ended` is called once: the other end closed it, or sent what is no message. Not after `destroy`. */
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

  /** A peer that is gone is told by the end of the socket, not by an error of `send`. */
  send(message: Message): void {
    if (!this.#over) this.#socket.write(encodeMessage(message))
  }

  /** Send, and close once that is out. */
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
