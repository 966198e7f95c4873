import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { AetherError, ArgumentError } from '../../src/native/index.ts'
import type { Random } from '../../src/runtime/index.ts'
import { badValues, shownValue } from './bad-values.ts'
import type { Callable, Place } from './callables.ts'
import type { Recipe, Recipes } from './recipe.ts'

/** So long a call may take whose argument is wrong, on a busy machine. */
const CALL_MS_MAX = 30_000
/** So long a call is given that may wait for others. */
const WAIT_MS = 10
/** Tries every value at every place. Otherwise a place gets every twelfth, and its neighbours the others. */
const ALL_VALUES = process.env['AETHER_TEST_VALUES'] === 'all'
const SHARE = 12
/** Calls in which several arguments are wrong. */
const MIXED_CALLS = ALL_VALUES ? 20 : 5

/** A wrong call, and what is wrong with its outcome. */
export interface Fault {
  readonly call: string
  readonly why: string
}

type Outcome =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }

const PENDING = Symbol('pending')
const TELLS =
  /\b(must|pass|use|did you mean|options are|needs?|takes?|give|give|leave|only|at most|at least|open|make)\b/

/** Calls callables with wrong arguments, and collects what answers otherwise than with an error that helps. */
export class Caller {
  readonly faults: Fault[] = []
  calls = 0
  readonly #recipes: Recipes
  readonly #random: Random
  readonly #announce: (call: string) => void
  #strays: unknown[] = []
  /** A call of the present callable did not end: the others may wait for it. */
  #hung = false

  constructor(recipes: Recipes, random: Random, announce: (call: string) => void) {
    this.#recipes = recipes
    this.#random = random
    this.#announce = announce
    process.on('unhandledRejection', (error) => this.#strays.push(error))
    process.on('uncaughtException', (error) => this.#strays.push(error))
  }

  async tryOut(callable: Callable): Promise<void> {
    const given = this.#recipes.calls[callable.name] ?? {}
    const missing = this.#missing(callable, [given].flat())
    if (missing !== undefined)
      this.faults.push({ call: callable.name, why: `it needs a recipe: nothing says ${missing}` })
    else
      for (const recipe of [given].flat())
        for (const self of this.#selves(callable, recipe)) await this.#tryOn(callable, { ...recipe, self })
  }

  async #tryOn(callable: Callable, recipe: Recipe): Promise<void> {
    this.#hung = false
    await this.#right(callable, recipe)
    for (let count = 0; count < callable.places.length; count += 1)
      await this.#judge(callable, recipe, (args) => args.slice(0, count))
    for (const [index, path] of pathsOf(callable.places).entries()) {
      for (const make of this.#some(badValues, index, recipe.valuesMax))
        await this.#wrong(callable, recipe, [path], [make()])
    }
    for (const path of optionsOf(callable.places)) await this.#unknownNames(callable, recipe, path)
    await this.#mixed(callable, recipe)
    await this.#right(callable, recipe)
  }

  /** A right call succeeds: before, so that the recipe is right; afterwards, so that wrong calls did no harm. */
  async #right(callable: Callable, recipe: Recipe): Promise<void> {
    if (recipe.neverRight !== undefined) return
    const args = await this.#rightArguments(callable, recipe)
    const outcome = await this.#call(callable, recipe, args)
    if (outcome !== PENDING && outcome.kind === 'error')
      this.#fault(callable, args, `a right call fails: ${told(outcome.error)}`)
  }

  async #wrong(callable: Callable, recipe: Recipe, paths: readonly Path[], values: readonly unknown[]): Promise<void> {
    await this.#judge(callable, recipe, (args) =>
      paths.reduce((changed, path, index) => replaced(changed, path, values[index]) as readonly unknown[], args),
    )
  }

  async #judge(
    callable: Callable,
    recipe: Recipe,
    change: (args: readonly unknown[]) => readonly unknown[],
  ): Promise<void> {
    const args = change(await this.#rightArguments(callable, recipe))
    const outcome = await this.#call(callable, recipe, args)
    if (outcome === PENDING || outcome.kind === 'result') return
    const why = reproach(outcome.error)
    if (why !== undefined) this.#fault(callable, args, why)
  }

  /** A name that is misspelt must be refused, with the name that is meant. */
  async #unknownNames(callable: Callable, recipe: Recipe, { path, place }: Options): Promise<void> {
    if (this.#recipes.data?.includes(place.name) === true) return
    for (const { name } of place.properties) {
      if (name.length < 4) continue
      const misspelt = `${name.slice(0, 2)}${name.slice(3)}`
      if (place.properties.some((property) => property.name === misspelt)) continue
      const args = replaced(await this.#rightArguments(callable, recipe), [...path, misspelt], 1) as unknown[]
      const outcome = await this.#call(callable, recipe, args)
      if (this.#hung) return
      const isRefused =
        outcome !== PENDING &&
        outcome.kind === 'error' &&
        outcome.error instanceof ArgumentError &&
        outcome.error.message.includes(`did you mean '${name}'`)
      if (isRefused) continue
      const what = outcome === PENDING ? 'waits' : outcome.kind === 'error' ? told(outcome.error) : 'succeeds'
      this.#fault(callable, args, `the name ${misspelt} is not refused with the advice '${name}': ${what}`)
    }
  }

  async #mixed(callable: Callable, recipe: Recipe): Promise<void> {
    const paths = pathsOf(callable.places)
    if (paths.length < 2) return
    for (let i = 0; i < (recipe.valuesMax ?? MIXED_CALLS); i += 1) {
      const wrong = paths.filter(() => this.#random.below(3) === 0)
      const values = wrong.map(() => badValues[this.#random.below(badValues.length)]?.())
      await this.#wrong(callable, recipe, wrong, values)
    }
  }

  #some<T>(all: readonly T[], index: number, max: number | undefined): readonly T[] {
    if (max === undefined) return ALL_VALUES ? all : all.filter((_, at) => (at + index) % SHARE === 0)
    return Array.from({ length: max }, () => all[this.#random.below(all.length)] as T)
  }

  async #rightArguments(callable: Callable, recipe: Recipe): Promise<readonly unknown[]> {
    if (recipe.args !== undefined) return recipe.args()
    return callable.places.map((place) => {
      const make = this.#recipes.values[place.name]
      if (make !== undefined) return make()
      return place.properties.length > 0 ? {} : undefined
    })
  }

  #missing(callable: Callable, recipes: readonly Recipe[]): string | undefined {
    for (const recipe of recipes) {
      if (this.#selves(callable, recipe).length === 0) return `which ${callable.owner} it is called on`
      const missing = callable.places.find(({ name, isOptional }) => !isOptional && !(name in this.#recipes.values))
      if (recipe.args === undefined && missing !== undefined) return `what its ${missing.name} is`
    }
    return undefined
  }

  #selves({ owner, kind, name }: Callable, { self }: Recipe): readonly (() => unknown)[] {
    const { module, objects } = this.#recipes
    if (self !== undefined) return [self]
    if (kind === 'static') return [() => (module as Record<string, unknown>)[name.split('.')[0] ?? '']]
    if (owner === undefined) return [() => module]
    return (objects[owner] ?? []).map((object) => () => object)
  }

  async #call(callable: Callable, recipe: Recipe, args: readonly unknown[]): Promise<Outcome | typeof PENDING> {
    if (this.#hung) return PENDING
    this.calls += 1
    const text = callText(callable, args)
    this.#announce(text)
    const self = await recipe.self?.()
    const outcome = await bounded(act(callable, self, args), recipe.waits === undefined ? CALL_MS_MAX : WAIT_MS)
    if (outcome === PENDING && recipe.waits === undefined) {
      this.#hung = true
      this.#fault(callable, args, `it does not end within ${CALL_MS_MAX} ms`)
    }
    if (outcome === PENDING) await recipe.waits?.()
    else if (outcome.kind === 'result') await giveBack(outcome.value)
    await recipe.after?.()
    if (this.calls % 16 === 0) await turn()
    if (this.#strays.length > 0) {
      const strays = this.#strays.splice(0)
      for (const stray of strays) this.faults.push({ call: `around ${text}`, why: `nobody handles: ${told(stray)}` })
    }
    return outcome
  }

  #fault(callable: Callable, args: readonly unknown[], why: string): void {
    this.faults.push({ call: callText(callable, args), why })
  }
}

function callText({ name }: Callable, args: readonly unknown[]): string {
  return `${name}(${args.map(shownValue).join(', ')})`
}

/** Makes the call; a promise that it returns is awaited, and an iterator asked for its first value. */
async function act(callable: Callable, self: unknown, args: readonly unknown[]): Promise<unknown> {
  const owner = self as Record<string | symbol, unknown>
  if (callable.kind === 'setter') {
    owner[callable.member] = args[0]
    return undefined
  }
  const called = owner[callable.member] as (...args: readonly unknown[]) => unknown
  if (callable.kind === 'constructor') return Reflect.construct(called, args) as unknown
  const result = await Reflect.apply(called, owner, args)
  return isIterator(result) ? firstOf(result) : result
}

/** A listener, too, has `next`, but is iterated by an object of its own. */
const isIterator = (value: unknown): value is AsyncIterableIterator<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  'next' in value &&
  Symbol.asyncIterator in value &&
  (value as AsyncIterable<unknown>)[Symbol.asyncIterator]() === value

async function firstOf(iterator: AsyncIterator<unknown>): Promise<unknown> {
  try {
    return await iterator.next()
  } finally {
    await iterator.return?.()
  }
}

async function bounded(promise: Promise<unknown>, ms: number): Promise<Outcome | typeof PENDING> {
  const late = new AbortController()
  try {
    return await Promise.race([
      promise.then(
        (value): Outcome => ({ kind: 'result', value }),
        (error: unknown): Outcome => ({ kind: 'error', error }),
      ),
      sleep(ms, PENDING, { signal: late.signal }) as Promise<typeof PENDING>,
    ])
  } finally {
    late.abort()
  }
}

/** What a call that succeeded has opened. */
async function giveBack(value: unknown): Promise<void> {
  if (typeof value !== 'object' || value === null) return
  const owner = value as Record<string | symbol, (() => unknown) | undefined>
  const end = owner[Symbol.asyncDispose] ?? owner[Symbol.dispose]
  if (typeof end === 'function') await Reflect.apply(end, value, [])
}

/** Why an error is not one that helps; undefined if it is. */
function reproach(error: unknown): string | undefined {
  if (!(error instanceof AetherError)) return `it throws ${told(error)}`
  if (error.message === '') return `${error.name} has no message`
  if (!(error instanceof ArgumentError)) return undefined
  const last = error.argument.split(/\W+/).findLast(Boolean) ?? ''
  if (last === '' || !error.message.includes(last))
    return `the argument '${error.argument}' is not named: ${error.message}`
  return TELLS.test(error.message) ? undefined : `it does not tell what to pass: ${error.message}`
}

function told(error: unknown): string {
  if (!(error instanceof Error)) return shownValue(error)
  return error instanceof AetherError ? `${error.name}: ${error.message}` : (error.stack ?? error.message)
}

/** The names and indices that lead to an argument, or to a property of one. */
type Path = readonly (string | number)[]

function pathsOf(places: readonly Place[]): readonly Path[] {
  return places.flatMap((place, index) => [[index], ...pathsWithin(place).map((path) => [index, ...path])])
}

function pathsWithin(place: Place): readonly Path[] {
  return place.properties.flatMap((property) => [
    [property.name],
    ...pathsWithin(property).map((path) => [property.name, ...path]),
  ])
}

interface Options {
  readonly path: Path
  readonly place: Place
}

/** The places that take an object with names that are known. */
function optionsOf(places: readonly Place[], above: Path = []): readonly Options[] {
  return places.flatMap((place, index) => {
    const path = [...above, above.length === 0 ? index : place.name]
    const own = place.properties.length > 0 ? [{ path, place }] : []
    return [...own, ...optionsOf(place.properties, path)]
  })
}

/** A copy of `owner` in which another value stands at `path`. */
function replaced(owner: unknown, path: Path, value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(owner) && typeof name === 'number')
    return Object.assign([...(owner as readonly unknown[])], { [name]: replaced(owner[name], rest, value) })
  const base = isPlain(owner) ? owner : {}
  return { ...base, [name]: replaced(base[name], rest, value) }
}

const isPlain = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
