import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { native } from '../../../native/index.ts'
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

/** The agent's side of a {@link Door}: no event loop turns here. */
export class AgentDoor {
  readonly #place: DoorPlace
  readonly #count: Int32Array
  #seen = 0

  constructor(place: DoorPlace) {
    this.#place = place
    this.#count = new Int32Array(place.count)
  }

  get descriptor(): number {
    return this.#place.bell
  }

  /** Returns true if there was a question. */
  turn(answer: (question: DoorQuestion, done: (answer: DoorAnswer) => void) => void): boolean {
    const count = Atomics.load(this.#count, 0)
    if (count === this.#seen) return false
    this.#seen = count
    native.drainPipe(this.#place.bell)
    const { port } = this.#place
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      const { token, question } = next.message as { token: number; question: unknown }
      const checked = readDoorQuestion(question)
      if (checked === undefined) port.postMessage({ token, answer: null })
      else answer(checked, (said) => port.postMessage({ token, answer: said }))
    }
    return true
  }

  close(): void {
    this.#place.port.close()
  }
}
