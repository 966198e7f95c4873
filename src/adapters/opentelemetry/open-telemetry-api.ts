import { createRequire } from 'node:module'
import type * as Api from '@opentelemetry/api'
import { AetherError } from '../../native/index.ts'

/** What `@opentelemetry/api` exports. */
export type OpenTelemetryApi = typeof Api

const NAME = '@opentelemetry/api'
const require = createRequire(import.meta.url)

/** A package that an adapter needs, and that you have to install, is missing. */
export class PackageMissingError extends AetherError {
  override readonly name = 'PackageMissingError'
  /** Its name, as npm knows it. */
  readonly packageName: string

  constructor(packageName: string, options?: ErrorOptions) {
    super('ERR_AETHER_PACKAGE_MISSING', `${packageName} is not installed: npm install ${packageName}`, options)
    this.packageName = packageName
  }
}

/**
 * The user's `@opentelemetry/api`. It is looked up on first use, not when this module is loaded, so that its absence
 * has an error of its own. All copies of that package share what was registered, so it does not matter which copy is
 * found.
 * @throws PackageMissingError if it is not installed.
 */
export function openTelemetryApi(): OpenTelemetryApi {
  try {
    return require(NAME) as OpenTelemetryApi
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // If another module is missing, that installation is broken, and its own message says more.
    if (code === 'MODULE_NOT_FOUND' && message.includes(`'${NAME}'`))
      throw new PackageMissingError(NAME, { cause: error })
    throw error
  }
}
