import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { withSystemFailures } from '../../native/index.ts'
import { WakefulLoop } from '../../runtime/index.ts'
import type { ByteStream, Front, StreamOwner, TakeStream } from './byte-stream.ts'

/** A front by Node.js' own servers, encrypted if there are `tls` options. */
export class NodeFront implements Front {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections that are not encrypted yet, by the other end: the server has another socket for them afterwards. */
  readonly #greeting = new Map<string, Socket>()
  readonly #wakeful = new WakefulLoop()
  #ended: (() => void) | undefined

  private constructor(take: TakeStream, tls: TlsOptions | undefined) {
    const takeSocket = (socket: Socket): void => {
      this.#greeting.delete(peerOf(socket))
      this.#sockets.add(socket)
      take(new SocketStream(socket, this.#wakeful))
      // After its owner is told.
      socket.on('close', () => {
        this.#sockets.delete(socket)
        if (this.#sockets.size === 0) this.#ended?.()
      })
    }
    this.#server = tls === undefined ? createServer(takeSocket) : createTlsServer(tls, takeSocket)
    if (tls !== undefined) this.#server.on('connection', (socket: Socket) => this.#greet(socket))
  }

  #greet(socket: Socket): void {
    const peer = peerOf(socket)
    this.#greeting.set(peer, socket)
    socket.on('close', () => {
      if (this.#greeting.get(peer) === socket) this.#greeting.delete(peer)
    })
  }

  /** @throws SystemError if it cannot listen there. */
  static async open(address: string, port: number, take: TakeStream, tls?: TlsOptions): Promise<NodeFront> {
    const front = new NodeFront(take, tls)
    front.#server.listen(port, address)
    await withSystemFailures(() => once(front.#server, 'listening'))
    return front
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    // No one else knows of these.
    for (const socket of this.#greeting.values()) socket.destroy()
    await closed
    if (this.#sockets.size > 0)
      await new Promise<void>((resolve) => {
        this.#ended = resolve
      })
  }
}

class SocketStream implements ByteStream {
  readonly address: string
  readonly localAddress: string
  readonly #socket: Socket
  readonly #wakeful: WakefulLoop

  constructor(socket: Socket, wakeful: WakefulLoop) {
    this.#socket = socket
    this.#wakeful = wakeful
    this.address = addressOf(socket.remoteAddress, socket.remotePort)
    this.localAddress = addressOf(socket.localAddress, socket.localPort)
    socket.setNoDelay(true)
    // What is wrong with it, the next event says, too.
    socket.on('error', () => undefined)
  }

  get isWritable(): boolean {
    return this.#socket.writable
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  begin(owner: StreamOwner, keepAliveSeconds: number): void {
    if (keepAliveSeconds > 0) this.#socket.setKeepAlive(true, keepAliveSeconds * 1000)
    this.#socket.on('data', (piece) => {
      this.#wakeful.came()
      owner.received(piece as Buffer)
    })
    this.#socket.on('drain', () => owner.drained())
    this.#socket.on('close', () => owner.closed())
  }

  write(bytes: Uint8Array): void {
    if (this.isWritable) this.#socket.write(Buffer.from(bytes))
  }

  setReading(isReading: boolean): void {
    if (!isReading) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  end(): void {
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

function addressOf(address: string | undefined, port: number | undefined): string {
  if (address === undefined) return ''
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}

function peerOf(socket: Socket): string {
  return addressOf(socket.remoteAddress, socket.remotePort)
}
