import type { PairCapabilities } from '../pair-capabilities.ts'
import type { AdapterOptions } from './options.ts'

export function simCapabilities({ earlyAcknowledge }: Pick<AdapterOptions, 'earlyAcknowledge'>): PairCapabilities {
  return {
    ordered: true,
    permissions: true,
    atomics: true,
    immediate: true,
    remoteCompletion: earlyAcknowledge === 0,
    loadStore: false,
  }
}
