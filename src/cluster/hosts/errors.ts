import { AetherError } from '../../native/index.ts'

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
