import type { Callable } from './callables.ts'

/** How something is called rightly, so that a wrong argument is the only thing wrong. */
export interface Recipe {
  /** Right arguments, made anew for each call. By default they are made from `Recipes.values`. */
  readonly args?: () => readonly unknown[] | Promise<readonly unknown[]>
  /** What a method is called on where a call uses it up. By default the object in `Recipes.objects`. */
  readonly self?: () => unknown
  /** After each call, whatever came of it: gives back what was made for it, beyond what it returned. */
  readonly after?: () => void | Promise<void>
  /** A right call may wait for others for ever; this ends the wait. */
  readonly waits?: () => void | Promise<void>
  /** A call is dear: at most so many values are tried at each place, picked by the seed. */
  readonly valuesMax?: number
  /** A right call is not made, because of this. */
  readonly neverRight?: string
}

/** What the callables of one export path are called with. */
export interface Recipes {
  /** The module itself. */
  readonly module: object
  /** By the class or interface that declares a member: what it is called on, each of them in turn. */
  readonly objects: Readonly<Record<string, readonly object[]>>
  /** By name of a parameter, where a callable has no arguments of its own. Options are `{}`. */
  readonly values: Readonly<Record<string, () => unknown>>
  /** By name of a callable, where the above do not do; one or several. */
  readonly calls: Readonly<Record<string, Recipe | readonly Recipe[]>>
  /** Parameters for objects that others may have made, with more properties than are known here. */
  readonly data?: readonly string[]
  /** What programs call besides, but the compiler does not list. */
  readonly more?: readonly Callable[]
  close(): Promise<void>
}

/** Where there is one object of each. */
export function inLists(objects: Readonly<Record<string, object>>): Record<string, readonly object[]> {
  return Object.fromEntries(Object.entries(objects).map(([owner, object]) => [owner, [object]]))
}
