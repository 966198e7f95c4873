import {
  connectLink,
  type LinkConnectionOptions,
  type LinkListener,
  listenLinks,
  type MessageLink,
  type VerbsLink,
} from '../../src/messaging/index.ts'

/** Two ends in this process, and what closes them. */
export interface Joined {
  readonly client: VerbsLink
  readonly server: VerbsLink
  readonly listener: LinkListener
  close(): Promise<void>
}

/** A server and a client of it, over a device. */
export async function joinLinks(
  device: string,
  options: LinkConnectionOptions = {},
  clientOptions: LinkConnectionOptions = options,
): Promise<Joined> {
  let arrived!: (link: VerbsLink) => void
  const accepted = new Promise<VerbsLink>((resolve) => {
    arrived = resolve
  })
  const address = device.startsWith('shm') ? '127.0.0.1' : '10.77.0.1'
  const listener = await listenLinks({ ...options, device, address, onLink: (link) => arrived(link) })
  const client = await connectLink({ ...clientOptions, device, address, port: listener.port })
  const server = await accepted
  const close = async (): Promise<void> => {
    await Promise.all([client.close(), server.close()])
    listener.close()
  }
  return { client, server, listener, close }
}

/** Send a message of `length` bytes, all of them the low byte of `fill`, once there is room. */
export async function sendFilled(link: MessageLink, length: number, fill: number, kind = 0): Promise<void> {
  let at = link.reserve(length)
  while (at < 0) {
    await link.writable(length)
    at = link.reserve(length)
  }
  link.outgoing.fill(fill & 255, at, at + length)
  link.commit(length, fill, kind)
}

export function endOf(link: MessageLink): Promise<Error | undefined> {
  return new Promise((resolve) => {
    link.onEnd = resolve
  })
}
