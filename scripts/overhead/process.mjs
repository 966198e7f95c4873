/** Programs that are measured: started, asked, and surely ended. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** What the caller may have set would be measured, too: `off` is to be off. */
const ownEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^AETHER_(PROFILE$|TRACE(_|$)|ADVISE|WATCHDOG)/.test(name)),
)

const can = (...words) => spawnSync('chrt', [...words, 'true'], { stdio: 'ignore' }).status === 0
/** Before all others of the machine, where we may: what they do is not measured then. */
export const isRoundRobin = can('-r', '10')
const roundRobin = isRoundRobin ? ['chrt', '-r', '10'] : []

/** End with whoever started this program, also where that has ended already: called first of all. */
export function endWithStarter() {
  process.on('disconnect', () => process.exit(0))
  if (process.connected !== true) process.exit(0)
}

/** A program of this folder in a process of its own, which calls {@link endWithStarter}. */
export class Measured {
  #child
  #ended

  /** Where `drained`, what it says on standard error is read and thrown away. */
  constructor(script, words, environment, drained = false) {
    const [command, ...args] = [
      ...roundRobin,
      process.execPath,
      fileURLToPath(new URL(script, import.meta.url)),
      ...words,
    ]
    this.#child = spawn(command, args, {
      env: { ...ownEnvironment, ...environment },
      stdio: ['ignore', 'inherit', drained ? 'pipe' : 'inherit', 'ipc'],
    })
    this.#child.stderr?.resume()
    this.#ended = once(this.#child, 'exit').then(([status, signal]) => {
      throw new Error(`${script} ended with ${status ?? signal}`)
    })
    this.#ended.catch(() => {})
  }

  /** The next thing that it says. */
  async next() {
    const [message] = await Promise.race([once(this.#child, 'message'), this.#ended])
    return message
  }

  ask(order) {
    const answer = this.next()
    this.#child.send(order)
    return answer
  }

  async close() {
    this.#child.kill('SIGKILL')
    await this.#ended.catch(() => {})
  }
}

/** As a program that is measured: answers what it is asked. */
export function answer(serve) {
  process.on('message', (order) => Promise.resolve(serve(order)).then((found) => process.send(found), fail))
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

/**
 * A processor that nobody uses sleeps, and waking it takes longer than what is measured. So each is kept busy by a
 * process of the class in which it gives way to whatever else there is. They end with this process, however it ends.
 */
export function keepAwake() {
  if (!can('-i', '0')) return { count: 0, close: () => {} }
  const program = `const parent = ${process.pid}; while (process.ppid === parent) for (let i = 0; i < 1e5; i++);`
  const burners = Array.from({ length: availableParallelism() }, () =>
    spawn('chrt', ['-i', '0', process.execPath, '-e', program], { stdio: 'ignore' }),
  )
  return {
    count: burners.length,
    close: () => {
      for (const burner of burners) burner.kill('SIGKILL')
    },
  }
}
