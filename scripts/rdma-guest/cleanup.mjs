/**
 * What must be undone however this program ends: children killed, temporary folders removed. Runs at a normal exit, at
 * an uncaught error and at SIGINT, SIGTERM and SIGHUP. SIGKILL leaves no time for it: so guests die with their parent
 * (setpriv), and `reclaim` removes what dead runs left.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'aether-rdma-guest-'
const actions = new Set()
let armed = false

function undoAll() {
  for (const action of [...actions].reverse()) {
    actions.delete(action)
    try {
      action()
    } catch (error) {
      console.error(`cleaning up: ${error.message}`)
    }
  }
}

function arm() {
  if (armed) return
  armed = true
  process.on('exit', undoAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]))
  }
}

/** Has `action` (synchronous) done at the end; the function returned does it now. */
export function atEnd(action) {
  arm()
  actions.add(action)
  return () => {
    if (actions.delete(action)) action()
  }
}

/** A temporary folder, gone at the end. Its name carries our process id. */
export function temporaryFolder() {
  reclaim()
  const path = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  atEnd(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function reclaim() {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(/^aether-rdma-guest-(\d+)-/.exec(name)?.[1])
    if (!(pid > 0) || isAlive(pid)) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // Another user's.
    }
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
