import { AetherError } from '../../native/index.ts'

/** The shared secret is missing or not acceptable. Ranks of several machines cannot meet without it. */
export class SecretError extends AetherError {
  override readonly name = 'SecretError'
  /** The file; undefined if none was named. */
  readonly path: string | undefined

  constructor(path: string | undefined, message: string, options?: ErrorOptions) {
    super('ERR_AETHER_SECRET', message, options)
    this.path = path
  }
}

/**
 * The rendezvous of a group was not reached, did not let this process in, or refused another process; `code` says
 * which.
 */
export class RendezvousError extends AetherError {
  override readonly name = 'RendezvousError'
  /** The other end, `host:port`. */
  readonly address: string

  constructor(
    code: 'ERR_AETHER_RENDEZVOUS_UNREACHABLE' | 'ERR_AETHER_RENDEZVOUS_REFUSED' | 'ERR_AETHER_RENDEZVOUS_LOST',
    address: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.address = address
  }
}
