import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { root } from '../repository/checkout.ts'

/** The station in a process of its own. */
export interface StationProcess extends AsyncDisposable {
  readonly port: number
  readonly pid: number
  /** SIGKILL, and wait until it is gone. */
  kill(): Promise<void>
}

export async function startStation(device: string, address: string): Promise<StationProcess> {
  const script = join(root, 'dist/test/rpc/fixtures/station.js')
  const child: ChildProcess = spawn(process.execPath, [script, device, address], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const ended = exited.then(([status]): never => {
    throw new Error(`the station ended before it said its port, with status ${status}`)
  })
  const [line] = await Promise.race([once(child.stdout!, 'data'), ended])
  const port = Number(String(line))
  if (!(port > 0)) throw new Error(`the station said ${String(line)} instead of its port`)
  return {
    port,
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end()
      await exited
    },
  }
}
