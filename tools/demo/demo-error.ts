import { AetherError } from 'aether-dsm/internal/native'

/** The demo cannot do what it was asked to, or its ranks ended without a result. */
export class DemoError extends AetherError {
  override readonly name = 'DemoError'

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_AETHER_DEMO', message, options)
  }
}
