import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AetherError, TimeoutError } from 'aether-dsm/internal/native'
import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { Costs, WorldEvent } from '../play/world.ts'
import { makeKeys } from './identity.ts'
import type { Place } from './place.ts'
import { type MemberPlan, type MemberTask, type MemberTells, machineNow } from './plan.ts'

const program = fileURLToPath(new URL('./member-main.js', import.meta.url))
/** Until all have connected to all. An emulated processor needs a minute to start as many programs. */
const CONNECT_MS_MAX = 300_000

/** What is to be run, and where. */
export interface RealScene {
  readonly algorithm: Algorithm
  readonly setting: Setting
  /** What each process proposes. */
  readonly inputs: readonly string[]
  readonly device: string
  readonly address: string
  readonly delayMs: number
  readonly rounds?: number
  /** What processes do that do not keep to the algorithm, as `liesOf` names it. */
  readonly lies?: Readonly<Record<number, string>>
  /** Told what happens; times are in ms from the beginning of the round. */
  readonly watch?: (event: WorldEvent) => void
}

/** What a process has decided, how long after it had begun, and what it had done by then. */
export interface RealDecision {
  readonly value: string
  readonly tookMs: number
  readonly costs: Costs
}

/** One of the processes, or one of the memories. */
interface Victim {
  readonly process?: number
  readonly memory?: number
}

/** A process or memory, as a process of its own. */
class Member {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  onTells: (tells: MemberTells) => void = () => undefined
  isUp = true

  constructor(plan: MemberPlan) {
    this.child = fork(program, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.child.on('message', (tells: MemberTells) => this.onTells(tells))
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.isUp = false
        resolve()
      }
      this.child.once('exit', end)
      // It could not be started at all; or it could not be told something, and tells of its own end.
      this.child.on('error', () => {
        if (this.child.pid === undefined) end()
      })
    })
    // Not as an argument, which everyone on the machine can read: it has a private key.
    this.tell(plan)
  }

  tell(task: MemberPlan | MemberTask): void {
    // One that was killed hears nothing.
    if (this.child.connected) this.child.send(task, () => undefined)
  }
}

/**
 * The processes and memories of an algorithm, each a process of this machine that can be killed by itself.
 *
 * Each process has keys of its own (Ed25519). It shows by them who it is before a memory or another process listens to
 * it.
 */
export class AgreementCrew implements AsyncDisposable {
  readonly scene: RealScene
  readonly #processes: readonly Member[]
  readonly #memories: readonly Member[]
  /** By process: what it has decided in this round. */
  decisions: (readonly RealDecision[])[] = []
  /** By process: whom it takes for the leader, where that is the task. */
  leaders: (number | undefined)[] = []
  #round = 0
  #isMet = false
  #failure: AetherError | undefined
  #changed: () => void = () => undefined

  private constructor(scene: RealScene) {
    this.scene = scene
    const { algorithm, setting, inputs, device, address, delayMs, lies = {}, rounds = 1 } = scene
    const keys = inputs.map(() => makeKeys())
    const shared = {
      algorithm: algorithm.name,
      setting,
      rounds,
      device,
      address,
      publicKeys: keys.map(({ publicKey }) => publicKey),
    }
    this.#memories = Array.from(
      { length: setting.memories },
      (_, memory) => new Member({ ...shared, role: 'memory', memory }),
    )
    this.#processes = inputs.map(
      (input, process) =>
        new Member({
          ...shared,
          role: 'process',
          process,
          privateKey: keys[process]!.privateKey,
          input,
          delayMs,
          lie: lies[process],
          watched: scene.watch !== undefined,
        }),
    )
  }

  /**
   * Starts all, and connects all to all.
   * @throws AetherError if one of them fails at that; TimeoutError
   */
  static async start(scene: RealScene): Promise<AgreementCrew> {
    const crew = new AgreementCrew(scene)
    try {
      await crew.#meet()
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  isCorrect(process: number): boolean {
    return this.scene.lies?.[process] === undefined
  }

  isUp(process: number): boolean {
    return this.#processes[process]!.isUp
  }

  /** Kills that process or memory, with SIGKILL; resolves when it has ended. */
  async kill(victim: Victim): Promise<void> {
    const member = this.#member(victim)
    member.child.kill('SIGKILL')
    await member.ended
    this.#changed()
  }

  /** Stops that process or memory where it is, with SIGSTOP: it is slow, not dead. */
  pause(victim: Victim): void {
    this.#member(victim).child.kill('SIGSTOP')
  }

  /** Lets it go on. */
  resume(victim: Victim): void {
    this.#member(victim).child.kill('SIGCONT')
  }

  /** Lets all begin the next round. Resolves to the beginning of its time, as `machineNow` tells it. */
  begin(round: number): number {
    this.#round = round
    this.decisions = this.#processes.map(() => [])
    this.leaders = this.#processes.map(() => undefined)
    const startedAt = machineNow()
    for (const member of this.#processes) member.tell({ do: 'begin', round, startedAt })
    return startedAt
  }

  /**
   * Waits until that holds, and looks whenever something has changed. Resolves to false if it does not in time.
   * @throws AetherError if a member has failed.
   */
  async until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#changed()
    }, timeoutMs)
    while (this.#failure === undefined && !holds() && !isLate)
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    clearTimeout(timer)
    if (this.#failure !== undefined) throw this.#failure
    return holds()
  }

  /** All correct processes that are up have decided. */
  get isOver(): boolean {
    return this.#processes.every(
      ({ isUp }, process) => !isUp || !this.isCorrect(process) || this.decisions[process]!.length > 0,
    )
  }

  /** The process that all which are up take for the leader, and which is up itself; undefined while there is none. */
  get commonLeader(): number | undefined {
    const leaders = new Set(this.leaders.filter((_, process) => this.isUp(process)))
    const [leader] = leaders
    return leaders.size === 1 && leader !== undefined && this.isUp(leader) ? leader : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of [...this.#processes, ...this.#memories]) child.kill('SIGKILL')
    await Promise.all([...this.#processes, ...this.#memories].map(({ ended }) => ended))
  }

  #member({ process, memory }: Victim): Member {
    return process === undefined ? this.#memories[memory!]! : this.#processes[process]!
  }

  async #meet(): Promise<void> {
    const { device, address } = this.scene
    const places = new Map<Member, Place>()
    let connected = 0
    const everyone = [...this.#processes, ...this.#memories]
    for (const member of everyone) {
      member.onTells = (tells) => {
        if (tells.tell === 'listening') places.set(member, { device, address, port: tells.port })
        else if (tells.tell === 'connected') connected += 1
        else this.#take(this.#processes.indexOf(member), tells)
        this.#changed()
      }
      void member.ended.then(() => this.#changed())
    }
    const wait = async (holds: () => boolean): Promise<void> => {
      const isDead = (): boolean => everyone.some(({ isUp }) => !isUp)
      const isSo = await this.until(() => holds() || isDead(), CONNECT_MS_MAX)
      if (isDead()) throw new AetherError('ERR_AETHER_JOIN', 'a process ended before all were connected')
      if (!isSo)
        throw new TimeoutError(
          `not all of ${everyone.length} processes are connected over ${device} after ${CONNECT_MS_MAX} ms`,
        )
    }
    await wait(() => places.size === everyone.length)
    const placesOf = (members: readonly Member[]): Place[] => members.map((member) => places.get(member)!)
    for (const member of this.#processes)
      member.tell({ do: 'connect', processes: placesOf(this.#processes), memories: placesOf(this.#memories) })
    await wait(() => connected === this.#processes.length)
    this.#isMet = true
  }

  #take(process: number, tells: MemberTells): void {
    switch (tells.tell) {
      case 'events':
        for (const event of tells.events) this.scene.watch?.(event)
        return
      case 'decided': {
        const { value, tookMs, costs } = tells
        if (tells.round !== this.#round) return
        this.decisions[process] = [...this.decisions[process]!, { value, tookMs, costs }]
        return
      }
      case 'elected':
        this.leaders[process] = tells.leader
        return
      case 'failed': {
        // A memory that cannot go on has crashed, as it may.
        if (process < 0 && this.#isMet) return
        const who = process < 0 ? 'a memory' : `process ${process}`
        this.#failure ??= new AetherError('ERR_AETHER_AGENT', `${who} failed: ${tells.message}`)
      }
    }
  }
}
