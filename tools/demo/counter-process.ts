/**
 * One of the counting processes of the demo's first part: does the tasks that its parent sends, and leaves when the
 * parent goes.
 * @module
 */
import { open } from 'aether-dsm'
import { type CounterReply, type CounterTask, counterIndex, counterRegion, noteIndex } from './counter-messages.ts'

/** Messages on their way at once; a process that never waits only fills its own memory. */
const messagesInFlight = 100

let counter = new Int32Array(0)
let place = 0
let answered: () => void = () => {}

const tasks: {
  readonly [K in CounterTask['kind']]: (task: Extract<CounterTask, { kind: K }>) => Promise<void> | void
} = {
  async open({ space: name, index }) {
    const space = await open(name)
    const region = await space.openRegion(counterRegion)
    counter = region.view(Int32Array)
    place = noteIndex(index)
  },

  add({ times }) {
    for (let i = 0; i < times; i += 1) Atomics.add(counter, counterIndex, 1)
  },

  /** Death between the two lines leaves the counter one ahead of the notes, never behind. */
  addAndNote({ times }) {
    for (let i = 1; i <= times; i += 1) {
      Atomics.add(counter, counterIndex, 1)
      Atomics.store(counter, place, i)
    }
  },

  async send({ times }) {
    for (let i = 1; i <= times; i += 1) {
      const sent = send({ kind: 'increment' })
      if (i % messagesInFlight === 0) await sent
    }
  },

  async ask({ times }) {
    for (let i = 0; i < times; i += 1) {
      const answer = new Promise<void>((resolve) => {
        answered = resolve
      })
      await send({ kind: 'ask' })
      await answer
    }
  },

  answer() {
    answered()
  },
}

function send(reply: CounterReply): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(reply, undefined, undefined, (error) => (error === null ? resolve() : reject(error)))
  })
}

async function perform(task: CounterTask): Promise<void> {
  try {
    await (tasks[task.kind] as (task: CounterTask) => Promise<void> | void)(task)
    if (task.kind !== 'answer') await send({ kind: 'done' })
  } catch (error) {
    await send({ kind: 'failed', message: (error as Error).message })
  }
}

process.on('message', (task: CounterTask) => void perform(task))
