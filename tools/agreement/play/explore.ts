import type { Process } from '../model/process.ts'
import { isOver, violationOf } from './judge.ts'
import { possible } from './timely.ts'
import { type Action, AgreementWorld, type Scene } from './world.ts'

/** How much of what need not happen may happen in one play. */
export interface Budget {
  /** Timers that run out. */
  readonly timers: number
  /** Times that a process is told whom to take for the leader. */
  readonly leads: number
  readonly crashes: number
  readonly memoryCrashes: number
}

export interface Exploration {
  readonly states: number
  /** States in which all correct processes have decided. */
  readonly decided: number
  /** States in which nothing more can happen, and not all have decided. */
  readonly stuck: number
  /** False if it ended at `statesMax`. */
  readonly complete: boolean
  /** The first mistake, with the way there. */
  readonly violation?: { readonly text: string; readonly way: readonly Action[] }
}

export interface ExploreOptions {
  readonly budget: Budget
  /** The processes that may be told to lead; all if it is left out. */
  readonly leaders?: readonly number[]
  readonly statesMax?: number
  /**
   * What a process knows, by memory and of none, where all memories are alike. States that differ only in the names of
   * memories are then taken for one.
   */
  readonly divide?: (process: Process, memories: number) => DividedProcess
  /**
   * Does at once what commutes with all that others do, and takes away what can have no effect any more. It is called
   * after each action.
   */
  readonly settle?: (world: AgreementWorld) => void
  /** What an action is taken together with, where every other order of them leads to the same: any of these. */
  readonly together?: (world: AgreementWorld, action: Action) => readonly (readonly Action[])[]
  /** What is a mistake; {@link violationOf} if it is left out. */
  readonly judge?: (world: AgreementWorld) => string | undefined
}

interface DividedProcess {
  readonly own: unknown
  readonly byMemory: readonly unknown[]
}

interface Visit {
  readonly world: AgreementWorld
  readonly left: Budget
  readonly way: Way | undefined
}

/** How a state was reached: it holds no worlds, so these are dropped as they have been gone on from. */
interface Way {
  readonly before: Way | undefined
  readonly actions: readonly Action[]
}

/**
 * Every order in which everything under way can happen, and every failure that the budget allows at every instant.
 * States that were reached on two ways are gone on from once.
 */
export function explore(scene: Scene, options: ExploreOptions): Exploration {
  const { statesMax = 5_000_000, judge = violationOf, settle, together = (_, action) => [[action]] } = options
  const names = new Names(options.divide)
  const seen = new Set<string>()
  const stack: Visit[] = [{ world: new AgreementWorld(scene), left: options.budget, way: undefined }]
  let [states, decided, stuck] = [0, 0, 0]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { world, left, way } = visit
    const text = judge(world)
    if (text !== undefined) return { states, decided, stuck, complete: false, violation: { text, way: actionsOf(way) } }
    if (states >= statesMax) return { states, decided, stuck, complete: false }
    states += 1
    if (isOver(world)) decided += 1
    const actions = possibleWithin(world, left, options)
    if (actions.length === 0 && !isOver(world)) stuck += 1
    for (const action of actions)
      for (const steps of together(world, action)) {
        const next = world.fork()
        for (const step of steps) {
          next.perform(step)
          settle?.(next)
        }
        const rest = spent(left, action)
        const key = `${names.keyOf(next)} ${rest.timers}.${rest.leads}.${rest.crashes}.${rest.memoryCrashes}`
        if (seen.has(key)) continue
        seen.add(key)
        stack.push({ world: next, left: rest, way: { before: way, actions: steps } })
      }
  }
  return { states, decided, stuck, complete: true }
}

function possibleWithin(world: AgreementWorld, left: Budget, { leaders }: ExploreOptions): Action[] {
  const actions = possible(world).filter((action) => action.do !== 'timer' || left.timers > 0)
  const { processes, memories } = world.scene.setting
  // That a process begins commutes with what others do: all begin at once, in order.
  const begins = actions.filter((action) => action.do === 'begin')
  if (begins.length > 0) return [begins[0]!]
  for (let process = 0; process < processes; process += 1) {
    if (!world.up[process]) continue
    if (left.crashes > 0) actions.push({ do: 'crash', process })
    if (left.leads > 0 && (leaders?.includes(process) ?? true)) actions.push({ do: 'lead', process, leader: process })
  }
  if (left.memoryCrashes > 0)
    for (let memory = 0; memory < memories; memory += 1)
      if (world.memoryUp[memory]) actions.push({ do: 'crash-memory', memory })
  return actions
}

function spent(left: Budget, action: Action): Budget {
  switch (action.do) {
    case 'timer':
      return { ...left, timers: left.timers - 1 }
    case 'lead':
      return { ...left, leads: left.leads - 1 }
    case 'crash':
      return { ...left, crashes: left.crashes - 1 }
    case 'crash-memory':
      return { ...left, memoryCrashes: left.memoryCrashes - 1 }
    default:
      return left
  }
}

function actionsOf(way: Way | undefined): Action[] {
  const parts: (readonly Action[])[] = []
  for (let at = way; at !== undefined; at = at.before) parts.push(at.actions)
  return parts.reverse().flat()
}

/** Small numbers for the parts of a world, so that a state is a short text. */
class Names {
  readonly #ids = new Map<string, number>()
  readonly #known = new WeakMap<object, readonly number[]>()
  readonly #divide: ExploreOptions['divide']

  constructor(divide: ExploreOptions['divide']) {
    this.#divide = divide
  }

  keyOf(world: AgreementWorld): string {
    const { processes, memories } = world.scene.setting
    const own = world.processes.map((process, index) => (world.up[index] ? this.#partsOf(process, memories) : [-1]))
    const byMemory = world.memories.map((memory, index) => {
      const parts = own.map((part) => part[index + 1] ?? 0)
      parts.push(world.memoryUp[index] ? this.#idOf(memory, JSON.stringify) : -1)
      for (let process = 0; process < processes; process += 1) {
        const channel = world.channel(process, index)
        const [operations, answers] = [world.operations[channel]!, world.answers[channel]!]
        parts.push(operations.length === 0 ? 0 : this.#idOf(operations, operationText))
        parts.push(answers.length === 0 ? 0 : this.#idOf(answers, answerText))
      }
      return parts.join()
    })
    if (this.#divide !== undefined) byMemory.sort()
    const messages = world.messages.map((message) => this.#idOf(message, messageText))
    const timers = world.timers.map((timer) => this.#idOf(timer, timerText))
    const decisions = world.decisions.map((values) => values.join())
    return [own.map(([id]) => id), byMemory.join('/'), messages.sort(), timers.sort(), decisions.join('|')].join(' ')
  }

  #partsOf(process: Process, memories: number): readonly number[] {
    const known = this.#known.get(process)
    if (known !== undefined) return known
    const { own, byMemory } = this.#divide?.(process, memories) ?? { own: process, byMemory: [] }
    const parts = [own, ...byMemory].map((part) => this.#number(JSON.stringify(part)))
    this.#known.set(process, parts)
    return parts
  }

  #idOf<T extends object>(part: T, textOf: (part: T) => string): number {
    const known = this.#known.get(part)
    if (known !== undefined) return known[0]!
    const id = this.#number(textOf(part))
    this.#known.set(part, [id])
    return id
  }

  #number(text: string): number {
    let id = this.#ids.get(text)
    if (id === undefined) {
      id = this.#ids.size + 1
      this.#ids.set(text, id)
    }
    return id
  }
}

/** Without the times, which no process sees. */
const operationText = (queue: AgreementWorld['operations'][number]): string =>
  JSON.stringify(queue.map(({ operation, tag }) => [operation, tag]))
const answerText = (queue: AgreementWorld['answers'][number]): string =>
  JSON.stringify(queue.map(({ ok, values, tag }) => [ok, values, tag]))
const messageText = ({ from, to, message }: AgreementWorld['messages'][number]): string =>
  JSON.stringify([from, to, message])
const timerText = ({ process, tag }: AgreementWorld['timers'][number]): string =>
  JSON.stringify(['timer', process, tag])
