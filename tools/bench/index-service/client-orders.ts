import type { LanesRun } from '../lanes.ts'
import type { KeysName, KeysPlace } from './key-store.ts'
import type { OpenLoad, OpenLoadRun } from './open-load.ts'
import type { MixName, MixPlan } from './ycsb.ts'

/** Single operations that are measured. */
export type KeyOp = 'get' | 'set' | 'increment' | 'hash get' | 'range 100'

/** What is repeated. */
export type KeysWork =
  | { readonly kind: 'op'; readonly op: KeyOp; readonly bytes: number }
  | { readonly kind: 'mix'; readonly plan: MixPlan }

/** What is stored before that. */
export type KeysFill =
  | { readonly kind: 'op'; readonly op: KeyOp; readonly bytes: number }
  | { readonly kind: 'mix'; readonly mix: MixName; readonly records: number }

/** What a client is started with. */
export interface ClientPlan {
  readonly place: KeysPlace
  /** Tells it from others. */
  readonly seed: number
}

/** What a client is told. */
export type ToKeysClient =
  | { readonly kind: 'fill'; readonly store: KeysName; readonly fill: KeysFill }
  /** Of several stores: they take turns. */
  | {
      readonly kind: 'prepare'
      readonly stores: readonly KeysName[]
      readonly work: KeysWork
      readonly timeMs: number
    }
  | { readonly kind: 'go' }
  /** Write values of this length as fast as it goes, or at a rate of its own. */
  | { readonly kind: 'saturate'; readonly bytes: number; readonly timeMs: number }
  | { readonly kind: 'offer'; readonly bytes: number; readonly load: OpenLoad }
  | { readonly kind: 'close' }

/** What it says. */
export type FromKeysClient =
  | { readonly kind: 'opened' | 'filled' | 'prepared' | 'closed' }
  /** For each store. */
  | { readonly kind: 'measured'; readonly runs: readonly LanesRun[] }
  | { readonly kind: 'saturated'; readonly run: LanesRun }
  | { readonly kind: 'offered'; readonly run: OpenLoadRun }
  | { readonly kind: 'failed'; readonly why: string }
