import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CompletionMode } from '../../src/messaging/link-options.ts'
import { type Progressing, ProgressLoop } from '../../src/messaging/progress-loop.ts'
import type { CompletionChannel, CompletionQueue } from '../../src/verbs/index.ts'

/** A channel that rings when the test says so, and one connection over it that finds what the test puts there. */
class Scene {
  /** Of the clock that the loop reads. */
  nowMs = 1000
  /** Looks since the last sleep began. */
  looks = 0
  armed = false
  /** Completions that the next look finds. */
  found = 0
  /** The same, for the look that comes after arming. */
  foundOnceArmed = 0
  waiting = false
  readonly loop: ProgressLoop
  readonly subject: Progressing
  #readable: (() => void) | undefined

  constructor(t: TestContext, completion: CompletionMode) {
    t.mock.method(performance, 'now', () => this.nowMs)
    const queue = {
      arm: () => {
        this.armed = true
        this.found = this.foundOnceArmed
        this.foundOnceArmed = 0
      },
    } as CompletionQueue
    const channel: Pick<CompletionChannel, 'whenReadable' | 'drain'> = {
      whenReadable: (readable) => {
        this.#readable = readable
        this.waiting = true
        return () => {
          this.waiting = false
        }
      },
      drain: () => [queue],
    }
    this.loop = new ProgressLoop(channel as CompletionChannel)
    this.subject = {
      queue,
      completion,
      advance: () => {
        this.looks += 1
        const { found } = this
        this.found = 0
        return found
      },
    }
    this.loop.add(this.subject)
    t.after(() => this.loop.remove(this.subject))
  }

  /** Turns until it sleeps: how often it looked. The last of them is the one after it had armed its queue. */
  async looksUntilAsleep(): Promise<number> {
    this.looks = 0
    this.armed = false
    for (let before = -1; !this.armed || this.looks !== before; ) {
      before = this.looks
      await nextTurn()
    }
    return this.looks
  }

  /** The channel says that there is something after so long. */
  ringAfter(sleptMs: number, found = 0): void {
    this.nowMs += sleptMs
    this.found = found
    this.#readable?.()
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Looks of an end that sleeps after that many more than the first: those, and one after it has armed its queue. */
const looksOf = (more: number): number => more + 2

test('by events: it looks once, arms its queue, looks again, and sleeps until the channel says something', async (t) => {
  const scene = new Scene(t, 'events')
  assert.equal(await scene.looksUntilAsleep(), looksOf(0))
  assert.ok(scene.waiting)
  scene.ringAfter(0, 1)
  // The look that found something was within the ringing.
  assert.equal(await scene.looksUntilAsleep(), looksOf(0))
})

test('by polling: it looks in each turn and never sleeps', async (t) => {
  const scene = new Scene(t, 'polling')
  for (let turn = 0; turn < 1000; turn += 1) await nextTurn()
  assert.ok(scene.looks >= 1000)
  assert.equal(scene.armed, false)
})

/** Where the clock moves only when the test says so, looks cost no time; let one last too long, and it sleeps. */
const TOO_LONG_MS = 0.06

test('adaptive: it looks in each turn until that took too long, then arms its queue and sleeps', async (t) => {
  const scene = new Scene(t, 'adaptive')
  for (let turn = 0; turn < 100; turn += 1) await nextTurn()
  assert.ok(scene.looks >= 100)
  assert.equal(scene.armed, false)
  scene.nowMs += TOO_LONG_MS
  await scene.looksUntilAsleep()
  assert.ok(scene.waiting)
})

test('adaptive: once looks have cost more than they saved it sleeps at once; the channel wakes it', async (t) => {
  const scene = new Scene(t, 'adaptive')
  await nextTurn()
  scene.nowMs += 1000
  await scene.looksUntilAsleep()
  scene.ringAfter(0, 1)
  // The look that found something was within the ringing.
  assert.equal(await scene.looksUntilAsleep(), looksOf(0))
})

test('adaptive: what comes while it arms its queue keeps it awake', async (t) => {
  const scene = new Scene(t, 'adaptive')
  await nextTurn()
  scene.nowMs += 1000
  await scene.looksUntilAsleep()
  scene.ringAfter(0, 1)
  scene.foundOnceArmed = 1
  // It looks once more in the next turn, and then arms and looks again.
  assert.equal(await scene.looksUntilAsleep(), looksOf(0) + 2)
})

test('one that is woken by its program looks again without the channel', async (t) => {
  const scene = new Scene(t, 'adaptive')
  await nextTurn()
  scene.nowMs += 1000
  await scene.looksUntilAsleep()
  scene.loop.wake(scene.subject)
  assert.equal(await scene.looksUntilAsleep(), looksOf(0))
})

test('what rang for a thread that blocked is looked at in the next turn', async (t) => {
  const scene = new Scene(t, 'events')
  await scene.looksUntilAsleep()
  scene.loop.rang()
  assert.equal(await scene.looksUntilAsleep(), looksOf(0))
})

test('without anybody to look after it leaves the channel alone', async (t) => {
  const scene = new Scene(t, 'events')
  await scene.looksUntilAsleep()
  scene.loop.remove(scene.subject)
  assert.equal(scene.waiting, false)
  scene.looks = 0
  scene.ringAfter(0, 1)
  scene.loop.wake(scene.subject)
  await nextTurn()
  assert.equal(scene.looks, 0)
})

test('who is woken by a handler in the look after arming does not fall asleep over it', async (t) => {
  const scene = new Scene(t, 'events')
  await scene.looksUntilAsleep()
  let due = 0
  const { advance } = scene.subject
  let wakes = 1
  scene.subject.advance = () => {
    // The look after arming: a handler has something for the next turn, though nothing has come.
    if (scene.armed && wakes > 0) {
      wakes -= 1
      due = 1
      scene.loop.wake(scene.subject)
      return advance()
    }
    due = 0
    return advance()
  }
  scene.armed = false
  scene.loop.wake(scene.subject)
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  assert.deepEqual([wakes, due], [0, 0])
})
