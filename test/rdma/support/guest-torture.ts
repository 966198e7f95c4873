import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReplicaTorture } from '../../consensus/support/replica-torture.ts'
import { GuestMachines } from './guest-machines.ts'

const CALLS = 1000
/** One of each kind: kill and stop the leader, and any; let another lead. Emulated, an action may take 40 s. */
const ACTIONS = 5
/** Longer than any is stopped for, where a processor is emulated. */
const LEASE_MS = 20_000
const PATIENCE_MS = 200_000
const PAUSE_MS = 200

/** Replicas on as many machines of this guest are killed, stopped and begun again: all calls have an order. */
export function tortureInGuest(replicas: number, device: string, options: object): Promise<string> {
  const machines = new GuestMachines(replicas, device, mkdtempSync(join(tmpdir(), 'machines-')))
  const times = { leaseMs: LEASE_MS, patienceMs: PATIENCE_MS, pauseMs: PAUSE_MS }
  const plan = { seed: replicas, replicas, machines, options, ...times, calls: CALLS, actions: ACTIONS }
  return ReplicaTorture.run({ ...plan, say: console.log })
}
