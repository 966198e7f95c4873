import type { Addon } from './addon.ts'
import { loadAddon } from './loader.ts'
import type { VerbsAddon } from './verbs-addon.ts'

let loaded: (Addon & { readonly verbs?: VerbsAddon }) | undefined

/**
 * The verbs part of this environment's addon, or undefined where the addon was built without it. Throws where there is
 * no addon at all.
 */
export function verbsAddon(): VerbsAddon | undefined {
  loaded ??= loadAddon()
  return loaded.verbs
}
