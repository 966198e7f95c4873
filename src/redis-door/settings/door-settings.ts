import type { Buffer } from 'node:buffer'

/** Certificates and keys, as PEM. With `ca`, clients have to show a certificate of it. */
interface DoorTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer | undefined
}

/** What a door is opened with. */
export interface DoorSettings {
  readonly address: string
  readonly port: number
  /** The address by which clients are sent here from other nodes. */
  readonly announce: string
  /** Of the user `default`. */
  readonly password: string | undefined
  readonly clientsMax: number
  readonly timeoutMs: number
  /** Clients know of the nodes, and go to that of a key's leader. */
  readonly isCluster: boolean
  /** Connections are encrypted. */
  readonly tls?: DoorTls | undefined
  /** How many threads send replies. Default 1: the one of the program. */
  readonly ioThreads?: number
  /** @internal What takes connections that are not encrypted. Default `native`. */
  readonly front?: 'native' | 'node' | undefined
  /** What is answered is on disks. */
  readonly hasDirectory?: boolean
  /** Ends the process, as SHUTDOWN asks. Without it, SHUTDOWN is refused. */
  readonly onShutdown?: () => void
}
