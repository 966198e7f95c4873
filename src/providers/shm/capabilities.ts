import type { PairCapabilities } from '../pair-capabilities.ts'

/** The initiator's processor writes, and may be stopped in the middle of it, so rights are advisory. */
export const shmCapabilities: PairCapabilities = {
  ordered: true,
  permissions: false,
  atomics: true,
  immediate: true,
  remoteCompletion: true,
  loadStore: true,
}
