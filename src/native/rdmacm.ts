import type { Addon } from './addon.ts'
import { loadAddon } from './loader.ts'
import type { RdmacmAddon } from './rdmacm-addon.ts'

let loaded: (Addon & { readonly rdmacm?: RdmacmAddon }) | undefined

/**
 * The connection manager's part of this environment's addon, or undefined where the addon was built without it. Throws
 * where there is no addon at all.
 */
export function rdmacmAddon(): RdmacmAddon | undefined {
  loaded ??= loadAddon()
  return loaded.rdmacm
}
