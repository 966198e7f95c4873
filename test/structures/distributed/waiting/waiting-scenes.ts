import assert from 'node:assert/strict'
import type { GroupStructures } from '../../../../src/structures/index.ts'

/** A waiter that found nothing at first, and what ends its waiting. */
interface Scene {
  readonly wait: () => Promise<unknown>
  readonly change: () => unknown
}

function withResolvers(): {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
} {
  let settle: [() => void, (error: Error) => void] | undefined
  const promise = new Promise<void>((...both) => (settle = both))
  const [resolve, reject] = settle as [() => void, (error: Error) => void]
  return { promise, resolve, reject }
}

export type Setting = (waiting: GroupStructures, changing: GroupStructures) => Promise<Scene>

/** Everything that waits, and what it waits for. */
export const settings: Readonly<Record<string, Setting>> = {
  'a flag that is raised': async (waiting, changing) => {
    const [flag, other] = await Promise.all([waiting.flag('f'), changing.flag('f')])
    return { wait: () => flag.wait(), change: () => other.raise() }
  },
  'a mutex that is let go of': async (waiting, changing) => {
    const [mutex, other] = await Promise.all([waiting.mutex('m'), changing.mutex('m')])
    const hold = await other.lock()
    return { wait: () => mutex.lock(), change: () => hold.release() }
  },
  'a permit that is given back': async (waiting, changing) => {
    const options = { permits: 2 }
    const [semaphore, other] = await Promise.all([waiting.semaphore('s', options), changing.semaphore('s', options)])
    const permits = [await other.acquire(), await other.acquire()]
    return { wait: () => semaphore.acquire(), change: () => permits[1]?.release() }
  },
  'work that another one has done': async (waiting, changing) => {
    const [once, other] = await Promise.all([waiting.once('o'), changing.once('o')])
    const { promise, resolve } = withResolvers()
    const begun = withResolvers()
    const running = other.run(() => {
      begun.resolve()
      return promise
    })
    await begun.promise
    return {
      wait: async () => assert.equal(await once.run(() => assert.fail('it is done')), false),
      change: () => {
        resolve()
        return running
      },
    }
  },
  'work that another one has failed to do': async (waiting, changing) => {
    const [once, other] = await Promise.all([waiting.once('o'), changing.once('o')])
    const { promise, reject } = withResolvers()
    const begun = withResolvers()
    const running = other.run(() => {
      begun.resolve()
      return promise
    })
    await begun.promise
    return {
      wait: async () => assert.equal(await once.run(() => {}), true),
      change: () => {
        reject(new Error('in vain'))
        return assert.rejects(running, /in vain/)
      },
    }
  },
  'a leader that resigns': async (waiting, changing) => {
    const options = { leaseMs: 1_000_000 }
    const [leader, other] = await Promise.all([waiting.leader('l', options), changing.leader('l', options)])
    const leadership = await other.campaign()
    return { wait: () => leader.campaign(), change: () => leadership.resign() }
  },
  'an entry of a log': async (waiting, changing) => {
    const [log, other] = await Promise.all([waiting.log<number>('g'), changing.log<number>('g')])
    const following = log.follow()
    await following.ready
    return { wait: () => following.next(), change: () => other.append(1) }
  },
  'a message of a channel': async (waiting, changing) => {
    const [channel, other] = await Promise.all([waiting.channel<number>('c'), changing.channel<number>('c')])
    const subscription = channel.subscribe()
    await subscription.ready
    return { wait: () => subscription.next(), change: () => other.publish(1) }
  },
  'a reader that ends its section': async (waiting, changing) => {
    const section = changing.rcu.readLock()
    return { wait: () => waiting.rcu.synchronize(), change: () => section.readUnlock() }
  },
  'a reader of its own rank that ends its section': async (waiting) => {
    const section = waiting.rcu.readLock()
    return { wait: () => waiting.rcu.synchronize(), change: () => section.readUnlock() }
  },
  ...Object.fromEntries((['queue', 'stack'] as const).flatMap((kind) => listSettings(kind))),
}

function listSettings(kind: 'queue' | 'stack'): [string, Setting][] {
  const options = { capacity: 2 }
  return [
    [
      `a value of a ${kind}`,
      async (waiting, changing) => {
        const [list, other] = await Promise.all([waiting[kind]<number>('q'), changing[kind]<number>('q')])
        return { wait: () => list.pop(), change: () => other.push(1) }
      },
    ],
    [
      `room in a ${kind}`,
      async (waiting, changing) => {
        const [list, other] = await Promise.all([
          waiting[kind]<number>('q', options),
          changing[kind]<number>('q', options),
        ])
        await list.push(1)
        await list.push(2)
        return { wait: () => list.push(3), change: () => other.pop() }
      },
    ],
  ]
}

/** Prepared once, for many rounds. */
export type Prepare = (structures: readonly [GroupStructures, GroupStructures]) => Promise<() => Promise<Scene>>

/** What the next round waits for, by the structure. */
export const repeated: Readonly<Record<string, Prepare>> = {
  flag: async ([one, two]) => {
    const [flag, other] = await Promise.all([one.flag('f'), two.flag('f')])
    return async () => {
      await flag.lower()
      return { wait: () => flag.wait(), change: () => other.raise() }
    }
  },
  mutex: async ([one, two]) => {
    const [mutex, other] = await Promise.all([one.mutex('m'), two.mutex('m')])
    return async () => {
      const hold = await other.lock()
      return { wait: async () => (await mutex.lock()).release(), change: () => hold.release() }
    }
  },
  log: async ([one, two]) => {
    const [log, other] = await Promise.all([one.log<number>('l'), two.log<number>('l')])
    const following = log.follow()
    return async () => ({ wait: () => following.next(), change: () => other.append(1) })
  },
  queue: async ([one, two]) => {
    const [queue, other] = await Promise.all([one.queue<number>('q'), two.queue<number>('q')])
    return async () => ({ wait: () => queue.pop(), change: () => other.push(1) })
  },
  'full queue': async ([one, two]) => {
    const options = { capacity: 1 }
    const [queue, other] = await Promise.all([one.queue<number>('r', options), two.queue<number>('r', options)])
    await queue.push(1)
    return async () => ({ wait: () => queue.push(1), change: () => other.pop() })
  },
  stack: async ([one, two]) => {
    const [stack, other] = await Promise.all([one.stack<number>('s'), two.stack<number>('s')])
    return async () => ({ wait: () => stack.pop(), change: () => other.push(1) })
  },
  'read-copy-update':
    async ([one, two]) =>
    async () => {
      const section = two.rcu.readLock()
      return { wait: () => one.rcu.synchronize(), change: () => section.readUnlock() }
    },
}
