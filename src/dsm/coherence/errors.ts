import { AetherError } from '../../native/index.ts'

/**
 * A message or event came that the protocol's table has no cell for: a bug, here or in a peer. Nothing has been
 * changed.
 */
export class ProtocolError extends AetherError {
  override readonly name = 'ProtocolError'
  readonly page: number
  readonly state: string
  readonly event: string

  constructor(side: 'cache' | 'directory', page: number, state: string, event: string) {
    super(
      'ERR_AETHER_PROTOCOL',
      `page ${page}: the ${side} in state ${state} has no transition for ${event}; this is a defect, please report it with the trace`,
    )
    this.page = page
    this.state = state
    this.event = event
  }
}
