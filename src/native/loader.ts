import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Addon } from './addon.ts'
import { AetherError, ArgumentError, SystemError, UnsupportedError } from './errors.ts'
import { packageRoot } from './package-root.ts'
import { whyUnsupported } from './platform.ts'

/** The addon could not be loaded. `tried` lists where it was looked for and why each place failed. */
export class NativeMissingError extends AetherError {
  override readonly name = 'NativeMissingError'
  readonly tried: readonly string[]

  constructor(tried: readonly string[]) {
    const places = tried.map((line) => `  - ${line}`).join('\n')
    super(
      'ERR_AETHER_NATIVE_MISSING',
      `the addon of aether-dsm could not be loaded:\n${places}\nBuild it with: node ${join(packageRoot(), 'native', 'build.mjs')}`,
    )
    this.tried = tried
  }
}

/** What the compiled addon exports besides {@link Addon}. */
interface RawAddon extends Addon {
  setErrors(
    argumentError: (argument: string, message: string) => Error,
    systemError: (syscall: string, errno: number, errnoName: string, message: string) => Error,
  ): void
}

/** The addon built on this machine comes first, since it was built on purpose. */
function candidates(): string[] {
  const named = process.env['AETHER_NATIVE']
  if (named !== undefined && named !== '') return [named]
  const root = packageRoot()
  return [
    join(root, 'native', 'build', 'Release', 'aether.node'),
    join(root, 'prebuilds', `${process.platform}-${process.arch}`, 'aether.node'),
  ]
}

/** Find the addon, load it into this environment, and give it this package's error classes. */
export function loadAddon(): Addon {
  const reason = whyUnsupported()
  if (reason !== undefined) throw new UnsupportedError(reason)
  const require = createRequire(import.meta.url)
  const tried: string[] = []
  for (const path of candidates()) {
    try {
      const addon = require(path) as RawAddon
      addon.setErrors(
        (argument, message) => new ArgumentError(argument, message),
        (syscall, errno, errnoName, message) => new SystemError(syscall, errno, errnoName, message),
      )
      return addon
    } catch (error) {
      const why = existsSync(path) ? (error instanceof Error ? error.message : String(error)) : 'there is no such file'
      tried.push(`${path}: ${why}`)
    }
  }
  throw new NativeMissingError(tried)
}
