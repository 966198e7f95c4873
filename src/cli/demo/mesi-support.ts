import { probeUserfault } from '../../dsm/index.ts'
import { native } from '../../native/index.ts'

/** Why views of a `mesi` region cannot be had here, or undefined where they can. */
export function whyNoMesi(): string | undefined {
  const probe = probeUserfault()
  if ('refused' in probe) return probe.refused.message
  native.closeDescriptor(probe.descriptor)
  return undefined
}
