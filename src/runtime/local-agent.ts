import process from 'node:process'
import { ClosedError, native, systemFailure, TIMER_MS_MAX, type Watcher } from '../native/index.ts'
import type { AgentContext, Machine, MachineFactory } from './agent-contract.ts'
import { KeepAlive } from './keep-alive.ts'
import { Random } from './random.ts'
import { Timers } from './timers.ts'

export interface LocalAgentOptions {
  readonly createMachine: MachineFactory
  readonly data: unknown
  readonly seed: number
  /** Receives the machine's unsolicited notes, later. */
  readonly onNote: (note: unknown) => void
  /** The machine has done something in its turns. Called at once, also out of {@link LocalAgent.ring}. */
  readonly onTurned: () => void
}

/** Turns in a row, before the event loop has its own. */
const TURNS_MAX = 64
/** A timer that would be due this much earlier is set again. */
const TIMER_SLACK_NS = 500_000

interface Command {
  readonly name: string
  readonly payload: unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs a {@link Machine} on the event loop of the program itself, as an `Agent` does in a thread of its own. What the
 * program asks for is done before {@link ring} returns, without a switch of threads. In return, the machine stands
 * still while the program computes. Keeps a process alive only while a command is unanswered.
 */
export class LocalAgent {
  readonly #machine: Machine
  readonly #timers = new Timers()
  readonly #onTurned: () => void
  readonly #watcher: Watcher
  readonly #keepAlive = new KeepAlive()
  /** Descriptors that are watched; a token is the place here. */
  #descriptors: readonly number[] = []
  #commands: Command[] = []
  #now = native.monotonicNs()
  #timer: NodeJS.Timeout | undefined
  #timerNs = Number.POSITIVE_INFINITY
  #isTurning = false
  /** A turn had something to do since this was told. */
  #hasTurned = false
  #sleepsSoon = false
  #closed = false

  constructor(options: LocalAgentOptions) {
    const { createMachine, data, seed, onNote, onTurned } = options
    this.#onTurned = onTurned
    this.#watcher = native.createWatcher((token) => {
      this.#watcher.rearm(token)
      this.#machine.readable?.(this.#descriptors[token]!)
      this.#run()
    })
    const context: AgentContext = {
      runtime: { now: () => this.#now, timers: this.#timers, random: new Random(seed) },
      notify: (note) => setImmediate(() => onNote(note)),
      exit: (code, message) => {
        process.stderr.write(`${message}\n`)
        native.exitNow(code)
      },
    }
    try {
      this.#machine = createMachine(context, data)
    } catch (error) {
      this.#watcher.close()
      throw systemFailure(error)
    }
    this.#sleepSoon()
  }

  /** There is something for the machine in shared memory. */
  ring(): void {
    this.#run()
  }

  /** Send the machine a command. Its memory is the machine's where an `Agent` would transfer it. */
  command(name: string, payload: unknown, _transferList?: readonly ArrayBuffer[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(new ClosedError('the agent'))
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#commands.push({ name, payload, resolve, reject })
      this.#run()
    })
    return this.#keepAlive.during(answered)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    this.#watcher.close()
    this.#machine.close()
    for (const { reject } of this.#commands.splice(0)) reject(new ClosedError('the agent'))
  }

  /** What is asked for in the middle of a turn is done in the next one, which follows. */
  #run(): void {
    if (this.#isTurning || this.#closed) return
    this.#isTurning = true
    this.#turns()
    this.#isTurning = false
    this.#sleepSoon()
    this.#tell()
  }

  #tell(): void {
    if (!this.#hasTurned) return
    this.#hasTurned = false
    this.#onTurned()
  }

  /** False if there may be more to do. */
  #turns(): boolean {
    let left = TURNS_MAX
    while (left > 0 && this.#turn()) left -= 1
    return left > 0
  }

  #turn(): boolean {
    this.#now = native.monotonicNs()
    const commands = this.#commands
    if (commands.length > 0) {
      this.#commands = []
      for (const command of commands) this.#obey(command)
    }
    const due = this.#timers.runDue(this.#now)
    const any = this.#machine.turn() || due || commands.length > 0
    this.#hasTurned ||= any
    return any
  }

  #obey({ name, payload, resolve, reject }: Command): void {
    try {
      this.#machine.command(name, payload, { resolve, reject })
    } catch (error) {
      reject(systemFailure(error))
    }
  }

  /** To be woken costs system calls: it is prepared once for all that is asked for in one turn of the event loop. */
  #sleepSoon(): void {
    if (this.#sleepsSoon || this.#closed) return
    this.#sleepsSoon = true
    setImmediate(() => {
      this.#sleepsSoon = false
      if (!this.#closed) this.#sleep()
    })
  }

  #sleep(): void {
    this.#isTurning = true
    const sleeps = this.#turns() && this.#machine.prepareSleep()
    // To prepare may take a turn, too.
    this.#hasTurned ||= !sleeps
    this.#isTurning = false
    this.#watch()
    this.#setTimer()
    this.#tell()
    if (!sleeps) this.#sleepSoon()
  }

  #watch(): void {
    const { descriptors } = this.#machine
    if (descriptors === this.#descriptors) return
    for (const token of this.#descriptors.keys()) this.#watcher.remove(token)
    this.#descriptors = descriptors
    for (const [token, descriptor] of descriptors.entries()) this.#watcher.add(token, descriptor)
  }

  #setTimer(): void {
    const { nextNs } = this.#timers
    if (this.#timer !== undefined && nextNs > this.#timerNs - TIMER_SLACK_NS) return
    clearTimeout(this.#timer)
    this.#timerNs = nextNs
    const delayMs = Math.max(0, Math.ceil((nextNs - native.monotonicNs()) / 1e6))
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#run()
      },
      Math.min(delayMs, TIMER_MS_MAX),
    ).unref()
  }
}
