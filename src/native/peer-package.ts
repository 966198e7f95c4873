import { createRequire } from 'node:module'
import { AetherError } from './errors.ts'

const require = createRequire(import.meta.url)

/** A package that you have to install is missing. */
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
 * What an optional peer package of the user's exports. Call it on first use, not when a module is loaded, so that its
 * absence has an error of its own.
 * @throws PackageMissingError if it is not installed.
 */
export function peerPackage<Exports>(name: string): Exports {
  try {
    return require(name) as Exports
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // If another module is missing, that installation is broken, and its own message says more.
    if (code === 'MODULE_NOT_FOUND' && message.includes(`'${name}'`))
      throw new PackageMissingError(name, { cause: error })
    throw error
  }
}
