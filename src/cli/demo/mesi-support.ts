import { AetherError, native } from '../../native/index.ts'

/** Why views of a `mesi` region cannot be had here, or undefined where they can. Found out by doing: a setting says too little. */
export function whyNoMesi(): string | undefined {
  try {
    native.closeDescriptor(native.openUserfault().descriptor)
    return undefined
  } catch (error) {
    if (error instanceof AetherError) return error.message
    throw error
  }
}
