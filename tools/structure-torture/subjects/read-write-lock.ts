import type { ReadWriteHold, Structures } from 'aether-dsm/internal/structures'
import { forAtMost, operate, type Subject } from '../subject.ts'

/** Only a writer changes these: `Left` and `Right` are equal but while one writes. */
const Common = { Left: 0, Right: 1, Token: 2 } as const
const Kind = { Write: 1, Read: 2 } as const
const WRITE_EVERY = 4
/** One that is stopped may have it for long. */
const WAIT_EVERY = 16
const WAIT_MS = 5
const STAY_EVERY = 16

/** No reader sees half of a write. What a killed writer left half done is reported until a process has written. */
export const readWriteLockSubject: Subject<Structures> = {
  name: 'read-write lock',
  commonBytes: 64,

  async begin({ shared, words, common, random, wrong }) {
    const lock = await shared.readWriteLock('read-write lock')
    const stay = async () => {
      if (random.below(STAY_EVERY) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const take = async (mode: 'read' | 'write') => {
      if (random.below(WAIT_EVERY) === 0) return await forAtMost(WAIT_MS, (signal) => lock[mode]({ signal }))
      return mode === 'read' ? lock.tryReadSync() : lock.tryWriteSync()
    }
    return async () => {
      const mode = random.below(WRITE_EVERY) === 0 ? 'write' : 'read'
      const hold = await take(mode)
      if (hold === undefined) return
      await operate(words, mode === 'write' ? Kind.Write : Kind.Read, async () => {
        checkHold(hold, common, wrong)
        if (mode === 'write') Atomics.add(common, Common.Left, 1)
        await stay()
        if (mode === 'write') Atomics.add(common, Common.Right, 1)
        else checkHold(hold, common, wrong)
        hold.release()
      })
    }
  },

  async judge({ shared, common, wrong }) {
    using hold = (await shared.readWriteLock('read-write lock')).writeSync({ timeoutMs: 30_000 })
    checkHold(hold, common, wrong)
  },

  async empty(shared) {
    ;(await shared.readWriteLock('read-write lock')).writeSync({ timeoutMs: 30_000 }).release()
  },
}

function checkHold({ mode, token, abandoned }: ReadWriteHold, common: Int32Array, wrong: (text: string) => void): void {
  const [left, right, last] = [0, 1, 2].map((word) => Atomics.load(common, word))
  if (!abandoned && left !== right) wrong('what it protects is half changed, and was not said to be abandoned')
  if (mode === 'read') {
    if (token < last!) wrong(`a reader has token ${token}, after writers had ${last}`)
    return
  }
  if (token <= last!) wrong(`token ${token} comes after ${last}`)
  Atomics.store(common, Common.Token, token)
  Atomics.store(common, Common.Right, left!)
}
