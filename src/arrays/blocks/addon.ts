import { type Addon, NativeMissingError, native, UnsupportedError } from '../../native/index.ts'

let known: Addon | undefined | null = null

/**
 * The addon. Undefined if there is none, or if AETHER_NATIVE_ARRAYS=0 turns it off for arrays: the twins compute then.
 *
 * @throws AetherError `ERR_AETHER_NATIVE_MISMATCH` if the addon is of another version than the package.
 */
export function addon(): Addon | undefined {
  if (known === null) known = process.env['AETHER_NATIVE_ARRAYS'] === '0' ? undefined : load()
  return known
}

function load(): Addon | undefined {
  try {
    native.arrayKernels()
    return native
  } catch (error) {
    // Without an addon the twins compute. One that is there and does not fit would make all slow without a word.
    if (error instanceof NativeMissingError || error instanceof UnsupportedError) return undefined
    throw error
  }
}
