import type { PairCapabilities } from '../pair-capabilities.ts'

export const simCapabilities: PairCapabilities = {
  ordered: true,
  permissions: true,
  atomics: true,
  immediate: true,
  remoteCompletion: true,
  loadStore: false,
}
