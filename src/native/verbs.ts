import type { Addon } from './addon.ts'
import { loadAddon } from './loader.ts'
import type { VerbsAddon } from './verbs-addon.ts'

let loaded: (Addon & { readonly verbs?: VerbsAddon }) | undefined

/**
 * Return the verbs part of this environment's addon, or undefined if the addon was built without it. Throws if there is
 * no addon at all.
 */
export function verbsAddon(): VerbsAddon | undefined {
  loaded ??= loadAddon()
  return loaded.verbs
}
