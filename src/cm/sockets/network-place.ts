import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { UnsupportedError } from '../../native/index.ts'
import { isOfThisMachine, secretOfEnvironment } from '../../runtime/index.ts'
import { type ConnectionAddress, connectionAddress, formatAddress } from '../address.ts'
import type { PortSpace } from '../carrier.ts'
import { ConnectionError } from '../errors.ts'
import type { MeetingPlace, SocketPlace } from './place.ts'

const CALLERS_MAX = 4096
const NONCE_BYTES = 16
const PROOF_BYTES = 32
/** A caller that has not proved itself within this time is not listened to any longer. */
const PROOF_MS_MAX = 5000

/** Listeners of this process. */
const listeners = new Set<{ readonly portSpace: PortSpace; readonly port: number }>()

/**
 * TCP ports. Both port spaces share them. The listener draws a nonce, and the caller answers with a proof over it that
 * it knows the secret of the environment (docs/hosts.md). Without a secret, only processes of this machine are heard.
 */
export class NetworkPlace implements SocketPlace {
  readonly deviceName: string

  constructor(deviceName: string) {
    this.deviceName = deviceName
  }

  listen(portSpace: PortSpace, local: ConnectionAddress, arrived: (socket: Socket) => void): Promise<MeetingPlace> {
    const secret = secretOfEnvironment()
    const server = createServer((socket) => {
      if (secret === undefined && !isFromHere(socket)) socket.destroy()
      else hearProof(socket, secret, arrived)
    }).unref()
    return new Promise((done, reject) => {
      server.once('error', (cause: NodeJS.ErrnoException) => reject(explain(portSpace, local, cause)))
      const { address: host, port } = local
      // Exclusive: in a worker of node:cluster the socket would otherwise be its primary's.
      server.listen({ host, port, exclusive: true, backlog: CALLERS_MAX }, () => {
        server.removeAllListeners('error')
        // An arrival that fails is that arrival's loss.
        server.on('error', () => undefined)
        const address = connectionAddress(host, portOf(server))
        const listener = { portSpace, port: address.port }
        listeners.add(listener)
        server.once('close', () => listeners.delete(listener))
        done({ address, close: () => server.close() })
      })
    })
  }

  meet(_: PortSpace, remote: ConnectionAddress): Promise<Socket | undefined> {
    return new Promise((done, reject) => {
      const secret = secretOfEnvironment()
      const socket = connect({ host: remote.address, port: remote.port, noDelay: true }).unref()
      // What listens there may be another program, which says nothing.
      const patience = setTimeout(() => socket.destroy(), PROOF_MS_MAX).unref()
      socket.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNREFUSED' ? done(undefined) : reject(error),
      )
      socket.once('close', () => done(undefined))
      readExactly(socket, NONCE_BYTES, (nonce) => {
        clearTimeout(patience)
        socket.removeAllListeners('error').removeAllListeners('close')
        socket.write(proofOf(secret, nonce))
        done(socket)
      })
    })
  }
}

function portOf(server: Server): number {
  return (server.address() as { readonly port: number }).port
}

function explain(portSpace: PortSpace, local: ConnectionAddress, cause: NodeJS.ErrnoException): Error {
  const where = formatAddress(local)
  const own = [...listeners].find(({ port }) => port === local.port)
  if (cause.code === 'EADDRINUSE' && own !== undefined && own.portSpace !== portSpace)
    return new UnsupportedError(
      `port spaces share their ports over a tcp device, and a ${own.portSpace} listener has ${where}; choose another port`,
    )
  const why =
    cause.code === 'EADDRINUSE'
      ? `another process listens at ${where}; choose another port, or pass 0 for a free one`
      : `cannot listen at ${where} (${cause.code}); choose an address of this machine`
  return new ConnectionError('listen', cause.errno ?? 0, why, { cause })
}

function proofOf(secret: Uint8Array | undefined, nonce: Uint8Array): Buffer {
  return createHmac('sha256', secret ?? '')
    .update('aether connection manager')
    .update(nonce)
    .digest()
}

function hearProof(socket: Socket, secret: Uint8Array | undefined, arrived: (socket: Socket) => void): void {
  const nonce = randomBytes(NONCE_BYTES)
  const patience = setTimeout(() => socket.destroy(), PROOF_MS_MAX).unref()
  socket.unref().setNoDelay(true)
  socket.on('error', () => undefined)
  socket.once('close', () => clearTimeout(patience))
  socket.write(nonce)
  readExactly(socket, PROOF_BYTES, (proof) => {
    clearTimeout(patience)
    if (timingSafeEqual(proof, proofOf(secret, nonce))) arrived(socket)
    else socket.destroy()
  })
}

/** Take the first bytes of a socket. What follows is left for those that read it later. */
function readExactly(socket: Socket, count: number, taken: (bytes: Buffer) => void): void {
  const read = (): void => {
    const bytes = socket.read(count) as Buffer | null
    if (bytes === null) return
    socket.off('readable', read)
    taken(bytes)
  }
  socket.on('readable', read)
}

/** True if the other end has an address of this machine. */
function isFromHere({ remoteAddress = '' }: Socket): boolean {
  return isOfThisMachine(remoteAddress)
}
