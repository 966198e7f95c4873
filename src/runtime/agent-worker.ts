/**
 * The agent's own thread: loads the machine, then loops for ever.
 *
 * It must never touch a managed page (it would wait for itself), nor use `console` (that goes through the main thread,
 * which may be blocked in the very fault the agent is to answer). If it fails, the process must end at once: the guard
 * does that from the environment's cleanup hook.
 */
import { writeSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { AetherError, type AetherErrorCode, native, systemFailure } from '../native/index.ts'
import { flushTrace, identifyTrace, printError } from '../profiling/index.ts'
import {
  type AgentContext,
  type AgentMessage,
  type AgentStart,
  AgentState,
  AgentWord,
  type CommandMessage,
  type Machine,
  type MachineFactory,
} from './agent-contract.ts'
import { SLICE_NS_MIN } from './process-life.ts'
import { Random } from './random.ts'
import { Timers } from './timers.ts'

/**
 * A leaving process ends after this time, even if another of its threads waits in a fault that no one answers. Node
 * would wait for that thread.
 */
const leaveNsMax = 2e9

/** The longest sleep, so that termination is noticed even without a ring. */
const sleepMsMax = 100

/** Its timers are of tens of microseconds; the kernel's habit would double them. */
const timerSlackNs = 1000

const start = workerData as AgentStart
const port = parentPort!
const words = new Int32Array(start.words)

class Loop {
  readonly #timers = new Timers()
  readonly #machine: Machine
  #now = native.monotonicNs()
  #bellSeen = -1

  constructor(createMachine: MachineFactory) {
    const context: AgentContext = {
      runtime: { now: () => this.#now, timers: this.#timers, random: new Random(start.seed) },
      notify: (note) => say({ kind: 'note', note }),
      exit: endProcess,
    }
    this.#machine = createMachine(context, start.machineData)
  }

  run(): void {
    Atomics.store(words, AgentWord.State, AgentState.Running)
    say({ kind: 'up' })
    let idleSince = native.monotonicNs()
    while (!this.#isOver()) {
      this.#now = native.monotonicNs()
      if (this.#turn()) idleSince = this.#now
      else if (!(this.#machine.looksOn?.() ?? this.#now - idleSince < start.spinNs)) {
        this.#sleep()
        idleSince = native.monotonicNs()
      }
    }
    this.#machine.close()
    flushTrace()
    native.unguardEnvironment()
    Atomics.store(words, AgentWord.State, AgentState.Closed)
    Atomics.notify(words, AgentWord.State)
  }

  #turn(): boolean {
    const bell = Atomics.load(words, AgentWord.Bell)
    const rung = bell !== this.#bellSeen
    this.#bellSeen = bell
    if (rung) this.#takeCommands()
    const due = this.#timers.runDue(this.#now)
    return this.#machine.turn() || due || rung
  }

  #takeCommands(): void {
    for (let received = receiveMessageOnPort(port); received !== undefined; received = receiveMessageOnPort(port)) {
      const { id, name, payload, sync } = received.message as CommandMessage
      const answer = sync ? sayToBlocked : say
      const reject = (error: unknown): void => answer({ kind: 'error', id, ...describeError(error) })
      try {
        this.#machine.command(name, payload, { resolve: (value) => answer({ kind: 'reply', id, value }), reject })
      } catch (error) {
        reject(error)
      }
    }
  }

  #sleep(): void {
    const descriptors = this.#machine.descriptors
    flushTrace()
    Atomics.store(words, AgentWord.Asleep, 1)
    if (Atomics.load(words, AgentWord.Bell) === this.#bellSeen && this.#machine.prepareSleep()) {
      const timeoutMs = Math.max(0, Math.min(sleepMsMax, (this.#timers.nextNs - native.monotonicNs()) / 1e6))
      // A ring that comes when we do not sleep stays in the pipe and ends the next sleep at once.
      if (pollSet.wait(this.#machine, descriptors, timeoutMs)) native.drainPipe(start.doorbell)
      this.#now = native.monotonicNs()
      this.#machine.awoke?.()
    }
    Atomics.store(words, AgentWord.Asleep, 0)
  }

  /**
   * Leave while the exit handlers of the main thread run. Once Node takes this environment down, faults go unanswered.
   * The guard then ends the process at once, with the exit code that it wanted and without a word.
   */
  #leave(): void {
    const code = Atomics.load(words, AgentWord.ExitCode)
    native.guardEnvironment(code, '')
    this.#timers.at(native.monotonicNs() + leaveNsMax, () => native.exitNow(code))
    Atomics.store(words, AgentWord.State, AgentState.Left)
    Atomics.notify(words, AgentWord.State)
  }

  /** Acts on what the main thread wrote into the state word. */
  #isOver(): boolean {
    const state = Atomics.load(words, AgentWord.State)
    if (state === AgentState.Leaving) this.#leave()
    return state === AgentState.Closing
  }
}

/** The arrays that poll(2) reads, reused from sleep to sleep. */
class PollSet {
  #descriptors = new Int32Array(16)
  #ready = new Int32Array(16)

  /** True where the doorbell was rung. */
  wait(machine: Machine, descriptors: readonly number[], timeoutMs: number): boolean {
    const count = descriptors.length + 1
    if (count > this.#descriptors.length) {
      this.#descriptors = new Int32Array(2 * count)
      this.#ready = new Int32Array(2 * count)
    }
    this.#descriptors[0] = start.doorbell
    for (let index = 1; index < count; index += 1) this.#descriptors[index] = descriptors[index - 1]!
    if (machine.poll === undefined) native.poll(this.#descriptors, this.#ready, count, timeoutMs)
    else machine.poll(this.#descriptors, this.#ready, count, timeoutMs)
    if (machine.readable !== undefined)
      for (let index = 1; index < count; index += 1)
        if (this.#ready[index] !== 0) machine.readable(this.#descriptors[index]!)
    return this.#ready[0] !== 0
  }
}

const pollSet = new PollSet()

function endProcess(code: number, message: string): never {
  flushTrace()
  writeSync(2, `${message}\n`)
  native.exitNow(code)
}

/** A class does not survive the way between threads; its code does. */
function describeError(thrown: unknown): { code: AetherErrorCode; message: string } {
  const error = systemFailure(thrown)
  if (error instanceof AetherError) return { code: error.code, message: error.message }
  return { code: 'ERR_AETHER_AGENT', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

function sayToBlocked(message: AgentMessage): void {
  start.syncPort.postMessage(message)
  Atomics.add(words, AgentWord.SyncReplies, 1)
  Atomics.notify(words, AgentWord.SyncReplies)
}

function say(message: AgentMessage): void {
  port.postMessage(message)
}

identifyTrace({ threadName: 'agent' })
native.guardEnvironment(
  70,
  'aether: the agent of this process has failed; ending the process, because its shared pages can no longer be served\n',
)
native.setSlice(SLICE_NS_MIN, 0)
native.setTimerSlack(timerSlackNs)
try {
  const module = (await import(start.machineUrl)) as { createMachine: MachineFactory }
  new Loop(module.createMachine).run()
} catch (error) {
  if (Atomics.load(words, AgentWord.State) === AgentState.Starting) {
    // No page is served yet, so that the process can go on.
    native.unguardEnvironment()
    say({ kind: 'error', id: 0, ...describeError(error) })
  } else end(error)
}

function end(error: unknown): never {
  printError(`aether: the agent failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  native.exitNow(70)
}
