import { probeUserfault } from 'aether-dsm/internal/dsm'
import { native } from 'aether-dsm/internal/native'

/** Why views of a `mesi` region cannot be had here, or undefined where they can. */
export function whyNoMesi(): string | undefined {
  const probe = probeUserfault()
  if ('refused' in probe) return probe.refused.message
  native.closeDescriptor(probe.descriptor)
  return undefined
}
