import type { Algorithm, Setting } from '../model/algorithm.ts'
import { Memory, type MemoryAnswer, type MemoryOperation } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data, Process, Register } from '../model/process.ts'
import { copyOf } from './copy.ts'
import { IdealSignatures, type Signatures } from './signatures.ts'

/** What can happen next. Messages and timers are named by their place among those under way. */
export type Action =
  | { readonly do: 'begin'; readonly process: number }
  | { readonly do: 'deliver'; readonly message: number }
  /** The link loses the message, where links are fair-lossy. */
  | { readonly do: 'drop'; readonly message: number }
  /** The memory carries out the oldest operation of a process. */
  | { readonly do: 'execute'; readonly process: number; readonly memory: number }
  /** The process gets the oldest answer. */
  | { readonly do: 'answer'; readonly process: number; readonly memory: number }
  | { readonly do: 'timer'; readonly timer: number }
  | { readonly do: 'lead'; readonly process: number; readonly leader: number }
  | { readonly do: 'crash'; readonly process: number }
  | { readonly do: 'crash-memory'; readonly memory: number }

export interface MessageUnderWay {
  readonly from: number
  readonly to: number
  readonly message: Data
  readonly sentAt: number
  readonly sentStep: number
}

export interface TimerUnderWay {
  readonly process: number
  readonly tag: string
  readonly at: number
}

export interface OperationUnderWay {
  readonly operation: MemoryOperation
  readonly tag: string
  readonly sentAt: number
  readonly sentStep: number
}

export interface AnswerUnderWay extends MemoryAnswer {
  readonly tag: string
  readonly executedAt: number
  readonly executedStep: number
}

/** What was done in all, by kind. */
export interface Costs {
  messages: number
  writes: number
  reads: number
  claims: number
  permissions: number
  signatures: number
}

/** What had been done when the first process decided, and after how many delays that was. */
export interface FirstDecision extends Costs {
  readonly delays: number
}

/** How a play begins. */
export interface Scene {
  readonly algorithm: Algorithm
  readonly setting: Setting
  /** What each process proposes. */
  readonly inputs: readonly string[]
  /** Processes that do not keep to the algorithm. */
  readonly others?: Readonly<Record<number, (setting: Setting) => Process>>
  readonly signatures?: Signatures
  /** Told what happens, for a picture. */
  readonly watch?: (event: WorldEvent) => void
}

/** When something happens. */
interface Instant {
  /** In delays, or in milliseconds where real processes played. */
  readonly at: number
  /** The number of the action in which it happens: an order where time stands still. A play in real time has none. */
  readonly step?: number
}

/** What takes time: when it began, and when it is over. */
interface Span extends Instant {
  readonly sentAt: number
  readonly sentStep?: number
}

/** What a picture shows. */
export type WorldEvent =
  | (Span & { readonly type: 'message'; readonly from: number; readonly to: number; readonly message: Data })
  /** A message that the link loses. */
  | (Span & { readonly type: 'loss'; readonly from: number; readonly to: number; readonly message: Data })
  | (Span & {
      readonly type: 'operation'
      readonly process: number
      readonly memory: number
      readonly operation: MemoryOperation
      readonly ok: boolean
    })
  | (Span & {
      readonly type: 'answer'
      readonly process: number
      readonly memory: number
      /** What the memory says, where it is known. */
      readonly answer?: MemoryAnswer
    })
  | (Instant & { readonly type: 'decide'; readonly process: number; readonly value: string })
  | (Instant & { readonly type: 'lead'; readonly process: number; readonly leader: number })
  | (Instant & { readonly type: 'crash'; readonly process?: number; readonly memory?: number })

/**
 * The processes and memories of a play, and all that is under way between them. It does what it is told and decides
 * nothing: the order of actions is that of who plays it.
 *
 * All fields are replaced and never changed in place, except processes and memories, which are copied before a step
 * where a fork shares them. So a fork costs little.
 */
export class AgreementWorld {
  readonly scene: Scene
  readonly signatures: Signatures
  now = 0
  /** How many actions have been performed. */
  steps = 0
  processes: readonly Process[]
  memories: readonly Memory[]
  /** Whether each process has been told to begin. */
  begun: readonly boolean[]
  up: readonly boolean[]
  memoryUp: readonly boolean[]
  messages: readonly MessageUnderWay[] = []
  timers: readonly TimerUnderWay[] = []
  /** By process and memory: see {@link AgreementWorld.channel}. */
  operations: readonly (readonly OperationUnderWay[])[]
  answers: readonly (readonly AnswerUnderWay[])[]
  /** What each process has decided; more than one value is a mistake of its own. */
  decisions: readonly (readonly string[])[]
  decidedAt: readonly (number | undefined)[]
  /** By process, the one that it takes for the leader, where that is the task. */
  leaders: readonly (number | undefined)[]
  costs: Costs = { messages: 0, writes: 0, reads: 0, claims: 0, permissions: 0, signatures: 0 }
  /** What had been done when the first process decided. */
  first: FirstDecision | undefined
  /** What a coin shows that is flipped next. */
  coin: () => boolean = () => false
  /** How many coins have been flipped. */
  flips = 0
  /** Whether processes and memories are also those of another world. */
  shares = false

  constructor(scene: Scene) {
    const { algorithm, setting, others = {} } = scene
    this.scene = scene
    this.signatures = scene.signatures ?? new IdealSignatures()
    const regions = algorithm.regions(setting)
    const processes = Array.from({ length: setting.processes }, (_, process) => process)
    const memories = Array.from({ length: setting.memories }, (_, memory) => memory)
    this.processes = processes.map((process) => others[process]?.(setting) ?? algorithm.create(process, setting))
    this.memories = memories.map((memory) => new Memory(regions.filter(({ at }) => at?.includes(memory) ?? true)))
    this.begun = processes.map(() => false)
    this.up = processes.map(() => true)
    this.memoryUp = memories.map(() => true)
    this.operations = processes.flatMap(() => memories.map(() => []))
    this.answers = processes.flatMap(() => memories.map(() => []))
    this.decisions = processes.map(() => [])
    this.decidedAt = processes.map(() => undefined)
    this.leaders = processes.map(() => undefined)
  }

  /** A world in the same state that goes its own way. It shares what has not changed, and the signatures. */
  fork(): AgreementWorld {
    this.shares = true
    return Object.assign(Object.create(AgreementWorld.prototype) as AgreementWorld, this, { costs: { ...this.costs } })
  }

  channel(process: number, memory: number): number {
    return process * this.scene.setting.memories + memory
  }

  /** True for a process that keeps to the algorithm. */
  isCorrect(process: number): boolean {
    return this.scene.others?.[process] === undefined
  }

  /** Whose step an action is; undefined where no process takes one. */
  stepperOf(action: Action): number | undefined {
    if (action.do === 'deliver') return this.messages[action.message]!.to
    if (action.do === 'timer') return this.timers[action.timer]!.process
    return action.do === 'begin' || action.do === 'answer' || action.do === 'lead' ? action.process : undefined
  }

  perform(action: Action): void {
    this.steps += 1
    switch (action.do) {
      case 'begin':
        this.begun = replaced(this.begun, action.process, true)
        this.step(action.process, { type: 'begin', input: this.scene.inputs[action.process]! })
        return
      case 'deliver': {
        const message = this.messages[action.message]!
        const { from, to } = message
        this.messages = without(this.messages, action.message)
        this.scene.watch?.({ type: 'message', ...message, ...this.instant })
        this.step(to, { type: 'message', from, message: message.message })
        return
      }
      case 'drop':
        this.scene.watch?.({ type: 'loss', ...this.messages[action.message]!, ...this.instant })
        this.messages = without(this.messages, action.message)
        return
      case 'execute':
        this.execute(action.process, action.memory)
        return
      case 'answer': {
        const { process, memory } = action
        const channel = this.channel(process, memory)
        const [{ tag, ok, values, executedAt, executedStep }, ...rest] = this.answers[channel] as [AnswerUnderWay]
        this.answers = replaced(this.answers, channel, rest)
        const sent = { sentAt: executedAt, sentStep: executedStep }
        this.scene.watch?.({ type: 'answer', process, memory, answer: { ok, values }, ...sent, ...this.instant })
        this.step(process, { type: 'answer', memory, tag, ok, values })
        return
      }
      case 'timer': {
        const { process, tag } = this.timers[action.timer]!
        this.timers = without(this.timers, action.timer)
        this.step(process, { type: 'timer', tag })
        return
      }
      case 'lead':
        this.scene.watch?.({ type: 'lead', process: action.process, leader: action.leader, ...this.instant })
        this.step(action.process, { type: 'leader', leader: action.leader })
        return
      case 'crash':
        this.up = replaced(this.up, action.process, false)
        this.scene.watch?.({ type: 'crash', process: action.process, ...this.instant })
        return
      case 'crash-memory':
        this.memoryUp = replaced(this.memoryUp, action.memory, false)
        this.scene.watch?.({ type: 'crash', memory: action.memory, ...this.instant })
    }
  }

  get instant(): { at: number; step: number } {
    return { at: this.now, step: this.steps }
  }

  /** One step of a process. What it does is under way afterwards. */
  step(process: number, event: AgreementEvent): void {
    if (!this.up[process]) return
    const one = this.shares ? copyOf(this.processes[process]!) : this.processes[process]!
    if (this.shares) this.processes = replaced(this.processes, process, one)
    one.step(event, new WorldActs(this, process))
  }

  execute(process: number, memory: number): void {
    const channel = this.channel(process, memory)
    const [{ operation, tag, sentAt, sentStep }, ...rest] = this.operations[channel] as [OperationUnderWay]
    this.operations = replaced(this.operations, channel, rest)
    const changes = operation.do !== 'read'
    const one = this.shares && changes ? copyOf(this.memories[memory]!) : this.memories[memory]!
    if (this.shares && changes) this.memories = replaced(this.memories, memory, one)
    const answer = one.perform(process, operation)
    const { ok } = answer
    this.scene.watch?.({ type: 'operation', process, memory, operation, ok, sentAt, sentStep, ...this.instant })
    this.answers = replaced(this.answers, channel, [
      ...this.answers[channel]!,
      { ok, values: answer.values, tag, executedAt: this.now, executedStep: this.steps },
    ])
  }

  begin(process: number, memory: number, operation: MemoryOperation, tag: string): void {
    const channel = this.channel(process, memory)
    const under = { operation, tag, sentAt: this.now, sentStep: this.steps }
    this.operations = replaced(this.operations, channel, [...this.operations[channel]!, under])
  }
}

const replaced = <T>(list: readonly T[], index: number, value: T): T[] =>
  list.map((each, position) => (position === index ? value : each))

const without = <T>(list: readonly T[], index: number): T[] => list.filter((_, position) => position !== index)

/** What a process does in a step of a world. */
class WorldActs implements Acts {
  readonly now: number
  readonly #world: AgreementWorld
  readonly #process: number

  constructor(world: AgreementWorld, process: number) {
    this.now = world.now
    this.#world = world
    this.#process = process
  }

  send(to: number, message: Data): void {
    const world = this.#world
    world.costs.messages += 1
    const sent = { sentAt: this.now, sentStep: world.steps }
    world.messages = [...world.messages, { from: this.#process, to, message, ...sent }]
  }

  write(memory: number, register: Register, value: Data, tag: string): void {
    this.#world.costs.writes += 1
    this.#world.begin(this.#process, memory, { do: 'write', register, value }, tag)
  }

  read(memory: number, registers: readonly Register[], tag: string): void {
    this.#world.costs.reads += 1
    this.#world.begin(this.#process, memory, { do: 'read', registers }, tag)
  }

  claim(memory: number, register: Register, value: Data, tag: string): void {
    this.#world.costs.claims += 1
    this.#world.begin(this.#process, memory, { do: 'claim', register, value }, tag)
  }

  permit(memory: number, region: string, writers: readonly number[], tag: string): void {
    this.#world.costs.permissions += 1
    this.#world.begin(this.#process, memory, { do: 'permit', region, writers }, tag)
  }

  wake(delays: number, tag: string): void {
    const timer = { process: this.#process, tag, at: this.now + delays }
    this.#world.timers = [...this.#world.timers, timer]
  }

  flip(): boolean {
    this.#world.flips += 1
    return this.#world.coin()
  }

  sign(text: string): string {
    this.#world.costs.signatures += 1
    return this.#world.signatures.sign(this.#process, text)
  }

  verify(process: number, text: string, signature: string): boolean {
    return this.#world.signatures.verify(process, text, signature)
  }

  decide(value: string): void {
    const world = this.#world
    world.decisions = replaced(world.decisions, this.#process, [...world.decisions[this.#process]!, value])
    world.first ??= { delays: this.now, ...world.costs }
    if (world.decidedAt[this.#process] === undefined)
      world.decidedAt = replaced(world.decidedAt, this.#process, this.now)
    world.scene.watch?.({ type: 'decide', process: this.#process, value, ...world.instant })
  }

  elect(leader: number): void {
    this.#world.leaders = replaced(this.#world.leaders, this.#process, leader)
    this.#world.scene.watch?.({ type: 'lead', process: this.#process, leader, ...this.#world.instant })
  }
}
