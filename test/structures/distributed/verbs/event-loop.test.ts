import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventLoop } from '../../../../src/structures/distributed/verbs/event-loop.ts'
import { type CompletionChannel, openDevice } from '../../../../src/verbs/index.ts'
import { useRuntimeDirectory } from '../../../cluster/support.ts'

useRuntimeDirectory()

/** Things under way that are answered at the given number of looks, each of which somebody awaits. */
class Answers {
  readonly loop = new EventLoop()
  readonly #channel: CompletionChannel
  readonly #waiting: { looksLeft: number; resolve: () => void }[] = []

  constructor(channel: CompletionChannel) {
    this.#channel = channel
  }

  ask(looks: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ looksLeft: looks, resolve })
      this.loop.drive(
        this.#channel,
        () => this.#look(),
        () => true,
      )
    })
  }

  #look(): boolean {
    for (const one of [...this.#waiting]) {
      one.looksLeft -= 1
      if (one.looksLeft > 0) continue
      this.#waiting.splice(this.#waiting.indexOf(one), 1)
      one.resolve()
    }
    return this.#waiting.length > 0
  }
}

test('what is begun when an answer has come is answered, too', async () => {
  using device = openDevice('shm0')
  const answers = new Answers(device.createCompletionChannel())
  for (const looks of [1, 2, 3, 10, 17, 18, 19, 20]) {
    for (let call = 0; call < 3; call += 1) await answers.ask(looks)
  }
})

test('a program that does one thing after the other leaves the event loop its turns', async () => {
  using device = openDevice('shm0')
  const answers = new Answers(device.createCompletionChannel())
  let turned = false
  setImmediate(() => (turned = true))
  let calls = 0
  for (; !turned; calls += 1) {
    assert.ok(calls < 10_000, 'no turn')
    await answers.ask(1)
  }
  assert.ok(calls > 1)
})
