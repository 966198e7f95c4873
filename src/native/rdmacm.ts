import type { Addon } from './addon.ts'
import { loadAddon } from './loader.ts'
import type { RdmacmAddon } from './rdmacm-addon.ts'

let loaded: (Addon & { readonly rdmacm?: RdmacmAddon }) | undefined

/**
 * Return the connection manager's part of this environment's addon, or undefined if the addon was built without it.
 * Throws if there is no addon at all.
 */
export function rdmacmAddon(): RdmacmAddon | undefined {
  loaded ??= loadAddon()
  return loaded.rdmacm
}
