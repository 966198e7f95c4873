import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { native } from '../../../native/index.ts'
import type { MembershipView } from '../membership-machine.ts'
import { type DoorAnswer, type DoorQuestion, readDoorQuestion } from './introduction.ts'

/** How the agent hears of processes that want to join. */
export interface DoorPlace {
  /** To the thread that listens. */
  readonly port: MessagePort
  /** One Int32: how many questions that thread has put. */
  readonly count: SharedArrayBuffer
  /** Readable after a question. */
  readonly bell: number
}

/** To the agent. */
export type DoorNote =
  /** The worker has checked only that the asking process knows the secret. */
  | { readonly token: number; readonly question: unknown }
  /** What a member that is met at another seed has. */
  | { readonly overheard: MembershipView }

/** From the agent. */
export type DoorDemand = { readonly token: number; readonly answer: DoorAnswer | null } | 'overhear'

/** How often a member without a quorum has others asked. */
const OVERHEAR_NS = 1e9

/** The agent's side of a {@link Door}: no event loop turns here. */
export class AgentDoor {
  readonly #place: DoorPlace
  readonly #count: Int32Array
  #seen = 0
  #overhearsNs = 0

  constructor(place: DoorPlace) {
    this.#place = place
    this.#count = new Int32Array(place.count)
  }

  get descriptor(): number {
    return this.#place.bell
  }

  /** Ask members that are met at other seeds for their view, now and then. */
  overhear(nowNs: number): void {
    if (nowNs < this.#overhearsNs) return
    this.#overhearsNs = nowNs + OVERHEAR_NS
    this.#say('overhear')
  }

  #say(demand: DoorDemand): void {
    this.#place.port.postMessage(demand)
  }

  /** Returns true if there was a question. */
  turn(group: {
    atDoor(question: DoorQuestion, done: (answer: DoorAnswer) => void): void
    overheard(view: MembershipView): void
  }): boolean {
    const count = Atomics.load(this.#count, 0)
    if (count === this.#seen) return false
    this.#seen = count
    native.drainPipe(this.#place.bell)
    const { port } = this.#place
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      const note = next.message as DoorNote
      if ('overheard' in note) {
        group.overheard(note.overheard)
        continue
      }
      const { token } = note
      const question = readDoorQuestion(note.question)
      if (question === undefined) this.#say({ token, answer: null })
      else group.atDoor(question, (answer) => this.#say({ token, answer }))
    }
    return true
  }

  close(): void {
    this.#place.port.close()
  }
}
